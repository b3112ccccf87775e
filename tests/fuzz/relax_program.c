/* SPDX-License-Identifier: MIT */
/* Make a Relax program of arbitrary bytes: each is a decision about the next instruction. */
#include "tests/fuzz/relax_program.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/tensor.h>

#include "runtime/relax/relax_executable.h"

/* Sorts of values. A function has ROWS registers for each, behind its parameters. */
enum sort { STORAGE, TENSOR, HEAP, SHAPE, TUPLE, CLOSURE, NUMBER, STATE, SORTS };

#define ROWS	       2
#define FUNCTIONS_MOST 3 /* of bytecode */
#define ARGS_MOST      2
#define OPERANDS_MOST  12
#define STEPS_MOST     64  /* of a function */
#define ANYTHING       240 /* a decision from here on takes any operand */

/*
 * What the builtins take, a letter an operand:
 *	S T H P U L N K	a register of a sort: storage, tensor, heap, shape, tuple, closure, number, state
 *	h p d k n	a constant: a storage's shape, a tensor's, dtype, text, name of a builtin
 *	0 1 2 4 c i	numbers: these, up to 3, any
 *	m v f b g	machine, nothing, function of any sort, of bytecode, stand-in
 *	*		up to three of anything
 * and where the result goes: -1 for nowhere.
 */
struct use {
	const char *operands;
	int result;
};

static const struct builtin {
	const char *name;
	struct use uses[2];
} builtins[] = {
	{ "alloc_storage", { { "mh0d", STORAGE } } },
	{ "alloc_tensor", { { "S0pd", TENSOR } } },
	{ "alloc_shape_heap", { { "mc", HEAP } } },
	{ "make_shape", { { "H10c1", SHAPE }, { "H210c1i", SHAPE } } },
	{ "shape_of", { { "T", SHAPE } } },
	{ "make_prim_value", { { "H00", NUMBER } } },
	{ "make_tuple", { { "TPUL", TUPLE }, { "*", TUPLE } } },
	{ RELAX_PROGRAM_STATE, { { "", STATE } } },
	{ "make_closure", { { "b*", CLOSURE } } },
	{ "match_shape", { { "TH11ck", -1 }, { "PH1icik", -1 } } },
	{ "match_prim_value", { { "NHcck", -1 } } },
	{ "check_tensor_info", { { "T-dk", -1 }, { "T1k", -1 } } },
	{ "check_shape_info", { { "Pik", -1 } } },
	{ "check_prim_value_info", { { "Ndk", -1 } } },
	{ "check_string_info", { { "kk", -1 }, { "*", -1 } } },
	{ "check_tuple_info", { { "U4k", -1 } } },
	{ "check_func_info", { { "Lk", -1 } } },
	{ "null_value", { { "", NUMBER } } },
	{ "copy", { { "T", TENSOR }, { "U", TUPLE } } },
	{ "reshape", { { "TP", TENSOR } } },
	{ "to_device", { { "T10", TENSOR } } },
	{ "tensor_to_shape", { { "T", SHAPE } } },
	{ "ensure_zero_offset", { { "T", TENSOR } } },
	{ "read_if_cond", { { "T", NUMBER } } },
	{ "tuple_getitem", { { "U0", TENSOR }, { "Ui", TUPLE } } },
	{ "tuple_reset_item", { { "Uc", -1 } } },
	{ "invoke_closure", { { "mL*", NUMBER }, { "mfmf*", TUPLE } } },
	{ "call_tir_dyn", { { "gTTP", -1 }, { "f*P", NUMBER } } },
	{ "invoke_debug_func", { { "vnvn*", -1 } } },
	{ "kv_state_add_sequence", { { "Kc", -1 } } },
	{ "kv_state_remove_sequence", { { "Kc", -1 } } },
	{ "kv_state_fork_sequence", { { "Kcci", -1 } } },
	{ "kv_state_popn", { { "Kcc", -1 } } },
	{ "kv_state_clear", { { "K", -1 } } },
	{ "kv_state_begin_forward", { { "Kpp", -1 }, { "KPPP", -1 } } },
	{ "kv_state_end_forward", { { "K", -1 } } },
	{ "attention_kv_cache_attention_with_fused_qkv", { { "K0cTT", -1 } } },
	{ "attention_kv_cache_commit_accepted_token_tree_nodes", { { "Kpp", -1 }, { "KPP", -1 } } },
	{ "attention_kv_cache_enable_sliding_window_for_seq", { { "Kc4c", -1 } } },
	{ "attention_kv_cache_get_query_positions", { { "K", TENSOR } } },
	{ "attention_kv_cache_get_num_available_pages", { { "K", NUMBER } } },
	{ "attention_kv_cache_create", { { "TPi", CLOSURE } } },
	{ "attention_kv_cache_append", { { "LT", CLOSURE } } },
	{ "attention_kv_cache_update", { { "LT", CLOSURE } } },
	{ "attention_kv_cache_view", { { "L", TENSOR }, { "LP", TENSOR } } },
	{ "attention_kv_cache_window_override_with_sinks", { { "LTic", CLOSURE } } },
	{ "attention_kv_cache_array_popn", { { "Uc", -1 } } },
	{ "sample_top_p_from_logits", { { "Tc1c", NUMBER } } },
	{ "multinomial_from_uniform", { { "TT", TENSOR } } },
	{ "apply_softmax_with_temperature", { { "T1", -1 } } },
	{ "apply_repetition_penalty", { { "TT1", -1 } } },
	{ "cuda_graph.run_or_capture", { { "mLUc", TENSOR } } },
	{ "cuda_graph.get_cached_alloc", { { "mLc", TENSOR } } },
	{ "tvm.contrib.sort.argsort", { { "TTcc", -1 } } },
	{ "tvm.contrib.sort.sort", { { "TTcc", -1 } } },
	{ "tvm.contrib.sort.topk", { { "TTTcckc", -1 } } },
	{ "tvm.contrib.random.normal", { { "cciiT", -1 }, { "iiT", -1 } } },
	{ "tvm.contrib.random.uniform", { { "cciiT", -1 } } },
	{ "relax.run.unique", { { "Tccccc", TENSOR }, { "T0000", TENSOR } } },
	{ "relax.run.nonzero", { { "T", TENSOR } } },
	{ "relax.run.shape_to_tensor", { { "P", TENSOR } } },
	{ "relax.run.assert_op", { { "Nk*", -1 } } },
	{ "attention_kv_cache_empty", { { "K", NUMBER } } },
	{ "attention_kv_cache_get_total_sequence_length", { { "K", NUMBER } } },
	{ "attention_kv_cache_attention_with_shared_kv", { { "K01TTTT", -1 } } },
	{ "attention_kv_cache_self_attention", { { "K01TTTTT", -1 } } },
	{ "attention_kv_cache_cross_attention", { { "K01TTT", -1 } } },
	{ "attention_kv_cache_append_mla_kv", { { "K0T", STATE } } },
	{ "attention_kv_cache_merge_attn_output_inplace", { { "KTTTT", TUPLE } } },
	{ "attention_kv_cache_debug_get_kv", { { "K0ccTT", -1 }, { "KciiTT", -1 } } },
	{ "attention_kv_cache_debug_get_kv_mla", { { "K0ccT", -1 } } },
	{ "attention_kv_cache_array_clear", { { "U", -1 } } },
	{ "attention_kv_cache_window_override", { { "LTi", CLOSURE } } },
	{ "sample_top_p_from_prob", { { "T1c", NUMBER } } },
	{ "apply_presence_and_frequency_penalty", { { "TTTcc", -1 } } },
	{ "param_array_from_cache", { { "ki", TUPLE } } },
	{ "tvm.contrib.sort.argsort_nms", { { "TTTcc", -1 } } },
	{ "runtime.TVMTensorCreateView", { { "TPd1", TENSOR }, { "TPdi", TENSOR } } },
	{ RELAX_PROGRAM_RNN, { { "", STATE } } },
	{ "rnn_state_get", { { "K00T", TENSOR }, { "KccT", TENSOR } } },
	{ "rnn_state_set", { { "K00T", STATE }, { "KccT", STATE } } },
	{ "rnn_state_debug_get", { { "K000", TENSOR }, { "Kccc", TENSOR } } },
};

#define BUILTINS (sizeof(builtins) / sizeof(builtins[0]))

/* The first calls of each function: after them there is something in every sort of register. */
#define PROLOGUE 9

enum {
	STORAGE_SHAPE,
	VECTOR_SHAPE,
	NO_SHAPE,
	INT64,
	FLOAT32,
	TEXT,
	BUILTIN_NAME,
	MATRIX,
	CONSTANTS
};

struct function {
	uint32_t first;
	uint32_t end;
	uint32_t args;
};

struct program {
	const uint8_t *at;
	const uint8_t *end;
	struct function functions[FUNCTIONS_MOST];
	uint32_t count;
	uint32_t args; /* of the function being made */
	uint32_t row;  /* where the prologue puts things; ROWS behind it */
	struct tenon_buffer offsets;
	struct tenon_buffer words;
	uint32_t instructions;
	int64_t operands[OPERANDS_MOST];
	uint32_t operand_count;
};

static uint32_t decide(struct program *p, uint32_t choices)
{
	return p->at < p->end ? *p->at++ % choices : 0;
}

static int64_t word(enum relax_operand_kind kind, int64_t value)
{
	return (int64_t)((uint64_t)kind << 56 | ((uint64_t)value & UINT64_C(0xffffffffffffff)));
}

static int64_t number(struct program *p)
{
	static const int64_t numbers[] = { 0,  1,	  2,	     3,
					   4,  7,	  -1,	     64,
					   65, 1 << 20,	  -128,	     INT64_C(1) << 31,
					   16, INT32_MIN, INT32_MAX, INT64_C(1) << 54 };

	return word(RELAX_OPERAND_IMMEDIATE, numbers[decide(p, 16)]);
}

static int64_t constant(uint32_t index)
{
	return word(RELAX_OPERAND_CONSTANT, index);
}

static uint32_t register_of(struct program *p, uint32_t sort)
{
	return p->args + sort + SORTS * (p->row < ROWS ? p->row : decide(p, ROWS));
}

static int64_t any(struct program *p)
{
	switch (decide(p, 8)) {
	case 0:
		return number(p);
	case 1:
		return constant(decide(p, CONSTANTS));
	case 2:
		return word(RELAX_OPERAND_FUNCTION, decide(p, BUILTINS + 1 + p->count));
	case 3:
		return RELAX_REGISTER_MACHINE;
	case 4:
		return RELAX_REGISTER_VOID;
	default:
		return decide(p, p->args + SORTS * ROWS);
	}
}

static int64_t operand(struct program *p, char letter)
{
	static const char sorts[] = "STHPULNK";
	const char *sort = memchr(sorts, letter, SORTS);

	if (sort)
		return register_of(p, (uint32_t)(sort - sorts));
	switch (letter) {
	case 'h':
		return constant(STORAGE_SHAPE);
	case 'p':
		return constant(VECTOR_SHAPE + decide(p, 2));
	case 'd':
		return constant(INT64 + decide(p, 2));
	case 'k':
		return constant(TEXT);
	case 'n':
		return constant(BUILTIN_NAME);
	case '-':
		return word(RELAX_OPERAND_IMMEDIATE, -1);
	case 'c':
		return word(RELAX_OPERAND_IMMEDIATE, decide(p, 4));
	case 'i':
		return number(p);
	case 'm':
		return RELAX_REGISTER_MACHINE;
	case 'v':
		return RELAX_REGISTER_VOID;
	case 'f':
		return word(RELAX_OPERAND_FUNCTION, decide(p, BUILTINS + 1 + p->count));
	case 'b':
		return word(RELAX_OPERAND_FUNCTION, BUILTINS + 1 + decide(p, p->count));
	case 'g':
		return word(RELAX_OPERAND_FUNCTION, BUILTINS);
	default:
		return word(RELAX_OPERAND_IMMEDIATE, letter - '0');
	}
}

static void begin(struct program *p)
{
	tenon_buffer_u64(&p->offsets, p->words.size / 8);
	p->instructions++;
}

static void put(struct program *p, int64_t value)
{
	tenon_buffer_u64(&p->words, (uint64_t)value);
}

static void call(struct program *p, int64_t result, uint32_t function)
{
	uint32_t i;

	begin(p);
	put(p, RELAX_CALL);
	put(p, result);
	put(p, function);
	put(p, p->operand_count);
	for (i = 0; i < p->operand_count; i++)
		put(p, p->operands[i]);
	p->operand_count = 0;
}

static void call_builtin(struct program *p, uint32_t index)
{
	bool strict = p->row < ROWS;
	const struct use *use = &builtins[index].uses[0];
	const char *letter;
	uint32_t more;

	if (!strict && use[1].operands && decide(p, 2))
		use++;
	for (letter = use->operands; *letter; letter++) {
		more = *letter == '*' ? decide(p, 4) : 1;
		while (more--)
			p->operands[p->operand_count++] =
				*letter == '*' || (!strict && decide(p, 256) >= ANYTHING)
					? any(p)
					: operand(p, *letter);
	}
	if (!strict && p->operand_count && decide(p, 256) >= ANYTHING)
		p->operand_count--;
	call(p, use->result < 0 ? RELAX_REGISTER_VOID : register_of(p, (uint32_t)use->result),
	     index);
}

static void call_function(struct program *p)
{
	uint32_t function = decide(p, p->count), i;

	for (i = 0; i < p->functions[function].args; i++)
		p->operands[p->operand_count++] = any(p);
	call(p, register_of(p, decide(p, SORTS)), (uint32_t)BUILTINS + 1 + function);
}

/* A jump back, a jump over what comes next, or a call. */
static void step(struct program *p, uint32_t first)
{
	uint32_t kind = decide(p, 16), back;

	if (kind == 15) {
		back = 1 + decide(p, p->instructions - first);
		begin(p);
		put(p, RELAX_GOTO);
		put(p, -(int64_t)back);
	} else if (kind == 14) {
		begin(p);
		put(p, RELAX_IF);
		put(p, register_of(p, NUMBER));
		put(p, 2);
		call_function(p);
	} else if (kind == 13) {
		call_function(p);
	} else {
		call_builtin(p, decide(p, BUILTINS));
	}
}

static void make_function(struct program *p, struct function *f, const uint8_t *end)
{
	const uint8_t *all = p->end;
	uint32_t i;

	p->end = end;
	p->args = f->args;
	f->first = p->instructions;
	for (p->row = 0; p->row < ROWS; p->row++)
		for (i = 0; i < PROLOGUE; i++)
			call_builtin(p, i);
	for (i = 0; i < STEPS_MOST && p->at < p->end; i++)
		step(p, f->first);
	begin(p);
	put(p, RELAX_RET);
	put(p, register_of(p, decide(p, SORTS)));
	f->end = p->instructions;
	p->end = all;
}

/* ---- the file */

static void put_text(struct tenon_buffer *out, const char *text)
{
	tenon_buffer_string(out, tenon_slice_of(text));
}

static void put_entry(struct tenon_buffer *out, uint32_t kind, const char *name,
		      const struct function *f)
{
	tenon_buffer_u32(out, kind);
	put_text(out, name);
	tenon_buffer_u64(out, f->first);
	tenon_buffer_u64(out, f->end);
	tenon_buffer_u64(out, kind == RELAX_FUNCTION_PACKED ? (uint64_t)-2 : f->args);
	tenon_buffer_u64(out, kind == RELAX_FUNCTION_PACKED ? 0 : f->args + SORTS * ROWS);
	tenon_buffer_u64(out, 0);
}

/* A name without the prefix of builtins. */
static bool is_whole(const char *name)
{
	return !strncmp(name, "tvm.", 4) || !strncmp(name, "relax.", 6) ||
	       !strncmp(name, "runtime.", 8) || !strncmp(name, "fuzz.", 5);
}

static void put_functions(const struct program *p, struct tenon_buffer *out)
{
	static const char *const names[FUNCTIONS_MOST] = { "main", "second", "third" };
	const struct function none = { 0, 0, 0 };
	char name[96];
	uint32_t i;

	tenon_buffer_u64(out, BUILTINS + 1 + p->count);
	for (i = 0; i < BUILTINS; i++) {
		snprintf(name, sizeof(name), "%s%s",
			 is_whole(builtins[i].name) ? "" : "vm.builtin.", builtins[i].name);
		put_entry(out, RELAX_FUNCTION_PACKED, name, &none);
	}
	put_entry(out, RELAX_FUNCTION_PACKED, RELAX_PROGRAM_STAND_IN, &none);
	for (i = 0; i < p->count; i++)
		put_entry(out, RELAX_FUNCTION_BYTECODE, names[i], &p->functions[i]);
}

static void put_shape(struct tenon_buffer *out, const int64_t *extents, uint64_t count)
{
	uint64_t i;

	tenon_buffer_u32(out, TENON_TYPE_SHAPE);
	tenon_buffer_u64(out, count);
	for (i = 0; i < count; i++)
		tenon_buffer_u64(out, (uint64_t)extents[i]);
}

static void put_dtype(struct tenon_buffer *out, uint8_t code, uint8_t bits)
{
	const uint8_t dtype[] = { code, bits, 1, 0 };

	tenon_buffer_u32(out, TENON_TYPE_DTYPE);
	tenon_buffer_append(out, dtype, sizeof(dtype));
}

static void put_matrix(struct tenon_buffer *out)
{
	static const uint8_t dtype[] = { TENON_DTYPE_INT, 64, 1, 0 };
	uint64_t i;

	tenon_buffer_u32(out, TENON_TYPE_TENSOR);
	tenon_buffer_u64(out, UINT64_C(0xDD5E40F096B4A13F));
	tenon_buffer_u64(out, 0);
	tenon_buffer_u32(out, kDLCPU);
	tenon_buffer_u32(out, 0);
	tenon_buffer_u32(out, 2);
	tenon_buffer_append(out, dtype, sizeof(dtype));
	tenon_buffer_u64(out, 2);
	tenon_buffer_u64(out, 3);
	tenon_buffer_u64(out, 48);
	for (i = 0; i < 6; i++)
		tenon_buffer_u64(out, i);
}

/* In the order of the enum. */
static void put_constants(struct tenon_buffer *out)
{
	tenon_buffer_u64(out, CONSTANTS);
	put_shape(out, (const int64_t[]){ 64 }, 1);
	put_shape(out, (const int64_t[]){ 3 }, 1);
	put_shape(out, NULL, 0);
	put_dtype(out, TENON_DTYPE_INT, 64);
	put_dtype(out, TENON_DTYPE_FLOAT, 32);
	tenon_buffer_u32(out, TENON_TYPE_STRING);
	put_text(out, "global");
	tenon_buffer_u32(out, TENON_TYPE_STRING);
	put_text(out, "vm.builtin.invoke_debug_func");
	put_matrix(out);
}

void relax_program(const uint8_t *decisions, size_t size, struct tenon_buffer *out)
{
	struct program p = { .at = decisions, .end = decisions + size };
	uint32_t i;

	p.count = 1 + decide(&p, FUNCTIONS_MOST);
	for (i = 0; i < p.count; i++)
		p.functions[i].args = decide(&p, ARGS_MOST + 1);
	for (i = 0; i < p.count; i++)
		make_function(&p, &p.functions[i], p.at + (size_t)(p.end - p.at) / (p.count - i));
	tenon_buffer_u64(out, RELAX_MAGIC_1);
	put_text(out, RELAX_VERSION);
	put_functions(&p, out);
	put_constants(out);
	tenon_buffer_u64(out, p.instructions);
	tenon_buffer_append(out, p.offsets.data, p.offsets.size);
	tenon_buffer_u64(out, p.words.size / 8);
	tenon_buffer_append(out, p.words.data, p.words.size);
	tenon_buffer_fini(&p.offsets);
	tenon_buffer_fini(&p.words);
}
