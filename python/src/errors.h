/* SPDX-License-Identifier: MIT */
/* Errors of the library as exceptions, and exceptions as errors of the library. */
#ifndef PYTHON_ERRORS_H
#define PYTHON_ERRORS_H

#include "core.h"

/**
 * errors_set - make the thread's error of the library the exception of Python
 * @status: what a function of the library returned
 *
 * An exception that a callback raised is raised again, the same object.
 *
 * Return: NULL, so that the caller can return it.
 */
PyObject *errors_set(int status);

/** errors_check - 0 for status 0; else errors_set() and -1 */
int errors_check(int status);

/** errors_none - None for status 0; else errors_set() */
static inline PyObject *errors_none(int status)
{
	return status ? errors_set(status) : Py_NewRef(Py_None);
}

/** errors_exception - the exception for an error object of the library; it is not raised */
PyObject *errors_exception(struct tenon_error *error, int status);

/**
 * errors_raise - make the exception of Python, which is cleared, the thread's error of the library
 *
 * Return: -TENON_E_CALL.
 */
int errors_raise(void);

/** errors_closed - set the exception for use of an object that was closed; returns NULL */
PyObject *errors_closed(const char *what);

#endif /* PYTHON_ERRORS_H */
