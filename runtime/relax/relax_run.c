/* SPDX-License-Identifier: MIT */
/* Run a function of a Relax executable: interpret its decoded instructions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"
#include "lib/error_slot.h"
#include "lib/record.h"
#include "lib/stack_room.h"
#include "lib/trace.h"
#include "runtime/core/reference.h"
#include "runtime/relax/relax_closure.h"
#include "runtime/relax/relax_device.h"

#define FRAMES_REPORTED 4 /* in a message */

__thread struct relax_vm *relax_now;

int relax_enter(struct relax_vm *vm, struct relax_vm **outer)
{
	uintptr_t self = (uintptr_t)&relax_now, unowned = 0;
	int err;

	if (!vm->entries)
		return tenon_error(
			-TENON_E_USAGE,
			"the virtual machine is not initialised: call vm_initialization");
	if (__atomic_load_n(&vm->owner, __ATOMIC_RELAXED) != self &&
	    !__atomic_compare_exchange_n(&vm->owner, &unowned, self, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return tenon_error(-TENON_E_USAGE,
				   "the virtual machine is in use by another thread; "
				   "load the executable again for a second one");
	if (vm->elsewhere && !vm->nesting) {
		err = relax_follow(vm);
		if (err) {
			__atomic_store_n(&vm->owner, 0, __ATOMIC_RELEASE);
			return err;
		}
	}
	if (!vm->nesting++)
		vm->frames_reported = 0;
	if (!relax_now)
		stack_room_forget();
	*outer = relax_now;
	relax_now = vm;
	return 0;
}

void relax_leave(struct relax_vm *vm, struct relax_vm *outer)
{
	relax_now = outer;
	if (!--vm->nesting)
		__atomic_store_n(&vm->owner, 0, __ATOMIC_RELEASE);
}

static inline const struct tenon_value *
value_of(const struct relax_vm *vm, const struct tenon_value *registers, int32_t operand)
{
	return operand >= 0 ? registers + operand : vm->values + ~operand;
}

static inline void put(struct tenon_value *registers, uint32_t dst, const struct tenon_value *owned)
{
	struct tenon_value old;

	if (dst == RELAX_NOWHERE) {
		if (owned->type >= TENON_TYPE_OBJECT)
			object_unref(owned->as.object);
		return;
	}
	old = registers[dst];
	registers[dst] = *owned;
	if (old.type >= TENON_TYPE_OBJECT)
		object_unref(old.as.object);
}

static const struct relax_function *function_of(const struct relax_vm *vm,
						const struct relax_frame *f)
{
	return &vm->x->functions[f->function];
}

/* Prefix an error with a frame: where it happened, and which function was called. */
static int fail(struct relax_vm *vm, const struct relax_op *op, int status)
{
	const struct relax_frame *f = &vm->stack.frames[vm->stack.depth - 1];
	const struct relax_function *caller = function_of(vm, f), *callee;
	uint32_t pc = caller->first + (uint32_t)(op - vm->entries[f->function].ops);

	if (status > 0)
		status = -TENON_E_CALL;
	if (op->code == RELAX_OP_IF || op->code == RELAX_OP_GOTO)
		return tenon_error_in(status, "%.*s, instruction %" PRIu32, (int)caller->name.size,
				      caller->name.data, pc);
	callee = &vm->x->functions[op->target];
	return tenon_error_in(status, "%.*s, instruction %" PRIu32 ", call of %.*s",
			      (int)caller->name.size, caller->name.data, pc, (int)callee->name.size,
			      callee->name.data);
}

static int spend(struct relax_vm *vm)
{
	if (!vm->budget)
		return tenon_error(-TENON_E_TIMEOUT, "the budget of instructions is used up");
	vm->budget--;
	return 0;
}

static int wrong_count(const struct relax_function *f, uint32_t count)
{
	struct tenon_buffer names = TENON_BUFFER_INIT;
	uint32_t i;

	for (i = 0; i < f->param_count; i++)
		tenon_buffer_printf(&names, "%s%.*s%s", i ? ", " : " (", (int)f->params[i].size,
				    f->params[i].data, i + 1 < f->param_count ? "" : ")");
	tenon_error(-TENON_E_TYPE,
		    "Invoking function %.*s expects %" PRIu32 " arguments%s, but %" PRIu32
		    " arguments were provided.",
		    (int)f->name.size, f->name.data, f->args, names.data ? names.data : "", count);
	tenon_buffer_fini(&names);
	return error_slot_set_kind(-TENON_E_TYPE, "InternalError");
}

int relax_own_argument(struct relax_vm *vm, const struct tenon_value *arg, struct tenon_value *out)
{
	struct tenon_tensor *t;
	const DLTensor *dl;
	int err;

	if (arg->type != TENON_TYPE_DLTENSOR)
		return tenon_value_own(arg, out);
	dl = arg->as.tensor;
	if (!tenon_tensor_compact(dl))
		return tenon_error(-TENON_E_VALUE,
				   "a borrowed tensor with gaps between its elements");
	err = relax_tensor_move(vm, dl, dl->device, &t);
	if (!err)
		*out = tenon_arg_object(t);
	return err;
}

/* Push a frame of @function whose first registers are @args, then @bound. */
static int begin(struct relax_vm *vm, uint32_t function, const struct tenon_value *args,
		 uint32_t count, const struct tenon_value *bound, uint32_t bound_count)
{
	const struct relax_function *f = &vm->x->functions[function];
	struct tenon_value *registers;
	uint32_t i;
	int err;

	if (f->args != count + bound_count)
		return wrong_count(f, count + bound_count);
	err = spend(vm);
	if (!err)
		err = relax_push(vm, function);
	if (err)
		return err;
	registers = vm->stack.frames[vm->stack.depth - 1].registers;
	for (i = 0; i < f->args; i++) {
		err = relax_own_argument(vm, i < count ? &args[i] : &bound[i - count],
					 &registers[i]);
		if (err) {
			relax_pop(vm);
			return tenon_error_in(err, "%.*s: argument %" PRIu32, (int)f->name.size,
					      f->name.data, i);
		}
	}
	return 0;
}

/* Run the native function in the top frame, and pop the frame. */
static int run_native(struct relax_vm *vm, struct tenon_value *ret)
{
	const struct relax_frame *f = &vm->stack.frames[vm->stack.depth - 1];
	uint32_t result = function_of(vm, f)->args;
	struct tenon_value *registers = f->registers;
	struct tenon_value ignored = tenon_arg_none();
	struct tenon_value args[4];
	int err;

	args[0] = tenon_arg_pointer(vm);
	args[1] = tenon_arg_pointer(registers);
	args[2] = tenon_arg_pointer(vm->values);
	args[3] = tenon_arg_pointer(vm->values + vm->x->constant_count);
	err = tenon_function_call(vm->entries[f->function].native, args, 4, &ignored);
	tenon_value_release(&ignored);
	if (!err) {
		*ret = registers[result];
		registers[result] = tenon_arg_none();
	}
	relax_pop(vm);
	return err > 0 ? -TENON_E_CALL : err;
}

/* Run the top frame, which begin() pushed. */
static int run_top(struct relax_vm *vm, struct tenon_value *ret)
{
	const struct relax_frame *f = &vm->stack.frames[vm->stack.depth - 1];

	return vm->entries[f->function].ops ? relax_run(vm, ret) : run_native(vm, ret);
}

static int call_object(const struct tenon_value *callee, const struct tenon_value *args,
		       uint32_t count, struct tenon_value *ret)
{
	struct tenon_function *fn;
	int err = tenon_value_object(callee, TENON_TYPE_FUNCTION, &fn);

	if (err)
		return tenon_error_in(err, "a closure or function is called");
	err = tenon_function_call(fn, args, (int32_t)count, ret);
	return err > 0 ? -TENON_E_CALL : err;
}

int relax_invoke(struct relax_vm *vm, const struct tenon_value *callee,
		 const struct tenon_value *args, uint32_t count, struct tenon_value *ret)
{
	struct relax_closure *c = relax_closure_of(callee);
	int err;

	/* The callee may call this machine recursively: check the C stack. */
	err = stack_room_check();
	if (err)
		return err;
	if (!c)
		return call_object(callee, args, count, ret);
	if (c->x != vm->x)
		return tenon_error(-TENON_E_VALUE, "the closure belongs to another executable");
	err = begin(vm, c->function, args, count, c->bound, c->bound_count);
	if (!err)
		err = run_top(vm, ret);
	if (!err && c->drop_result)
		tenon_value_release(ret);
	return err;
}

int relax_call(struct relax_vm *vm, uint32_t function, const struct tenon_value *args,
	       uint32_t count, struct tenon_value *ret)
{
	int err = stack_room_check();

	if (!err)
		err = begin(vm, function, args, count, NULL, 0);
	return err ? err : run_top(vm, ret);
}

/* Copy the operands to the argument space of the frame. */
static inline struct tenon_value *gather(const struct relax_vm *vm, struct tenon_value *registers,
					 uint32_t register_count, const struct relax_op *op)
{
	struct tenon_value *args = registers + register_count;
	uint32_t i;

	for (i = 0; i < op->count; i++)
		args[i] = *value_of(vm, registers, op->args[i]);
	return args;
}

/* Refuse a result that the register could not own. */
static inline int check_result(const struct tenon_value *result)
{
	if (result->type >= TENON_TYPE_DLTENSOR && result->type <= TENON_TYPE_RVALUE_REF)
		return tenon_error(-TENON_E_TYPE, "the result is borrowed (%s)",
				   tenon_type_key(result->type));
	return 0;
}

static inline int call_packed(const struct relax_op *op, const struct tenon_value *args,
			      struct tenon_value *result)
{
	int err = op->function->call(op->function, args, (int32_t)op->count, result);

	return err ? err : check_result(result);
}

/* Do a planned allocation; false to call the builtin instead, which raises the error. */
static inline bool allocate(struct relax_vm *vm, const struct tenon_value *registers,
			    const struct relax_op *op, struct tenon_value *result)
{
	const struct tenon_value *from = value_of(vm, registers, op->args[0]);
	struct relax_storage *s;
	struct tenon_tensor *t;

	if (from->type != relax_storage_type())
		return false;
	s = (struct relax_storage *)from->as.object;
	if (op->plan->offset > s->size || op->plan->bytes > s->size - op->plan->offset ||
	    (op->plan->offset && s->memory))
		return false;
	t = relax_tensor_planned(vm->pool, s, op->plan);
	if (!t)
		return false;
	result->type = TENON_TYPE_TENSOR;
	result->as.object = &t->object;
	return true;
}

static inline bool allocate_storage(const struct relax_op *op, struct tenon_value *result)
{
	struct relax_storage *s;

	if (relax_storage_create(op->plan->pool, op->plan->bytes, &s))
		return false;
	result->type = s->object.type;
	result->as.object = &s->object;
	return true;
}

/* Report a call to the record of the run, unless it is of a function of the machine itself. */
static struct operator_begun *record_call(const struct relax_vm *vm, const struct relax_op *op,
					  const struct tenon_value *args)
{
	static const char own[] = "vm.builtin.";
	const struct tenon_slice name = vm->x->functions[op->target].name;

	if (!record_on() ||
	    (name.size >= sizeof(own) - 1 && !memcmp(name.data, own, sizeof(own) - 1)))
		return NULL;
	return record_before(&(struct operator_call){ name, name, args, op->count, 0 });
}

/* Like a plain call, with the time taken before and after. */
static int call_timed(struct relax_vm *vm, const struct relax_op *op,
		      const struct tenon_value *args, struct tenon_value *result)
{
	struct operator_begun *begun = record_call(vm, op, args);
	uint64_t start = clock_now();
	int err = call_packed(op, args, result);

	if (!err)
		err = relax_wait(vm);
	record_after(begun, err);
	if (!err)
		vm->call_hook->called(vm->call_hook->context, op, start, clock_now());
	return err;
}

#define INSTRUMENT_ARGS 4 /* function, name, before, result */

/* Test for an op that is a Call instruction of the program. */
static bool is_call(const struct relax_op *op)
{
	return op->code < RELAX_OP_RET;
}

/* Call the instrument before or after an op; @args has INSTRUMENT_ARGS free values at the front. */
static int instrument(struct relax_vm *vm, const struct relax_op *op, struct tenon_value *args,
		      bool before, const struct tenon_value *result, bool *skip)
{
	const struct relax_function *callee = &vm->x->functions[op->target];
	struct tenon_function *f = vm->instrument;
	struct tenon_value name, answer = tenon_arg_none();
	int err = tenon_string_value(callee->name, &name);

	if (err)
		return err;
	args[0] = vm->values[vm->x->constant_count + (uint32_t)op->target];
	args[1] = name;
	args[2] = tenon_arg_bool(before);
	args[3] = *result;
	/* it may set another one */
	tenon_object_ref(f);
	err = tenon_function_call(f, args, (int32_t)op->count + INSTRUMENT_ARGS, &answer);
	tenon_object_unref(f);
	*skip = !err && answer.type == TENON_TYPE_INT && answer.as.integer == 1;
	tenon_value_release(&answer);
	tenon_value_release(&name);
	return err > 0 ? -TENON_E_CALL : err;
}

/* Instruments get the names of dtypes, as TVM passes them. */
static int name_dtypes(const struct tenon_value *values, uint32_t count, struct tenon_value *args)
{
	char name[TENON_DTYPE_NAME];
	uint32_t i;
	int err = 0;

	for (i = 0; i < count; i++) {
		args[i] = values[i];
		if (values[i].type != TENON_TYPE_DTYPE)
			continue;
		args[i] = tenon_arg_none();
		if (!err)
			err = tenon_string_value(
				tenon_slice_of(tenon_dtype_name(values[i].as.dtype, name)),
				&args[i]);
	}
	return err;
}

/* Call a function, and the machine's instrument before and after it, which may skip the call. */
static int call_instrumented(struct relax_vm *vm, const struct relax_op *op,
			     const struct tenon_value *values, struct tenon_value *result)
{
	struct tenon_value *args = calloc(op->count + INSTRUMENT_ARGS, sizeof(*args));
	struct tenon_value none = tenon_arg_none();
	bool skip = false;
	uint32_t i;
	int err;

	if (!args)
		return tenon_error(-TENON_E_NOMEM, "no memory for the arguments of an instrument");
	err = name_dtypes(values, op->count, args + INSTRUMENT_ARGS);
	if (!err)
		err = instrument(vm, op, args, true, &none, &skip);
	if (!err && !skip)
		err = relax_invoke(vm, &vm->values[vm->x->constant_count + (uint32_t)op->target],
				   values, op->count, result);
	if (!err)
		err = check_result(result);
	if (!err && !skip && vm->instrument) {
		err = instrument(vm, op, args, false, result, &skip);
		if (err)
			tenon_value_release(result);
	}
	for (i = 0; i < op->count; i++)
		if (values[i].type == TENON_TYPE_DTYPE)
			tenon_value_release(&args[INSTRUMENT_ARGS + i]);
	free(args);
	return err;
}

/* Push the frame that vm.builtin.invoke_closure needs; 1 when the callee needs none. */
static int begin_invoke(struct relax_vm *vm, const struct tenon_value *args, uint32_t count)
{
	struct relax_closure *c = relax_closure_of(&args[1]);

	if (!c || c->x != vm->x || c->drop_result || !vm->entries[c->function].ops)
		return 1;
	return begin(vm, c->function, args + 2, count - 2, c->bound, c->bound_count);
}

static int condition(const struct tenon_value *v, bool *truth)
{
	*truth = false;
	if (v->type != TENON_TYPE_INT && v->type != TENON_TYPE_BOOL)
		return tenon_error(-TENON_E_TYPE, "the condition is %s, not an integer",
				   tenon_type_key(v->type));
	*truth = v->as.integer != 0;
	return 0;
}

/* @watched: calls are timed, or instrumented */
static inline __attribute__((always_inline)) int run_loop(struct relax_vm *vm,
							  struct tenon_value *ret, bool watched)
{
	size_t base = vm->stack.depth;
	struct relax_frame *f = &vm->stack.frames[base - 1];
	const struct relax_op *op = vm->entries[f->function].ops;
	struct tenon_value *registers = f->registers, *args, result;
	uint32_t register_count = function_of(vm, f)->registers, dst;
	bool truth;
	int err = 0;

	for (;;) {
		result = tenon_arg_none();
		if (watched && vm->instrument && is_call(op)) {
			args = gather(vm, registers, register_count, op);
			err = call_instrumented(vm, op, args, &result);
			if (err)
				goto failed;
			put(registers, op->dst, &result);
			op++;
			continue;
		}
		switch (op->code) {
		case RELAX_OP_TENSOR:
			if (!watched && allocate(vm, registers, op, &result))
				break;
			goto call;
		case RELAX_OP_STORAGE:
			if (!watched && allocate_storage(op, &result))
				break;
			goto call;
		case RELAX_OP_CALL:
		call:
			args = gather(vm, registers, register_count, op);
			err = watched && vm->call_hook ? call_timed(vm, op, args, &result)
						       : call_packed(op, args, &result);
			if (err)
				goto failed;
			break;
		case RELAX_OP_CLEAR:
			break;
		case RELAX_OP_COPY:
			/*
			 * Registers and constants hold owned values, whose copy allocates nothing.
			 */
			tenon_value_own(value_of(vm, registers, op->args[0]), &result);
			break;
		case RELAX_OP_INVOKE:
			args = gather(vm, registers, register_count, op);
			err = begin_invoke(vm, args, op->count);
			if (!err)
				goto enter;
			if (err == 1)
				err = call_packed(op, args, &result);
			if (err)
				goto failed;
			break;
		case RELAX_OP_CALL_BYTECODE:
			args = gather(vm, registers, register_count, op);
			err = begin(vm, (uint32_t)op->target, args, op->count, NULL, 0);
			if (err)
				goto failed;
			goto enter;
		case RELAX_OP_CALL_NATIVE:
			args = gather(vm, registers, register_count, op);
			err = begin(vm, (uint32_t)op->target, args, op->count, NULL, 0);
			if (!err)
				err = run_native(vm, &result);
			if (err)
				goto failed;
			break;
		case RELAX_OP_GOTO:
			if (op->target < 0) {
				err = spend(vm);
				if (err)
					goto failed;
			}
			op += op->target;
			continue;
		case RELAX_OP_IF:
			err = condition(&registers[op->args[0]], &truth);
			if (err)
				goto failed;
			op += truth ? 1 : op->target;
			continue;
		default: /* RELAX_OP_RET */
			if (op->args[0] >= 0) {
				/* The frame is popped: move the result instead of copying it. */
				result = registers[op->args[0]];
				registers[op->args[0]] = tenon_arg_none();
			}
			dst = vm->stack.frames[vm->stack.depth - 1].dst;
			relax_pop(vm);
			if (vm->stack.depth < base) {
				*ret = result;
				return 0;
			}
			f = &vm->stack.frames[vm->stack.depth - 1];
			registers = f->registers;
			register_count = function_of(vm, f)->registers;
			put(registers, dst, &result);
			op = f->at + 1;
			continue;
		}
		put(registers, op->dst, &result);
		op++;
		continue;
	enter:
		f = &vm->stack.frames[vm->stack.depth - 1];
		f->dst = op->dst;
		f[-1].at = op;
		op = vm->entries[f->function].ops;
		registers = f->registers;
		register_count = function_of(vm, f)->registers;
	}
failed:
	/* Of nested calls, report the innermost ones and the outermost. */
	for (;;) {
		if (vm->frames_reported++ < FRAMES_REPORTED || vm->stack.depth == 1)
			err = fail(vm, op, err);
		relax_pop(vm);
		if (vm->stack.depth < base)
			return err;
		op = vm->stack.frames[vm->stack.depth - 1].at;
	}
}

static int run_watched(struct relax_vm *vm, struct tenon_value *ret)
{
	return run_loop(vm, ret, true);
}

static void trace_call(void *context, const struct relax_op *op, uint64_t begin, uint64_t end)
{
	const struct relax_vm *vm = context;

	trace_add("operator", vm->x->functions[op->target].name, 0, begin);
}

/* Add each call to the trace. */
static int run_traced(struct relax_vm *vm, struct tenon_value *ret)
{
	const struct relax_call_hook hook = { trace_call, vm };
	int err;

	vm->call_hook = &hook;
	err = run_watched(vm, ret);
	vm->call_hook = NULL;
	return err;
}

int relax_run(struct relax_vm *vm, struct tenon_value *ret)
{
	/*
	 * The trace of a device has its operations; waiting for each would change their times. A
	 * record has operators of each device.
	 */
	if (__builtin_expect(!vm->call_hook && tenon_trace_now() && (!vm->elsewhere || record_on()),
			     0))
		return run_traced(vm, ret);
	return vm->call_hook || vm->instrument ? run_watched(vm, ret) : run_loop(vm, ret, false);
}
