/* SPDX-License-Identifier: MIT */
/* Make the module tenon._core of the parts that the other files add. */
#include "core.h"

PyTypeObject *core_add_type(PyObject *module, PyType_Spec *spec, PyObject *bases)
{
	PyObject *type = PyType_FromSpecWithBases(spec, bases);

	if (type && PyModule_AddType(module, (PyTypeObject *)type))
		Py_CLEAR(type);
	return (PyTypeObject *)type;
}

static PyObject *version(PyObject *module, PyObject *unused)
{
	return PyUnicode_FromString(tenon_version());
}

static PyObject *configuration(PyObject *module, PyObject *unused)
{
	PyObject *text = PyUnicode_FromString(tenon_configuration()), *list = NULL;

	if (text)
		list = PyUnicode_Split(text, NULL, -1);
	Py_XDECREF(text);
	return list;
}

/* the interpreter that made the types */
static int64_t interpreter = -1;

/*
 * check_interpreter(): the package's first act. Python gives a copy of what the first interpreter has to the others, without asking
 * this code; callbacks would run in the first.
 */
static PyObject *check_interpreter(PyObject *module, PyObject *unused)
{
	if (PyInterpreterState_GetID(PyInterpreterState_Get()) == interpreter)
		Py_RETURN_NONE;
	PyErr_SetString(PyExc_ImportError,
			"tenon serves one interpreter of a process, and another one uses it");
	return NULL;
}

static PyMethodDef functions[] = {
	{ "check_interpreter", check_interpreter, METH_NOARGS, NULL },
	{ "version", version, METH_NOARGS,
	  "version($module, /)\n--\n\nThe version of the library." },
	{ "configuration", configuration, METH_NOARGS,
	  "configuration($module, /)\n--\n\nOptions that the library was built with." },
	{ NULL, NULL, 0, NULL },
};

/* in this order: exceptions first, the tensor's type before its table of DLPack */
static int (*const parts[])(PyObject *module) = {
	errors_init,   scalars_init, object_init,	 tensor_init, dlpack_init,
	function_init, module_init,  python_module_init, device_init, model_init,
	timeline_init, queue_init,   recording_init,	 remote_init, core_api_init,
};

static int fill(PyObject *module)
{
	size_t i;

	/* types are static variables: they are made once */
	if (core_tensor_type) {
		PyErr_SetString(PyExc_ImportError,
				"tenon._core is loaded once by a process, for one interpreter");
		return -1;
	}
	interpreter = PyInterpreterState_GetID(PyInterpreterState_Get());
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i](module))
			return -1;
	return 0;
}

CORE_MODULE(_core, "The part of tenon that is written in C.", functions, fill)
