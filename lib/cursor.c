/* SPDX-License-Identifier: MIT */
/* Read foreign bytes without leaving their range, and say in errors where it failed. */
#include <inttypes.h>
#include <stdio.h>
#include <tenon/backend/cursor.h>

#include "lib/brief_errors.h"

int(tenon_cursor_error)(const struct tenon_cursor *c, int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tenon_error_v(status, format, args);
	va_end(args);
	return tenon_error_in(status, "%s%sat 0x%" PRIx64, c->name ? c->name : "",
			      c->name ? " " : "", tenon_cursor_place(c));
}

static int cursor_short(const struct tenon_cursor *c, uint64_t size)
{
	size_t left = tenon_cursor_left(c);

	return tenon_cursor_error(c, -TENON_E_TRUNCATED,
				  "%" PRIu64 " byte%s wanted, %zu byte%s left", size,
				  size == 1 ? "" : "s", left, left == 1 ? "" : "s");
}

static int cursor_integer(struct tenon_cursor *c, size_t size, uint64_t *out)
{
	uint64_t v = 0;
	size_t i;

	*out = 0;
	if (tenon_cursor_left(c) < size)
		return cursor_short(c, size);
	for (i = 0; i < size; i++)
		v |= (uint64_t)c->at[i] << (8 * i);
	c->at += size;
	*out = v;
	return 0;
}

int tenon_cursor_u8(struct tenon_cursor *c, uint8_t *out)
{
	uint64_t v;
	int err = cursor_integer(c, 1, &v);

	*out = (uint8_t)v;
	return err;
}

int tenon_cursor_u16(struct tenon_cursor *c, uint16_t *out)
{
	uint64_t v;
	int err = cursor_integer(c, 2, &v);

	*out = (uint16_t)v;
	return err;
}

int tenon_cursor_u32(struct tenon_cursor *c, uint32_t *out)
{
	uint64_t v;
	int err = cursor_integer(c, 4, &v);

	*out = (uint32_t)v;
	return err;
}

int tenon_cursor_u64(struct tenon_cursor *c, uint64_t *out)
{
	return cursor_integer(c, 8, out);
}

int tenon_cursor_count(struct tenon_cursor *c, size_t size, uint64_t *count)
{
	const uint8_t *from = c->at;
	uint64_t n;
	size_t left;
	int err;

	*count = 0;
	err = tenon_cursor_u64(c, &n);
	if (err)
		return err;
	left = tenon_cursor_left(c);
	if (n > left / size) {
		c->at = from;
		return tenon_cursor_error(c, -TENON_E_TRUNCATED,
					  "%" PRIu64 " elements of at least %zu bytes promised, "
					  "%zu bytes left",
					  n, size, left);
	}
	*count = n;
	return 0;
}

int tenon_cursor_bytes(struct tenon_cursor *c, uint64_t size, struct tenon_slice *out)
{
	out->data = NULL;
	out->size = 0;
	if (size > tenon_cursor_left(c))
		return cursor_short(c, size);
	out->data = (const char *)c->at;
	out->size = (size_t)size;
	c->at += size;
	return 0;
}

int tenon_cursor_skip(struct tenon_cursor *c, uint64_t size)
{
	struct tenon_slice s;

	return tenon_cursor_bytes(c, size, &s);
}

int tenon_cursor_string(struct tenon_cursor *c, struct tenon_slice *out)
{
	const uint8_t *from = c->at;
	uint64_t size;
	int err;

	out->data = NULL;
	out->size = 0;
	err = tenon_cursor_u64(c, &size);
	if (err)
		return err;
	if (size > tenon_cursor_left(c)) {
		size_t left = tenon_cursor_left(c);

		c->at = from;
		return tenon_cursor_error(c, -TENON_E_TRUNCATED,
					  "length %" PRIu64 ", %zu bytes left", size, left);
	}
	return tenon_cursor_bytes(c, size, out);
}
