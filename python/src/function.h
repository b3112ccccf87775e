/* SPDX-License-Identifier: MIT */
/* tenon.Function, and callables of Python as functions of the library. */
#ifndef PYTHON_FUNCTION_H
#define PYTHON_FUNCTION_H

#include <tenon/commands.h>

#include "core.h"

/** function_wrap - a function object; takes over the reference, also on failure */
PyObject *function_wrap(struct tenon_function *function);

/**
 * function_of - the function of a function object
 *
 * Return: a reference, which is held as long as code without the GIL uses the function: see is_only_owner().
 */
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

/**
 * function_record - record what a function, or another callable, submits
 * @commands: recording, which nothing else uses: the GIL is released
 * @callable: a tenon.Function, or a callable of Python
 * @args: @count arguments, fewer than INT32_MAX
 * @count: number of arguments
 *
 * Return: 0; -1 with an exception set.
 */
int function_record(struct tenon_commands *commands, PyObject *callable, PyObject *const *args,
		    Py_ssize_t count);

#endif /* PYTHON_FUNCTION_H */
