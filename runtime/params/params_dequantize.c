/* SPDX-License-Identifier: MIT */
/* Turn quantised parameters into numbers. */
#include "runtime/params/params_interface.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "lib/half.h"
#include "runtime/core/reference.h"
#include "runtime/params/params_blocks.h"

/* bytes of the file that are read at once; a whole number of blocks fits in */
#define BYTES_AT_ONCE 8192

/* The list of the file that a parameter is in, and its place there. */
static struct params_origin source_of(const struct tenon_params *params,
				      const struct tenon_param *param)
{
	struct params_origin at = { (struct tenon_params *)(uintptr_t)params, param };

	while (at.params->origins)
		at = at.params->origins[at.param - at.params->items];
	return at;
}

static const struct block_type *block_of(const struct tenon_params *p,
					 const struct tenon_param *param)
{
	const struct params_origin at = source_of(p, param);

	return at.params->blocks ? at.params->blocks[at.param - at.params->items] : NULL;
}

const char *params_files_block_type(const struct tenon_params *params,
				    const struct tenon_param *param)
{
	const struct block_type *type =
		param->tensor.dtype.code == TENON_DTYPE_UINT ? block_of(params, param) : NULL;

	return type ? type->name : NULL;
}

static void convert(const struct block_type *type, const uint8_t *blocks, size_t count,
		    DLDataType dtype, char *to)
{
	float numbers[BLOCK_ELEMENTS_MOST];
	uint16_t halves[BLOCK_ELEMENTS_MOST];
	size_t k;

	for (; count--; blocks += type->bytes) {
		type->dequantize(blocks, numbers);
		if (dtype.bits == 32) {
			memcpy(to, numbers, type->elements * sizeof(*numbers));
			to += type->elements * sizeof(*numbers);
			continue;
		}
		for (k = 0; k < type->elements; k++)
			halves[k] = half_of((double)numbers[k]);
		memcpy(to, halves, type->elements * sizeof(*halves));
		to += type->elements * sizeof(*halves);
	}
}

/* Read blocks by pread() where they are of a file, which may become shorter. */
static int convert_all(const struct params_origin *from, const struct block_type *type,
		       DLDataType dtype, char *to)
{
	uint8_t blocks[BYTES_AT_ONCE];
	const struct tenon_params *p = from->params;
	size_t at, count, step = sizeof(blocks) / type->bytes * type->bytes;
	int err = 0;

	for (at = 0; at < from->param->bytes && !err; at += step) {
		const uint8_t *data = (const uint8_t *)from->param->tensor.data + at;

		if (step > from->param->bytes - at)
			step = from->param->bytes - at;
		if (p->fd >= 0) {
			err = file_read_at(p->fd, p->path, blocks, step, from->param->offset + at);
			data = blocks;
		}
		count = step / type->bytes;
		if (!err)
			convert(type, data, count, dtype, to);
		to += count * type->elements * (dtype.bits / 8);
	}
	return err;
}

/* Describe the numbers of a parameter. */
static int describe_numbers(struct tenon_param *item, const struct block_type *type,
			    DLDataType dtype, int64_t *shape)
{
	DLTensor *t = &item->tensor;

	memcpy(shape, t->shape, (size_t)t->ndim * sizeof(*shape));
	t->shape = shape;
	t->dtype = dtype;
	shape[t->ndim - 1] /= type->bytes;
	if (__builtin_mul_overflow(shape[t->ndim - 1], (int64_t)type->elements,
				   &shape[t->ndim - 1]))
		return tenon_error(-TENON_E_OVERFLOW, "too large for memory here");
	item->offset = 0;
	return tenon_tensor_bytes(t, &item->bytes);
}

static int describe_all(struct tenon_params *list, DLDataType dtype, size_t *size)
{
	int64_t *shape = list->shapes;
	size_t i;
	int err = 0;

	*size = 0;
	for (i = 0; i < list->count && !err; i++) {
		struct tenon_param *item = &list->items[i];
		const struct block_type *type = block_of(list, item);

		if (!type)
			continue;
		err = describe_numbers(item, type, dtype, shape);
		shape += item->tensor.ndim;
		if (!err && (__builtin_add_overflow(*size, item->bytes, size) ||
			     __builtin_add_overflow(*size, -*size % TENON_TENSOR_ALIGN, size)))
			err = tenon_error(-TENON_E_OVERFLOW, "too large for memory here");
	}
	return err;
}

static int fill_all(struct tenon_params *list, DLDataType dtype)
{
	char *to = (char *)(uintptr_t)list->owned.data;
	const struct block_type *type;
	struct params_origin from;
	size_t i;
	int err = 0;

	for (i = 0; i < list->count && !err; i++) {
		struct tenon_param *item = &list->items[i];

		type = block_of(list, item);
		if (!type)
			continue;
		from = source_of(list, item);
		item->tensor.data = to;
		err = convert_all(&from, type, dtype, to);
		if (err)
			tenon_error_in(err, "parameter \"%.*s\"", (int)item->name.size,
				       item->name.data);
		to += item->bytes;
		to += -(uintptr_t)to % TENON_TENSOR_ALIGN;
	}
	return err;
}

static int check_dtype(DLDataType dtype)
{
	if (dtype.code == TENON_DTYPE_FLOAT && dtype.lanes == 1 &&
	    (dtype.bits == 16 || dtype.bits == 32))
		return 0;
	return tenon_error(-TENON_E_VALUE, "parameters are dequantised to float16 or float32");
}

int params_files_numbers(struct tenon_params *params, const struct tenon_param *param,
			 DLDataType dtype, struct tenon_tensor **out)
{
	const struct params_origin from = source_of(params, param);
	const struct block_type *type = block_of(params, param);
	struct tenon_param item = *param;
	int64_t shape[GGUF_DIMENSIONS_MOST];
	int err = check_dtype(dtype);

	*out = NULL;
	/* what is dequantised already has its blocks in the file that it came from */
	if (!err && (!type || param->tensor.dtype.code != TENON_DTYPE_UINT))
		err = tenon_error(-TENON_E_VALUE, "parameter \"%.*s\" is not quantised",
				  (int)param->name.size, param->name.data);
	if (!err)
		err = describe_numbers(&item, type, dtype, shape);
	if (!err)
		err = tenon_tensor_create(shape, item.tensor.ndim, dtype, out);
	if (!err)
		err = convert_all(&from, type, dtype, (*out)->dl.data);
	return object_made(err, out);
}

int params_files_dequantize(struct tenon_params *params, DLDataType dtype,
			    struct tenon_params **out)
{
	const struct tenon_params_part part = { { "", 0 }, params };
	size_t i, extents = 0, size = 0;
	int err = check_dtype(dtype);

	*out = NULL;
	if (err)
		return err;
	err = params_files_join(&part, 1, NULL, 0, out);
	if (err)
		return err;
	for (i = 0; i < params->count; i++)
		extents += (size_t)params->items[i].tensor.ndim;
	(*out)->shapes = malloc((extents + 1) * sizeof(int64_t));
	if (!(*out)->shapes)
		err = tenon_error(-TENON_E_NOMEM, "no memory for shapes");
	if (!err)
		err = describe_all(*out, dtype, &size);
	if (!err)
		err = file_map_reserve("dequantised parameters", size, &(*out)->owned);
	if (!err)
		err = fill_all(*out, dtype);
	return object_made(err, out);
}
