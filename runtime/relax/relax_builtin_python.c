/* SPDX-License-Identifier: MIT */
/* Functions that a program in Python gives to its models by name: vm.builtin.*_py_func. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "lib/error_slot.h"
#include "lib/fork_gate.h"
#include "runtime/relax/relax_builtin.h"

struct named_function {
	struct named_function *next;
	struct tenon_function *function;
	size_t size;
	char name[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct named_function *functions;

/* The entry of a name, or NULL. Caller holds the lock. */
static struct named_function *entry_of(struct tenon_slice name)
{
	struct named_function *f = functions;

	while (f && !tenon_slice_equal((struct tenon_slice){ f->name, f->size }, name))
		f = f->next;
	return f;
}

static struct named_function *entry_add(struct tenon_slice name)
{
	struct named_function *f = malloc(sizeof(*f) + name.size);

	if (!f)
		return NULL;
	memcpy(f->name, name.data, name.size);
	f->size = name.size;
	f->function = NULL;
	f->next = functions;
	functions = f;
	return f;
}

/* register_py_func(name, function): replaces an earlier one of the name */
RELAX_BUILTIN(register_py_func, 2, 2)
{
	struct tenon_function *function, *dropped;
	struct named_function *f;
	struct tenon_slice name;
	int err;

	err = relax_argument_text(a, 0, &name);
	if (!err)
		err = relax_argument_function(a, 1, &function);
	if (err)
		return err;
	tenon_object_ref(function);
	fork_gate_lock(&lock);
	f = entry_of(name);
	if (!f)
		f = entry_add(name);
	dropped = f ? f->function : function;
	if (f)
		f->function = function;
	fork_gate_unlock(&lock);
	tenon_object_unref(dropped);
	return f ? 0 : tenon_error(-TENON_E_NOMEM, "no memory for the name of a function");
}

static int find(struct tenon_slice name, struct tenon_function **out)
{
	struct named_function *f;

	fork_gate_lock(&lock);
	f = entry_of(name);
	*out = f ? f->function : NULL;
	tenon_object_ref(*out);
	fork_gate_unlock(&lock);
	if (*out)
		return 0;
	return error_of_kind("InternalError", -TENON_E_NO_FUNCTION,
			     "Python function '%.*s' not found in registry: register it with "
			     "vm.builtin.register_py_func",
			     (int)name.size, name.data);
}

/* get_py_func(name) */
RELAX_BUILTIN(get_py_func, 1, 1)
{
	struct tenon_function *function;
	struct tenon_slice name;
	int err;

	err = relax_argument_text(a, 0, &name);
	if (!err)
		err = find(name, &function);
	if (!err)
		*ret = tenon_arg_object(function);
	return err;
}

/* clear_py_func_registry() */
RELAX_BUILTIN(clear_py_func_registry, 0, 0)
{
	struct named_function *list, *next;

	fork_gate_lock(&lock);
	list = functions;
	functions = NULL;
	fork_gate_unlock(&lock);
	for (; list; list = next) {
		next = list->next;
		tenon_object_unref(list->function);
		free(list);
	}
	return 0;
}

/* call_py_func((name, (argument …))) */
RELAX_BUILTIN(call_py_func, 1, 1)
{
	struct relax_arguments pair = { "call_py_func", NULL, 2 };
	struct tenon_function *function;
	struct tenon_array *items;
	struct tenon_slice name;
	int err;

	err = relax_argument_array(a, 0, &items);
	if (err)
		return err;
	if (items->size != 2)
		return error_of_kind("InternalError", -TENON_E_VALUE,
				     "call_py_func: tuple should contain (func_name, args)");
	pair.args = items->data;
	err = relax_argument_text(&pair, 0, &name);
	if (!err)
		err = relax_argument_array(&pair, 1, &items);
	if (!err)
		err = find(name, &function);
	if (err)
		return err;
	err = tenon_function_call(function, items->data, (int32_t)items->size, ret);
	tenon_object_unref(function);
	return err;
}
