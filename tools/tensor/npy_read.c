/* SPDX-License-Identifier: MIT */
/* Read an array file: what the type of its elements is for tensors, and whether all of them are there. */
#include <inttypes.h>
#include <string.h>

#include <tenon/backend/cursor.h>
#include <tenon/string.h>

#include "runtime/kind/file_kind.h"
#include "tools/tensor/npy.h"

static int unknown_type(const struct tenon_cursor *c, struct tenon_slice text)
{
	return tenon_cursor_error(c, -TENON_E_UNSUPPORTED,
				  "elements of numpy's type \"%.*s\" have no place in a tensor",
				  (int)text.size, text.data);
}

/* A type like "<f4": byte order, kind, size of an element. */
static int set_type(const struct tenon_cursor *c, struct npy *out)
{
	static const char kinds[] = "biufcV";
	static const uint8_t codes[] = {
		TENON_DTYPE_BOOL,  TENON_DTYPE_INT,	TENON_DTYPE_UINT,
		TENON_DTYPE_FLOAT, TENON_DTYPE_COMPLEX, TENON_DTYPE_HANDLE
	};
	const struct tenon_slice text = out->head.type;
	unsigned int bytes = 0;
	const char *kind;

	if (text.size < 3 || text.size > 4 || !strchr("<>|=", text.data[0]))
		return unknown_type(c, text);
	kind = text.data[1] ? strchr(kinds, text.data[1]) : NULL;
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

static int read_head(struct tenon_cursor *c, struct npy *out, uint64_t *want)
{
	const struct tenon_slice bytes = { (const char *)c->at, tenon_cursor_left(c) };
	int err;

	memset(out, 0, sizeof(*out));
	if (!npy_is(bytes))
		return tenon_cursor_error(
			c, -TENON_E_FORMAT,
			"no array file of numpy, but %s; TYPE=@FILE reads bytes as they are",
			file_kind(bytes));
	err = npy_header_read(c, &out->head);
	err = err ? err : set_type(c, out);
	if (err)
		return err;
	if (__builtin_mul_overflow(out->head.elements, (uint64_t)out->dtype.bits / 8, want))
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
	if (!npy_header_size(&c, &size)) {
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
