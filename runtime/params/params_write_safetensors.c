/* SPDX-License-Identifier: MIT */
/* Write parameters in safetensors, with data aligned so that it can be mapped. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/file_map.h"
#include "lib/json_quote.h"
#include "lib/utf8.h"
#include "runtime/core/dtype.h"
#include "runtime/params/params_interface.h"
#include "runtime/params/params_write.h"

/*
 * The format allows no gaps. So tensors whose size is a multiple of the alignment come first, and
 * keep the next one aligned; the others follow, the widest elements first, and only where the caller
 * asks for an alignment there are tensors of bytes between them.
 */

struct layout {
	struct tenon_param *sorted;
	struct tenon_buffer head;
	struct tenon_slice
		*parts; /* the head, and for each parameter what aligns it, and its data */
	char *zeros;	/* as many as the alignment */
	uint64_t place; /* of the next byte, from the start of the data */
	struct tenon_slice swapped;
};

static int check(const struct tenon_param *p)
{
	struct tenon_slice name = p->name;
	size_t bytes;
	int n, err = params_check_data(p);

	if (!err)
		err = tenon_tensor_bytes(&p->tensor, &bytes);
	if (!err)
		err = params_check_bytes(p, bytes);
	if (!err && !params_safetensors_type(dtype_stored(p->tensor.dtype)))
		err = tenon_error(-TENON_E_VALUE, "is of a dtype that safetensors has no name for");
	for (; !err && name.size; name.data += n, name.size -= (size_t)n) {
		n = utf8_character(name);
		if (n <= 0)
			return tenon_error(-TENON_E_VALUE, "has a name that is not in UTF-8");
	}
	return err;
}

static int by_name(const void *a, const void *b)
{
	return params_name_order(((const struct tenon_param *)a)->name,
				 ((const struct tenon_param *)b)->name);
}

static int by_place(const void *a, const void *b)
{
	const struct tenon_param *x = a, *y = b;
	const bool odd_x = x->bytes % TENON_TENSOR_ALIGN, odd_y = y->bytes % TENON_TENSOR_ALIGN;

	if (odd_x != odd_y)
		return odd_x ? 1 : -1;
	if (odd_x && x->tensor.dtype.bits != y->tensor.dtype.bits)
		return x->tensor.dtype.bits > y->tensor.dtype.bits ? -1 : 1;
	return by_name(a, b);
}

static int sort(struct layout *l, const struct tenon_param *params, size_t count)
{
	size_t i;

	memcpy(l->sorted, params, count * sizeof(*params));
	qsort(l->sorted, count, sizeof(*params), by_name);
	for (i = 1; i < count; i++)
		if (tenon_slice_equal(l->sorted[i - 1].name, l->sorted[i].name))
			return tenon_error(-TENON_E_EXISTS,
					   "two parameters are called \"%.*s\", which safetensors "
					   "cannot hold",
					   (int)l->sorted[i].name.size, l->sorted[i].name.data);
	qsort(l->sorted, count, sizeof(*params), by_place);
	return 0;
}

static void put_entry(struct layout *l, const DLTensor *t, uint64_t bytes)
{
	int32_t i;

	tenon_buffer_printf(&l->head, ":{\"dtype\":\"%s\",\"shape\":[",
			    params_safetensors_type(dtype_stored(t->dtype)));
	for (i = 0; i < t->ndim; i++)
		tenon_buffer_printf(&l->head, "%s%" PRIi64, i ? "," : "", t->shape[i]);
	tenon_buffer_printf(&l->head, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", l->place,
			    l->place + bytes);
	l->place += bytes;
}

static void put_padding(struct layout *l, size_t number, uint64_t bytes)
{
	int64_t extent = (int64_t)bytes;
	const DLTensor t = tenon_dltensor(NULL, &extent, 1, tenon_dtype(TENON_DTYPE_UINT, 8, 1));

	tenon_buffer_printf(&l->head, "\"" PARAMS_PADDING "%zu\"", number);
	put_entry(l, &t, bytes);
	tenon_buffer_u8(&l->head, ',');
}

static int lay_out(struct layout *l, size_t count, size_t align)
{
	uint64_t gap;
	size_t i;

	tenon_buffer_u64(&l->head, 0);
	tenon_buffer_u8(&l->head, '{');
	for (i = 0; i < count; i++) {
		const struct tenon_param *p = &l->sorted[i];

		if (i)
			tenon_buffer_u8(&l->head, ',');
		gap = p->bytes ? -l->place & (align - 1) : 0;
		if (gap)
			put_padding(l, i, gap);
		json_quote(&l->head, p->name);
		put_entry(l, &p->tensor, p->bytes);
		l->parts[2 * i + 1] = (struct tenon_slice){ l->zeros, (size_t)gap };
		l->parts[2 * i + 2] =
			(struct tenon_slice){ (const char *)p->tensor.data + p->tensor.byte_offset,
					      p->bytes };
	}
	tenon_buffer_u8(&l->head, '}');
	while (!l->head.status && (l->head.size % TENON_TENSOR_ALIGN || l->head.size % align))
		tenon_buffer_u8(&l->head, ' ');
	if (l->head.status)
		return l->head.status;
	if (l->head.size - 8 > SAFETENSORS_HEADER_MOST)
		return tenon_error(-TENON_E_VALUE, "a header of %zu bytes, %d at most",
				   l->head.size - 8, SAFETENSORS_HEADER_MOST);
	for (i = 0; i < 8; i++)
		l->head.data[i] = (char)((uint64_t)(l->head.size - 8) >> 8 * i);
	l->parts[0] = (struct tenon_slice){ l->head.data, l->head.size };
	return 0;
}

int params_files_write_safetensors(const char *path, const struct tenon_param *params, size_t count,
				   size_t align)
{
	struct layout l = { .head = TENON_BUFFER_INIT };
	int err;

	align = align ? align : 1;
	err = params_check_each(params, count, align, check);
	if (err)
		return err;
	l.sorted = calloc(count + 1, sizeof(*l.sorted));
	l.parts = calloc(2 * count + 1, sizeof(*l.parts));
	l.zeros = calloc(1, align);
	if (!l.sorted || !l.parts || !l.zeros)
		err = tenon_error(-TENON_E_NOMEM, "%s: no memory for %zu parameters", path, count);
	else
		err = sort(&l, params, count);
	if (!err)
		err = lay_out(&l, count, align);
	if (!err)
		err = params_swap_parts(path, l.sorted, count, l.parts + 2, 2, &l.swapped);
	if (!err)
		err = file_write(path, l.parts, 2 * count + 1);
	file_map_close(&l.swapped);
	tenon_buffer_fini(&l.head);
	free(l.sorted);
	free(l.parts);
	free(l.zeros);
	return err;
}
