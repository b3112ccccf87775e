/* SPDX-License-Identifier: MIT */
/* tenon.Function, and callables of Python as functions of the library. */
#ifndef PYTHON_FUNCTION_H
#define PYTHON_FUNCTION_H

#include "core.h"

/** function_wrap - a function object; takes over the reference, also on failure */
PyObject *function_wrap(struct tenon_function *function);

/** function_of - the function of a function object, borrowed */
struct tenon_function *function_of(PyObject *function);

/** function_callback - a function of the library, with one reference, that calls a callable; NULL with an exception set */
struct tenon_function *function_callback(PyObject *callable);

#endif /* PYTHON_FUNCTION_H */
