/* SPDX-License-Identifier: MIT */
/*
 * What the files of the extension share.
 *
 * The extension tenon._core is written against CPython's limited API of 3.12, so that one build serves
 * all later versions. Python 3.11, which lacks vectorcall in it, gets a build of its own
 * (python/setup.py and scripts/Makefile.python set Py_LIMITED_API).
 *
 * Rules for all files:
 *
 * * Functions of the library that may wait, run foreign code or take a lock are called without the GIL.
 *   Functions called from there (callbacks, deleters) take it.
 * * Functions that return a PyObject * return NULL with an exception set. Those that return an int return
 *   0, or -1 with an exception set.
 * * Formats of arguments have no '#': Python 3.12 refuses it in what was compiled with the headers of 3.13.
 * * There is one interpreter: types are static variables, set when the module is made.
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

/* a type of Python that its file makes when the module is made */
extern PyTypeObject *core_tensor_type;
extern PyTypeObject *core_function_type;
extern PyTypeObject *core_module_type;
extern PyTypeObject *core_object_type;
extern PyTypeObject *core_device_type;
extern PyTypeObject *core_dtype_type;
extern PyTypeObject *core_pointer_type;
extern PyTypeObject *core_shape_type;

/** core_add_type - make a type of a specification and add it to a module; NULL on failure */
PyTypeObject *core_add_type(PyObject *module, PyType_Spec *spec, PyObject *bases);

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
