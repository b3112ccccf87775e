/* SPDX-License-Identifier: MIT */
/* Arguments of Relax builtins: each place of each builtin refuses what it does not take, and says which place it is. */
#include <stdio.h>

#include "runtime/kv/rnn_state.h"
#include "runtime/relax/relax_builtin.h"
#include "tests/unit/kv_kernels.h"
#include "tests/unit/relax_assembler.h"

#define ARGUMENTS_MOST 32

/*
 * A builtin and a letter for each argument:
 *   0 1 this integer                f   a number
 *   t v b a text, "values", "both"  D   a dtype
 *   F   a function                  S P L shapes of 1, 5 and 2
 *   T I h tensors of float32, int32 and int64
 *   A e g a tuple of a number, of nothing, of a function
 *   K R C a cache of pages, a recurrent state, a cache of rows
 *   M Z a machine and its storage
 *   x   anything
 */
struct signature {
	tenon_call_fn builtin;
	const char *letters;
};

static const struct signature plain[] = {
	{ relax_builtin_match_shape, "Sh101x" },
	{ relax_builtin_make_shape, "h101" },
	{ relax_builtin_match_prim_value, "1h01x" },
	{ relax_builtin_make_prim_value, "h01" },
	{ relax_builtin_check_tensor_info, "x1Dx" },
	{ relax_builtin_check_shape_info, "x1x" },
	{ relax_builtin_check_prim_value_info, "xDx" },
	{ relax_builtin_check_tuple_info, "x1x" },
	{ relax_builtin_check_string_info, "xx" },
	{ relax_builtin_check_func_info, "xx" },
	{ relax_builtin_shape_of, "T" },
	{ relax_builtin_reshape, "TS" },
	{ relax_builtin_tensor_view, "TSD0" },
	{ relax_builtin_to_device, "T10" },
	{ relax_builtin_tensor_to_shape, "T" },
	{ relax_builtin_ensure_zero_offset, "T" },
	{ relax_builtin_read_if_cond, "T" },
	{ relax_builtin_tuple_getitem, "A0" },
	{ relax_builtin_tuple_reset_item, "A0" },
	{ relax_builtin_make_closure, "x" },
	{ relax_builtin_call_tir_dyn, "FS" },
	{ relax_builtin_invoke_debug_func, "xtx" },
	{ relax_builtin_sort, "TT00" },
	{ relax_builtin_argsort, "TI00" },
	{ relax_builtin_argsort_nms, "TII00" },
	{ relax_builtin_topk, "TT10v0" },
	{ relax_builtin_topk, "TTI10b0" },
	{ relax_builtin_random_uniform, "ffT" },
	{ relax_builtin_random_uniform, "11ffT" },
	{ relax_builtin_random_normal, "ffT" },
	{ relax_builtin_random_randint, "01I" },
	{ relax_builtin_random_fill, "T" },
	{ relax_builtin_random_fill_for_measure, "T" },
	{ relax_builtin_debug_print, "tT" },
	{ relax_builtin_print, "t" },
	{ relax_builtin_assert_op, "1t" },
	{ relax_builtin_nonzero, "T" },
	{ relax_builtin_unique, "T00000" },
	{ relax_builtin_shape_to_tensor, "S" },
	{ relax_builtin_register_py_func, "tF" },
	{ relax_builtin_get_py_func, "t" },
	{ relax_builtin_call_py_func, "A" },
};

static const struct signature of_models[] = {
	{ relax_builtin_sample_top_p_from_logits, "Tfff" },
	{ relax_builtin_sample_top_p_from_prob, "Tff" },
	{ relax_builtin_multinomial_from_uniform, "TT" },
	{ relax_builtin_apply_repetition_penalty, "TIf" },
	{ relax_builtin_apply_presence_and_frequency_penalty, "TIIff" },
	{ relax_builtin_apply_softmax_with_temperature, "Tf" },
	{ relax_builtin_attention_kv_cache_create, "TS1" },
	{ relax_builtin_attention_kv_cache_append, "CT" },
	{ relax_builtin_attention_kv_cache_update, "CT" },
	{ relax_builtin_attention_kv_cache_view, "CS" },
	{ relax_builtin_attention_kv_cache_window_override, "CT1" },
	{ relax_builtin_attention_kv_cache_window_override_with_sinks, "CT11" },
	{ relax_builtin_attention_kv_cache_array_popn, "A1" },
	{ relax_builtin_attention_kv_cache_array_clear, "A" },
	{ relax_builtin_tensor_cache_load, "t10" },
	{ relax_builtin_tensor_cache_get, "t" },
	{ relax_builtin_tensor_cache_update, "tT0" },
	{ relax_builtin_tensor_cache_remove, "t" },
	{ relax_builtin_param_array_from_cache_by_name, "A" },
	{ relax_builtin_param_module_from_cache_by_name, "A" },
	{ relax_builtin_param_array_from_cache, "t1" },
	{ relax_builtin_param_module_from_cache, "t1" },
	{ relax_builtin_paged_attention_kv_cache_create, "PL1111S01ffxTxxeeeeeeeegFFFF" },
	{ relax_builtin_rnn_state_create, "111AAA" },
	{ relax_builtin_rnn_state_get, "R00x" },
	{ relax_builtin_rnn_state_set, "R00x" },
	{ relax_builtin_rnn_state_debug_get, "R001" },
	{ relax_builtin_kv_state_clear, "K" },
	{ relax_builtin_kv_state_add_sequence, "K1" },
	{ relax_builtin_kv_state_remove_sequence, "K1" },
	{ relax_builtin_kv_state_fork_sequence, "K111" },
	{ relax_builtin_kv_state_popn, "K11" },
	{ relax_builtin_kv_state_begin_forward, "KSSS" },
	{ relax_builtin_kv_state_end_forward, "K" },
	{ relax_builtin_attention_kv_cache_enable_sliding_window_for_seq, "K111" },
	{ relax_builtin_attention_kv_cache_commit_accepted_token_tree_nodes, "KSS" },
	{ relax_builtin_attention_kv_cache_empty, "K" },
	{ relax_builtin_attention_kv_cache_get_num_available_pages, "K" },
	{ relax_builtin_attention_kv_cache_get_total_sequence_length, "K" },
	{ relax_builtin_attention_kv_cache_get_sequence_length, "K1" },
	{ relax_builtin_attention_kv_cache_get_query_positions, "K" },
	{ relax_builtin_attention_kv_cache_attention_with_fused_qkv, "K1fxx" },
	{ relax_builtin_attention_kv_cache_attention_with_shared_kv, "K1fxxxx" },
	{ relax_builtin_attention_kv_cache_self_attention, "K1fxxxxx" },
	{ relax_builtin_attention_kv_cache_cross_attention, "K1fxxx" },
	{ relax_builtin_attention_kv_cache_append_mla_kv, "K1x" },
	{ relax_builtin_attention_kv_cache_merge_attn_output_inplace, "KTTTT" },
	{ relax_builtin_attention_kv_cache_debug_get_kv, "K101TT" },
	{ relax_builtin_attention_kv_cache_debug_get_kv_mla, "K101T" },
};

static const struct signature of_machines[] = {
	{ relax_builtin_alloc_shape_heap, "M1" },
	{ relax_builtin_alloc_storage, "MS0D" },
	{ relax_builtin_alloc_tensor, "Z0SD" },
	{ relax_builtin_invoke_closure, "Mx" },
	{ relax_builtin_graph_run_or_capture, "MxA1S" },
	{ relax_builtin_graph_get_cached_alloc, "Mx1" },
};

/* ---- what is an argument of each kind */

static struct tenon_value stock[128];

static int nothing(void *self, const struct tenon_value *args, int32_t count,
		   struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	*ret = tenon_arg_none();
	return 0;
}

static struct tenon_value made_function(void)
{
	struct tenon_function *f;

	assert_int_equal(tenon_function_create(NULL, nothing, NULL, &f), 0);
	return tenon_arg_object(f);
}

static struct tenon_value made_tensor(int code, int bits)
{
	struct tenon_tensor *t;
	int64_t one = 1;

	assert_int_equal(
		tenon_tensor_create(&one, 1, tenon_dtype((uint8_t)code, (uint8_t)bits, 1), &t), 0);
	memset(t->dl.data, 0, (size_t)bits / 8);
	return tenon_arg_object(t);
}

static struct tenon_value made_shape(size_t count)
{
	static const int64_t ones[] = { 1, 1, 1, 1, 1 };
	struct tenon_shape *s;

	assert_int_equal(tenon_shape_create(ones, count, &s), 0);
	return tenon_arg_object(s);
}

static struct tenon_value made_tuple(struct tenon_value item, size_t count)
{
	struct tenon_array *a;

	assert_int_equal(tenon_array_create(&item, count, &a), 0);
	return tenon_arg_object(a);
}

static struct tenon_value result_of(tenon_call_fn builtin, const struct tenon_value *args,
				    int32_t count)
{
	struct tenon_value ret;

	if (builtin(NULL, args, count, &ret))
		fail_msg("%s", tenon_error_message());
	return ret;
}

static void make_states(void)
{
	const struct tenon_value rows[] = { stock['T'], stock['S'], stock['1'] };
	struct tenon_value initial = made_tuple(stock['T'], 1);
	const struct tenon_value recurrent[] = { stock['1'], stock['1'], stock['1'],
						 stock['g'], stock['g'], initial };
	struct kv_config f = kv_config_of(1, 8, 4);
	struct kv_cache *c;

	stock['C'] = result_of(relax_builtin_attention_kv_cache_create, rows, 3);
	stock['R'] = result_of(relax_builtin_rnn_state_create, recurrent, 6);
	tenon_value_release(&initial);
	assert_int_equal(kv_cache_create(&f, &c), 0);
	kv_drop_kernels(&f);
	stock['K'] = tenon_arg_object(c);
}

static int make_stock(void **state)
{
	(void)state;
	stock['0'] = tenon_arg_int(0);
	stock['1'] = tenon_arg_int(1);
	stock['f'] = tenon_arg_float(1);
	stock['t'] = tenon_arg_string("x");
	stock['v'] = tenon_arg_string("values");
	stock['b'] = tenon_arg_string("both");
	stock['D'] = tenon_arg_dtype(tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	stock['F'] = made_function();
	stock['S'] = made_shape(1);
	stock['P'] = made_shape(5);
	stock['L'] = made_shape(2);
	stock['T'] = made_tensor(TENON_DTYPE_FLOAT, 32);
	stock['I'] = made_tensor(TENON_DTYPE_INT, 32);
	stock['h'] = made_tensor(TENON_DTYPE_INT, 64);
	stock['A'] = made_tuple(stock['1'], 1);
	stock['e'] = made_tuple(stock['1'], 0);
	stock['g'] = made_tuple(stock['F'], 1);
	stock['x'] = tenon_arg_none();
	make_states();
	return 0;
}

static int drop_stock(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(stock) / sizeof(stock[0]); i++)
		tenon_value_release(&stock[i]);
	return 0;
}

/* ---- the cases */

static int32_t arguments_of(const struct signature *s, struct tenon_value *args)
{
	int32_t n;

	for (n = 0; s->letters[n]; n++)
		args[n] = stock[(unsigned char)s->letters[n]];
	return n;
}

/* The thread's message has these words, and no digit behind them: argument 1 is not argument 10. */
static bool message_names(const char *words)
{
	const char *at = tenon_error_message();
	const size_t size = strlen(words);

	while ((at = strstr(at, words)) && at[size] >= '0' && at[size] <= '9')
		at += size;
	return at;
}

/* The builtin refuses the arguments, with these words. */
static void is_refused(const struct signature *s, const struct tenon_value *args, int32_t count,
		       const char *words)
{
	struct tenon_value ret;

	if (!s->builtin(NULL, args, count, &ret))
		fail_msg("\"%s\": not refused, want %s", s->letters, words);
	if (!message_names(words))
		fail_msg("\"%s\": %s; want %s", s->letters, tenon_error_message(), words);
	tenon_error_clear();
}

/* A pointer to no machine is not of any kind. */
static void no_place_takes_another_kind(const struct signature *list, size_t count)
{
	struct tenon_value args[ARGUMENTS_MOST];
	char words[32];
	int32_t n, k;
	size_t i;

	for (i = 0; i < count; i++) {
		n = arguments_of(&list[i], args);
		is_refused(&list[i], args, 0, " given");
		for (k = 0; k < n; k++) {
			if (list[i].letters[k] == 'x')
				continue;
			snprintf(words, sizeof(words), "argument %d", (int)k);
			args[k] = tenon_arg_pointer(args);
			is_refused(&list[i], args, n, words);
			args[k] = stock[(unsigned char)list[i].letters[k]];
		}
	}
}

#define NO_PLACE_TAKES_ANOTHER_KIND(list)                                                          \
	no_place_takes_another_kind(list, sizeof(list) / sizeof((list)[0]))

static void builtins_refuse_arguments_of_another_kind(void **state)
{
	(void)state;
	NO_PLACE_TAKES_ANOTHER_KIND(plain);
}

static void builtins_of_language_models_refuse_arguments_of_another_kind(void **state)
{
	(void)state;
	NO_PLACE_TAKES_ANOTHER_KIND(of_models);
}

static void builtins_of_machines_refuse_arguments_of_another_kind(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct relax_vm *vm, *outer;
	struct tenon_value args[4];

	(void)state;
	assemble_function(&a, "main", 1, 1);
	assemble_ret(&a, 0);
	vm = machine_of(&a);
	assert_int_equal(relax_enter(vm, &outer), 0);
	stock['M'] = tenon_arg_pointer(vm);
	arguments_of(&of_machines[1], args);
	stock['Z'] = result_of(relax_builtin_alloc_storage, args, 4);
	NO_PLACE_TAKES_ANOTHER_KIND(of_machines);
	tenon_value_release(&stock['Z']);
	stock['Z'] = stock['M'] = tenon_arg_none();
	relax_leave(vm, outer);
	tenon_object_unref(vm);
}

/* What callers of TVM hand over for good: a pointer to a place with the object. */
static void an_object_may_be_handed_over_by_its_place(void **state)
{
	struct tenon_object *places[] = { stock['T'].as.object, stock['S'].as.object, NULL };
	struct tenon_value by_place = { .type = TENON_TYPE_RVALUE_REF }, ret;
	static const struct signature s = { relax_builtin_shape_of, "T" };
	size_t i;

	(void)state;
	is_refused(&s, &by_place, 1, "argument 0: expected a tensor");
	for (i = 1; i < 3; i++) {
		by_place.as.pointer = &places[i];
		is_refused(&s, &by_place, 1, "argument 0: expected a tensor");
	}
	by_place.as.pointer = &places[0];
	ret = result_of(relax_builtin_shape_of, &by_place, 1);
	assert_int_equal(((struct tenon_shape *)ret.as.object)->size, 1);
	tenon_value_release(&ret);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(builtins_refuse_arguments_of_another_kind),
		cmocka_unit_test(builtins_of_language_models_refuse_arguments_of_another_kind),
		cmocka_unit_test(builtins_of_machines_refuse_arguments_of_another_kind),
		cmocka_unit_test(an_object_may_be_handed_over_by_its_place),
	};

	return cmocka_run_group_tests(tests, make_stock, drop_stock);
}
