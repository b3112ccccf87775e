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

static PyMethodDef functions[] = {
	{ "version", version, METH_NOARGS,
	  "version($module, /)\n--\n\nThe version of the library." },
	{ "configuration", configuration, METH_NOARGS,
	  "configuration($module, /)\n--\n\nOptions that the library was built with." },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "tenon._core",
	.m_doc = "The part of tenon that is written in C.",
	.m_size = -1,
	.m_methods = functions,
};

/* in this order: exceptions first, the tensor's type before its table of DLPack */
static int (*const parts[])(PyObject *module) = {
	errors_init,   scalars_init, object_init,	 tensor_init, dlpack_init,
	function_init, module_init,  python_module_init, device_init, model_init,
	timeline_init, queue_init,   recording_init,	 remote_init, core_api_init,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
	PyObject *module = PyModule_Create(&definition);
	size_t i;

	for (i = 0; module && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i](module))
			Py_CLEAR(module);
	return module;
}
