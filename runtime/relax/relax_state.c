/* SPDX-License-Identifier: MIT */
/* Saved functions, inputs and outputs of a machine by function name. */
#include "runtime/relax/relax_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <tenon/array.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "lib/error_slot.h"
#include "lib/nearest_name.h"
#include "runtime/core/arguments.h"
#include "runtime/relax/relax_closure.h"
#include "runtime/relax/relax_device.h"

/*
 * State of one function. The values may be machines whose own state holds machines, so arrays are
 * released iteratively.
 */
struct function_state {
	struct tenon_array *inputs; /* NULL if not set */
	struct tenon_array *output; /* of one item; NULL before the first run */
};

struct saved_function {
	struct saved_function *next;
	struct relax_closure *closure;
	size_t size;
	char name[];
};

struct relax_state {
	struct function_state *functions;
	struct saved_function *saved;
};

int relax_state_create(struct relax_vm *vm)
{
	vm->state = heap_zeroed(1, sizeof(*vm->state), "states of functions");
	if (vm->state)
		vm->state->functions =
			heap_zeroed((size_t)vm->x->function_count + 1,
				    sizeof(*vm->state->functions), "states of functions");
	if (!vm->state || !vm->state->functions)
		return tenon_error(-TENON_E_NOMEM,
				   "no memory for the state of %" PRIu32 " functions",
				   vm->x->function_count);
	return 0;
}

static void drop_all(struct tenon_value *owned, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		tenon_value_release(&owned[i]);
	free(owned);
}

void relax_state_free(struct relax_vm *vm)
{
	struct relax_state *s = vm->state;
	struct saved_function *saved;
	uint32_t i;

	if (!s)
		return;
	for (i = 0; s->functions && i < vm->x->function_count; i++) {
		tenon_object_unref(s->functions[i].inputs);
		tenon_object_unref(s->functions[i].output);
	}
	while ((saved = s->saved)) {
		s->saved = saved->next;
		tenon_object_unref(saved->closure);
		free(saved);
	}
	heap_free(s->functions);
	heap_free(s);
	vm->state = NULL;
}

static int offer(void *context, struct tenon_slice name)
{
	nearest_name_offer(context, name);
	return 0;
}

static int unknown_function(struct relax_vm *vm, struct tenon_slice name)
{
	struct nearest_name nearest = { .wanted = name };
	struct tenon_buffer hint = TENON_BUFFER_INIT;
	uint32_t i;

	for (i = 0; i < vm->x->function_count; i++)
		if (vm->x->functions[i].kind != RELAX_FUNCTION_PACKED)
			offer(&nearest, vm->x->functions[i].name);
	nearest_name_print(&nearest, &hint);
	tenon_error(-TENON_E_NOT_FOUND, "Unknown function: %.*s.%s", (int)name.size, name.data,
		    hint.data ? hint.data : "");
	tenon_buffer_fini(&hint);
	return error_slot_set_kind(-TENON_E_NOT_FOUND, "ValueError");
}

/* Look up the function that the first argument names. */
static int function_argument(struct relax_vm *vm, const char *what, const struct tenon_value *args,
			     int32_t count, int32_t least, uint32_t *out)
{
	struct tenon_slice name;
	int64_t index;
	int err = arguments_check(what, count, least, -1);

	if (err)
		return err;
	err = tenon_value_text(&args[0], &name);
	if (err)
		return tenon_error_in(err, "%s: argument 0", what);
	index = relax_executable_find(vm->x, name);
	if (index < 0 || vm->x->functions[index].kind == RELAX_FUNCTION_PACKED)
		return tenon_error_in(unknown_function(vm, name), "%s", what);
	*out = (uint32_t)index;
	return 0;
}

struct relax_closure *relax_state_saved(struct relax_vm *vm, struct tenon_slice name)
{
	struct saved_function *s;

	for (s = vm->state->saved; s; s = s->next)
		if (s->size == name.size && !memcmp(s->name, name.data, name.size))
			return s->closure;
	return NULL;
}

static int keep_saved(struct relax_vm *vm, struct tenon_slice name, struct relax_closure *closure)
{
	struct saved_function *s;

	for (s = vm->state->saved; s; s = s->next) {
		if (s->size != name.size || memcmp(s->name, name.data, name.size))
			continue;
		tenon_object_unref(s->closure);
		s->closure = closure;
		return 0;
	}
	s = malloc(sizeof(*s) + name.size);
	if (!s) {
		tenon_object_unref(closure);
		return tenon_error(-TENON_E_NOMEM, "no memory for a saved function");
	}
	memcpy(s->name, name.data, name.size);
	s->size = name.size;
	s->closure = closure;
	s->next = vm->state->saved;
	vm->state->saved = s;
	return 0;
}

/* Make owned copies of @count arguments; NULL with the error set. */
static struct tenon_value *own_all(struct relax_vm *vm, const struct tenon_value *args,
				   uint32_t count)
{
	struct tenon_value *owned = calloc((size_t)count + 1, sizeof(*owned));
	uint32_t i;
	int err;

	if (!owned) {
		tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu32 " arguments", count);
		return NULL;
	}
	for (i = 0; i < count; i++) {
		err = relax_own_argument(vm, &args[i], &owned[i]);
		if (err) {
			tenon_error_in(err, "argument %" PRIu32, i);
			drop_all(owned, count);
			return NULL;
		}
	}
	return owned;
}

/* Run @act while the calling thread owns the machine. */
static int inside(int (*act)(struct relax_vm *vm, const struct tenon_value *args, int32_t count),
		  struct relax_vm *vm, const struct tenon_value *args, int32_t count,
		  struct tenon_value *ret)
{
	struct relax_vm *outer;
	int err = relax_enter(vm, &outer);

	if (err)
		return err;
	err = act(vm, args, count);
	relax_leave(vm, outer);
	*ret = tenon_arg_none();
	return err;
}

static int save_function(struct relax_vm *vm, const struct tenon_value *args, int32_t count)
{
	struct tenon_slice name;
	struct tenon_value *owned;
	struct relax_closure *closure;
	uint32_t function, bound = (uint32_t)count - 3;
	bool with_result;
	int err;

	err = function_argument(vm, "save_function", args, count, 3, &function);
	if (err)
		return err;
	err = tenon_value_text(&args[1], &name);
	if (err)
		return tenon_error_in(err, "save_function: argument 1");
	err = tenon_value_bool(&args[2], &with_result);
	if (err)
		return tenon_error_in(err, "save_function: argument 2");
	owned = own_all(vm, args + 3, bound);
	if (!owned)
		return tenon_error_in(tenon_error_status(), "save_function");
	err = relax_closure_create(vm->x, function, owned, bound, NULL, 0, &closure);
	drop_all(owned, bound);
	if (err)
		return err;
	closure->drop_result = !with_result;
	return keep_saved(vm, name, closure);
}

/* save_function(function, name, keep the result, args …): name() then calls function(args …). */
PACKED_CALL(relax_state_save_function)
{
	return inside(save_function, self, args, count, ret);
}

/* Replace an owned module by what its function get_params() returns. */
static int take_params(struct tenon_value *module)
{
	struct tenon_value params = tenon_arg_none();
	struct tenon_function *get;
	struct tenon_module *m;
	int err = tenon_value_object(module, TENON_TYPE_MODULE, &m);

	if (!err)
		err = tenon_module_get_function(m, "get_params", &get);
	if (err)
		return err;
	err = tenon_function_call(get, NULL, 0, &params);
	tenon_object_unref(get);
	if (err)
		return err > 0 ? -TENON_E_CALL : err;
	tenon_value_release(module);
	*module = params;
	return 0;
}

static int set_inputs(struct relax_vm *vm, const struct tenon_value *args, int32_t count,
		      const char *what, bool with_module)
{
	struct tenon_value *owned;
	struct function_state *s;
	struct tenon_array *inputs;
	const struct relax_function *f;
	uint32_t function, i;
	int err;

	err = function_argument(vm, what, args, count, 1, &function);
	if (err)
		return err;
	f = &vm->x->functions[function];
	if ((uint32_t)count - 1 != f->args)
		return error_of_kind("InternalError", -TENON_E_TYPE,
				     "%s: The number of provided parameters doesn't match the "
				     "number of arguments for \"%.*s\": %" PRIi32 " given, %" PRIu32
				     " wanted",
				     what, (int)f->name.size, f->name.data, count - 1, f->args);
	owned = own_all(vm, args + 1, f->args);
	if (!owned)
		return tenon_error_in(tenon_error_status(), "%s", what);
	if (with_module && f->args)
		err = take_params(&owned[f->args - 1]);
	for (i = 0; i < f->args && !err; i++)
		err = relax_value_to_main(vm, &owned[i]);
	if (err)
		tenon_error_in(err, "%s: argument %" PRIu32, what, i ? i - 1 : f->args - 1);
	else
		err = relax_array_create(vm->pool, owned, f->args, &inputs);
	drop_all(owned, f->args);
	if (err)
		return err;
	s = &vm->state->functions[function];
	tenon_object_unref(s->inputs);
	s->inputs = inputs;
	return 0;
}

static int set_input(struct relax_vm *vm, const struct tenon_value *args, int32_t count)
{
	return set_inputs(vm, args, count, "set_input", false);
}

static int set_input_with_param_module(struct relax_vm *vm, const struct tenon_value *args,
				       int32_t count)
{
	return set_inputs(vm, args, count, "set_input_with_param_module", true);
}

/* set_input_with_param_module(function, args …, module): module's get_params() is the last one */
PACKED_CALL(relax_state_set_input_with_param_module)
{
	return inside(set_input_with_param_module, self, args, count, ret);
}

/* set_input(function, args …) */
PACKED_CALL(relax_state_set_input)
{
	return inside(set_input, self, args, count, ret);
}

static int invoke(struct relax_vm *vm, const struct tenon_value *args, int32_t count)
{
	struct tenon_value result = tenon_arg_none();
	const struct relax_function *f;
	struct function_state *s;
	struct tenon_array *output;
	uint32_t function;
	int err;

	err = function_argument(vm, "invoke_stateful", args, count, 1, &function);
	if (err)
		return err;
	s = &vm->state->functions[function];
	f = &vm->x->functions[function];
	if (!s->inputs)
		return error_of_kind(
			"ValueError", -TENON_E_USAGE,
			"No inputs set for stateful call of %.*s; use `set_input` first.",
			(int)f->name.size, f->name.data);
	err = relax_call(vm, function, s->inputs->data, f->args, &result);
	if (err)
		return err;
	err = relax_array_create(vm->pool, &result, 1, &output);
	tenon_value_release(&result);
	if (err)
		return err;
	tenon_object_unref(s->output);
	s->output = output;
	return 0;
}

/* invoke_stateful(function) */
PACKED_CALL(relax_state_invoke)
{
	return inside(invoke, self, args, count, ret);
}

/* Find the function's output, or the item of it selected by further arguments; borrowed. */
static int find_output(struct relax_vm *vm, const char *what, const struct tenon_value *args,
		       int32_t count, const struct tenon_value **out)
{
	const struct relax_function *f;
	const struct tenon_array *a;
	struct function_state *s;
	uint32_t function;
	int64_t index;
	int32_t i;
	int err;

	err = function_argument(vm, what, args, count, 1, &function);
	if (err)
		return err;
	s = &vm->state->functions[function];
	f = &vm->x->functions[function];
	if (!s->output)
		return error_of_kind("ValueError", -TENON_E_USAGE,
				     "No output saved for call of \"%.*s\"; use `invoke_stateful` "
				     "to call it first.",
				     (int)f->name.size, f->name.data);
	*out = &s->output->data[0];
	for (i = 1; i < count; i++) {
		err = tenon_value_int(&args[i], &index);
		if (err)
			return tenon_error_in(err, "%s: argument %" PRIi32, what, i);
		if ((*out)->type != TENON_TYPE_ARRAY)
			return tenon_error(-TENON_E_VALUE,
					   "%s: Attempted to index into an object that is not an "
					   "Array. It is %s",
					   what, tenon_type_key((*out)->type));
		a = (const struct tenon_array *)(*out)->as.object;
		if (index < 0 || index >= a->size)
			return error_of_kind("IndexError", -TENON_E_VALUE,
					     "%s: Invalid index (%" PRIi64 " >= %" PRIi64 ").",
					     what, index, a->size);
		*out = &a->data[index];
	}
	return 0;
}

/* get_output(function, index …) */
PACKED_CALL(relax_state_get_output)
{
	const struct tenon_value *v;
	int err = find_output(self, "get_output", args, count, &v);

	if (err)
		return err;
	if (v->type == TENON_TYPE_ARRAY)
		return tenon_error(-TENON_E_VALUE,
				   "`get_output` cannot return a tuple for RPC compatibility. "
				   "Please specify another index argument.");
	return tenon_value_own(v, ret);
}

/* get_output_arity(function, index …): items of a tuple, or -1 */
PACKED_CALL(relax_state_get_output_arity)
{
	const struct tenon_value *v;
	int err = find_output(self, "get_output_arity", args, count, &v);

	if (err)
		return err;
	*ret = tenon_arg_int(v->type == TENON_TYPE_ARRAY
				     ? ((const struct tenon_array *)v->as.object)->size
				     : -1);
	return 0;
}

PACKED_CALL(relax_state_get_function_arity)
{
	struct relax_vm *vm = self;
	uint32_t function;
	int err = function_argument(vm, "get_function_arity", args, count, 1, &function);

	if (err)
		return err;
	*ret = tenon_arg_int(vm->x->functions[function].args);
	return 0;
}

PACKED_CALL(relax_state_get_function_param_name)
{
	const struct relax_function *f;
	struct relax_vm *vm = self;
	uint32_t function;
	int64_t index;
	int err = function_argument(vm, "get_function_param_name", args, count, 2, &function);

	if (err)
		return err;
	err = tenon_value_int(&args[1], &index);
	if (err)
		return tenon_error_in(err, "get_function_param_name: argument 1");
	f = &vm->x->functions[function];
	if (index < 0 || index >= f->param_count)
		return tenon_error(-TENON_E_VALUE,
				   "Invalid index for %.*s (%" PRIi64 " out of %" PRIu32 ")",
				   (int)f->name.size, f->name.data, index, f->param_count);
	return tenon_string_value(f->params[index], ret);
}
