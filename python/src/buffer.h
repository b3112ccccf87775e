/* SPDX-License-Identifier: MIT */
/* Tensors on the memory of Python's buffer protocol, and the reverse. */
#ifndef PYTHON_BUFFER_H
#define PYTHON_BUFFER_H

#include "tensor.h"

/**
 * buffer_describe - describe a buffer as a tensor
 * @view: the buffer
 * @dl: receives the tensor
 * @extents: room for 2 * @view->ndim numbers, which @dl points to
 *
 * Return: 0; -1 with an exception set for elements that no dtype describes.
 */
int buffer_describe(const Py_buffer *view, DLTensor *dl, int64_t *extents);

/**
 * buffer_import - a tensor on the memory of a buffer, which it keeps alive
 * @from: any object
 * @dtype: what the bytes are; NULL for what the buffer says
 * @shape: extents of the tensor; NULL for what the buffer says, or one dimension with @dtype
 *
 * Return: the tensor with one reference; NULL with an exception set.
 */
struct tenon_tensor *buffer_import(PyObject *from, const DLDataType *dtype, PyObject *shape);

/** buffer_export - the getbuffer slot of tensors */
int buffer_export(PyObject *tensor, Py_buffer *view, int flags);

/** buffer_release - the releasebuffer slot of tensors */
void buffer_release(PyObject *self, Py_buffer *view);

#endif /* PYTHON_BUFFER_H */
