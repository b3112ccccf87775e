/* SPDX-License-Identifier: MIT */
/* tenon.Tensor, and tensors of the library for objects of other packages. */
#ifndef PYTHON_TENSOR_H
#define PYTHON_TENSOR_H

#include "core.h"

#include <stdatomic.h>

/**
 * struct core_tensor - a tensor of the library as an object of Python
 * @tensor: one reference
 * @read_only: 1, 0; -1 if not known yet
 * @borrowed: the data belongs to the caller of a callback and ends with the call: it is exported as a copy only
 * @pins: number of operations without the GIL that use @borrowed data, and TENSOR_ENDED after that call
 */
struct core_tensor {
	CORE_HEAD struct tenon_tensor *tensor;
	atomic_int read_only;
	bool borrowed;
	atomic_uint pins;
};

#define TENSOR_ENDED 0x80000000u

static inline struct core_tensor *core_tensor_of(PyObject *tensor)
{
	return core_part(tensor, core_tensor_type);
}

static inline bool tensor_check(PyObject *o)
{
	return Py_TYPE(o) == core_tensor_type;
}

/** tensor_wrap - a tensor object; takes over the reference, also on failure */
PyObject *tensor_wrap(struct tenon_tensor *tensor);

/** tensor_empty - a new tensor object; without @dtype (NULL) of float32. NULL with an exception set */
PyObject *tensor_empty(PyObject *shape, PyObject *dtype, DLDevice device);

/** tensor_borrow - a tensor object for data that ends with a call; tensor_end() ends it */
PyObject *tensor_borrow(const DLTensor *dl);

/** tensor_end - make a borrowed tensor unusable, after operations of other threads on it have ended */
void tensor_end(PyObject *tensor);

/** tensor_dl - the DLTensor of a tensor object; NULL with an exception set after tensor_end() */
const DLTensor *tensor_dl(PyObject *tensor);

/**
 * tensor_pin - as tensor_dl(), for an operation without the GIL
 *
 * tensor_end() waits for tensor_unpin().
 */
const DLTensor *tensor_pin(PyObject *tensor);

/** tensor_unpin - end an operation */
static inline void tensor_unpin(struct core_tensor *t)
{
	atomic_fetch_sub(&t->pins, 1);
}

/** tensor_is_read_only - 1 or 0; -1 with an exception set */
int tensor_is_read_only(PyObject *tensor);

/**
 * tensor_from - a tensor of the library for any object with data, without a copy
 * @from: tenon.Tensor, or an object with __dlpack__ or the buffer protocol
 *
 * Return: the tensor with one reference; NULL with an exception set. Borrowed data is copied.
 */
struct tenon_tensor *tensor_from(PyObject *from);

/** tensor_copied - a compact copy on a device, also of borrowed data; NULL with an exception set */
struct tenon_tensor *tensor_copied(PyObject *tensor, DLDevice device);

#endif /* PYTHON_TENSOR_H */
