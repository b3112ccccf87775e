/* SPDX-License-Identifier: MIT */
/*
 * Fast path: nearly all payloads of large blobs are a format, a kernel table and a program. This
 * skips them without parsing their contents.
 */
#include <string.h>

#include "lib/cursor_fast.h"
#include "runtime/payload/payload_format.h"

/* names checked per pass; a table with more takes further passes */
#define NAMES_MOST 8

struct scan {
	const uint8_t *end;
	uint64_t count;
	const uint8_t *function[NAMES_MOST];
};

/* Return the address after a string; NULL when it is truncated. */
static inline const uint8_t *skip_string(const uint8_t *at, const uint8_t *end)
{
	uint64_t size;

	if ((size_t)(end - at) < 8)
		return NULL;
	size = load_u64(at);
	at += 8;
	return size <= (size_t)(end - at) ? at + size : NULL;
}

/* Skip one function of a table. */
static inline const uint8_t *skip_function(const uint8_t *at, const uint8_t *end, bool extra)
{
	uint64_t i, count;

	at = skip_string(at, end);
	at = at ? skip_string(at, end) : NULL;
	if (!at || (size_t)(end - at) < 16 || load_u64(at) > ((size_t)(end - at) - 16) / 4)
		return NULL;
	at += 8 + 4 * load_u64(at);
	count = load_u64(at);
	for (i = 0, at += 8; i < count && at; i++)
		at = skip_string(at, end);
	if (!at || !extra)
		return at;
	if ((size_t)(end - at) < 8 || load_u64(at) > ((size_t)(end - at) - 8) / 4)
		return NULL;
	return at + 8 + 4 * load_u64(at);
}

/* Return the address after the payload; NULL if it has another form. */
static const uint8_t *scan(struct scan *s, const uint8_t *at, bool extra)
{
	struct tenon_slice word = { (const char *)at + 8, 0 };
	const uint8_t *end = s->end;
	uint64_t i;

	at = skip_string(at, end);
	if (!at || (size_t)(end - at) < 8)
		return NULL;
	word.size = (size_t)((const char *)at - word.data);
	s->count = load_u64(at);
	if (!payload_is_word(word) || s->count > (size_t)(end - at) / PAYLOAD_FUNCTION_LEAST)
		return NULL;
	for (i = 0, at += 8; i < s->count && at; i++) {
		if (i < NAMES_MOST)
			s->function[i] = at;
		at = skip_function(at, end, extra);
	}
	return at ? skip_string(at, end) : NULL;
}

static bool may_scan(const struct tenon_payload_format *format)
{
	return !format->legacy && !strncmp(format->fields, "fmd", 3);
}

bool payload_scan(const struct tenon_payload_format *format, struct tenon_cursor *c,
		  enum payload_dialect dialect)
{
	struct scan s;
	const uint8_t *end;

	s.end = c->end;
	end = may_scan(format) ? scan(&s, c->at, dialect == PAYLOAD_EXTRA_TAGS) : NULL;
	if (!end)
		return false;
	c->at = end;
	return true;
}

bool payload_scan_names(const struct tenon_payload_format *format, const struct tenon_cursor *c,
			enum payload_dialect dialect,
			int (*visit)(void *context, struct tenon_slice name), void *context,
			int *result)
{
	const bool extra = dialect == PAYLOAD_EXTRA_TAGS;
	struct scan s;
	struct tenon_slice name;
	const uint8_t *at = NULL;
	uint64_t i;

	s.end = c->end;
	*result = 0;
	if (!may_scan(format) || scan(&s, c->at, extra) != c->end)
		return false;
	for (i = 0; i < s.count && !*result; i++) {
		at = i < NAMES_MOST ? s.function[i] : skip_function(at, s.end, extra);
		name.data = (const char *)at + 8;
		name.size = (size_t)load_u64(at);
		*result = visit(context, name);
	}
	return true;
}
