/* SPDX-License-Identifier: MIT */
/* Write parameters in TVM's format, with data aligned so that it can be mapped. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "runtime/core/dtype.h"
#include "runtime/core/tensor_data.h"
#include "runtime/params/params_interface.h"
#include "runtime/params/params_write.h"
#include "runtime/core/saved_tensor.h"

/* bytes in front of a tensor's data */
#define HEAD_BYTES(ndim) (40 + 8 * (uint64_t)(ndim))

/* the layout of a file: headers are written here, data is only referenced */
struct layout {
	struct tenon_buffer heads;
	struct tenon_slice *parts; /* data of headers is NULL until all are written */
	size_t part_count;
	size_t head_start; /* offset of the header that is being written */
	uint64_t place;	   /* file offset of the next part */
	uint64_t align;
	struct tenon_slice
		swapped; /* data in the order of files, where that is not this machine's */
};

int params_check_data(const struct tenon_param *p)
{
	const DLTensor *t = &p->tensor;
	char name[TENON_DTYPE_NAME];
	int err;

	if (t->device.device_type != kDLCPU)
		return tenon_error(-TENON_E_VALUE, "lies on %s, want CPU memory",
				   tenon_device_name(t->device.device_type));
	if (t->dtype.lanes != 1)
		return tenon_error(-TENON_E_VALUE,
				   "is of dtype %s, which the format has no room for",
				   tenon_dtype_name(t->dtype, name));
	err = dtype_check(t->dtype);
	if (err)
		return err;
	if (!tenon_tensor_compact(t))
		return tenon_error(-TENON_E_VALUE, "has strides, want a compact tensor");
	return tensor_check_data(t) ? tenon_error_status() : 0;
}

int params_check_bytes(const struct tenon_param *p, uint64_t want)
{
	if (p->bytes == want)
		return 0;
	return tenon_error(-TENON_E_VALUE, "has %zu bytes, its shape wants %" PRIu64, p->bytes,
			   want);
}

int params_check_each(const struct tenon_param *params, size_t count, size_t align,
		      int (*check)(const struct tenon_param *p))
{
	size_t i;
	int err;

	if (align & (align - 1))
		return tenon_error(-TENON_E_VALUE, "alignment %zu is no power of two", align);
	for (i = 0; i < count; i++) {
		err = check(&params[i]);
		if (err)
			return tenon_error_in(err, "parameter \"%.*s\"", (int)params[i].name.size,
					      params[i].name.data);
	}
	return 0;
}

static int check(const struct tenon_param *p)
{
	const DLTensor *t = &p->tensor;
	uint64_t bytes = dtype_bytes(t->dtype);
	int err = params_check_data(p);
	int32_t i;

	for (i = 0; !err && i < t->ndim; i++)
		if (t->shape[i] < 0 || __builtin_mul_overflow(bytes, (uint64_t)t->shape[i], &bytes))
			err = tenon_error(-TENON_E_VALUE, "has extent %" PRIi64, t->shape[i]);
	return err ? err : params_check_bytes(p, bytes);
}

static void put_head(struct layout *l, DLDataType dtype, const int64_t *shape, int32_t ndim,
		     uint64_t bytes)
{
	int32_t i;

	tenon_buffer_u64(&l->heads, SAVED_TENSOR_MAGIC);
	tenon_buffer_u64(&l->heads, 0);
	tenon_buffer_u32(&l->heads, kDLCPU);
	tenon_buffer_u32(&l->heads, 0);
	tenon_buffer_u32(&l->heads, (uint32_t)ndim);
	tenon_buffer_u8(&l->heads, dtype.code);
	tenon_buffer_u8(&l->heads, dtype.bits);
	tenon_buffer_u8(&l->heads, (uint8_t)dtype.lanes);
	tenon_buffer_u8(&l->heads, (uint8_t)(dtype.lanes >> 8));
	for (i = 0; i < ndim; i++)
		tenon_buffer_u64(&l->heads, (uint64_t)shape[i]);
	tenon_buffer_u64(&l->heads, bytes);
	l->place += HEAD_BYTES(ndim);
}

static void end_head(struct layout *l)
{
	l->parts[l->part_count++] = (struct tenon_slice){ NULL, l->heads.size - l->head_start };
	l->head_start = l->heads.size;
}

#define PADDING_NAME (sizeof(PARAMS_PADDING) - 1 + 10)

static void put_padding(struct layout *l, uint64_t bytes)
{
	static const char zeros[8];
	int64_t extent = (int64_t)bytes;
	uint64_t left;

	put_head(l, tenon_dtype(TENON_DTYPE_UINT, 8, 1), &extent, 1, bytes);
	l->place += bytes;
	for (left = bytes; left; left -= left < 8 ? left : 8)
		tenon_buffer_append(&l->heads, zeros, left < 8 ? (size_t)left : 8);
}

/*
 * Padding tensors have names, and all names precede the data. The name of the first padding tensor
 * is extended so that the tensors begin at a multiple of the alignment. So the choice of tensors
 * that need padding does not depend on the number of names. The first tensor with data always gets
 * padding.
 */
static uint64_t choose_padding(struct layout *l, const struct tenon_param *params, size_t count,
			       bool *padded)
{
	uint64_t place = 0, n = 0, data;
	size_t i;

	for (i = 0; i < count && l->align > 1; i++) {
		data = place + HEAD_BYTES(params[i].tensor.ndim);
		padded[i] = params[i].bytes && (!n || (data & (l->align - 1)));
		if (padded[i]) {
			data += HEAD_BYTES(1);
			data += -data & (l->align - 1);
			n++;
		}
		place = data + params[i].bytes;
	}
	return n;
}

static uint64_t names_bytes(const struct tenon_param *params, size_t count, uint64_t paddings)
{
	uint64_t bytes = 4 * 8 + paddings * (8 + PADDING_NAME);
	size_t i;

	for (i = 0; i < count; i++)
		bytes += 8 + params[i].name.size;
	return bytes;
}

static void put_padding_name(struct layout *l, uint64_t number, uint64_t dots)
{
	tenon_buffer_u64(&l->heads, PADDING_NAME + dots);
	tenon_buffer_printf(&l->heads, PARAMS_PADDING "%010" PRIu64, number);
	while (dots--)
		tenon_buffer_u8(&l->heads, '.');
}

static void put_names(struct layout *l, const struct tenon_param *params, size_t count,
		      const bool *padded, uint64_t paddings)
{
	uint64_t n = 0, fill = -names_bytes(params, count, paddings) & (l->align - 1);
	size_t i;

	tenon_buffer_u64(&l->heads, PARAMS_MAGIC);
	tenon_buffer_u64(&l->heads, 0);
	tenon_buffer_u64(&l->heads, count + paddings);
	for (i = 0; i < count; i++) {
		if (padded[i]) {
			put_padding_name(l, n, n ? 0 : fill);
			n++;
		}
		tenon_buffer_string(&l->heads, params[i].name);
	}
	tenon_buffer_u64(&l->heads, count + paddings);
	l->place = l->heads.size;
}

static int lay_out(struct layout *l, const struct tenon_param *params, size_t count, bool *padded)
{
	uint64_t paddings = choose_padding(l, params, count, padded);
	size_t i, at;

	put_names(l, params, count, padded, paddings);
	for (i = 0; i < count; i++) {
		const DLTensor *t = &params[i].tensor;

		if (padded[i])
			put_padding(l, -(l->place + HEAD_BYTES(1) + HEAD_BYTES(t->ndim)) &
					       (l->align - 1));
		put_head(l, t->dtype, t->shape, t->ndim, params[i].bytes);
		end_head(l);
		l->parts[l->part_count++] =
			(struct tenon_slice){ (const char *)t->data + t->byte_offset,
					      params[i].bytes };
		l->place += params[i].bytes;
	}
	end_head(l);
	if (l->heads.status)
		return l->heads.status;
	for (i = 0, at = 0; i < l->part_count; i += 2) {
		l->parts[i].data = l->heads.data + at;
		at += l->parts[i].size;
	}
	return 0;
}

int params_swap_parts(const char *path, const struct tenon_param *params, size_t count,
		      struct tenon_slice *parts, size_t stride, struct tenon_slice *swapped)
{
	size_t i, size = 0;
	char *to;
	int err;

	if (!SAVED_TENSOR_FOREIGN)
		return 0;
	for (i = 0; i < count; i++)
		if (__builtin_add_overflow(size, params[i].bytes, &size))
			return tenon_error(-TENON_E_OVERFLOW, "%s: too large for memory here",
					   path);
	err = file_map_reserve(path, size, swapped);
	if (err)
		return err;
	to = (char *)(uintptr_t)swapped->data;
	for (i = 0; i < count; i++) {
		struct tenon_slice *part = &parts[stride * i];

		if (!part->size)
			continue;
		memcpy(to, part->data, part->size);
		saved_tensor_swap(params[i].tensor.dtype, to, part->size);
		part->data = to;
		to += part->size;
	}
	return 0;
}

/* Lay the parameters out, and pass the parts to @write. @to: name of the destination in messages */
static int write_params(const struct tenon_param *params, size_t count, size_t align,
			const char *to,
			int (*write)(void *context, const struct tenon_slice *parts, size_t count),
			void *context)
{
	struct layout l = { .heads = TENON_BUFFER_INIT, .align = align ? align : 1 };
	bool *padded = NULL;
	int err;

	err = params_check_each(params, count, align, check);
	if (err)
		return err;
	padded = calloc(count + 1, sizeof(*padded));
	l.parts = calloc(2 * count + 1, sizeof(*l.parts));
	if (padded && l.parts)
		err = lay_out(&l, params, count, padded);
	else
		err = tenon_error(-TENON_E_NOMEM, "%s: no memory for %zu parameters", to, count);
	if (!err)
		err = params_swap_parts(to, params, count, l.parts + 1, 2, &l.swapped);
	if (!err)
		err = write(context, l.parts, l.part_count);
	file_map_close(&l.swapped);
	tenon_buffer_fini(&l.heads);
	free(l.parts);
	free(padded);
	return err;
}

static int write_file(void *path, const struct tenon_slice *parts, size_t count)
{
	return file_write(path, parts, count);
}

int params_files_write(const char *path, const struct tenon_param *params, size_t count,
		       size_t align)
{
	return write_params(params, count, align, path, write_file, (void *)(uintptr_t)path);
}

static int append(void *buffer, const struct tenon_slice *parts, size_t count)
{
	int err = 0;
	size_t i;

	for (i = 0; i < count && !err; i++)
		err = tenon_buffer_slice(buffer, parts[i]);
	return err;
}

int params_files_save(const struct tenon_param *params, size_t count, struct tenon_buffer *out)
{
	return write_params(params, count, 1, "a buffer", append, out);
}
