/* SPDX-License-Identifier: MIT */
/* Look every function up and decode instructions for one machine. */
#include <inttypes.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/relax/relax_builtin.h"
#include "runtime/relax/relax_closure.h"
#include "runtime/relax/relax_device.h"

#define MISSING_NAMED	8 /* number of missing functions that a message names */
#define IMMEDIATE_CACHE 64

/* state while a machine is built */
struct link {
	struct relax_vm *vm;
	struct relax_executable *x;
	uint32_t next_op;
	uint32_t next_operand;
	uint32_t next_value;
	int32_t none; /* operands for None and for the machine */
	int32_t machine;
	/* cache of operands of immediates, indexed by their low bits; 0: empty */
	int32_t recent[IMMEDIATE_CACHE];
};

static int find_packed(struct relax_executable *x, struct tenon_slice name,
		       struct tenon_function **out)
{
	size_t i;
	int err;

	*out = NULL;
	for (i = 0; i < x->module.import_count; i++) {
		err = tenon_module_find_function(x->module.imports[i], name, true, out);
		if (err || *out)
			return err;
	}
	return tenon_function_find_slice(name, out);
}

static int find_native(struct relax_executable *x, struct tenon_slice name,
		       struct tenon_function **out)
{
	static const char prefix[] = "__vmtir__";
	const size_t head = sizeof(prefix) - 1;
	struct tenon_slice s = { NULL, head + name.size };
	char *full = heap_take(HEAP_TEMPORARY, 1, s.size + 1, "name of a function");
	int err;

	*out = NULL;
	if (!full)
		return tenon_error(-TENON_E_NOMEM, "no memory for the name of a function");
	memcpy(full, prefix, head);
	memcpy(full + head, name.data, name.size);
	full[s.size] = '\0';
	s.data = full;
	err = find_packed(x, s, out);
	heap_free(full);
	return err;
}

/* Append the first caller of a function: ` (called by "main" at instruction 3)`. */
static void print_caller(const struct relax_executable *x, uint32_t function,
			 struct tenon_buffer *out)
{
	const struct relax_function *f;
	const int64_t *w;
	uint32_t i, pc;
	int64_t k;

	for (i = 0; i < x->function_count; i++) {
		f = &x->functions[i];
		for (pc = f->first; f->kind == RELAX_FUNCTION_BYTECODE && pc < f->end; pc++) {
			w = x->words + x->offsets[pc];
			if (w[0] != RELAX_CALL)
				continue;
			for (k = 0; k < w[3] && w[2] != function; k++)
				if (relax_operand_kind(w[4 + k]) == RELAX_OPERAND_FUNCTION &&
				    relax_operand_value(w[4 + k]) == function)
					break;
			if (w[2] != function && k == w[3])
				continue;
			tenon_buffer_printf(out, " (called by \"%.*s\", instruction %" PRIu32 ")",
					    (int)f->name.size, f->name.data, pc);
			return;
		}
	}
	tenon_buffer_printf(out, " (not called)");
}

/* What a missing builtin is for, by its name; NULL for other functions. */
static const char *purpose(struct tenon_slice name)
{
	static const struct {
		const char *part;
		const char *purpose;
	} known[] = {
		{ "kv_cache", "key-value caches of language models" },
		{ "kv_state", "key-value caches of language models" },
		{ "rnn_state", "recurrent states of language models" },
		{ "sample", "sampling in language models" },
		{ "cuda_graph", "CUDA graphs" },
		{ "tensor_cache", "sharded weights" },
		{ "param_array", "sharded weights" },
		{ "disco", "distributed inference" },
	};
	static const char prefix[] = "vm.builtin.";
	size_t i;

	if (name.size < sizeof(prefix) || memcmp(name.data, prefix, sizeof(prefix) - 1))
		return NULL;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (memmem(name.data, name.size, known[i].part, strlen(known[i].part)))
			return known[i].purpose;
	return "a later version of TVM, or a plug-in";
}

static int refuse_missing(const struct relax_vm *vm, uint32_t missing)
{
	const struct relax_executable *x = vm->x;
	struct tenon_buffer text = TENON_BUFFER_INIT;
	const struct relax_function *f;
	uint32_t i, named = 0;

	for (i = 0; i < x->function_count && named < MISSING_NAMED; i++) {
		f = &x->functions[i];
		if (vm->values[x->constant_count + i].type != TENON_TYPE_NONE)
			continue;
		tenon_buffer_printf(&text, "%s%s%.*s\"", named ? ", " : "",
				    f->kind == RELAX_FUNCTION_NATIVE ? "\"__vmtir__" : "\"",
				    (int)f->name.size, f->name.data);
		if (purpose(f->name))
			tenon_buffer_printf(&text, " for %s", purpose(f->name));
		print_caller(x, i, &text);
		named++;
	}
	if (missing > named)
		tenon_buffer_printf(&text, " and %" PRIu32 " more", missing - named);
	tenon_error(-TENON_E_NO_FUNCTION,
		    "%" PRIu32 " function%s neither among the imports of the executable nor among "
		    "the global functions: %s; register %s before the model is opened",
		    missing, missing == 1 ? " is" : "s are", text.data ? text.data : "",
		    missing == 1 ? "it" : "them");
	tenon_buffer_fini(&text);
	return -TENON_E_NO_FUNCTION;
}

/* Look up the functions of the executable. Missing ones stay None. */
static int resolve(struct relax_vm *vm, uint32_t *missing)
{
	struct relax_executable *x = vm->x;
	struct tenon_value *value = vm->values + x->constant_count;
	struct tenon_function *fn;
	struct relax_closure *closure;
	uint32_t i;
	int err;

	*missing = 0;
	for (i = 0; i < x->function_count; i++, value++) {
		if (x->functions[i].kind == RELAX_FUNCTION_PACKED) {
			err = find_packed(x, x->functions[i].name, &fn);
			if (err)
				return err;
			*missing += !fn;
			*value = tenon_arg_object(fn);
			continue;
		}
		if (x->functions[i].kind == RELAX_FUNCTION_NATIVE) {
			err = find_native(x, x->functions[i].name, &vm->entries[i].native);
			if (err)
				return err;
			if (!vm->entries[i].native) {
				++*missing;
				continue;
			}
		}
		err = relax_closure_create(x, i, NULL, 0, NULL, 0, &closure);
		if (err)
			return err;
		*value = tenon_arg_object(closure);
	}
	return 0;
}

static int32_t immediate(struct link *l, int64_t v)
{
	int32_t *recent = &l->recent[(uint64_t)v % IMMEDIATE_CACHE];

	if (*recent && l->vm->values[~*recent].as.integer == v)
		return *recent;
	l->vm->values[l->next_value] = tenon_arg_int(v);
	*recent = ~(int32_t)l->next_value++;
	return *recent;
}

static int32_t register_operand(const struct link *l, int64_t r)
{
	if (r == RELAX_REGISTER_VOID)
		return l->none;
	return r == RELAX_REGISTER_MACHINE ? l->machine : (int32_t)r;
}

static int32_t operand(struct link *l, int64_t word)
{
	int64_t v = relax_operand_value(word);

	switch (relax_operand_kind(word)) {
	case RELAX_OPERAND_IMMEDIATE:
		return immediate(l, v);
	case RELAX_OPERAND_CONSTANT:
		return ~(int32_t)v;
	case RELAX_OPERAND_FUNCTION:
		return ~(int32_t)(l->x->constant_count + (uint32_t)v);
	default:
		return register_operand(l, v);
	}
}

/* Select the specialised op of a builtin, unless a program replaced the builtin. */
static uint32_t packed_code(const struct relax_op *op)
{
	if (op->function->call == relax_builtin_null_value)
		return RELAX_OP_CLEAR;
	if (op->function->call == relax_builtin_copy && op->count == 1)
		return RELAX_OP_COPY;
	if (op->function->call == relax_builtin_invoke_closure && op->count >= 2)
		return RELAX_OP_INVOKE;
	return RELAX_OP_CALL;
}

static void decode_call(struct link *l, const int64_t *w, struct relax_op *op)
{
	uint32_t function = (uint32_t)w[2], i;
	int32_t *args = l->vm->operands + l->next_operand;

	op->dst = w[1] < RELAX_REGISTER_VOID ? (uint32_t)w[1] : RELAX_NOWHERE;
	op->target = (int32_t)function;
	op->count = (uint32_t)w[3];
	op->args = args;
	l->next_operand += op->count;
	for (i = 0; i < op->count; i++)
		args[i] = operand(l, w[4 + i]);
	if (l->x->functions[function].kind == RELAX_FUNCTION_BYTECODE) {
		op->code = RELAX_OP_CALL_BYTECODE;
	} else if (l->x->functions[function].kind == RELAX_FUNCTION_NATIVE) {
		op->code = RELAX_OP_CALL_NATIVE;
	} else {
		op->function =
			(struct tenon_function *)l->vm->values[l->x->constant_count + function]
				.as.object;
		op->code = relax_plan_op(l->vm, op, w) ? op->code : packed_code(op);
	}
}

static void decode(struct link *l, const int64_t *w, struct relax_op *op)
{
	int32_t *arg;

	op->dst = RELAX_NOWHERE;
	switch (w[0]) {
	case RELAX_CALL:
		decode_call(l, w, op);
		return;
	case RELAX_GOTO:
		op->code = RELAX_OP_GOTO;
		op->target = (int32_t)w[1];
		return;
	case RELAX_IF:
		op->code = RELAX_OP_IF;
		op->target = (int32_t)w[2];
		break;
	default:
		op->code = RELAX_OP_RET;
	}
	arg = l->vm->operands + l->next_operand++;
	*arg = register_operand(l, w[1]);
	op->args = arg;
	op->count = 1;
}

static void decode_function(struct link *l, uint32_t function)
{
	const struct relax_function *f = &l->x->functions[function];
	struct relax_entry *e = &l->vm->entries[function];
	uint32_t pc, widest = 0;
	struct relax_op *op;

	e->ops = l->vm->ops + l->next_op;
	for (pc = f->first; pc < f->end; pc++) {
		op = &l->vm->ops[l->next_op++];
		decode(l, l->x->words + l->x->offsets[pc], op);
		if (op->count > widest)
			widest = op->count;
	}
	e->room = f->registers + widest;
}

/* Compute the size of the decoded program; the file's size bounds all numbers. */
static void measure(const struct relax_executable *x, uint32_t *ops, uint32_t *operands)
{
	const struct relax_function *f;
	const int64_t *w;
	uint32_t i, pc;

	*ops = 0;
	*operands = 0;
	for (i = 0; i < x->function_count; i++) {
		f = &x->functions[i];
		if (f->kind != RELAX_FUNCTION_BYTECODE)
			continue;
		*ops += f->end - f->first;
		for (pc = f->first; pc < f->end; pc++) {
			w = x->words + x->offsets[pc];
			*operands += w[0] == RELAX_CALL ? (uint32_t)w[3] : 1;
		}
	}
}

static int allocate(struct relax_vm *vm, uint32_t operands)
{
	const struct relax_executable *x = vm->x;

	/* Every operand may be a different immediate; two more values are None and the machine. */
	vm->value_count = x->constant_count + x->function_count + operands + 2;
	vm->entries = heap_zeroed((size_t)x->function_count + 1, sizeof(*vm->entries),
				  "list of functions");
	vm->ops = heap_zeroed((size_t)vm->op_count + 1, sizeof(*vm->ops), "instructions");
	vm->operands = heap_zeroed((size_t)operands + 1, sizeof(*vm->operands), "operands");
	vm->values = heap_zeroed(vm->value_count, sizeof(*vm->values), "constants and functions");
	if (vm->entries && vm->ops && vm->operands && vm->values)
		return 0;
	return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu32 " instructions", vm->op_count);
}

/* Move constant tensors to the main device. */
static int copy_constants(struct relax_vm *vm)
{
	uint32_t i;
	int err = 0;

	for (i = 0; !err && i < vm->x->constant_count; i++) {
		vm->values[i] = vm->x->constants[i];
		if (vm->values[i].type >= TENON_TYPE_OBJECT)
			tenon_object_ref(vm->values[i].as.object);
		err = relax_value_to_main(vm, &vm->values[i]);
		if (err)
			tenon_error_in(err, "constant %" PRIu32, i);
	}
	return err;
}

void relax_unlink(struct relax_vm *vm)
{
	uint32_t i;

	for (i = 0; vm->values && i < vm->x->constant_count + vm->x->function_count; i++)
		tenon_value_release(&vm->values[i]);
	for (i = 0; vm->entries && i < vm->x->function_count; i++)
		tenon_object_unref(vm->entries[i].native);
	heap_free(vm->entries);
	heap_free(vm->ops);
	heap_free(vm->operands);
	heap_free(vm->values);
	relax_plan_free(vm);
	vm->entries = NULL;
	vm->ops = NULL;
	vm->operands = NULL;
	vm->values = NULL;
}

static void decode_all(struct relax_vm *vm)
{
	struct relax_executable *x = vm->x;
	struct link l = { .vm = vm, .x = x };
	uint32_t i;

	l.next_value = x->constant_count + x->function_count;
	l.none = ~(int32_t)l.next_value++;
	l.machine = ~(int32_t)l.next_value;
	vm->values[l.next_value++] = tenon_arg_pointer(vm);
	for (i = 0; i < x->function_count; i++) {
		if (x->functions[i].kind == RELAX_FUNCTION_BYTECODE)
			decode_function(&l, i);
		else
			vm->entries[i].room = x->functions[i].registers;
	}
}

int relax_init(struct relax_vm *vm)
{
	uint32_t operands, missing;
	int err = 0;

	if (vm->entries)
		return 0;
	any_list_set_find(relax_list_find);
	measure(vm->x, &vm->op_count, &operands);
	if (!vm->device_count)
		err = relax_set_devices(vm, NULL, 0);
	if (!err)
		err = allocate(vm, operands);
	if (!err)
		err = copy_constants(vm);
	if (!err)
		err = resolve(vm, &missing);
	if (!err && missing)
		err = refuse_missing(vm, missing);
	if (!err)
		err = relax_plan_alloc(vm);
	if (err) {
		relax_unlink(vm);
		return err;
	}
	decode_all(vm);
	return 0;
}
