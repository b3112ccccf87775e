/* SPDX-License-Identifier: MIT */
/* Tensors in the form in which TVM saves them. */
#ifndef RUNTIME_CORE_SAVED_TENSOR_H
#define RUNTIME_CORE_SAVED_TENSOR_H

/*
 * TVM uses one format in parameter files, constants and executables: a magic number, device, shape,
 * dtype, and the elements, each in a whole number of bytes.
 */

#include <tenon/backend/cursor.h>
#include <tenon/tensor.h>

#include "lib/plugin_api.h"

#define SAVED_TENSOR_MAGIC UINT64_C(0xdd5e40f096b4a13f)

/* bytes of the smallest saved tensor: no dimensions, no elements */
#define SAVED_TENSOR_LEAST 44

#define SAVED_TENSOR_NDIM_MOST 64

/* largest number of bytes in front of the elements */
#define SAVED_TENSOR_HEAD_MOST (40 + 8 * SAVED_TENSOR_NDIM_MOST)

/* bytes of a head up to the number of its dimensions */
#define SAVED_TENSOR_NDIM_END 28

/**
 * struct saved_tensor - a parsed saved tensor; points into the source
 * @shape: @ndim little-endian i64, not aligned
 * @ndim: dimensions
 * @dtype: element type; one lane
 * @data: the elements
 */
struct saved_tensor {
	const uint8_t *shape;
	int32_t ndim;
	DLDataType dtype;
	struct tenon_slice data;
};

/**
 * saved_tensor_read - read a saved tensor, checking that its size is that of its shape
 * @c: cursor; moved behind it on success
 * @out: receives what was read
 *
 * Return: 0; -TENON_E_TRUNCATED; -TENON_E_FORMAT; -TENON_E_UNSUPPORTED for a dtype of several
 *	lanes, whose elements TVM does not save whole.
 */
int saved_tensor_read(struct tenon_cursor *c, struct saved_tensor *out)
	TO_PLUGINS(saved_tensor_read);

/*
 * Like saved_tensor_read(), but stops in front of the data, after a check of its size. @out->data
 * is not set.
 */
int saved_tensor_head(struct tenon_cursor *c, struct saved_tensor *out);

/* Describe a saved tensor as a DLTensor. @shape receives the extents, and @dl points to it. */
void saved_tensor_describe(const struct saved_tensor *saved, int64_t *shape, DLTensor *dl);

/**
 * saved_tensor_make - create a tensor from a saved one
 * @saved: parsed tensor
 * @keep: object that keeps the bytes alive: where they are aligned to TENON_TENSOR_ALIGN, the
 * tensor is a view of them; NULL: they are copied
 * @out: receives the tensor with one reference
 *
 * Return: 0; -TENON_E_NOMEM; -TENON_E_VALUE; -TENON_E_OVERFLOW.
 */
int saved_tensor_make(const struct saved_tensor *saved, struct tenon_object *keep,
		      struct tenon_tensor **out) TO_PLUGINS(saved_tensor_make);

/** saved_tensor_in_place - whether saved_tensor_make() makes a view of the bytes */
bool saved_tensor_in_place(const struct saved_tensor *saved, const struct tenon_object *keep)
	TO_PLUGINS(saved_tensor_in_place);

/**
 * saved_tensor_copy - copy a saved tensor to memory of the caller, and create a view of that
 * @saved: parsed tensor
 * @to: memory for as many bytes as @saved has, aligned to TENON_TENSOR_ALIGN
 * @keep: object that keeps @to alive
 * @out: receives the tensor with one reference
 *
 * Return: as saved_tensor_make().
 */
int saved_tensor_copy(const struct saved_tensor *saved, void *to, struct tenon_object *keep,
		      struct tenon_tensor **out) TO_PLUGINS(saved_tensor_copy);

/* Numbers in files are little-endian. On other machines each parameter is copied to be used. */
#define SAVED_TENSOR_FOREIGN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/**
 * saved_tensor_swap - turn elements from the order of files into that of this machine, or back
 * @dtype: element type; one lane
 * @data: the elements
 * @size: bytes
 *
 * Does nothing where both are the same.
 */
void saved_tensor_swap(DLDataType dtype, void *data, size_t size);

#endif /* RUNTIME_CORE_SAVED_TENSOR_H */
