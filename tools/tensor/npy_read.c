/* SPDX-License-Identifier: MIT */
/* Read the header of an array file. */
#include <inttypes.h>
#include <string.h>

#include <tenon/backend/cursor.h>
#include <tenon/string.h>

#include "runtime/kind/file_kind.h"
#include "tools/tensor/npy.h"

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

static int read_shape(struct tenon_cursor *c, struct npy *out)
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

static int unknown_type(struct tenon_cursor *c, struct tenon_slice text)
{
	return tenon_cursor_error(c, -TENON_E_UNSUPPORTED,
				  "elements of numpy's type \"%.*s\" have no place in a tensor",
				  (int)text.size, text.data);
}

static int read_type(struct tenon_cursor *c, struct npy *out)
{
	static const char kinds[] = "biufcV";
	static const uint8_t codes[] = {
		TENON_DTYPE_BOOL,  TENON_DTYPE_INT,	TENON_DTYPE_UINT,
		TENON_DTYPE_FLOAT, TENON_DTYPE_COMPLEX, TENON_DTYPE_HANDLE
	};
	struct tenon_slice text;
	const char *kind;
	unsigned int bytes;
	int err;

	skip_spaces(c);
	if (c->at < c->end && *c->at == '[')
		return tenon_cursor_error(c, -TENON_E_UNSUPPORTED,
					  "an array of records: a tensor has one type only");
	err = quoted(c, &text);
	if (err)
		return err;
	/* A type like "<f4": byte order, kind, size of an element. */
	if (text.size < 3 || text.size > 4 || !strchr("<>|=", text.data[0]))
		return unknown_type(c, text);
	kind = text.data[1] ? strchr(kinds, text.data[1]) : NULL;
	bytes = 0;
	for (size_t i = 2; i < text.size; i++) {
		if (text.data[i] < '0' || text.data[i] > '9')
			return unknown_type(c, text);
		bytes = bytes * 10 + (unsigned int)(text.data[i] - '0');
	}
	if (!kind || !bytes || bytes > 16 || (bytes & (bytes - 1)) ||
	    (*kind == 'b' && bytes != 1) || (strchr("iu", *kind) && bytes > 8) ||
	    (*kind == 'f' && (bytes == 1 || bytes == 16)) || (*kind == 'c' && bytes < 8))
		return unknown_type(c, text);
	out->dtype = tenon_dtype(codes[kind - kinds], bytes * 8, 1);
	out->raw = *kind == 'V';
	out->swapped = (text.data[0] == '>') != NPY_HOST_IS_BIG && bytes > 1 && !out->raw;
	return 0;
}

static int read_header(struct tenon_cursor *c, struct npy *out)
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

static int header_size(struct tenon_cursor *c, uint32_t *size)
{
	uint8_t major, minor;
	uint16_t small;
	int err;

	err = tenon_cursor_u8(c, &major);
	if (!err)
		err = tenon_cursor_u8(c, &minor);
	if (err)
		return err;
	if (major < 1 || major > 3 || minor)
		return tenon_cursor_error(c, -TENON_E_UNSUPPORTED,
					  "version %d.%d of numpy's format, 1.0 to 3.0 are known",
					  major, minor);
	if (major > 1)
		return tenon_cursor_u32(c, size);
	err = tenon_cursor_u16(c, &small);
	*size = small;
	return err;
}

static int read_head(struct tenon_cursor *c, struct npy *out, uint64_t *want)
{
	struct tenon_slice text;
	struct tenon_cursor header;
	uint32_t size;
	int err;

	memset(out, 0, sizeof(*out));
	if (!npy_is((struct tenon_slice){ (const char *)c->at, tenon_cursor_left(c) }))
		return tenon_cursor_error(
			c, -TENON_E_FORMAT,
			"no array file of numpy, but %s; TYPE=@FILE reads bytes as they are",
			file_kind(
				(struct tenon_slice){ (const char *)c->at, tenon_cursor_left(c) }));
	c->at += sizeof(magic) - 1;
	err = header_size(c, &size);
	if (!err && size > NPY_HEADER_MOST)
		return tenon_cursor_error(c, -TENON_E_FORMAT,
					  "a header of %" PRIu32 " bytes, %d at most", size,
					  NPY_HEADER_MOST);
	if (!err)
		err = tenon_cursor_bytes(c, size, &text);
	if (err)
		return err;
	header = tenon_cursor_of(text.data, text.size, c->name, tenon_cursor_place(c) - text.size);
	err = read_header(&header, out);
	if (err)
		return err;
	if (__builtin_mul_overflow(out->elements, (uint64_t)out->dtype.bits / 8, want))
		return tenon_cursor_error(c, -TENON_E_OVERFLOW,
					  "more bytes than 64 bits can count");
	return 0;
}

int npy_read_head(struct tenon_slice bytes, const char *name, struct npy *out)
{
	struct tenon_cursor c = tenon_cursor_of(bytes.data, bytes.size, name, 0);
	uint64_t want;

	return read_head(&c, out, &want);
}

uint64_t npy_wanted(struct tenon_slice have)
{
	struct tenon_cursor c = tenon_cursor_of(have.data, have.size, "", 0);
	uint64_t want;
	uint32_t size;
	struct npy npy;

	if (have.size < NPY_LEAST)
		return NPY_LEAST;
	c.at += sizeof(magic) - 1;
	if (npy_is(have) && !header_size(&c, &size) && size <= NPY_HEADER_MOST) {
		if (size > tenon_cursor_left(&c))
			return tenon_cursor_place(&c) + size;
		c.at = c.start;
		if (!read_head(&c, &npy, &want) &&
		    !__builtin_add_overflow(want, tenon_cursor_place(&c), &want))
			return want;
	}
	tenon_error_clear();
	return 0;
}

int npy_read(struct tenon_slice bytes, const char *name, struct npy *out)
{
	struct tenon_cursor c = tenon_cursor_of(bytes.data, bytes.size, name, 0);
	uint64_t want;
	int err;

	err = read_head(&c, out, &want);
	if (err)
		return err;
	if (want < tenon_cursor_left(&c))
		return tenon_cursor_error(
			&c, -TENON_E_TRUNCATED,
			"its shape needs %" PRIu64 " bytes of data, the file has more", want);
	if (want > tenon_cursor_left(&c))
		return tenon_cursor_error(&c, -TENON_E_TRUNCATED,
					  "its shape needs %" PRIu64
					  " bytes of data, the file has %zu",
					  want, tenon_cursor_left(&c));
	return tenon_cursor_bytes(&c, want, &out->data);
}
