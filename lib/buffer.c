/* SPDX-License-Identifier: MIT */
/* Grow a buffer of bytes, and keep its first failure until it is read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "lib/large_pages.h"

void tenon_buffer_fini(struct tenon_buffer *b)
{
	free(b->data);
	memset(b, 0, sizeof(*b));
}

static int buffer_grow(struct tenon_buffer *b, size_t more)
{
	size_t room = b->room ? b->room : 64;
	char *data;

	if (b->status)
		return b->status;
	if (more >= SIZE_MAX / 2 - b->size) {
		b->status = tenon_error(-TENON_E_OVERFLOW,
					"buffer of %zu bytes cannot take %zu more", b->size, more);
		return b->status;
	}
	while (room < b->size + more + 1)
		room *= 2;
	if (room == b->room)
		return 0;
	data = realloc(b->data, room);
	if (!data) {
		b->status =
			tenon_error(-TENON_E_NOMEM, "no memory for a buffer of %zu bytes", room);
		return b->status;
	}
	large_pages_use(data, room);
	b->data = data;
	b->room = room;
	return 0;
}

int tenon_buffer_append(struct tenon_buffer *b, const void *data, size_t size)
{
	int err;

	if (size && !data && !b->status)
		b->status = tenon_error(-TENON_E_VALUE,
					"%zu bytes without data: the pointer is NULL", size);
	if (b->status)
		return b->status;
	err = buffer_grow(b, size);
	if (err)
		return err;
	if (size)
		memcpy(b->data + b->size, data, size);
	b->size += size;
	b->data[b->size] = '\0';
	return 0;
}

int tenon_buffer_slice(struct tenon_buffer *b, struct tenon_slice s)
{
	return tenon_buffer_append(b, s.data, s.size);
}

static int buffer_integer(struct tenon_buffer *b, uint64_t v, size_t size)
{
	uint8_t bytes[8];
	size_t i;

	for (i = 0; i < size; i++)
		bytes[i] = (uint8_t)(v >> (8 * i));
	return tenon_buffer_append(b, bytes, size);
}

int tenon_buffer_u8(struct tenon_buffer *b, uint8_t v)
{
	return buffer_integer(b, v, 1);
}

int tenon_buffer_u32(struct tenon_buffer *b, uint32_t v)
{
	return buffer_integer(b, v, 4);
}

int tenon_buffer_u64(struct tenon_buffer *b, uint64_t v)
{
	return buffer_integer(b, v, 8);
}

int tenon_buffer_string(struct tenon_buffer *b, struct tenon_slice s)
{
	int err = tenon_buffer_u64(b, s.size);

	return err ? err : tenon_buffer_slice(b, s);
}

int tenon_buffer_printf(struct tenon_buffer *b, const char *format, ...)
{
	va_list args;
	int n, err;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (n < 0)
		return tenon_error(-TENON_E_USAGE, "format \"%s\" cannot be printed", format);
	err = buffer_grow(b, (size_t)n);
	if (err)
		return err;
	va_start(args, format);
	vsnprintf(b->data + b->size, (size_t)n + 1, format, args);
	va_end(args);
	b->size += (size_t)n;
	return 0;
}
