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

/**
 * function_call_python - call a callable of Python from compiled code; takes the GIL
 * @callable: a PyObject
 * @args: @count arguments; what is borrowed is so for the call
 * @count: number of arguments
 * @ret: receives the result
 *
 * Return: 0; -TENON_E_CALL, with the exception as the thread's error.
 */
int function_call_python(void *callable, const struct tenon_value *args, int32_t count,
			 struct tenon_value *ret);

#endif /* PYTHON_FUNCTION_H */
