/* SPDX-License-Identifier: MIT */
/* Read files in safetensors: the header, checked as a whole before any of it is used. */
#include "runtime/params/params_interface.h"

#include <inttypes.h>

#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/json_read.h"
#include "runtime/core/saved_tensor.h"

/*
 * A file is the size of its header in 64 bits, the header, which is an object of JSON with a key for
 * each tensor, and the data: all of it belongs to tensors, without overlaps or holes.
 */

static const struct {
	const char *name;
	uint8_t code, bits;
} types[] = {
	{ "F64", TENON_DTYPE_FLOAT, 64 },
	{ "F32", TENON_DTYPE_FLOAT, 32 },
	{ "F16", TENON_DTYPE_FLOAT, 16 },
	{ "BF16", TENON_DTYPE_BFLOAT, 16 },
	{ "F8_E4M3", TENON_DTYPE_FLOAT8_E4M3FN, 8 },
	{ "F8_E5M2", TENON_DTYPE_FLOAT8_E5M2, 8 },
	{ "F8_E8M0", TENON_DTYPE_FLOAT8_E8M0FNU, 8 },
	{ "F8_E4M3FNUZ", TENON_DTYPE_FLOAT8_E4M3FNUZ, 8 },
	{ "F8_E5M2FNUZ", TENON_DTYPE_FLOAT8_E5M2FNUZ, 8 },
	{ "F6_E2M3", TENON_DTYPE_FLOAT6_E2M3FN, 6 },
	{ "F6_E3M2", TENON_DTYPE_FLOAT6_E3M2FN, 6 },
	{ "F4", TENON_DTYPE_FLOAT4_E2M1FN, 4 },
	{ "I64", TENON_DTYPE_INT, 64 },
	{ "I32", TENON_DTYPE_INT, 32 },
	{ "I16", TENON_DTYPE_INT, 16 },
	{ "I8", TENON_DTYPE_INT, 8 },
	{ "U64", TENON_DTYPE_UINT, 64 },
	{ "U32", TENON_DTYPE_UINT, 32 },
	{ "U16", TENON_DTYPE_UINT, 16 },
	{ "U8", TENON_DTYPE_UINT, 8 },
	{ "BOOL", TENON_DTYPE_BOOL, 8 },
	{ "C64", TENON_DTYPE_COMPLEX, 64 },
};

#define TYPES (sizeof(types) / sizeof(types[0]))

const char *params_safetensors_type(DLDataType dtype)
{
	size_t i;

	for (i = 0; i < TYPES; i++)
		if (types[i].code == dtype.code && types[i].bits == dtype.bits && dtype.lanes == 1)
			return types[i].name;
	return NULL;
}

struct reading {
	struct json_text json;
	uint64_t start; /* of the data, in the file */
	uint64_t size;	/* of the data */
	char *names;	/* room for the next name */
	int64_t *shape; /* room for the next shape */
};

/* ---- one tensor */

static int read_type(const struct json_text *t, uint32_t *at, DLDataType *out)
{
	const uint32_t from = *at;
	struct tenon_slice name;
	size_t i;

	if (!json_is(t, from, JSMN_STRING))
		return json_error(t, from, -TENON_E_FORMAT, "the dtype is no string");
	name = json_raw(t, from);
	json_skip(t, at);
	for (i = 0; i < TYPES; i++) {
		*out = tenon_dtype(types[i].code, types[i].bits, 1);
		if (tenon_slice_equal(name, tenon_slice_of(types[i].name)))
			return 0;
	}
	return json_error(t, from, -TENON_E_UNSUPPORTED, "dtype \"%.*s\" has no dtype here",
			  json_shown(name), name.data);
}

static int read_shape(struct reading *r, uint32_t *at, DLTensor *out)
{
	const struct json_text *t = &r->json;
	const uint32_t from = *at;
	uint32_t i, count;
	int err;

	err = json_enter(t, at, JSMN_ARRAY, "the shape", &count);
	if (!err && count > SAVED_TENSOR_NDIM_MOST)
		err = json_error(t, from, -TENON_E_FORMAT, "%" PRIu32 " dimensions, %d at most",
				 count, SAVED_TENSOR_NDIM_MOST);
	out->shape = r->shape;
	out->ndim = (int32_t)count;
	for (i = 0; i < count && !err; i++)
		err = json_integer(t, at, "an extent", 0, INT64_MAX, r->shape++);
	return err;
}

static int read_offsets(struct reading *r, uint32_t *at, struct tenon_param *p)
{
	const struct json_text *t = &r->json;
	const uint32_t from = *at;
	int64_t begin, end, most = (int64_t)r->size;
	uint32_t count;
	int err;

	err = json_enter(t, at, JSMN_ARRAY, "data_offsets", &count);
	if (!err && count != 2)
		err = json_error(t, from, -TENON_E_FORMAT, "%" PRIu32 " data_offsets, want two",
				 count);
	if (!err)
		err = json_integer(t, at, "where the data begins", 0, most, &begin);
	if (!err)
		err = json_integer(t, at, "where the data ends", begin, most, &end);
	if (err)
		return err;
	p->offset = r->start + (uint64_t)begin;
	p->bytes = (size_t)(end - begin);
	return 0;
}

/* An extent of 0 makes the size 0, which must not hide an overflow of the others. */
static int check_size(const struct reading *r, uint32_t at, const struct tenon_param *p)
{
	const DLTensor *dl = &p->tensor;
	uint64_t bits = dl->dtype.bits;
	bool empty = false, over = false;
	int32_t i;

	for (i = 0; i < dl->ndim; i++) {
		empty |= !dl->shape[i];
		over |= dl->shape[i] && __builtin_mul_overflow(bits, (uint64_t)dl->shape[i], &bits);
	}
	bits = empty ? 0 : bits;
	if (over)
		return json_error(&r->json, at, -TENON_E_FORMAT, "the shape has too many elements");
	if (bits % 8)
		return json_error(&r->json, at, -TENON_E_FORMAT,
				  "%" PRIu64 " bits of data are no whole bytes", bits);
	if (bits / 8 != p->bytes)
		return json_error(&r->json, at, -TENON_E_FORMAT,
				  "%zu bytes of data, the shape wants %" PRIu64, p->bytes,
				  bits / 8);
	return 0;
}

static const char *const keys[] = { "dtype", "shape", "data_offsets" };

static int read_entry(struct reading *r, uint32_t *at, struct tenon_param *p)
{
	const uint32_t from = *at;
	unsigned int found = 0;
	struct tenon_slice key;
	uint32_t i, k, count;
	int err;

	err = json_enter(&r->json, at, JSMN_OBJECT, "a tensor", &count);
	p->tensor = tenon_dltensor(NULL, NULL, 0, p->tensor.dtype);
	for (i = 0; i < count && !err; i++) {
		err = json_key(&r->json, at, &key);
		for (k = 0; !err && k < 3 && !tenon_slice_equal(key, tenon_slice_of(keys[k])); k++)
			;
		if (!err && found >> k & 1)
			err = json_error(&r->json, *at, -TENON_E_FORMAT, "%s is there twice",
					 keys[k]);
		found |= k < 3 ? 1u << k : 0;
		if (err)
			break;
		if (k == 0)
			err = read_type(&r->json, at, &p->tensor.dtype);
		else if (k == 1)
			err = read_shape(r, at, &p->tensor);
		else if (k == 2)
			err = read_offsets(r, at, p);
		else
			json_skip(&r->json, at);
	}
	for (k = 0; k < 3 && !err; k++)
		if (!(found >> k & 1))
			err = json_error(&r->json, from, -TENON_E_FORMAT, "it has no %s", keys[k]);
	return err ? err : check_size(r, from, p);
}

/* ---- all tensors */

static int read_tensors(struct reading *r, struct tenon_params *p)
{
	struct tenon_param *item = p->items;
	uint32_t i, count, at = 0;
	int err;

	err = json_enter(&r->json, &at, JSMN_OBJECT, "the header", &count);
	for (i = 0; i < count && !err; i++) {
		err = json_key_string(&r->json, &at, &r->names, &item->name);
		if (!err && tenon_slice_equal(item->name, tenon_slice_of("__metadata__"))) {
			json_skip(&r->json, &at);
			continue;
		}
		if (!err)
			err = read_entry(r, &at, item);
		if (err)
			return tenon_error_in(err, "tensor \"%.*s\"", json_shown(item->name),
					      item->name.data);
		item++;
	}
	p->count = (size_t)(item - p->items);
	return err;
}

static int read_header(struct reading *r, struct tenon_params *p)
{
	size_t i, kept = 0;
	int err;

	err = params_reserve(p, r->json.count, r->json.text.size, r->json.count);
	if (err)
		return err;
	r->names = p->names;
	r->shape = p->shapes;
	err = read_tensors(r, p);
	if (!err)
		err = params_check_layout(p, r->json.name, r->start, r->start + r->size, false);
	for (i = 0; i < p->count; i++)
		if (!params_is_padding(&p->items[i]))
			p->items[kept++] = p->items[i];
	p->count = kept;
	return err;
}

static int read_safetensors(struct tenon_params *p, struct tenon_cursor *c)
{
	struct tenon_cursor from = *c;
	struct reading r = { .start = 0 };
	struct tenon_slice text;
	uint64_t size;
	int err;

	err = tenon_cursor_u64(c, &size);
	if (!err && size > SAFETENSORS_HEADER_MOST)
		err = tenon_cursor_error(&from, -TENON_E_FORMAT,
					 "a header of %" PRIu64 " bytes, %d at most", size,
					 SAFETENSORS_HEADER_MOST);
	if (!err)
		err = params_fetch(p, c, size);
	if (!err)
		err = tenon_cursor_bytes(c, size, &text);
	if (!err)
		err = json_text_read(text, c->name, &r.json);
	if (err)
		return tenon_error_in(err, "safetensors");
	r.start = tenon_cursor_place(c);
	r.size = tenon_cursor_left(c);
	err = read_header(&r, p);
	json_text_fini(&r.json);
	return err;
}

/* The size of the header is below 2^48, and the header is an object. */
static bool is_safetensors(struct tenon_slice head)
{
	return head.size > 8 && head.data[8] == '{' && !head.data[6] && !head.data[7];
}

const struct params_format params_safetensors = { "safetensors", is_safetensors, read_safetensors };
