/* SPDX-License-Identifier: MIT */
/* The machine as a module, with TVM's function names and argument orders. */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "lib/error_slot.h"
#include "runtime/core/arguments.h"
#include "runtime/relax/relax_cached.h"
#include "runtime/relax/relax_recorded.h"
#include "runtime/relax/relax_closure.h"
#include "runtime/relax/relax_device.h"
#include "runtime/relax/relax_state.h"

/* The machine as a module, with TVM's function names and argument orders. */

/* A function bound to a machine, which it keeps alive. */
struct bound {
	struct relax_vm *vm;
	struct relax_closure *closure;
};

static void bound_release(void *self)
{
	struct bound *b = self;

	tenon_object_unref(b->closure);
	tenon_object_unref(b->vm);
	free(b);
}

static PACKED_CALL(call_bound)
{
	struct bound *b = self;
	struct tenon_value callee = tenon_arg_object(b->closure);
	struct relax_vm *outer;
	int err = relax_enter(b->vm, &outer);

	if (err)
		return err;
	err = relax_invoke(b->vm, &callee, args, (uint32_t)count, ret);
	relax_leave(b->vm, outer);
	return err;
}

static int bound_create(struct relax_vm *vm, struct relax_closure *closure,
			struct tenon_function **out)
{
	struct bound *b = malloc(sizeof(*b));
	int err;

	if (!b)
		return tenon_error(-TENON_E_NOMEM, "no memory for a function");
	b->vm = vm;
	b->closure = closure;
	err = tenon_function_create(b, call_bound, bound_release, out);
	if (err) {
		free(b);
		return err;
	}
	tenon_object_ref(vm);
	tenon_object_ref(closure);
	return 0;
}

static int integer(const struct tenon_value *args, int32_t i, const char *what, int64_t *out)
{
	int err = tenon_value_int(&args[i], out);

	return err ? tenon_error_in(err, "%s: argument %" PRIi32, what, i) : 0;
}

/*
 * vm_initialization(device type, device id, allocator): three arguments per device, the host last.
 */
static PACKED_CALL(call_initialization)
{
	DLDevice devices[RELAX_DEVICES_MOST];
	int64_t type, id, allocator;
	int32_t i;
	int err;

	if (!count || count % 3 || count > 3 * RELAX_DEVICES_MOST)
		return tenon_error(
			-TENON_E_TYPE,
			"vm_initialization takes device type, device id and allocator of "
			"each of at most %d devices; %" PRIi32 " arguments given",
			RELAX_DEVICES_MOST, count);
	for (i = 0; i < count; i += 3) {
		err = integer(args, i, "vm_initialization", &type);
		if (!err)
			err = integer(args, i + 1, "vm_initialization", &id);
		if (!err)
			err = integer(args, i + 2, "vm_initialization", &allocator);
		if (err)
			return err;
		if (type < 1 || type > INT32_MAX || id < 0 || id > INT32_MAX)
			return tenon_error(-TENON_E_VALUE,
					   "vm_initialization: no device has the numbers %" PRIi64
					   " and %" PRIi64,
					   type, id);
		devices[i / 3] = (DLDevice){ (DLDeviceType)type, (int32_t)id };
	}
	*ret = tenon_arg_none();
	err = relax_set_devices(self, devices, (size_t)count / 3);
	return err ? tenon_error_in(err, "vm_initialization") : relax_init(self);
}

/* invoke_closure(closure, args …) */
static PACKED_CALL(call_invoke_closure)
{
	struct relax_vm *vm = self, *outer;
	int err;

	if (count < 1)
		return tenon_error(-TENON_E_TYPE,
				   "invoke_closure takes a closure and its arguments");
	err = relax_enter(vm, &outer);
	if (err)
		return err;
	err = relax_invoke(vm, &args[0], args + 1, (uint32_t)count - 1, ret);
	relax_leave(vm, outer);
	return err;
}

/*
 * set_instrument(function), or set_instrument(name, args …): the global function of that name
 * returns the function. None removes it.
 */
static PACKED_CALL(call_set_instrument)
{
	struct tenon_value made = tenon_arg_none();
	struct tenon_function *make, *f = NULL;
	struct relax_vm *vm = self, *outer;
	struct tenon_slice name;
	int err = 0;

	if (count < 1)
		return tenon_error(-TENON_E_TYPE, "set_instrument takes a function, or the name of "
						  "one that makes it");
	*ret = tenon_arg_none();
	if (args[0].type == TENON_TYPE_FUNCTION) {
		err = tenon_value_own(&args[0], &made);
	} else if (args[0].type != TENON_TYPE_NONE) {
		err = tenon_value_text(&args[0], &name);
		if (!err)
			err = tenon_function_find_slice(name, &make);
		if (!err && !make)
			err = error_of_kind("InternalError", -TENON_E_NO_FUNCTION,
					    "Cannot find factory %.*s", (int)name.size, name.data);
		if (err)
			return tenon_error_in(err, "set_instrument");
		err = tenon_function_call(make, args + 1, count - 1, &made);
		tenon_object_unref(make);
	}
	if (!err && made.type != TENON_TYPE_NONE)
		err = tenon_value_object(&made, TENON_TYPE_FUNCTION, &f);
	if (!err)
		err = relax_enter(vm, &outer);
	if (err) {
		tenon_value_release(&made);
		return tenon_error_in(err > 0 ? -TENON_E_CALL : err, "set_instrument");
	}
	tenon_object_unref(vm->instrument);
	vm->instrument = f;
	relax_leave(vm, outer);
	return 0;
}

static const struct {
	const char *name;
	tenon_call_fn call;
} machine_functions[] = {
	{ "vm_initialization", call_initialization },
	{ "invoke_closure", call_invoke_closure },
	{ "save_function", relax_state_save_function },
	{ "set_input", relax_state_set_input },
	{ "set_input_with_param_module", relax_state_set_input_with_param_module },
	{ "set_instrument", call_set_instrument },
	{ "invoke_stateful", relax_state_invoke },
	{ "get_output", relax_state_get_output },
	{ "get_output_arity", relax_state_get_output_arity },
	{ "get_function_arity", relax_state_get_function_arity },
	{ "get_function_param_name", relax_state_get_function_param_name },
};

#define MACHINE_FUNCTIONS (sizeof(machine_functions) / sizeof(machine_functions[0]))

static int machine_get_function(struct tenon_module *m, struct tenon_slice name,
				struct tenon_function **out)
{
	struct relax_vm *vm = (struct relax_vm *)m;
	struct relax_closure *closure;
	int64_t index;
	size_t i;
	int err;

	for (i = 0; i < MACHINE_FUNCTIONS; i++) {
		if (!tenon_slice_equal(tenon_slice_of(machine_functions[i].name), name))
			continue;
		err = tenon_function_create(m, machine_functions[i].call, tenon_object_unref, out);
		if (!err)
			tenon_object_ref(m);
		return err;
	}
	closure = relax_state_saved(vm, name);
	if (closure)
		return bound_create(vm, closure, out);
	index = relax_executable_find(vm->x, name);
	if (index < 0 || vm->x->functions[index].kind == RELAX_FUNCTION_PACKED)
		return 0;
	err = relax_closure_create(vm->x, (uint32_t)index, NULL, 0, NULL, 0, &closure);
	if (err)
		return err;
	err = bound_create(vm, closure, out);
	tenon_object_unref(closure);
	return err;
}

static int machine_each_function(struct tenon_module *m,
				 int (*visit)(void *context, struct tenon_slice name),
				 void *context)
{
	const struct relax_executable *x = ((struct relax_vm *)m)->x;
	uint32_t k;
	size_t i;
	int err = 0;

	for (k = 0; !err && k < x->function_count; k++)
		if (x->functions[k].kind != RELAX_FUNCTION_PACKED)
			err = visit(context, x->functions[k].name);
	for (i = 0; !err && i < MACHINE_FUNCTIONS; i++)
		err = visit(context, tenon_slice_of(machine_functions[i].name));
	return err;
}

static void machine_destroy(struct tenon_module *m)
{
	struct relax_vm *vm = (struct relax_vm *)m;

	tenon_object_unref(vm->instrument);
	relax_recorded_free(vm);
	relax_cached_free(vm);
	relax_state_free(vm);
	relax_unlink(vm);
	relax_stack_fini(&vm->stack);
	relax_free_devices(vm);
	relax_pool_close(vm->pool);
	free(vm->scratch);
	tenon_object_unref(vm->x);
}

static void machine_free(struct tenon_module *m)
{
	heap_free(m);
}

static const struct tenon_module_ops machine_ops = {
	.get_function = machine_get_function,
	.each_function = machine_each_function,
	.destroy = machine_destroy,
	.free = machine_free,
};

struct relax_vm *relax_of(struct tenon_module *m)
{
	return m->ops == &machine_ops ? (struct relax_vm *)m : NULL;
}

int relax_create(struct relax_executable *x, struct tenon_module **out)
{
	struct relax_vm *vm = heap_zeroed(1, sizeof(*vm), "virtual machine");
	size_t i;
	int err;

	*out = NULL;
	if (!vm)
		return tenon_error(-TENON_E_NOMEM, "no memory for a virtual machine");
	tenon_module_init(&vm->module, &machine_ops, tenon_slice_of("relax.VirtualMachine"),
			  TENON_MODULE_RUNNABLE);
	/* Saved functions can be looked up, but change over time. */
	vm->module.flags |= TENON_MODULE_OPEN_NAMES;
	tenon_object_ref(x);
	vm->x = x;
	vm->budget = UINT64_MAX;
	err = relax_pool_create(&vm->pool);
	if (!err)
		err = relax_state_create(vm);
	/*
	 * As in TVM, whose clients take the compiled functions from the machine's imports. A model in
	 * memory of the caller hides its machine.
	 */
	for (i = 0; !heap_now() && i < x->module.import_count && !err; i++)
		err = tenon_module_import(&vm->module, x->module.imports[i]);
	if (err) {
		tenon_object_unref(vm);
		return err;
	}
	*out = &vm->module;
	return 0;
}
