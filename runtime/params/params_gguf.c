/* SPDX-License-Identifier: MIT */
/* Read files in GGUF: tensors are described; metadata is stepped over, and read when a program asks for it. */
#include "runtime/params/params_interface.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/cursor_fast.h"
#include "lib/file_map.h"
#include "runtime/params/params_blocks.h"

/* bytes of the shortest entry of metadata and description of a tensor */
#define ENTRY_LEAST  13
#define TENSOR_LEAST 24

#define ALIGNMENT_USUAL 32
#define ALIGNMENT_MOST	(1u << 20)

/* types of metadata; 0 for those that are not numbers */
enum { TYPE_STRING = 8, TYPE_ARRAY = 9, TYPES = 13 };
static const uint8_t widths[TYPES] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };

struct reading {
	struct tenon_params *p;
	struct tenon_cursor *c;
	uint32_t alignment; /* 0 until the metadata has it */
};

/* ---- pieces, which are read from the file when they are needed */

static int take32(struct reading *r, uint32_t *out)
{
	int err = params_fetch(r->p, r->c, 4);

	return err ? err : tenon_cursor_u32(r->c, out);
}

static int take64(struct reading *r, uint64_t *out)
{
	int err = params_fetch(r->p, r->c, 8);

	return err ? err : tenon_cursor_u64(r->c, out);
}

static int take_elements(struct reading *r, size_t size, uint64_t *out)
{
	int err = params_fetch(r->p, r->c, 8);

	return err ? err : tenon_cursor_count(r->c, size, out);
}

static int take_text(struct reading *r, struct tenon_slice *out)
{
	uint64_t size;
	int err = take_elements(r, 1, &size);

	if (!err)
		err = params_fetch(r->p, r->c, size);
	return err ? err : tenon_cursor_bytes(r->c, size, out);
}

static int skip(struct reading *r, uint64_t size)
{
	int err = params_fetch(r->p, r->c, size);

	return err ? err : tenon_cursor_skip(r->c, size);
}

/* ---- metadata */

static int type_error(const struct reading *r, uint32_t type)
{
	return tenon_cursor_error(r->c, -TENON_E_FORMAT, "type %" PRIu32 " of a value is unknown",
				  type);
}

/* Read the elements of an array, up to its end. */
static int read_array(struct reading *r, struct tenon_params_entry *e)
{
	struct tenon_slice text;
	uint64_t left;
	int err = take32(r, &e->type);

	if (!err && e->type != TYPE_STRING && (e->type >= TYPES || !widths[e->type]))
		return type_error(r, e->type);
	if (!err)
		err = take_elements(r, e->type == TYPE_STRING ? 8 : widths[e->type], &e->count);
	if (err)
		return err;
	e->array = true;
	e->bytes.data = (const char *)r->c->at;
	if (e->type != TYPE_STRING)
		return skip(r, e->count * widths[e->type]);
	for (left = e->count; !err && left; left--)
		err = take_text(r, &text);
	return err;
}

/* Read a value of the type that @e has. */
static int read_value(struct reading *r, struct tenon_params_entry *e)
{
	struct tenon_slice text;
	int err;

	e->count = 1;
	e->bytes.data = (const char *)r->c->at;
	if (e->type == TYPE_ARRAY)
		err = read_array(r, e);
	else if (e->type == TYPE_STRING)
		err = take_text(r, &text);
	else if (e->type < TYPES && widths[e->type])
		err = skip(r, widths[e->type]);
	else
		return type_error(r, e->type);
	e->bytes.size = (size_t)((const char *)r->c->at - e->bytes.data);
	return err;
}

static int read_alignment(struct reading *r, uint32_t type)
{
	const struct tenon_cursor from = *r->c;
	int err;

	if (type != 4)
		return tenon_cursor_error(&from, -TENON_E_FORMAT,
					  "general.alignment is of type %" PRIu32 ", want 4", type);
	if (r->alignment)
		return tenon_cursor_error(&from, -TENON_E_FORMAT,
					  "general.alignment is there twice");
	err = take32(r, &r->alignment);
	if (!err &&
	    (!r->alignment || r->alignment > ALIGNMENT_MOST || (r->alignment & (r->alignment - 1))))
		err = tenon_cursor_error(&from, -TENON_E_FORMAT,
					 "general.alignment is %" PRIu32
					 ", want a power of two up to %u",
					 r->alignment, ALIGNMENT_MOST);
	return err;
}

/* Read an entry. The alignment is taken where it stands, and not visited. */
static int read_entry(struct reading *r, tenon_params_visit *visit, void *context)
{
	struct tenon_params_entry e = { .array = false };
	int err = take_text(r, &e.key);

	if (!err)
		err = take32(r, &e.type);
	if (err)
		return err;
	if (!visit && tenon_slice_equal(e.key, tenon_slice_of("general.alignment")))
		return read_alignment(r, e.type);
	err = read_value(r, &e);
	return err || !visit ? err : visit(context, &e);
}

static int read_metadata(struct reading *r, uint64_t count, tenon_params_visit *visit,
			 void *context)
{
	uint64_t i;
	int err;

	for (i = 0; i < count; i++) {
		err = read_entry(r, visit, context);
		if (err)
			return tenon_error_in(err, "entry %" PRIu64 " of %" PRIu64 " of metadata",
					      i + 1, count);
	}
	return 0;
}

/* Read the metadata of @size bytes, which are those that were checked, or what a program has written there since. */
static int visit_metadata(const struct tenon_params *p, const char *bytes,
			  tenon_params_visit *visit, void *context)
{
	struct tenon_params memory = { .fd = -1 };
	struct tenon_cursor c = tenon_cursor_of(
		bytes, p->metadata.size, p->path ? p->path : "parameters", p->metadata.offset);
	struct reading r = { &memory, &c, 0 };

	return read_metadata(&r, p->metadata.count, visit, context);
}

int params_files_metadata(struct tenon_params *params, tenon_params_visit *visit, void *context)
{
	const struct params_metadata *m = &params->metadata;
	char *bytes;
	int err;

	if (!m->count)
		return 0;
	if (params->fd < 0)
		return visit_metadata(params, m->bytes, visit, context);
	bytes = malloc(m->size);
	if (!bytes)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory for %zu bytes of metadata",
				   params->path, m->size);
	err = file_read_at(params->fd, params->path, bytes, m->size, m->offset);
	if (!err)
		err = visit_metadata(params, bytes, visit, context);
	free(bytes);
	return err;
}

/* ---- tensors */

/* The innermost extent comes first in the file; that of blocks becomes bytes. */
static int read_shape(struct reading *r, DLTensor *t, int64_t *shape)
{
	const struct tenon_cursor from = *r->c;
	uint64_t extent;
	uint32_t ndim, i;
	int err = take32(r, &ndim);

	if (!err && ndim > GGUF_DIMENSIONS_MOST)
		return tenon_cursor_error(&from, -TENON_E_FORMAT,
					  "%" PRIu32 " dimensions, %d at most", ndim,
					  GGUF_DIMENSIONS_MOST);
	for (i = 0; !err && i < ndim; i++) {
		err = take64(r, &extent);
		if (!err && extent > INT64_MAX)
			err = tenon_cursor_error(&from, -TENON_E_FORMAT, "an extent is too large");
		shape[ndim - 1 - i] = (int64_t)extent;
	}
	*t = tenon_dltensor(NULL, shape, (int32_t)ndim, t->dtype);
	return err;
}

static int measure(const struct tenon_cursor *from, const struct block_type *type,
		   struct tenon_param *p)
{
	DLTensor *t = &p->tensor;
	int64_t *last = t->ndim ? &t->shape[t->ndim - 1] : NULL;

	if (type->elements > 1) {
		if (!last || *last % type->elements)
			return tenon_cursor_error(from, -TENON_E_FORMAT,
						  "rows of %" PRIi64
						  " elements are no whole blocks of %s",
						  last ? *last : 1, type->name);
		*last /= type->elements;
		if (__builtin_mul_overflow(*last, (int64_t)type->bytes, last))
			return tenon_cursor_error(from, -TENON_E_FORMAT, "an extent is too large");
	}
	return tenon_tensor_bytes(t, &p->bytes) ? -TENON_E_FORMAT : 0;
}

static int read_tensor(struct reading *r, struct tenon_param *p, const struct block_type **block,
		       int64_t *shape)
{
	const struct block_type *type = NULL;
	struct tenon_cursor from;
	uint32_t number;
	int err;

	err = take_text(r, &p->name);
	from = *r->c;
	if (!err)
		err = read_shape(r, &p->tensor, shape);
	if (!err)
		err = take32(r, &number);
	if (!err) {
		type = block_type_find(number);
		if (!type)
			return tenon_cursor_error(&from, -TENON_E_UNSUPPORTED,
						  "type %" PRIu32 " of a tensor; numbers, Q4_0, "
						  "Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K and Q6_K "
						  "are read",
						  number);
		err = take64(r, &p->offset);
	}
	if (err)
		return err;
	p->tensor.dtype = type->dtype;
	*block = type->dequantize ? type : NULL;
	return measure(&from, type, p);
}

/* Make the places of data, which the file counts from the end of its head, places in the file. */
static int place_tensors(struct reading *r)
{
	struct tenon_params *p = r->p;
	const uint64_t end = tenon_cursor_place(r->c) + tenon_cursor_left(r->c);
	uint64_t start = tenon_cursor_place(r->c), left;
	size_t i;

	start += -start & (r->alignment - 1);
	left = start < end ? end - start : 0;
	for (i = 0; i < p->count; i++) {
		struct tenon_param *item = &p->items[i];

		if (item->offset & (r->alignment - 1))
			return tenon_error(-TENON_E_FORMAT,
					   "%s: tensor \"%.*s\": its offset 0x%" PRIx64
					   " is no multiple of %" PRIu32,
					   r->c->name, (int)item->name.size, item->name.data,
					   item->offset, r->alignment);
		if (item->offset > left || item->bytes > left - item->offset)
			return tenon_error(-TENON_E_TRUNCATED,
					   "%s: tensor \"%.*s\": %zu bytes at 0x%" PRIx64
					   " of the data promised, which has %" PRIu64,
					   r->c->name, (int)item->name.size, item->name.data,
					   item->bytes, item->offset, left);
		item->offset += start;
		/* no bytes: anywhere in the file */
		if (!item->bytes && item->offset > end)
			item->offset = end;
	}
	return params_check_layout(p, r->c->name, 0, end, true);
}

static int read_tensors(struct reading *r, uint64_t count)
{
	struct tenon_params *p = r->p;
	int err = params_reserve(p, count, 0, GGUF_DIMENSIONS_MOST * count);

	if (err)
		return err;
	p->blocks = calloc((size_t)count + 1, sizeof(*p->blocks));
	if (!p->blocks)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu64 " parameters", count);
	for (; p->count < count && !err; p->count++) {
		err = read_tensor(r, &p->items[p->count], &p->blocks[p->count],
				  p->shapes + GGUF_DIMENSIONS_MOST * p->count);
		if (err)
			return tenon_error_in(err, "tensor %zu of %" PRIu64, p->count + 1, count);
	}
	return place_tensors(r);
}

static int read_gguf(struct tenon_params *p, struct tenon_cursor *c)
{
	struct reading r = { p, c, 0 };
	uint64_t tensors = 0, entries = 0;
	uint32_t version = 0;
	struct tenon_cursor from;
	int err;

	err = tenon_cursor_skip(c, 4);
	from = *c;
	if (!err)
		err = take32(&r, &version);
	if (!err && version != 2 && version != 3)
		return tenon_cursor_error(
			&from, -TENON_E_UNSUPPORTED,
			"version %" PRIu32 " of GGUF%s; 2 and 3 are read, little-endian", version,
			version && !(version & 0xffffff) ? " in big-endian" : "");
	if (!err)
		err = take_elements(&r, TENSOR_LEAST, &tensors);
	if (!err)
		err = take_elements(&r, ENTRY_LEAST, &entries);
	from = *c;
	if (!err)
		err = read_metadata(&r, entries, NULL, NULL);
	p->metadata = (struct params_metadata){ .count = entries,
						.offset = tenon_cursor_place(&from),
						.size = (size_t)(c->at - from.at),
						.bytes = (const char *)from.at };
	if (!r.alignment)
		r.alignment = ALIGNMENT_USUAL;
	return err ? err : read_tensors(&r, tensors);
}

static bool is_gguf(struct tenon_slice head)
{
	return head.size >= 4 && !memcmp(head.data, "GGUF", 4);
}

const struct params_format params_gguf = { "GGUF", is_gguf, read_gguf };
