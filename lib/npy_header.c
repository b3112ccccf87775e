/* SPDX-License-Identifier: MIT */
/* Read the header of an array file. */
#include "lib/npy_header.h"

#include <inttypes.h>
#include <string.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"

static const char magic[] = "\x93NUMPY";

bool npy_is(struct tenon_slice bytes)
{
	return bytes.size >= sizeof(magic) - 1 && !memcmp(bytes.data, magic, sizeof(magic) - 1);
}

/* ---- the header: a Python dictionary with three known keys */

static void skip_spaces(struct tenon_cursor *c)
{
	while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t'))
		c->at++;
}

static bool take(struct tenon_cursor *c, const char *word)
{
	size_t size = strlen(word);

	skip_spaces(c);
	if (tenon_cursor_left(c) < size || memcmp(c->at, word, size))
		return false;
	c->at += size;
	return true;
}

static int expect(struct tenon_cursor *c, const char *word)
{
	if (take(c, word))
		return 0;
	return tenon_cursor_error(c, -TENON_E_FORMAT, "\"%s\" expected in the array's header",
				  word);
}

static int quoted(struct tenon_cursor *c, struct tenon_slice *out)
{
	const uint8_t *end;
	uint8_t quote;

	skip_spaces(c);
	if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
		return tenon_cursor_error(c, -TENON_E_FORMAT,
					  "a string expected in the array's header");
	quote = *c->at;
	end = memchr(c->at + 1, quote, tenon_cursor_left(c) - 1);
	if (!end)
		return tenon_cursor_error(c, -TENON_E_FORMAT, "a string that does not end");
	out->data = (const char *)c->at + 1;
	out->size = (size_t)(end - c->at) - 1;
	c->at = end + 1;
	return 0;
}

static int extent(struct tenon_cursor *c, int64_t *out)
{
	const uint8_t *start;

	skip_spaces(c);
	start = c->at;
	*out = 0;
	for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
		if (__builtin_mul_overflow(*out, (int64_t)10, out) ||
		    __builtin_add_overflow(*out, (int64_t)(*c->at - '0'), out))
			return tenon_cursor_error(c, -TENON_E_OVERFLOW, "an extent beyond 2^63");
	}
	if (c->at == start)
		return tenon_cursor_error(c, -TENON_E_FORMAT, "an extent expected in \"shape\"");
	take(c, "L"); /* Python 2 writes long integers with an L. */
	return 0;
}

static int read_shape(struct tenon_cursor *c, struct npy_header *out)
{
	int err = expect(c, "(");

	out->elements = 1;
	while (!err && !take(c, ")")) {
		if (out->ndim == NPY_DIMENSIONS)
			return tenon_cursor_error(c, -TENON_E_UNSUPPORTED,
						  "more than %d dimensions", NPY_DIMENSIONS);
		err = extent(c, &out->shape[out->ndim]);
		if (err)
			break;
		if (__builtin_mul_overflow(out->elements, (uint64_t)out->shape[out->ndim],
					   &out->elements))
			return tenon_cursor_error(c, -TENON_E_OVERFLOW,
						  "more elements than 64 bits can count");
		out->ndim++;
		if (!take(c, ","))
			return expect(c, ")");
	}
	return err;
}

static int read_type(struct tenon_cursor *c, struct npy_header *out)
{
	skip_spaces(c);
	if (c->at < c->end && *c->at == '[')
		return tenon_cursor_error(c, -TENON_E_UNSUPPORTED,
					  "an array of records: a tensor has one type only");
	return quoted(c, &out->type);
}

static int read_text(struct tenon_cursor *c, struct npy_header *out)
{
	bool descr = false, order = false, shape = false;
	struct tenon_slice key;
	int err = expect(c, "{");

	while (!err && !take(c, "}")) {
		err = quoted(c, &key);
		if (!err)
			err = expect(c, ":");
		if (err)
			return err;
		if (tenon_slice_equal(key, tenon_slice_of("descr"))) {
			err = read_type(c, out);
			descr = true;
		} else if (tenon_slice_equal(key, tenon_slice_of("fortran_order"))) {
			out->fortran = take(c, "True");
			err = out->fortran ? 0 : expect(c, "False");
			order = true;
		} else if (tenon_slice_equal(key, tenon_slice_of("shape")) && !shape) {
			err = read_shape(c, out);
			shape = true;
		} else {
			err = tenon_cursor_error(c, -TENON_E_FORMAT,
						 "unknown key \"%.*s\" in the array's header",
						 (int)key.size, key.data);
		}
		if (!err && !take(c, ",")) {
			err = expect(c, "}");
			break;
		}
	}
	if (!err && !(descr && order && shape))
		err = tenon_cursor_error(c, -TENON_E_FORMAT, "the array's header lacks \"%s\"",
					 !descr	  ? "descr"
					 : !order ? "fortran_order"
						  : "shape");
	return err;
}

int npy_header_size(struct tenon_cursor *c, uint32_t *size)
{
	uint8_t major, minor;
	uint16_t small = 0;
	int err;

	if (!npy_is((struct tenon_slice){ (const char *)c->at, tenon_cursor_left(c) }))
		return tenon_cursor_error(c, -TENON_E_FORMAT, "no array file of numpy");
	c->at += sizeof(magic) - 1;
	err = tenon_cursor_u8(c, &major);
	err = err ? err : tenon_cursor_u8(c, &minor);
	if (err)
		return err;
	if (major < 1 || major > 3 || minor)
		return tenon_cursor_error(c, -TENON_E_UNSUPPORTED,
					  "version %d.%d of numpy's format, 1.0 to 3.0 are known",
					  major, minor);
	err = major > 1 ? tenon_cursor_u32(c, size) : tenon_cursor_u16(c, &small);
	if (major == 1)
		*size = small;
	if (!err && *size > NPY_HEADER_MOST)
		return tenon_cursor_error(c, -TENON_E_FORMAT,
					  "a header of %" PRIu32 " bytes, %d at most", *size,
					  NPY_HEADER_MOST);
	return err;
}

int npy_header_read(struct tenon_cursor *c, struct npy_header *out)
{
	struct tenon_cursor header;
	struct tenon_slice text;
	uint32_t size;
	int err = npy_header_size(c, &size);

	memset(out, 0, sizeof(*out));
	err = err ? err : tenon_cursor_bytes(c, size, &text);
	if (err)
		return err;
	header = tenon_cursor_of(text.data, text.size, c->name, tenon_cursor_place(c) - text.size);
	return read_text(&header, out);
}
