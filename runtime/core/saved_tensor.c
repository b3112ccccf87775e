/* SPDX-License-Identifier: MIT */
/* Read and write a tensor's head, with the data in the machine's byte order. */
#include <inttypes.h>

#include "lib/brief_errors.h"
#include "lib/cursor_fast.h"
#include "lib/library_pages.h"
#include "runtime/core/dtype.h"
#include "runtime/core/saved_tensor.h"
#include "runtime/core/tensor_view.h"

static int read_magic(struct tenon_cursor *c)
{
	const struct tenon_cursor from = *c;
	uint64_t magic, reserved, device;
	int err;

	err = take_u64(c, &magic);
	if (!err)
		err = take_u64(c, &reserved);
	if (!err)
		err = take_u64(c, &device);
	if (err)
		return err;
	if (magic != SAVED_TENSOR_MAGIC)
		return tenon_cursor_error(&from, -TENON_E_FORMAT,
					  "0x%" PRIx64
					  " is not the magic number of a tensor, 0x%" PRIx64,
					  magic, SAVED_TENSOR_MAGIC);
	if ((uint32_t)device != kDLCPU)
		return tenon_cursor_error(&from, -TENON_E_FORMAT,
					  "a tensor of device type %u, want 1 (cpu)",
					  (uint32_t)device);
	return 0;
}

/* An extent of 0 makes the size 0, which must not hide an overflow of the others. */
static int check_size(const struct tenon_cursor *c, const struct saved_tensor *t, uint64_t size)
{
	uint64_t bytes = dtype_bytes(t->dtype), want;
	bool empty = false;
	int32_t i;

	for (i = 0; i < t->ndim; i++) {
		uint64_t extent = load_u64(t->shape + 8 * (size_t)i);

		empty |= !extent;
		if (extent > INT64_MAX || (extent && __builtin_mul_overflow(bytes, extent, &bytes)))
			return tenon_cursor_error(c, -TENON_E_FORMAT,
						  "extent %" PRIi64 " of dimension %d of a tensor",
						  (int64_t)extent, i);
	}
	want = empty ? 0 : bytes;
	if (size != want)
		return tenon_cursor_error(c, -TENON_E_FORMAT,
					  "a tensor of %" PRIu64 " bytes, its shape wants %" PRIu64,
					  size, want);
	return 0;
}

int saved_tensor_head(struct tenon_cursor *c, struct saved_tensor *out)
{
	struct tenon_slice shape;
	char name[TENON_DTYPE_NAME];
	uint32_t ndim, dtype;
	int err;

	err = read_magic(c);
	if (!err)
		err = tenon_cursor_u32(c, &ndim);
	if (!err)
		err = tenon_cursor_u32(c, &dtype);
	if (err)
		return err;
	if (ndim > SAVED_TENSOR_NDIM_MOST)
		return tenon_cursor_error(c, -TENON_E_FORMAT, "%" PRIu32 " dimensions, %d at most",
					  ndim, SAVED_TENSOR_NDIM_MOST);
	out->ndim = (int32_t)ndim;
	out->dtype = tenon_dtype(dtype & 255, dtype >> 8 & 255, dtype >> 16);
	if (out->dtype.lanes != 1)
		return tenon_cursor_error(
			c, -TENON_E_UNSUPPORTED,
			"a tensor whose elements have %u lanes: TVM saves one only",
			out->dtype.lanes);
	if (!dtype_is_known(out->dtype))
		return tenon_cursor_error(c, -TENON_E_FORMAT,
					  "a tensor of dtype %s, which no tensor has",
					  tenon_dtype_name(out->dtype, name));
	err = tenon_cursor_bytes(c, 8 * (uint64_t)ndim, &shape);
	if (err)
		return err;
	out->shape = (const uint8_t *)shape.data;
	return tenon_cursor_left(c) < 8 ? 0 : check_size(c, out, load_u64(c->at));
}

int saved_tensor_read(struct tenon_cursor *c, struct saved_tensor *out)
{
	int err = saved_tensor_head(c, out);

	return err ? err : tenon_cursor_string(c, &out->data);
}

void saved_tensor_describe(const struct saved_tensor *saved, int64_t *shape, DLTensor *dl)
{
	int32_t i;

	for (i = 0; i < saved->ndim; i++)
		shape[i] = (int64_t)load_u64(saved->shape + 8 * (size_t)i);
	*dl = tenon_dltensor((void *)(uintptr_t)saved->data.data, shape, saved->ndim, saved->dtype);
}

void saved_tensor_swap(DLDataType dtype, void *data, size_t size)
{
	size_t at, i, width = dtype_bytes(dtype);
	uint8_t *bytes = data;

	if (dtype.code == TENON_DTYPE_COMPLEX) /* two numbers */
		width /= 2;
	if (!SAVED_TENSOR_FOREIGN || width < 2)
		return;
	for (at = 0; at + width <= size; at += width)
		for (i = 0; i < width / 2; i++) {
			uint8_t byte = bytes[at + i];

			bytes[at + i] = bytes[at + width - 1 - i];
			bytes[at + width - 1 - i] = byte;
		}
}

/* Elements smaller than a byte take one byte each while loading. */
static void copy_elements(const struct saved_tensor *saved, void *to)
{
	library_pages_copy(to, saved->data.data, saved->data.size);
	saved_tensor_swap(saved->dtype, to, saved->data.size);
}

bool saved_tensor_in_place(const struct saved_tensor *saved, const struct tenon_object *keep)
{
	return keep && !SAVED_TENSOR_FOREIGN && !((uintptr_t)saved->data.data % TENON_TENSOR_ALIGN);
}

int saved_tensor_copy(const struct saved_tensor *saved, void *to, struct tenon_object *keep,
		      struct tenon_tensor **out)
{
	int64_t shape[SAVED_TENSOR_NDIM_MOST];
	DLTensor dl;

	copy_elements(saved, to);
	saved_tensor_describe(saved, shape, &dl);
	dl.data = to;
	return tenon_tensor_view(&dl, keep, out);
}

int saved_tensor_make(const struct saved_tensor *saved, struct tenon_object *keep,
		      struct tenon_tensor **out)
{
	unsigned int width = dtype_bytes(saved->dtype);
	int64_t shape[SAVED_TENSOR_NDIM_MOST];
	DLTensor dl;
	int err;

	saved_tensor_describe(saved, shape, &dl);
	if (saved_tensor_in_place(saved, keep))
		return tenon_tensor_view(&dl, keep, out);

	dl.dtype = tenon_dtype(TENON_DTYPE_UINT, 8, width);
	err = tensor_create_unset(&dl, out);
	if (err)
		return err;
	(*out)->dl.dtype = saved->dtype;
	copy_elements(saved, (*out)->dl.data);
	return 0;
}
