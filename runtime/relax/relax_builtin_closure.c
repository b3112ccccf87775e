/* SPDX-License-Identifier: MIT */
/* Closures and dynamic calls: vm.builtin.make_closure, invoke_closure, call_tir_dyn. */
#include <inttypes.h>

#include "lib/brief_errors.h"
#include "lib/stack_room.h"
#include "runtime/relax/relax_builtin.h"
#include "runtime/relax/relax_closure.h"

#define SPREAD_MOST 128 /* limit on arguments of a function with dynamic shapes, extents included */

RELAX_BUILTIN(make_closure, 1, -1)
{
	struct relax_closure *from, *c;
	int err;

	from = relax_closure_of(&a->args[0]);
	if (!from)
		return tenon_error(-TENON_E_TYPE,
				   "make_closure: expected a function of the program, "
				   "found %s",
				   tenon_type_key(a->args[0].type));
	/* newly bound arguments precede those bound earlier */
	err = relax_closure_create(from->x, from->function, a->args + 1, (uint32_t)a->count - 1,
				   from->bound, from->bound_count, &c);
	if (err)
		return tenon_error_in(err, "make_closure");
	c->drop_result = from->drop_result;
	*ret = tenon_arg_object(c);
	return 0;
}

RELAX_BUILTIN(invoke_closure, 2, -1)
{
	struct relax_vm *vm;
	int err;

	err = relax_argument_machine(a, 0, &vm);
	if (err)
		return err;
	return relax_invoke(vm, &a->args[1], a->args + 2, (uint32_t)a->count - 2, ret);
}

RELAX_BUILTIN(call_tir_dyn, 2, -1)
{
	struct tenon_value spread[SPREAD_MOST];
	struct tenon_function *fn;
	struct tenon_shape *s;
	uint32_t n = 0;
	size_t k;
	int32_t i;
	int err;

	err = stack_room_check();
	if (!err) {
		err = tenon_value_object(&a->args[0], TENON_TYPE_FUNCTION, &fn);
		if (err)
			return tenon_error_in(err, "call_tir_dyn: argument 0");
	}
	if (!err)
		err = relax_argument_shape(a, a->count - 1, &s);
	if (err)
		return err;
	if (s->size > SPREAD_MOST || (size_t)a->count - 2 > SPREAD_MOST - s->size)
		return tenon_error(-TENON_E_OVERFLOW, "call_tir_dyn: more than %d arguments",
				   SPREAD_MOST);
	for (i = 1; i < a->count - 1; i++)
		spread[n++] = a->args[i];
	for (k = 0; k < s->size; k++)
		spread[n++] = tenon_arg_int(s->data[k]);
	return tenon_function_call(fn, spread, (int32_t)n, ret);
}

/* invoke_debug_func(io_effect, name, line, value …) calls name(line, value …). */
RELAX_BUILTIN(invoke_debug_func, 3, -1)
{
	struct tenon_value ignored = tenon_arg_none();
	struct tenon_function *fn;
	struct tenon_slice name;
	int err;

	err = stack_room_check();
	if (!err && a->args[0].type != TENON_TYPE_NONE)
		err = tenon_error(-TENON_E_VALUE,
				  "invoke_debug_func: argument 0: the effect is to be None");
	if (!err) {
		err = tenon_value_text(&a->args[1], &name);
		if (err)
			return tenon_error_in(err, "invoke_debug_func: argument 1");
	}
	if (!err)
		err = tenon_function_find_slice(name, &fn);
	if (err)
		return err;
	if (!fn)
		return tenon_error(
			-TENON_E_NO_FUNCTION,
			"invoke_debug_func: no global function \"%.*s\"; register one of "
			"this name before running",
			(int)name.size, name.data);
	err = tenon_function_call(fn, a->args + 2, a->count - 2, &ignored);
	tenon_object_unref(fn);
	tenon_value_release(&ignored);
	return err;
}
