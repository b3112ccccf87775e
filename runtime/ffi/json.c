/* SPDX-License-Identifier: MIT */
/* Parse JSON to values, and write values as JSON, with a limit of nesting. */
#include "runtime/ffi/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "lib/number.h"
#include "runtime/ffi/map.h"
#include "runtime/ffi/sequence.h"
#include "runtime/ffi/text_stream.h"
#include "runtime/ffi/walk.h"

/* ---- reading */

struct parser {
	const char *start;
	const char *at;
	const char *end;
	int nested;
};

static int parse_value(struct parser *p, struct tenon_value *out);

static int syntax_error(const struct parser *p, const char *at, const char *what)
{
	const char *c, *line = p->start;
	long long lines = 1;

	for (c = p->start; c < at; c++) {
		if (*c == '\n') {
			lines++;
			line = c + 1;
		}
	}
	return ffi_raise("ValueError", "%s: line %lld column %lld (char %lld)", what, lines,
			 (long long)(at - line) + 1, (long long)(at - p->start));
}

static void skip_spaces(struct parser *p)
{
	while (p->at < p->end &&
	       (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r'))
		p->at++;
}

static bool take(struct parser *p, const char *literal)
{
	size_t n = strlen(literal);

	if ((size_t)(p->end - p->at) < n || memcmp(p->at, literal, n))
		return false;
	p->at += n;
	return true;
}

static bool take_hex(struct parser *p, unsigned int *out)
{
	unsigned int i, digit;

	if (p->end - p->at < 4)
		return false;
	for (*out = 0, i = 0; i < 4; i++, p->at++) {
		if (*p->at >= '0' && *p->at <= '9')
			digit = (unsigned int)(*p->at - '0');
		else if ((*p->at | 32) >= 'a' && (*p->at | 32) <= 'f')
			digit = (unsigned int)((*p->at | 32) - 'a') + 10;
		else
			return false;
		*out = *out << 4 | digit;
	}
	return true;
}

static void put_utf8(FILE *out, unsigned int c)
{
	if (c >= 0x80) {
		if (c >= 0x10000)
			fprintf(out, "%c%c", (int)(0xf0 | c >> 18), (int)(0x80 | (c >> 12 & 0x3f)));
		else if (c >= 0x800)
			fputc((int)(0xe0 | c >> 12), out);
		fputc((int)(c >= 0x800 ? 0x80 | (c >> 6 & 0x3f) : 0xc0 | c >> 6), out);
		c = 0x80 | (c & 0x3f);
	}
	fputc((int)c, out);
}

/* Read what follows "\u". */
static int parse_unicode(struct parser *p, FILE *out)
{
	const char *at = p->at - 1, *low;
	unsigned int first, second;

	if (!take_hex(p, &first))
		return syntax_error(p, at, "Invalid \\uXXXX escape");
	if (first >= 0xd800 && first < 0xe000) {
		if (first >= 0xdc00 || !take(p, "\\u"))
			return syntax_error(p, at, "Invalid surrogate pair of \\uXXXX escapes");
		low = p->at;
		if (!take_hex(p, &second))
			return syntax_error(p, low, "Invalid \\uXXXX escape");
		if (second < 0xdc00 || second > 0xdfff)
			return syntax_error(p, at, "Invalid surrogate pair of \\uXXXX escapes");
		first = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
	}
	put_utf8(out, first);
	return 0;
}

static int parse_escape(struct parser *p, FILE *out)
{
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	const char *found;

	if (p->at == p->end)
		return syntax_error(p, p->at, "Invalid \\escape");
	if (*p->at == 'u') {
		p->at++;
		return parse_unicode(p, out);
	}
	found = *p->at ? strchr(names, *p->at) : NULL;
	if (!found)
		return syntax_error(p, p->at, "Invalid \\escape");
	fputc(values[found - names], out);
	p->at++;
	return 0;
}

static int parse_characters(struct parser *p, FILE *out)
{
	const char *start = p->at - 1;

	for (; p->at < p->end && *p->at != '"';) {
		if ((unsigned char)*p->at < ' ')
			return syntax_error(p, p->at, "Invalid control character at");
		if (*p->at != '\\') {
			fputc(*p->at++, out);
			continue;
		}
		p->at++;
		if (parse_escape(p, out))
			return -1;
	}
	if (p->at == p->end)
		return syntax_error(p, start, "Unterminated string starting at");
	p->at++;
	return 0;
}

static int parse_string(struct parser *p, struct tenon_value *out)
{
	struct text_stream s;

	if (text_stream_open(&s))
		return -1;
	p->at++;
	return text_stream_close(&s, parse_characters(p, s.out), out);
}

static int parse_number(struct parser *p, struct tenon_value *out)
{
	const char *start = p->at, *stop;
	bool whole = true;
	char *text, *end;
	size_t n;

	if (take(p, "NaN")) {
		*out = tenon_arg_float((double)NAN);
		return 0;
	}
	if (take(p, "Infinity") || take(p, "-Infinity")) {
		*out = tenon_arg_float(*start == '-' ? -(double)INFINITY : (double)INFINITY);
		return 0;
	}
	for (; p->at < p->end && *p->at && strchr("0123456789+-.eE", *p->at); p->at++)
		whole = whole && !strchr(".eE", *p->at);
	n = (size_t)(p->at - start);
	text = n ? malloc(n + 1) : NULL;
	if (!text)
		return n ? ffi_nomem("a number") : syntax_error(p, start, "Expecting value");
	memcpy(text, start, n);
	text[n] = '\0';
	errno = 0;
	stop = text;
	if (whole) {
		*out = tenon_arg_int((int64_t)strtoll(text, &end, 10));
		stop = end;
	}
	if (!whole || errno || *stop) {
		errno = 0;
		*out = tenon_arg_float(number_read(text, &stop));
	}
	n = !errno && !*stop;
	free(text);
	return n ? 0 : syntax_error(p, start, "Expecting value");
}

static int parse_array(struct parser *p, struct tenon_value *out)
{
	struct tenon_array *a = ffi_sequence_create(TENON_TYPE_ARRAY, NULL, 0);
	struct tenon_value item;
	int err = 0;

	*out = tenon_arg_object(a);
	if (!a)
		return -1;
	p->at++;
	skip_spaces(p);
	if (take(p, "]"))
		return 0;
	while (!err) {
		err = parse_value(p, &item);
		if (err)
			break;
		err = ffi_sequence_append(a, &item);
		ffi_release(&item);
		skip_spaces(p);
		if (!err && take(p, "]"))
			return 0;
		if (!err && !take(p, ","))
			err = syntax_error(p, p->at, "Expecting ',' delimiter");
	}
	ffi_release(out);
	return err;
}

static int parse_pair(struct parser *p, struct tenon_map *m)
{
	struct tenon_value key, value;
	int err;

	skip_spaces(p);
	if (p->at == p->end || *p->at != '"')
		return syntax_error(p, p->at, "Expecting property name enclosed in double quotes");
	if (parse_string(p, &key))
		return -1;
	skip_spaces(p);
	err = take(p, ":") ? parse_value(p, &value)
			   : syntax_error(p, p->at, "Expecting ':' delimiter");
	if (!err) {
		err = ffi_map_set(m, &key, &value);
		ffi_release(&value);
	}
	ffi_release(&key);
	return err;
}

static int parse_object(struct parser *p, struct tenon_value *out)
{
	struct tenon_map *m = ffi_map_create(TENON_TYPE_MAP);
	int err = 0;

	*out = tenon_arg_object(m);
	if (!m)
		return -1;
	p->at++;
	skip_spaces(p);
	if (take(p, "}"))
		return 0;
	while (!err) {
		err = parse_pair(p, m);
		skip_spaces(p);
		if (!err && take(p, "}"))
			return 0;
		if (!err && !take(p, ","))
			err = syntax_error(p, p->at, "Expecting ',' delimiter");
	}
	ffi_release(out);
	return err;
}

static int parse_value(struct parser *p, struct tenon_value *out)
{
	int err;

	*out = tenon_arg_none();
	skip_spaces(p);
	if (p->at == p->end)
		return syntax_error(p, p->at, "Expecting value");
	if (*p->at == '"')
		return parse_string(p, out);
	if (*p->at == '{' || *p->at == '[') {
		if (p->nested >= FFI_NESTED_MOST)
			return ffi_too_deep("ffi.json.Parse");
		p->nested++;
		err = *p->at == '{' ? parse_object(p, out) : parse_array(p, out);
		p->nested--;
		return err;
	}
	if (take(p, "null"))
		return 0;
	if (take(p, "true")) {
		*out = tenon_arg_bool(true);
		return 0;
	}
	if (take(p, "false")) {
		*out = tenon_arg_bool(false);
		return 0;
	}
	return parse_number(p, out);
}

int ffi_json_parse(struct tenon_slice text, struct tenon_value *out)
{
	struct parser p = { text.data, text.data, text.data + text.size, 0 };

	if (parse_value(&p, out))
		return -1;
	skip_spaces(&p);
	if (p.at == p.end)
		return 0;
	ffi_release(out);
	return syntax_error(&p, p.at, "Extra data");
}

/* ---- writing */

struct writer {
	FILE *out;
	int indent;
	int nested;
	const struct ffi_open *open;
};

static int write_value(struct writer *w, const struct tenon_value *v);

static void write_string(FILE *out, struct tenon_slice text)
{
	static const char special[] = "\"\\/\b\f\n\r\t", names[] = "\"\\/bfnrt";
	const char *found;
	unsigned char c;
	size_t i;

	fputc('"', out);
	for (i = 0; i < text.size; i++) {
		c = (unsigned char)text.data[i];
		found = c ? strchr(special, c) : NULL;
		if (found)
			fprintf(out, "\\%c", names[found - special]);
		else if (c < 0x20 || c == 0x7f)
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

/* below it, floats without a fraction are written as such: 3.0 */
#define WHOLE_BELOW 9007199254740992.0

static void write_float(FILE *out, double real)
{
	char text[NUMBER_ROOM];

	if (isnan(real))
		fputs("NaN", out);
	else if (isinf(real))
		fputs(real < 0 ? "-Infinity" : "Infinity", out);
	else if (fabs(real) < WHOLE_BELOW && (double)(int64_t)real == real)
		fprintf(out, "%s%" PRId64 ".0", signbit(real) ? "-" : "", (int64_t)fabs(real));
	else
		fputs(number_print(text, 17, real), out);
}

static void new_line(const struct writer *w)
{
	if (w->indent > 0)
		fprintf(w->out, "\n%*s", w->indent * w->nested, "");
}

static int write_items(struct writer *w, const struct tenon_array *s)
{
	int64_t i;
	int err = 0;

	fputc('[', w->out);
	for (i = 0; !err && i < s->size; i++) {
		if (i)
			fputc(',', w->out);
		new_line(w);
		err = write_value(w, &s->data[i]);
	}
	w->nested--;
	new_line(w);
	w->nested++;
	fputc(']', w->out);
	return err;
}

static int write_pairs(struct writer *w, const struct tenon_map *m)
{
	struct ffi_map_at at = FFI_MAP_START;
	const struct tenon_value *key, *value;
	struct tenon_slice text;
	bool first = true;
	int err = 0;

	fputc('{', w->out);
	while (!err && ffi_map_next(m, &at, &key, &value)) {
		if (!first)
			fputc(',', w->out);
		first = false;
		new_line(w);
		if (!ffi_string_text(key, &text)) {
			text = ffi_type_key(key->type);
			return ffi_raise("ValueError", "Expect key to be string, got `%.*s`",
					 (int)text.size, text.data);
		}
		write_string(w->out, text);
		fputs(w->indent > 0 ? ": " : ":", w->out);
		err = write_value(w, value);
	}
	w->nested--;
	new_line(w);
	w->nested++;
	fputc('}', w->out);
	return err;
}

static int write_container(struct writer *w, struct tenon_object *o)
{
	struct ffi_open open = { w->open, o, NULL };
	int err;

	if (ffi_is_open(w->open, o, NULL))
		return ffi_raise("ValueError", "Cycle detected: List contains itself");
	if (w->nested >= FFI_NESTED_MOST)
		return ffi_too_deep("ffi.json.Stringify");
	w->open = &open;
	w->nested++;
	err = o->type == TENON_TYPE_MAP ? write_pairs(w, (struct tenon_map *)o)
					: write_items(w, (struct tenon_array *)o);
	w->nested--;
	w->open = open.outer;
	return err;
}

static int write_value(struct writer *w, const struct tenon_value *v)
{
	struct tenon_slice text;

	if (v->type == TENON_TYPE_NONE) {
		fputs("null", w->out);
	} else if (v->type == TENON_TYPE_BOOL) {
		fputs(v->as.integer ? "true" : "false", w->out);
	} else if (v->type == TENON_TYPE_INT) {
		fprintf(w->out, "%" PRId64, v->as.integer);
	} else if (v->type == TENON_TYPE_FLOAT) {
		write_float(w->out, v->as.real);
	} else if (ffi_string_text(v, &text)) {
		write_string(w->out, text);
	} else if (ffi_is_sequence(v->type) || v->type == TENON_TYPE_MAP) {
		return write_container(w, v->as.object);
	} else {
		text = ffi_type_key(v->type);
		return ffi_raise("ValueError", "Unsupported type: `%.*s`", (int)text.size,
				 text.data);
	}
	return 0;
}

int ffi_json_write(const struct tenon_value *v, int indent, struct tenon_value *out)
{
	struct writer w = { .indent = indent };
	struct text_stream s;

	if (text_stream_open(&s))
		return -1;
	w.out = s.out;
	return text_stream_close(&s, write_value(&w, v), out);
}

/* ---- the functions */

static PACKED_CALL(parse_call)
{
	struct tenon_slice text;

	if (ffi_count("ffi.json.Parse", count, 1, 1) ||
	    ffi_arg_text("ffi.json.Parse", args, 0, &text))
		return -1;
	return ffi_json_parse(text, ret);
}

#define INDENT_MOST 64

static PACKED_CALL(write_call)
{
	struct tenon_value v;
	int64_t indent = 0;
	int err;

	if (ffi_count("ffi.json.Stringify", count, 1, 2) ||
	    (count == 2 && args[1].type != TENON_TYPE_NONE &&
	     ffi_arg_int("ffi.json.Stringify", args, 1, &indent)))
		return -1;
	if (indent < 0 || indent > INDENT_MOST)
		return ffi_raise("ValueError", "ffi.json.Stringify: an indent of %lld",
				 (long long)indent);
	if (ffi_own(&args[0], &v))
		return -1;
	err = ffi_json_write(&v, (int)indent, ret);
	ffi_release(&v);
	return err;
}

const struct global_function json_globals[] = {
	{ "ffi.json.Parse", parse_call },
	{ "ffi.json.Stringify", write_call },
	{ NULL, NULL },
};
