/* SPDX-License-Identifier: MIT */
/* tenon.Function: calls; callables of Python as functions of the library; global functions. */
#include "function.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "errors.h"
#include "scalars.h"
#include "tensor.h"
#include "values.h"

/* arguments of a call that allocates nothing */
#define ARGUMENTS_INSIDE 8

PyTypeObject *core_function_type;

/**
 * struct core_function - a function of the library as an object of Python
 * @vectorcall: function_vectorcall()
 * @function: one reference. Only function_clear() changes it, and only when there is a callable.
 * @callable: what the function calls, and keeps, when wrap() made it; else NULL. Used only while @function is alone here.
 * @release_gil: calls release the GIL
 */
struct core_function {
	CORE_HEAD vectorcallfunc vectorcall;
	struct tenon_function *function;
	PyObject *callable;
	atomic_bool release_gil;
};

static inline struct core_function *core_function_of(PyObject *self)
{
	return core_part(self, core_function_type);
}

struct tenon_function *function_of(PyObject *function)
{
	struct tenon_function *found;

	Py_BEGIN_CRITICAL_SECTION(function);
	found = core_function_of(function)->function;
	tenon_object_ref(found);
	Py_END_CRITICAL_SECTION();
	return found;
}

/* ---- calls */

/* Say which argument an exception is about; one that is not made of a text alone stays as it is. */
static void name_argument(Py_ssize_t index)
{
	PyObject *type, *value, *traceback, *text, *made;

	if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError) &&
	    !PyErr_ExceptionMatches(PyExc_OverflowError))
		return;
	PyErr_Fetch(&type, &value, &traceback);
	text = PyUnicode_FromFormat("argument %zd: %S", index + 1, value ? value : Py_None);
	made = text ? PyObject_CallFunctionObjArgs(type, text, NULL) : NULL;
	Py_XDECREF(text);
	if (!made) {
		PyErr_Restore(type, value, traceback);
		return;
	}
	PyErr_SetObject(type, made);
	Py_DECREF(made);
	Py_XDECREF(type);
	Py_XDECREF(value);
	Py_XDECREF(traceback);
}

/* As values_view(), of a tensor that needs no temporary: the most frequent argument, without a call. */
static inline bool view_tensor(PyObject *from, struct tenon_value *out)
{
	const struct core_tensor *t;

	if (!tensor_check(from))
		return false;
	t = core_tensor_of(from);
	if (t->borrowed)
		return false;
	*out = tenon_arg_object(t->tensor);
	return true;
}

/* Views of all arguments; temporaries_end() in any case. */
static int view_arguments(struct temporaries *t, PyObject *const *args, Py_ssize_t count,
			  struct tenon_value *values)
{
	Py_ssize_t i;

	for (i = 0; i < count; i++)
		if (!values_view_int(args[i], &values[i]) && !view_tensor(args[i], &values[i]) &&
		    values_view(t, args[i], &values[i])) {
			name_argument(i);
			return -1;
		}
	return 0;
}

/* To release the GIL and to take it again costs more than the rest of a call. */
static int call_without_gil(struct tenon_function *function, const struct tenon_value *values,
			    int32_t count, struct tenon_value *result)
{
	int err;

	Py_BEGIN_ALLOW_THREADS err = tenon_function_call(function, values, count, result);
	Py_END_ALLOW_THREADS return err;
}

static PyObject *call(PyObject *self, PyObject *const *args, Py_ssize_t count,
		      struct tenon_value *values)
{
	struct core_function *f = core_function_of(self);
	/* a reference costs, and one that is never replaced needs none */
	struct tenon_function *own = f->callable ? function_of(self) : NULL;
	struct tenon_function *called = own ? own : f->function;
	struct tenon_value result = tenon_arg_none();
	struct temporaries t;
	int err;

	temporaries_begin(&t);
	if (view_arguments(&t, args, count, values)) {
		temporaries_end(&t);
		tenon_object_unref(own);
		return NULL;
	}
	if (atomic_load_explicit(&f->release_gil, memory_order_relaxed))
		err = call_without_gil(called, values, (int32_t)count, &result);
	else
		err = tenon_function_call(called, values, (int32_t)count, &result);
	temporaries_end(&t);
	tenon_object_unref(own);
	return err ? errors_set(err) : values_python(&result);
}

static PyObject *call_many(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
	struct tenon_value *values;
	PyObject *result;

	if (count > INT32_MAX)
		return PyErr_Format(PyExc_TypeError, "a function takes no %zd arguments", count);
	values = PyMem_Malloc((size_t)count * sizeof(*values));
	if (!values)
		return PyErr_NoMemory();
	result = call(self, args, count, values);
	PyMem_Free(values);
	return result;
}

static PyObject *function_vectorcall(PyObject *self, PyObject *const *args, size_t flags,
				     PyObject *keywords)
{
	struct tenon_value inside[ARGUMENTS_INSIDE];
	Py_ssize_t count = PyVectorcall_NARGS(flags);

	if (keywords && PyTuple_Size(keywords)) {
		PyErr_SetString(PyExc_TypeError, "compiled functions have no keyword arguments");
		return NULL;
	}
	if (count > ARGUMENTS_INSIDE)
		return call_many(self, args, count);
	return call(self, args, count, inside);
}

PyObject *function_wrap(struct tenon_function *function)
{
	PyObject *made = PyObject_GC_New(PyObject, core_function_type);
	struct core_function *f;

	if (!made) {
		tenon_object_unref(function);
		return NULL;
	}
	f = core_function_of(made);
	f->vectorcall = function_vectorcall;
	f->function = function;
	f->callable = NULL;
	atomic_init(&f->release_gil, true);
	PyObject_GC_Track(made);
	return made;
}

static void function_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	PyObject_GC_UnTrack(self);
	tenon_object_unref(core_function_of(self)->function);
	PyObject_GC_Del(self);
	Py_DECREF(type);
}

/*
 * Whether nothing but this object refers to the function: then what the function calls can be collected with it.
 *
 * The collector asks several times, and must not hear "yes" and then "no". It does not: code without the GIL can take a reference
 * only with one that it has, strong or weak, which counts here, or during a call, for which function_of() took one. In a
 * free-threaded Python the collector asks while all threads that could call function_of() are stopped.
 */
static bool is_only_owner(const struct core_function *f)
{
	static const uint64_t one_strong = UINT64_C(1) << 32 | 1;

	return __atomic_load_n(&f->function->object.refs, __ATOMIC_ACQUIRE) == one_strong;
}

static int function_traverse(PyObject *self, visitproc visit, void *arg)
{
	struct core_function *f = core_function_of(self);

	Py_VISIT(Py_TYPE(self));
	if (f->callable && is_only_owner(f))
		Py_VISIT(f->callable);
	return 0;
}

static int call_of_collected(void *self, const struct tenon_value *args, int32_t count,
			     struct tenon_value *ret)
{
	return tenon_error(-TENON_E_USAGE, "the function was collected with what it calls");
}

static struct tenon_function *collected;

static int function_clear(PyObject *self)
{
	struct core_function *f = core_function_of(self);
	struct tenon_function *former = NULL;

	Py_BEGIN_CRITICAL_SECTION(self);
	if (f->callable && is_only_owner(f)) {
		former = f->function;
		/* finalizers may still call it. It has another owner, so it is not asked for a callable again. */
		tenon_object_ref(collected);
		f->function = collected;
	}
	Py_END_CRITICAL_SECTION();
	tenon_object_unref(former);
	return 0;
}

static PyObject *get_release_gil(PyObject *self, void *unused)
{
	return PyBool_FromLong(atomic_load(&core_function_of(self)->release_gil));
}

static int set_release_gil(PyObject *self, PyObject *value, void *unused)
{
	int truth = value ? PyObject_IsTrue(value) : -1;

	if (!value)
		PyErr_SetString(PyExc_AttributeError, "release_gil cannot be deleted");
	if (truth < 0)
		return -1;
	atomic_store(&core_function_of(self)->release_gil, truth);
	return 0;
}

static PyGetSetDef function_attributes[] = {
	{ "release_gil", get_release_gil, set_release_gil,
	  "Whether other threads of Python go on during a call of this object; True at first. "
	  "False makes "
	  "calls faster. It is for functions that return soon and never wait: while one waits for "
	  "another thread, a device or a process, a thread that it waits for may need the GIL.",
	  NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyMemberDef function_members[] = {
	{ "__vectorcalloffset__", Py_T_PYSSIZET, offsetof(struct core_function, vectorcall),
	  Py_READONLY | CORE_OFFSET, NULL },
	{ NULL, 0, 0, 0, NULL },
};

static PyType_Slot function_slots[] = {
	{ Py_tp_doc, "A compiled function, or another that the library knows. Calls take "
		     "positional arguments. Other threads "
		     "of Python go on during a call, unless release_gil is False." },
	{ Py_tp_dealloc, function_dealloc },
	{ Py_tp_traverse, function_traverse },
	{ Py_tp_clear, function_clear },
	{ Py_tp_call, PyVectorcall_Call },
	{ Py_tp_getset, function_attributes },
	{ Py_tp_members, function_members },
	{ 0, NULL },
};
static PyType_Spec function_spec = {
	"tenon.Function",
	CORE_SIZE(struct core_function),
	0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_VECTORCALL |
		Py_TPFLAGS_HAVE_GC,
	function_slots,
};

/* ---- callbacks */

/* An argument of a callback; what is borrowed for the call is marked so. */
static PyObject *argument_python(const struct tenon_value *view)
{
	struct tenon_value owned;

	if (view->type == TENON_TYPE_DLTENSOR)
		return tensor_borrow(view->as.tensor);
	return errors_check(tenon_value_own(view, &owned)) ? NULL : values_python(&owned);
}

static PyObject *arguments_python(const struct tenon_value *args, int32_t count)
{
	PyObject *tuple = PyTuple_New(count), *item;
	int32_t i;

	for (i = 0; tuple && i < count; i++) {
		item = argument_python(&args[i]);
		if (!item || PyTuple_SetItem(tuple, i, item))
			Py_CLEAR(tuple);
	}
	return tuple;
}

static void end_borrowed(PyObject *tuple)
{
	Py_ssize_t i, count = tuple ? PyTuple_Size(tuple) : 0;
	PyObject *item;

	for (i = 0; i < count; i++) {
		item = PyTuple_GetItem(tuple, i);
		if (tensor_check(item) && core_tensor_of(item)->borrowed)
			tensor_end(item);
	}
}

int function_call_python(void *callable, const struct tenon_value *args, int32_t count,
			 struct tenon_value *ret)
{
	PyObject *tuple, *result = NULL;
	PyGILState_STATE state;
	int err = -1;

	if (!Py_IsInitialized())
		return tenon_error(-TENON_E_CALL, "Python has ended, and with it this callback");
	state = PyGILState_Ensure();
	tuple = arguments_python(args, count);
	if (tuple)
		result = PyObject_Call(callable, tuple, NULL);
	if (result)
		err = values_own(result, ret);
	if (err)
		err = errors_raise();
	end_borrowed(tuple);
	Py_XDECREF(result);
	Py_XDECREF(tuple);
	PyGILState_Release(state);
	return err;
}

static void callback_release(void *self)
{
	PyGILState_STATE state;

	if (!Py_IsInitialized())
		return;
	state = PyGILState_Ensure();
	Py_DECREF((PyObject *)self);
	PyGILState_Release(state);
}

struct tenon_function *function_callback(PyObject *callable)
{
	struct tenon_function *made = NULL;

	if (!PyCallable_Check(callable)) {
		PyErr_Format(PyExc_TypeError, "%R cannot be called", callable);
		return NULL;
	}
	Py_INCREF(callable);
	if (!errors_check(
		    tenon_function_create(callable, function_call_python, callback_release, &made)))
		return made;
	Py_DECREF(callable);
	return NULL;
}

/* ---- recorded calls */

int function_record(struct tenon_commands *commands, PyObject *callable, PyObject *const *args,
		    Py_ssize_t count)
{
	struct tenon_value *values = PyMem_Calloc((size_t)count + 1, sizeof(*values));
	struct tenon_function *function = NULL;
	struct temporaries t;
	int err = -1;

	temporaries_begin(&t);
	if (!values)
		PyErr_NoMemory();
	else if (Py_TYPE(callable) == core_function_type)
		function = function_of(callable);
	else
		function = function_callback(callable);
	if (function && !view_arguments(&t, args, count, values)) {
		Py_BEGIN_ALLOW_THREADS err =
			tenon_commands_call(commands, function, values, (int32_t)count);
		Py_END_ALLOW_THREADS err = errors_check(err);
	}
	temporaries_end(&t);
	tenon_object_unref(function);
	PyMem_Free(values);
	return err;
}

/* ---- global functions */

static PyObject *function(PyObject *module, PyObject *name)
{
	struct tenon_function *found = NULL;
	const char *text = scalars_name(name, "a function's name");
	int err;

	if (!text)
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = tenon_function_find(text, &found);
	if (!err && !found)
		err = tenon_error(-TENON_E_NOT_FOUND, "no global function is called \"%s\"", text);
	Py_END_ALLOW_THREADS return err ? errors_set(err) : function_wrap(found);
}

static int add_name(void *context, const char *name, struct tenon_function *function)
{
	PyObject *list = context, *text = PyUnicode_FromString(name);
	int err = text ? PyList_Append(list, text) : -1;

	Py_XDECREF(text);
	return err;
}

static PyObject *functions_listed(PyObject *module, PyObject *unused)
{
	PyObject *list = PyList_New(0);

	if (list && tenon_function_each(add_name, list))
		Py_CLEAR(list);
	return list;
}

/* wrap(callable) is what a function gets when the callable is its argument. */
static PyObject *wrap(PyObject *module, PyObject *callable)
{
	struct tenon_function *function = function_callback(callable);
	PyObject *made = function ? function_wrap(function) : NULL;

	if (made)
		core_function_of(made)->callable = callable;
	return made;
}

static PyObject *register_function(PyObject *module, PyObject *args, PyObject *keywords)
{
	static char *names[] = { "name", "function", "replace", NULL };
	struct tenon_function *made;
	PyObject *callable;
	const char *name;
	int replace = 0, err;

	if (!PyArg_ParseTupleAndKeywords(args, keywords, "sO|$p:register", names, &name, &callable,
					 &replace))
		return NULL;
	if (Py_TYPE(callable) == core_function_type)
		made = function_of(callable);
	else if (!(made = function_callback(callable)))
		return NULL;
	Py_BEGIN_ALLOW_THREADS err = tenon_function_register(name, made, replace);
	Py_END_ALLOW_THREADS tenon_object_unref(made);
	return err ? errors_set(err) : Py_NewRef(callable);
}

static PyObject *unregister(PyObject *module, PyObject *name)
{
	const char *text = scalars_name(name, "a function's name");

	return !text || errors_check(tenon_function_remove(text)) ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
	{ "function", function, METH_O,
	  "function($module, name, /)\n--\n\nA global function by its name." },
	{ "functions", functions_listed, METH_NOARGS,
	  "functions($module, /)\n--\n\nThe names of all global functions." },
	{ "wrap", wrap, METH_O,
	  "wrap($module, callable, /)\n--\n\nA callable as a function of the library, which "
	  "compiled code can call." },
	{ "register", (PyCFunction)(void (*)(void))register_function, METH_VARARGS | METH_KEYWORDS,
	  "register($module, /, name, function, *, replace=False)\n--\n\n"
	  "Give a callable a global name, by which compiled code finds it. Returns the callable." },
	{ "unregister", unregister, METH_O,
	  "unregister($module, name, /)\n--\n\nRemove a global function." },
	{ NULL, NULL, 0, NULL },
};

int function_init(PyObject *module)
{
	core_function_type = core_add_type(module, &function_spec, NULL);
	if (errors_check(tenon_function_create(NULL, call_of_collected, NULL, &collected)))
		return -1;
	return core_function_type ? PyModule_AddFunctions(module, functions) : -1;
}
