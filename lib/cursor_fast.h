/* SPDX-License-Identifier: MIT */
/*
 * Inline versions of the most frequent reads of a blob. Each makes the same checks as the function
 * of the public header, and calls that function on failure.
 */
#ifndef LIB_CURSOR_FAST_H
#define LIB_CURSOR_FAST_H

#include <endian.h>
#include <string.h>
#include <tenon/backend/cursor.h>

/* little-endian; the caller has checked that the bytes exist */
static inline uint64_t load_u64(const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return le64toh(v);
}

static inline uint32_t load_u32(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return le32toh(v);
}

static inline uint16_t load_u16(const uint8_t *at)
{
	uint16_t v;

	memcpy(&v, at, sizeof(v));
	return le16toh(v);
}

static inline int take_u64(struct tenon_cursor *c, uint64_t *out)
{
	if (tenon_cursor_left(c) < sizeof(*out))
		return tenon_cursor_u64(c, out);
	*out = load_u64(c->at);
	c->at += sizeof(*out);
	return 0;
}

static inline int take_count(struct tenon_cursor *c, size_t size, uint64_t *out)
{
	size_t left = tenon_cursor_left(c);

	if (left < sizeof(*out) || load_u64(c->at) > (left - sizeof(*out)) / size)
		return tenon_cursor_count(c, size, out);
	*out = load_u64(c->at);
	c->at += sizeof(*out);
	return 0;
}

static inline int take_string(struct tenon_cursor *c, struct tenon_slice *out)
{
	size_t left = tenon_cursor_left(c);

	if (left < sizeof(uint64_t) || load_u64(c->at) > left - sizeof(uint64_t))
		return tenon_cursor_string(c, out);
	out->size = (size_t)load_u64(c->at);
	c->at += sizeof(uint64_t);
	out->data = (const char *)c->at;
	c->at += out->size;
	return 0;
}

#endif /* LIB_CURSOR_FAST_H */
