/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_CORE_SAVED_TENSOR_H
#define RUNTIME_CORE_SAVED_TENSOR_H

/**
 * DOC: tensors as TVM saves them
 *
 * The same bytes stand in parameter files, in constants and in executables: a magic number, a
 * device, shape, dtype, and the elements, each in a whole number of bytes.
 */

#include <tenon/backend/cursor.h>
#include <tenon/tensor.h>

#include "lib/plugin_api.h"

#define SAVED_TENSOR_MAGIC UINT64_C(0xdd5e40f096b4a13f)

/* bytes of the smallest saved tensor, which has no dimension and no element's bytes */
#define SAVED_TENSOR_LEAST 44

#define SAVED_TENSOR_NDIM_MOST 64

/* bytes in front of the elements of a saved tensor, at most */
#define SAVED_TENSOR_HEAD_MOST (40 + 8 * SAVED_TENSOR_NDIM_MOST)

/**
 * struct saved_tensor - a saved tensor, where it stands
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

/* The same up to the size of the data, which is checked; the cursor is left there, and @out->data alone. */
int saved_tensor_head(struct tenon_cursor *c, struct saved_tensor *out);

/* A saved tensor, where it stands; @shape receives the extents, and becomes the tensor's. */
void saved_tensor_describe(const struct saved_tensor *saved, int64_t *shape, DLTensor *dl);

/**
 * saved_tensor_make - make a tensor of a saved one
 * @saved: what was read
 * @keep: keeps the bytes alive: the tensor is a view of them where they are aligned to
 *	TENON_TENSOR_ALIGN; NULL: they are copied
 * @out: receives the tensor with one reference
 *
 * Return: 0; -TENON_E_NOMEM; -TENON_E_VALUE; -TENON_E_OVERFLOW.
 */
int saved_tensor_make(const struct saved_tensor *saved, struct tenon_object *keep,
		      struct tenon_tensor **out) TO_PLUGINS(saved_tensor_make);

#endif /* RUNTIME_CORE_SAVED_TENSOR_H */
