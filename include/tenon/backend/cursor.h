/* SPDX-License-Identifier: MIT */
#ifndef TENON_BACKEND_CURSOR_H
#define TENON_BACKEND_CURSOR_H

/**
 * DOC: cursor over untrusted bytes
 *
 * Every byte that Tenon did not write in this process (a file, a blob, a packet, a ring entry) is
 * read through a cursor. A cursor never reads outside its range and never allocates. Its errors
 * begin with the name of the source and the offset in it. Integers are little-endian. A read that
 * fails does not move the cursor.
 */

#include <tenon/error.h>
#include <tenon/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct tenon_cursor - a position in untrusted bytes
 * @start: first byte of the source
 * @at: next byte to read
 * @end: one past the last byte
 * @name: name of the bytes in errors ("import tree"); must outlive the cursor; may be NULL
 * @offset: offset of @start in the file, for errors
 */
struct tenon_cursor {
	const uint8_t *start;
	const uint8_t *at;
	const uint8_t *end;
	const char *name;
	uint64_t offset;
};

/** tenon_cursor_of - make a cursor over @size bytes at @data, from @offset of their file */
static inline struct tenon_cursor tenon_cursor_of(const void *data, size_t size, const char *name,
						  uint64_t offset)
{
	struct tenon_cursor c;

	/* the data of an empty file is NULL, and NULL + 0 is undefined */
	c.start = (const uint8_t *)(data ? data : "");
	c.at = c.start;
	c.end = c.start + size;
	c.name = name;
	c.offset = offset;
	return c;
}

/** tenon_cursor_left - number of bytes not yet read */
static inline size_t tenon_cursor_left(const struct tenon_cursor *c)
{
	return (size_t)(c->end - c->at);
}

/** tenon_cursor_place - offset of the next byte in the file */
static inline uint64_t tenon_cursor_place(const struct tenon_cursor *c)
{
	return c->offset + (uint64_t)(c->at - c->start);
}

/**
 * tenon_cursor_error - raise an error that begins with the cursor's name and offset
 * @c: the cursor
 * @status: negative status
 * @format: printf format of the message
 *
 * Return: @status.
 */
TENON_API int tenon_cursor_error(const struct tenon_cursor *c, int status, const char *format, ...)
	TENON_PRINTF(3, 4);

/**
 * tenon_cursor_u8 - read one byte
 * @c: cursor; moved past the byte on success, unchanged on failure
 * @out: receives the byte; 0 on failure
 *
 * Context: any thread; no lock, no allocation. The same holds for all functions below.
 * Return: 0; -TENON_E_TRUNCATED.
 */
TENON_API int tenon_cursor_u8(struct tenon_cursor *c, uint8_t *out);
/** tenon_cursor_u16 - read two bytes, little-endian; as tenon_cursor_u8() */
TENON_API int tenon_cursor_u16(struct tenon_cursor *c, uint16_t *out);
/** tenon_cursor_u32 - read four bytes, little-endian; as tenon_cursor_u8() */
TENON_API int tenon_cursor_u32(struct tenon_cursor *c, uint32_t *out);
/** tenon_cursor_u64 - read eight bytes, little-endian; as tenon_cursor_u8() */
TENON_API int tenon_cursor_u64(struct tenon_cursor *c, uint64_t *out);

/**
 * tenon_cursor_count - read an element count and check it against the bytes left
 * @c: cursor; moved past the count on success, unchanged on failure
 * @size: bytes of the smallest possible element; at least 1
 * @count: the count; 0 on failure
 *
 * An untrusted count must not be multiplied unchecked: it is rejected unless count * size bytes are
 * left.
 *
 * Return: 0; -TENON_E_TRUNCATED when the bytes end before the count or its elements.
 */
TENON_API int tenon_cursor_count(struct tenon_cursor *c, size_t size, uint64_t *count);

/**
 * tenon_cursor_bytes - take bytes without copying them
 * @c: cursor
 * @size: number of bytes
 * @out: receives a slice of the source
 *
 * Return: 0; -TENON_E_TRUNCATED.
 */
TENON_API int tenon_cursor_bytes(struct tenon_cursor *c, uint64_t size, struct tenon_slice *out);

/** tenon_cursor_skip - skip @size bytes; as tenon_cursor_bytes() */
TENON_API int tenon_cursor_skip(struct tenon_cursor *c, uint64_t size);

/** tenon_cursor_string - read a u64 length and that many bytes; as tenon_cursor_bytes() */
TENON_API int tenon_cursor_string(struct tenon_cursor *c, struct tenon_slice *out);

#ifdef __cplusplus
}
#endif

#endif /* TENON_BACKEND_CURSOR_H */
