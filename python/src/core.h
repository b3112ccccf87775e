/* SPDX-License-Identifier: MIT */
/*
 * What the files of the extension share.
 *
 * The extension tenon._core is written against CPython's limited API of 3.12, so that one build serves
 * all later versions. Python 3.11, which lacks vectorcall in it, and free-threaded Pythons before 3.15 get builds of their
 * own; from 3.15 on, one for abi3t serves both kinds (python/setup.py and scripts/Makefile.python set Py_LIMITED_API and
 * Py_TARGET_ABI3T).
 *
 * Rules for all files:
 *
 * * Functions of the library that may wait, run foreign code or take a lock are called without the GIL.
 *   Functions called from there (callbacks, deleters) take it.
 * * Functions that return a PyObject * return NULL with an exception set. Those that return an int return
 *   0, or -1 with an exception set.
 * * Formats of arguments have no '#': Python 3.12 refuses it in what was compiled with the headers of 3.13.
 * * There is one interpreter: types are static variables, set when the module is made.
 * * Methods that change an object run in its critical section. In a free-threaded Python that does for one object what
 *   the GIL does elsewhere for all: it is left where the GIL would be released. What is set when an object is made, and
 *   never changes, needs none.
 * * References are borrowed from tuples alone: another thread may change a dict or a list.
 */
#ifndef PYTHON_CORE_H
#define PYTHON_CORE_H

#include <Python.h>
#if PY_VERSION_HEX < 0x030c0000
#include <structmember.h>
#define Py_T_PYSSIZET T_PYSSIZET
#define Py_READONLY   READONLY
#endif

#include <stdbool.h>
#include <tenon/tenon.h>

#ifndef Py_BEGIN_CRITICAL_SECTION
#define Py_BEGIN_CRITICAL_SECTION(object) {
#define Py_END_CRITICAL_SECTION()	  }
#endif

/*
 * CORE_HEAD begins the struct of an object, CORE_SIZE() is its size for PyType_Spec, CORE_OFFSET the flag of its members, and
 * core_part() finds the struct. In builds for abi3t Python alone knows how objects begin, and the struct lies behind that.
 */
#ifdef Py_TARGET_ABI3T
#define CORE_HEAD
#define CORE_SIZE(object)     (-(int)sizeof(object))
#define CORE_OFFSET	      Py_RELATIVE_OFFSET
#define core_part(self, type) PyObject_GetTypeData(self, type)
#else
#define CORE_HEAD	      PyObject_HEAD
#define CORE_SIZE(object)     ((int)sizeof(object))
#define CORE_OFFSET	      0
#define core_part(self, type) ((void *)(self))
#endif

/* what a PyType_Spec has for a type that Python makes no objects of */
#define CORE_TYPE(name, object, slots)                                                             \
	{                                                                                          \
		name, CORE_SIZE(object), 0,                                                        \
			Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots              \
	}

/*
 * CORE_MODULE - define the function by which Python makes an extension
 * @name: "tenon._NAME" without "tenon."
 * @document: text
 * @functions: array of PyMethodDef
 * @fill: int fill(PyObject *module), which adds the rest; -1 with an exception set
 *
 * There it is also said that the extension needs no GIL.
 */
#ifdef Py_TARGET_ABI3T
#define CORE_MODULE(name, document, functions, fill)                                               \
	PyMODEXPORT_FUNC PyModExport_##name(void);                                                 \
	PyMODEXPORT_FUNC PyModExport_##name(void)                                                  \
	{                                                                                          \
		PyABIInfo_VAR(abi);                                                                \
		static PySlot slots[] = {                                                          \
			PySlot_STATIC_DATA(Py_mod_abi, &abi),                                      \
			PySlot_STATIC_DATA(Py_mod_name, "tenon." #name),                           \
			PySlot_STATIC_DATA(Py_mod_doc, document),                                  \
			PySlot_STATIC_DATA(Py_mod_methods, functions),                             \
			PySlot_DATA(Py_mod_gil, Py_MOD_GIL_NOT_USED),                              \
			PySlot_DATA(Py_mod_multiple_interpreters,                                  \
				    Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED),                   \
			PySlot_FUNC(Py_mod_exec, fill),                                            \
			PySlot_END,                                                                \
		};                                                                                 \
		return slots;                                                                      \
	}
#else
#define CORE_MODULE(name, document, functions, fill)                                               \
	static struct PyModuleDef definition = {                                                   \
		PyModuleDef_HEAD_INIT,                                                             \
		"tenon." #name,                                                                    \
		document,                                                                          \
		-1,                                                                                \
		functions,                                                                         \
		NULL,                                                                              \
		NULL,                                                                              \
		NULL,                                                                              \
		NULL,                                                                              \
	};                                                                                         \
	PyMODINIT_FUNC PyInit_##name(void);                                                        \
	PyMODINIT_FUNC PyInit_##name(void)                                                         \
	{                                                                                          \
		return core_module_make(&definition, fill);                                        \
	}

static inline PyObject *core_module_make(struct PyModuleDef *definition,
					 int (*fill)(PyObject *module))
{
	PyObject *module = PyModule_Create(definition);

#ifdef Py_GIL_DISABLED
	if (module && PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED))
		Py_CLEAR(module);
#endif
	if (module && fill(module))
		Py_CLEAR(module);
	return module;
}
#endif

/* a type of Python that its file makes when the module is made */
extern PyTypeObject *core_tensor_type;
extern PyTypeObject *core_function_type;
extern PyTypeObject *core_module_type;
extern PyTypeObject *core_object_type;
extern PyTypeObject *core_device_type;
extern PyTypeObject *core_dtype_type;
extern PyTypeObject *core_pointer_type;
extern PyTypeObject *core_shape_type;

/* core_free() - free an object and drop the reference to its type, as the end of a tp_dealloc */
static inline void core_free(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	PyObject_Free(self);
	Py_DECREF(type);
}

/** core_add_type - make a type of a specification and add it to a module; NULL on failure */
PyTypeObject *core_add_type(PyObject *module, PyType_Spec *spec, PyObject *bases);

/**
 * core_dict_get - find an item of a dict
 *
 * Return: a reference; NULL for none, or with an exception set.
 */
static inline PyObject *core_dict_get(PyObject *dict, PyObject *key)
{
	PyObject *found;

#ifdef Py_GIL_DISABLED
	PyDict_GetItemRef(dict, key, &found);
#else
	found = PyDict_GetItemWithError(dict, key);
	Py_XINCREF(found);
#endif
	return found;
}

/* each file adds its types and functions to the module; 0 or -1 */
int errors_init(PyObject *module);
int scalars_init(PyObject *module);
int object_init(PyObject *module);
int tensor_init(PyObject *module);
int dlpack_init(PyObject *module);
int function_init(PyObject *module);
int module_init(PyObject *module);
int device_init(PyObject *module);
int model_init(PyObject *module);
int timeline_init(PyObject *module);
int python_module_init(PyObject *module);
int queue_init(PyObject *module);
int recording_init(PyObject *module);
int remote_init(PyObject *module);
int core_api_init(PyObject *module);

#endif /* PYTHON_CORE_H */
