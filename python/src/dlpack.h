/* SPDX-License-Identifier: MIT */
/* Tensors to and from other libraries by DLPack: capsules of both versions, and its C exchange API. */
#ifndef PYTHON_DLPACK_H
#define PYTHON_DLPACK_H

#include "tensor.h"

/** dlpack_offered - test whether an object has __dlpack__ */
bool dlpack_offered(PyObject *from);

/** dlpack_import - the tensor, with one reference, on the memory of an object with __dlpack__; NULL with an exception set */
struct tenon_tensor *dlpack_import(PyObject *from);

/** dlpack_method - Tensor.__dlpack__ */
PyObject *dlpack_method(PyObject *self, PyObject *args, PyObject *keywords);

/** dlpack_device_method - Tensor.__dlpack_device__ */
PyObject *dlpack_device_method(PyObject *self, PyObject *unused);

#endif /* PYTHON_DLPACK_H */
