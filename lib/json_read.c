/* SPDX-License-Identifier: MIT */
/* Check jsmn's tokens while they are read, and decode strings and numbers. */
#define JSON_READ_WITH_PARSER
#define JSMN_STATIC
#include "lib/json_read.h"
#include "lib/option.h"

#include "lib/brief_errors.h"
#include "lib/heap.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST 64
/* limit of tokens: jsmn counts them in an int, and the array's size must not overflow */
#define TOKENS_MOST                                                                                \
	(PTRDIFF_MAX / sizeof(jsmntok_t) < INT_MAX / 2 ? PTRDIFF_MAX / sizeof(jsmntok_t)           \
						       : INT_MAX / 2)
/*
 * bytes of text for each token that room is taken for at first: a graph of TVM has 5.7. A token has 20 bytes, so this asks for
 * four times the text; pages that are not written to take no memory.
 */
#define TOKEN_BYTES 5
/* tokens between checks of the depth */
#define TOKENS_STEP 512

_Static_assert(TOKENS_MOST <= SIZE_MAX / sizeof(jsmntok_t), "the size of the tokens fits a size_t");

static void place_of(const struct json_text *t, size_t offset, size_t *line, size_t *column)
{
	size_t i, start = 0;

	*line = 1;
	for (i = 0; i < offset && i < t->text.size; i++) {
		if (t->text.data[i] == '\n') {
			++*line;
			start = i + 1;
		}
	}
	*column = offset - start + 1;
}

static int error_at(const struct json_text *t, size_t offset, int status, const char *format,
		    va_list args)
{
	size_t line, column;

	tenon_error_v(status, format, args);
	place_of(t, offset, &line, &column);
	return tenon_error_in(status, "%s, line %zu, column %zu", t->name, line, column);
}

static int text_error(const struct json_text *t, size_t offset, int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	status = error_at(t, offset, status, format, args);
	va_end(args);
	return status;
}

#if !ERROR_MESSAGES
#define text_error(t, offset, status, ...)                                                         \
	(0 ? text_error(t, offset, status, __VA_ARGS__) : error_brief(status))
#endif

int(json_error)(const struct json_text *t, uint32_t at, int status, const char *format, ...)
{
	size_t offset = at < t->count ? (size_t)t->tokens[at].start : t->text.size;
	va_list args;

	va_start(args, format);
	status = error_at(t, offset, status, format, args);
	va_end(args);
	return status;
}

/* jsmn walks all open containers when one is closed: refuse deep nesting before that is slow */
static bool too_deep(const struct json_text *t, const jsmn_parser *parser)
{
	int at = parser->toksuper, depth = 0;

	/* keys count as parents */
	for (; at >= 0 && depth <= 2 * DEPTH_MOST; at = t->tokens[at].parent)
		depth++;
	return depth > 2 * DEPTH_MOST;
}

/* What jsmn_parse() returned for a text that is none. */
static int not_json(const struct json_text *t, const jsmn_parser *parser, int error)
{
	if (error == JSMN_ERROR_PART)
		return tenon_error(-TENON_E_TRUNCATED,
				   "%s: the text ends too early, after %zu bytes", t->name,
				   t->text.size);
	return text_error(t, parser->pos, -TENON_E_FORMAT, "not JSON");
}

#ifdef CONFIG_FAST_CALLS
/* all of jsmn in one function, which has the position of its parser in a register */
#define IN_ONE __attribute__((flatten))
#else
#define IN_ONE
#endif

/* Continue with room for @limit tokens. */
IN_ONE static int parse_on(const struct json_text *t, jsmn_parser *parser, uint32_t limit)
{
	jsmn_parser own = *parser;
	int count = jsmn_parse(&own, t->text.data, t->text.size, t->tokens, limit);

	*parser = own;
	return count;
}

/* How many tokens to make room for next; not more than @room if that is the most. */
static uint32_t more_room(const struct json_text *t, uint32_t room)
{
	const size_t want = room ? 2 * (size_t)room : t->text.size / TOKEN_BYTES + TOKENS_STEP;

	return (uint32_t)(want < TOKENS_MOST ? want : TOKENS_MOST);
}

/* @room: tokens that there is room for already; they are enough if it is not 0 */
static int parse(struct json_text *t, jsmn_parser *parser, uint32_t room)
{
	const uint32_t enough = room;
	uint32_t limit = 0;
	jsmntok_t *more;
	int count;

	do {
		limit += TOKENS_STEP;
		if (enough && limit > enough) {
			limit = enough;
		} else if (limit > room) {
			room = more_room(t, room);
			more = limit <= room ? realloc(t->tokens, room * sizeof(*more)) : NULL;
			if (!more)
				return tenon_error(-TENON_E_NOMEM, "%s: no memory for its tokens",
						   t->name);
			t->tokens = more;
		}
		count = parse_on(t, parser, limit);
		if (too_deep(t, parser))
			return text_error(t, parser->pos, -TENON_E_FORMAT,
					  "more than %d arrays and objects inside each other",
					  DEPTH_MOST);
	} while (count == JSMN_ERROR_NOMEM && limit != enough);
	if (count < 0)
		return not_json(t, parser, count);
	t->count = parser->toknext;
	return 0;
}

/* Memory of a caller is scarce: count first, and take room for as many. Sets @room to 0 where malloc() is used. */
static int reserve_tokens(struct json_text *t, uint32_t *room)
{
	jsmn_parser parser;
	int count;

	*room = 0;
	if (!heap_now())
		return 0;
	jsmn_init(&parser);
	count = parse_on(t, &parser, 0);
	if (count < 0)
		return not_json(t, &parser, count);
	/* one more, so that an empty text has a token; parse() finds out what else is wrong with a text */
	*room = (uint32_t)count + 1;
	t->tokens = heap_take(HEAP_TEMPORARY, _Alignof(jsmntok_t), *room * sizeof(*t->tokens),
			      "tokens of JSON");
	return t->tokens ? 0 : tenon_error(-TENON_E_NOMEM, "%s: no memory for its tokens", t->name);
}

static int read_text(struct json_text *out, bool of_model)
{
	jsmn_parser parser;
	uint32_t end = 0, room = 0;
	int err;

	if (out->text.size > INT_MAX)
		return tenon_error(-TENON_E_OVERFLOW, "%s: %zu bytes, 2 GiB is the most", out->name,
				   out->text.size);
	err = of_model ? reserve_tokens(out, &room) : 0;
	if (err)
		return err;
	jsmn_init(&parser);
	err = parse(out, &parser, room);
	if (err)
		goto fini;
	if (!out->count ||
	    (out->tokens[0].type != JSMN_OBJECT && out->tokens[0].type != JSMN_ARRAY)) {
		err = text_error(out, 0, -TENON_E_FORMAT, "no object");
		goto fini;
	}
	/* tokens are in the order of the text */
	if (out->tokens[out->count - 1].start < out->tokens[0].end)
		return 0;
	json_skip(out, &end);
	err = json_error(out, end, -TENON_E_FORMAT, "something follows behind the end");

fini:
	json_text_fini(out);
	return err;
}

int json_text_read(struct tenon_slice text, const char *name, struct json_text *out)
{
	*out = (struct json_text){ .text = text, .name = name };
	return read_text(out, false);
}

int json_text_read_of_model(struct tenon_slice text, const char *name, struct json_text *out)
{
	*out = (struct json_text){ .text = text, .name = name };
	return read_text(out, true);
}

void json_text_fini(struct json_text *t)
{
	heap_free(t->tokens);
	t->tokens = NULL;
	t->count = 0;
}

static const char *type_name(const struct json_text *t, uint32_t at)
{
	static const char *const names[] = { [JSMN_OBJECT] = "an object",
					     [JSMN_ARRAY] = "an array",
					     [JSMN_STRING] = "a string",
					     [JSMN_PRIMITIVE] = "a number or word" };

	if (at >= t->count)
		return "the end";
	return t->tokens[at].type >= JSMN_STRING && t->tokens[at].size ? "a key"
								       : names[t->tokens[at].type];
}

static int type_error(const struct json_text *t, uint32_t at, const char *what, const char *want)
{
	return json_error(t, at, -TENON_E_FORMAT, "%s is %s, want %s", what, type_name(t, at),
			  want);
}

int json_enter(const struct json_text *t, uint32_t *at, jsmntype_t type, const char *what,
	       uint32_t *count)
{
	*count = 0;
	if (!json_is(t, *at, type))
		return type_error(t, *at, what, type == JSMN_ARRAY ? "an array" : "an object");
	*count = (uint32_t)t->tokens[*at].size;
	++*at;
	return 0;
}

int json_key(const struct json_text *t, uint32_t *at, struct tenon_slice *key)
{
	if (!json_is(t, *at, JSMN_STRING))
		return type_error(t, *at, "a key", "a string");
	if (t->tokens[*at].size != 1)
		return json_error(t, *at, -TENON_E_FORMAT, "%d values for a key, want one",
				  t->tokens[*at].size);
	*key = json_raw(t, *at);
	++*at;
	return 0;
}

static char *put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 63));
		*to++ = (char)(0x80 | (c & 63));
	} else {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 63));
		*to++ = (char)(0x80 | (c >> 6 & 63));
		*to++ = (char)(0x80 | (c & 63));
	}
	return to;
}

/* four hexadecimal digits, which jsmn has checked */
static uint32_t hex4(const char *at)
{
	uint32_t v = 0;
	int i;

	for (i = 0; i < 4; i++) {
		char c = at[i];

		v = v << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
	}
	return v;
}

/* Decode the escape after a backslash and move past it. Six bytes of text give at most three. */
static char *unescape(const char **at, const char *end, char *to)
{
	uint32_t c, low;

	switch (*(*at)++) {
	case 'b':
		*to++ = '\b';
		return to;
	case 'f':
		*to++ = '\f';
		return to;
	case 'n':
		*to++ = '\n';
		return to;
	case 'r':
		*to++ = '\r';
		return to;
	case 't':
		*to++ = '\t';
		return to;
	case 'u':
		break;
	default:
		*to++ = (*at)[-1];
		return to;
	}
	c = hex4(*at);
	*at += 4;
	if (c >= 0xd800 && c < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u') {
		low = hex4(*at + 2);
		if (low >= 0xdc00 && low < 0xe000) {
			*at += 6;
			return put_utf8(to, 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00));
		}
	}
	return put_utf8(to, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
}

/* Decode a string to *room, and move *room behind its NUL. */
static void decode(struct tenon_slice raw, char **room, struct tenon_slice *out)
{
	const char *from, *end;
	char *to = *room;

	if (!raw.size || !memchr(raw.data, '\\', raw.size)) {
		memcpy(to, raw.data, raw.size);
		to += raw.size;
	} else {
		end = raw.data + raw.size;
		for (from = raw.data; from < end;) {
			if (*from == '\\') {
				from++;
				to = unescape(&from, end, to);
			} else {
				*to++ = *from++;
			}
		}
	}
	out->data = *room;
	out->size = (size_t)(to - *room);
	*to++ = '\0';
	*room = to;
}

int json_string(const struct json_text *t, uint32_t *at, const char *what, char **room,
		struct tenon_slice *out)
{
	if (!json_is(t, *at, JSMN_STRING) || t->tokens[*at].size)
		return type_error(t, *at, what, "a string");
	decode(json_raw(t, *at), room, out);
	++*at;
	return 0;
}

int json_key_string(const struct json_text *t, uint32_t *at, char **room, struct tenon_slice *out)
{
	struct tenon_slice raw;
	int err = json_key(t, at, &raw);

	if (!err)
		decode(raw, room, out);
	return err;
}

static bool parse_integer(struct tenon_slice s, int64_t *out)
{
	bool negative = s.size && s.data[0] == '-';
	uint64_t v = 0, most = (uint64_t)INT64_MAX + negative;
	size_t i = negative;

	if (i == s.size)
		return false;
	/* 18 digits cannot overflow */
	for (; OPTION_ON(FAST_CALLS) && i < s.size && i < 18; i++) {
		unsigned int digit = (unsigned int)s.data[i] - '0';

		if (digit > 9)
			return false;
		v = 10 * v + digit;
	}
	for (; i < s.size; i++) {
		unsigned int digit = (unsigned int)s.data[i] - '0';

		if (digit > 9 || v > (most - digit) / 10)
			return false;
		v = 10 * v + digit;
	}
	*out = negative ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

int json_integer(const struct json_text *t, uint32_t *at, const char *what, int64_t least,
		 int64_t most, int64_t *out)
{
	struct tenon_slice raw;

	*out = 0;
	if (!json_is(t, *at, JSMN_PRIMITIVE) || t->tokens[*at].size)
		return type_error(t, *at, what, "a number");
	raw = json_raw(t, *at);
	if (!parse_integer(raw, out))
		return json_error(t, *at, -TENON_E_FORMAT, "%s is %.*s, want a whole number", what,
				  json_shown(raw), raw.data);
	if (*out < least || *out > most)
		return json_error(t, *at, -TENON_E_VALUE,
				  "%s is %" PRIi64 ", want %" PRIi64 " to %" PRIi64, what, *out,
				  least, most);
	++*at;
	return 0;
}

#ifdef CONFIG_FAST_CALLS
/* The first token behind @low that begins behind an end. */
static uint32_t first_behind(const struct json_text *t, uint32_t low, int end)
{
	uint32_t high, step, middle;

	/* What is inside begins before the end. Steps that double find something behind, then halves the first. */
	for (step = 1; step < t->count - low && t->tokens[low + step].start < end; step *= 2)
		low += step;
	high = step < t->count - low ? low + step : t->count;
	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (t->tokens[middle].start < end)
			low = middle;
		else
			high = middle;
	}
	return high;
}
#else
static uint32_t first_behind(const struct json_text *t, uint32_t at, int end)
{
	do
		at++;
	while (at < t->count && t->tokens[at].start < end);
	return at;
}
#endif

void json_skip(const struct json_text *t, uint32_t *at)
{
	int end;

	if (*at >= t->count)
		return;
	end = t->tokens[*at].end;
	*at = first_behind(t, *at, end);
}

int json_word(const struct json_text *t, uint32_t *at, const char *what, struct tenon_slice *out)
{
	if (!json_is(t, *at, JSMN_STRING))
		return type_error(t, *at, what, "a string");
	*out = json_raw(t, *at);
	if (memchr(out->data, '\\', out->size))
		return json_error(t, *at, -TENON_E_FORMAT, "%s has an escape", what);
	++*at;
	return 0;
}

uint32_t json_find(const struct json_text *t, uint32_t at, const char *key)
{
	const struct tenon_slice wanted = tenon_slice_of(key);
	uint32_t left;

	if (!json_is(t, at, JSMN_OBJECT))
		return 0;
	left = (uint32_t)t->tokens[at++].size;
	while (left-- && json_is(t, at, JSMN_STRING) && t->tokens[at].size == 1) {
		if (tenon_slice_equal(json_raw(t, at++), wanted))
			return at;
		json_skip(t, &at);
	}
	return 0;
}

int json_entry(const struct json_text *t, uint32_t *at, uint64_t nodes, uint32_t *node,
	       uint32_t *output)
{
	int64_t from = 0, index = 0, version;
	uint32_t count;
	int err;

	err = json_enter(t, at, JSMN_ARRAY, "an entry", &count);
	if (err)
		return err;
	if (count != 2 && count != 3)
		return json_error(t, *at - 1, -TENON_E_FORMAT,
				  "an entry of %" PRIu32 " numbers, want 2 or 3", count);
	err = json_integer(t, at, "a node number", 0, (int64_t)nodes - 1, &from);
	if (!err)
		err = json_integer(t, at, "an output number", 0, UINT32_MAX, &index);
	if (!err && count == 3)
		err = json_integer(t, at, "a version", 0, INT64_MAX, &version);
	*node = (uint32_t)from;
	*output = (uint32_t)index;
	return err;
}
