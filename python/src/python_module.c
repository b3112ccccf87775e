/* SPDX-License-Identifier: MIT */
/* Modules whose functions are callables of Python. */
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/backend/module_kind.h>

#include "errors.h"
#include "function.h"
#include "module.h"
#include "scalars.h"

/**
 * struct entry - a function
 * @name: its name, allocated
 * @callable: one reference
 */
struct entry {
	struct tenon_slice name;
	PyObject *callable;
};

/**
 * struct python_module - the module
 * @base: header
 * @kind: allocated
 * @data: object of the bytes that save() writes; NULL for a module that cannot be saved
 * @bytes: these bytes
 * @entries: @count functions
 * @count: number of them
 */
struct python_module {
	struct tenon_module base;
	char *kind;
	PyObject *data;
	struct tenon_slice bytes;
	struct entry *entries;
	size_t count;
};

/* ---- functions: found without the GIL, as nothing here changes */

/** struct member - a function that was looked up: it keeps its module */
struct member {
	struct tenon_module *module;
	PyObject *callable;
};

static int member_call(void *self, const struct tenon_value *args, int32_t count,
		       struct tenon_value *ret)
{
	return function_call_python(((struct member *)self)->callable, args, count, ret);
}

static void member_release(void *self)
{
	tenon_object_unref(((struct member *)self)->module);
	free(self);
}

static int get_function(struct tenon_module *m, struct tenon_slice name,
			struct tenon_function **out)
{
	const struct python_module *p = (const struct python_module *)m;
	struct member *member;
	size_t i;
	int err;

	*out = NULL;
	for (i = 0; i < p->count && !tenon_slice_equal(p->entries[i].name, name); i++)
		;
	if (i == p->count)
		return 0;
	member = malloc(sizeof(*member));
	if (!member)
		return tenon_error(-TENON_E_NOMEM, "no memory for a function");
	*member = (struct member){ m, p->entries[i].callable };
	err = tenon_function_create(member, member_call, member_release, out);
	if (err)
		free(member);
	else
		tenon_object_ref(m);
	return err;
}

static int each_function(struct tenon_module *m,
			 int (*visit)(void *context, struct tenon_slice name), void *context)
{
	const struct python_module *p = (const struct python_module *)m;
	int stop = 0;
	size_t i;

	for (i = 0; i < p->count && !stop; i++)
		stop = visit(context, p->entries[i].name);
	return stop;
}

static int save(struct tenon_module *m, struct tenon_buffer *out)
{
	const struct python_module *p = (const struct python_module *)m;

	if (p->data)
		return tenon_buffer_slice(out, p->bytes);
	return tenon_error(
		-TENON_E_UNSUPPORTED,
		"a module of the kind \"%s\" that was made without bytes cannot be saved", p->kind);
}

static void destroy(struct tenon_module *m)
{
	struct python_module *p = (struct python_module *)m;
	/* what is released after the interpreter ended stays */
	bool python = Py_IsInitialized();
	PyGILState_STATE state;
	size_t i;

	if (python)
		state = PyGILState_Ensure();
	for (i = 0; i < p->count; i++) {
		free((char *)p->entries[i].name.data);
		if (python)
			Py_DECREF(p->entries[i].callable);
	}
	if (python) {
		Py_XDECREF(p->data);
		PyGILState_Release(state);
	}
	free(p->entries);
	free(p->kind);
}

static const struct tenon_module_ops ops = {
	.get_function = get_function,
	.each_function = each_function,
	.save = save,
	.destroy = destroy,
};

/* ---- making one */

static int add_function(struct python_module *p, PyObject *name, PyObject *callable)
{
	struct entry *entry = &p->entries[p->count];
	const char *text = scalars_name(name, "the name of a module's function");

	if (!text)
		return -1;
	if (!PyCallable_Check(callable)) {
		PyErr_Format(PyExc_TypeError, "%R of a module, %R, cannot be called", name,
			     callable);
		return -1;
	}
	entry->name = (struct tenon_slice){ strdup(text), strlen(text) };
	if (!entry->name.data)
		return PyErr_NoMemory() ? 0 : -1;
	entry->callable = Py_NewRef(callable);
	p->count++;
	return 0;
}

static int add_functions(struct python_module *p, PyObject *functions)
{
	/* a copy that no other thread changes */
	PyObject *copy = PyDict_Copy(functions), *name, *callable;
	Py_ssize_t at = 0;
	int err = 0;

	if (!copy)
		return -1;
	p->entries = calloc((size_t)PyDict_Size(copy) + 1, sizeof(*p->entries));
	if (!p->entries)
		err = PyErr_NoMemory() ? 0 : -1;
	while (!err && PyDict_Next(copy, &at, &name, &callable))
		err = add_function(p, name, callable);
	Py_DECREF(copy);
	return err;
}

/* make_module(kind, functions, data): functions is a dict */
static PyObject *make_module(PyObject *module, PyObject *args)
{
	PyObject *functions, *data;
	struct python_module *p;
	const char *kind;
	int err;

	if (!PyArg_ParseTuple(args, "sO!O:make_module", &kind, &PyDict_Type, &functions, &data))
		return NULL;
	if (data != Py_None && !PyBytes_Check(data))
		return PyErr_Format(PyExc_TypeError, "a module is saved as bytes, not %R",
				    (PyObject *)Py_TYPE(data));
	p = calloc(1, sizeof(*p));
	if (!p || !(p->kind = strdup(kind))) {
		free(p);
		return PyErr_NoMemory();
	}
	tenon_module_init(&p->base, &ops, tenon_slice_of(p->kind),
			  TENON_MODULE_RUNNABLE |
				  (data == Py_None ? 0u : (uint32_t)TENON_MODULE_SERIALIZABLE));
	if (data != Py_None) {
		p->data = Py_NewRef(data);
		p->bytes =
			(struct tenon_slice){ PyBytes_AsString(data), (size_t)PyBytes_Size(data) };
	}
	err = add_functions(p, functions);
	if (!err)
		return module_wrap(&p->base);
	tenon_object_unref(p);
	return NULL;
}

static PyMethodDef methods[] = {
	{ "make_module", make_module, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

int python_module_init(PyObject *module)
{
	return PyModule_AddFunctions(module, methods);
}
