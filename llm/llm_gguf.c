/* SPDX-License-Identifier: MIT */
/* Look up values in the metadata of a file in GGUF. */
#include "llm/llm_gguf.h"

#include <inttypes.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"

struct lookup {
	const char *path;
	struct gguf_value *values;
	size_t count;
};

/* Widen an integer of 1 to 8 bytes, little-endian in the file. */
static int64_t widen(uint32_t type, struct tenon_slice bytes)
{
	const bool is_signed = type == 1 || type == 3 || type == 5 || type == 11;
	uint64_t n = 0;
	size_t i;

	for (i = bytes.size; i--;)
		n = n << 8 | (unsigned char)bytes.data[i];
	if (is_signed && bytes.size < 8 && n >> (8 * bytes.size - 1))
		n -= (uint64_t)1 << 8 * bytes.size;
	return (int64_t)n;
}

static bool is_integer(uint32_t type)
{
	return type <= 5 || type == 10 || type == 11;
}

/* Test for a type. The numbers of kinds are small, so they may be unsigned too. */
static bool fits(int wanted, uint32_t type)
{
	if (wanted < 0)
		return is_integer(type);
	return type == (uint32_t)wanted || (wanted == GGUF_INT32 && type == 4);
}

static int take(const struct lookup *l, struct gguf_value *v, const struct tenon_params_entry *e)
{
	const bool any = v->type < 0;
	struct tenon_slice bytes = e->bytes;
	int64_t n;

	if (v->found)
		return tenon_error(-TENON_E_FORMAT, "%s: %s is there twice", l->path, v->key);
	if (e->array != v->array || !fits(v->type, e->type))
		return tenon_error(-TENON_E_FORMAT, "%s: %s is of type %s%" PRIu32 ", want %s%s",
				   l->path, v->key, e->array ? "array of " : "", e->type,
				   v->array ? "an array of " : "",
				   any			    ? "an integer"
				   : v->type == GGUF_STRING ? "8 (string)"
				   : v->type == GGUF_BOOL   ? "7 (bool)"
							    : "5 (int32)");
	v->found = true;
	v->count = e->count;
	if (any) {
		n = widen(e->type, bytes);
		return tenon_buffer_append(&v->bytes, &n, sizeof(n));
	}
	if (v->type == GGUF_STRING && !v->array) {
		bytes.data += 8;
		bytes.size -= 8;
	}
	return tenon_buffer_slice(&v->bytes, bytes);
}

static int visit(void *context, const struct tenon_params_entry *e)
{
	const struct lookup *l = context;
	size_t i;

	for (i = 0; i < l->count; i++)
		if (tenon_slice_equal(e->key, tenon_slice_of(l->values[i].key)))
			return take(l, &l->values[i], e);
	return 0;
}

int gguf_read_values(const char *path, struct gguf_value *values, size_t count)
{
	struct lookup l = { path, values, count };
	struct tenon_params *params;
	int err = tenon_params_open(path, &params);

	if (!err)
		err = tenon_params_metadata(params, visit, &l);
	tenon_object_unref(params);
	return err;
}

void gguf_free_values(struct gguf_value *values, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		tenon_buffer_fini(&values[i].bytes);
}

int64_t gguf_integer(const struct gguf_value *v)
{
	int64_t n;

	memcpy(&n, v->bytes.data, sizeof(n));
	return n;
}

struct tenon_slice gguf_next_string(struct tenon_slice *rest)
{
	struct tenon_slice s;
	uint64_t size = 0;
	int i;

	for (i = 8; i--;)
		size = size << 8 | (unsigned char)rest->data[i];
	s = (struct tenon_slice){ rest->data + 8, (size_t)size };
	rest->size -= 8 + s.size;
	rest->data += 8 + s.size;
	return s;
}
