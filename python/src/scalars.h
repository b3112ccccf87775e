/* SPDX-License-Identifier: MIT */
/*
 * Dtypes, pointers and shapes.
 *
 * tenon.DType is a str, tenon.Pointer an int and tenon.Shape a tuple, so that they print, compare and pickle as
 * these; as arguments of functions they become what their name says.
 */
#ifndef PYTHON_SCALARS_H
#define PYTHON_SCALARS_H

#include "core.h"

/** scalars_dtype - the tenon.DType of a dtype */
PyObject *scalars_dtype(DLDataType dtype);

/** scalars_read_dtype - read "float32", a tenon.DType, or an object whose str() names a dtype, such as numpy's; 0 or -1 */
int scalars_read_dtype(PyObject *from, DLDataType *out);

/** scalars_pointer - the tenon.Pointer of an address */
PyObject *scalars_pointer(void *address);

/** scalars_shape - the tenon.Shape of extents */
PyObject *scalars_shape(const int64_t *extents, size_t count);

/** scalars_tuple - a tuple of numbers */
PyObject *scalars_tuple(const int64_t *numbers, size_t count);

/**
 * scalars_read_extents - read a sequence of numbers, or a single one
 * @from: sequence or number
 * @out: receives an array that the caller frees with PyMem_Free()
 *
 * Return: how many; -1 with an exception set.
 */
Py_ssize_t scalars_read_extents(PyObject *from, int64_t **out);

/**
 * scalars_unsigned - a converter for the format "O&" of arguments: an integer of 64 bits without a sign
 * @out: receives it; an uint64_t
 *
 * The format "K" takes negative integers, and drops bits.
 *
 * Return: 1; 0 with an exception set.
 */
int scalars_unsigned(PyObject *from, void *out);

/**
 * scalars_name - the text of a name, for functions that take one that ends in NUL
 * @what: "a function's name", for the exception
 *
 * Return: the text, which @from keeps; NULL with an exception set.
 */
const char *scalars_name(PyObject *from, const char *what);

#endif /* PYTHON_SCALARS_H */
