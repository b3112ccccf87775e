/* SPDX-License-Identifier: MIT */
/* What chat templates may call: a table each for functions, methods of texts, filters and tests. */
#include "llm/jinja_call.h"

#include <stdio.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <time.h>

#include "lib/slice_text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct arguments {
	struct jinja_value at[JINJA_ARGUMENTS_MOST];
	struct tenon_slice names[JINJA_ARGUMENTS_MOST]; /* empty without one */
	size_t count;
};

/* ---- arguments */

static int read_arguments(struct jinja *j, bool live, struct arguments *a)
{
	int err = 0;

	for (a->count = 0; !err && !jinja_take(j, ")"); a->count++) {
		if (a->count == JINJA_ARGUMENTS_MOST)
			return jinja_error(j, -TENON_E_UNSUPPORTED, "more than %d arguments",
					   JINJA_ARGUMENTS_MOST);
		a->names[a->count] = (struct tenon_slice){ "", 0 };
		if (j->tokens[j->at].kind == TOKEN_NAME &&
		    slice_is(j->tokens[j->at + 1].text, "=")) {
			a->names[a->count] = j->tokens[j->at].text;
			j->at += 2;
		}
		err = jinja_expression(j, live, &a->at[a->count]);
		if (!err && !jinja_take(j, ",")) {
			a->count++;
			err = jinja_expect(j, ")");
			break;
		}
	}
	return err;
}

/* The text of the first argument; -TENON_E_VALUE for none. */
static int text_of(struct jinja *j, const struct arguments *a, struct tenon_slice *out)
{
	*out = (struct tenon_slice){ "", 0 };
	if (a->count != 1 || a->at[0].kind != JINJA_STRING)
		return jinja_error(j, -TENON_E_VALUE, "want one text as the argument");
	*out = a->at[0].string;
	return 0;
}

static int refuse(const struct jinja *j, const char *what, struct tenon_slice name)
{
	return jinja_error(j, -TENON_E_UNSUPPORTED, "%s \"%.*s\" is not supported", what,
			   slice_shown(name, 40), name.data);
}

/* ---- functions */

static int make_namespace(struct jinja *j, const struct arguments *a, struct jinja_value *out)
{
	struct jinja_dict *d = jinja_alloc(j, sizeof(*d));
	size_t i;
	int err = d ? 0 : tenon_error_status();

	if (d)
		*d = (struct jinja_dict){ .count = 0 };
	for (i = 0; i < a->count && !err; i++)
		err = jinja_set(j, d, 0, a->names[i], a->at[i]);
	*out = (struct jinja_value){ .kind = JINJA_DICT, .dict = d };
	return err;
}

static int raise_exception(struct jinja *j, const struct arguments *a, struct jinja_value *out)
{
	struct tenon_slice text;
	int err = text_of(j, a, &text);

	return err ? err
		   : jinja_error(j, -TENON_E_VALUE, "%.*s", slice_shown(text, 160), text.data);
}

/* The date of today. */
static int print_time(struct jinja *j, const struct arguments *a, struct jinja_value *out)
{
	const time_t now = time(NULL);
	char form[64], text[256];
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_slice s;
	struct tm tm;
	int err = text_of(j, a, &s);

	if (err)
		return err;
	if (s.size >= sizeof(form) || !localtime_r(&now, &tm))
		return jinja_error(j, -TENON_E_VALUE, "a form of a date is too long");
	memcpy(form, s.data, s.size);
	form[s.size] = '\0';
	tenon_buffer_append(&b, text, strftime(text, sizeof(text), form, &tm));
	err = jinja_keep(j, &b, out);
	tenon_buffer_fini(&b);
	return err;
}

static const struct {
	const char *name;
	int (*call)(struct jinja *j, const struct arguments *a, struct jinja_value *out);
} functions[] = {
	{ "namespace", make_namespace },
	{ "raise_exception", raise_exception },
	{ "strftime_now", print_time },
};

bool jinja_has_function(struct tenon_slice name)
{
	size_t i;

	for (i = 0; i < COUNT(functions) && !slice_is(name, functions[i].name); i++)
		;
	return i < COUNT(functions);
}

int jinja_function(struct jinja *j, bool live, struct tenon_slice name, struct jinja_value *out)
{
	struct arguments a;
	size_t i;
	int err = read_arguments(j, live, &a);

	for (i = 0; i < COUNT(functions) && !slice_is(name, functions[i].name); i++)
		;
	if (err || !live)
		return err;
	return i < COUNT(functions) ? functions[i].call(j, &a, out) : refuse(j, "function", name);
}

/* ---- texts */

static struct tenon_slice strip(struct tenon_slice s, struct tenon_slice letters, bool front,
				bool behind)
{
#define STRIPPED(c) (letters.size ? !!memchr(letters.data, (c), letters.size) : jinja_is_space(c))
	while (front && s.size && STRIPPED(*s.data))
		s.data++, s.size--;
	while (behind && s.size && STRIPPED(s.data[s.size - 1]))
		s.size--;
#undef STRIPPED
	return s;
}

static int change_case(struct jinja *j, struct tenon_slice s, bool upper, bool first_only,
		       struct jinja_value *out)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	bool up;
	size_t i;
	int err;

	for (i = 0; i < s.size; i++) {
		up = first_only ? !i : upper;
		if ((unsigned char)s.data[i] >= 0x80) {
			tenon_buffer_fini(&b);
			return jinja_error(j, -TENON_E_UNSUPPORTED,
					   "upper and lower case of other letters than ASCII");
		}
		if (up && s.data[i] >= 'a' && s.data[i] <= 'z')
			tenon_buffer_u8(&b, (uint8_t)(s.data[i] - 'a' + 'A'));
		else if (!up && s.data[i] >= 'A' && s.data[i] <= 'Z')
			tenon_buffer_u8(&b, (uint8_t)(s.data[i] - 'A' + 'a'));
		else
			tenon_buffer_u8(&b, (uint8_t)s.data[i]);
	}
	err = jinja_keep(j, &b, out);
	tenon_buffer_fini(&b);
	return err;
}

static int split(struct jinja *j, struct tenon_slice s, struct tenon_slice by,
		 struct jinja_value *out)
{
	struct jinja_value *list;
	const char *next = s.data;
	size_t count = 1, i;

	if (!by.size)
		return jinja_error(j, -TENON_E_UNSUPPORTED, "split() by white space");
	while ((next = memmem(next, (size_t)(s.data + s.size - next), by.data, by.size))) {
		next += by.size;
		count++;
	}
	list = jinja_alloc(j, count * sizeof(*list));
	if (!list)
		return tenon_error_status();
	for (i = 0; i < count; i++) {
		next = memmem(s.data, s.size, by.data, by.size);
		list[i] = jinja_string(
			(struct tenon_slice){ s.data, next ? (size_t)(next - s.data) : s.size });
		if (next) {
			s.size -= (size_t)(next - s.data) + by.size;
			s.data = next + by.size;
		}
	}
	*out = (struct jinja_value){ .kind = JINJA_LIST, .list = { list, count } };
	return 0;
}

static int text_method(struct jinja *j, struct tenon_slice name, struct tenon_slice s,
		       const struct arguments *a, struct jinja_value *out)
{
	struct tenon_slice other = { "", 0 };
	int err = a->count ? text_of(j, a, &other) : 0;

	if (err)
		return err;
	if (slice_is(name, "strip"))
		*out = jinja_string(strip(s, other, true, true));
	else if (slice_is(name, "lstrip"))
		*out = jinja_string(strip(s, other, true, false));
	else if (slice_is(name, "rstrip"))
		*out = jinja_string(strip(s, other, false, true));
	else if (slice_is(name, "startswith"))
		*out = jinja_bool(slice_begins(s, other));
	else if (slice_is(name, "endswith"))
		*out = jinja_bool(slice_ends(s, other));
	else if (slice_is(name, "split"))
		return split(j, s, other, out);
	else if (slice_is(name, "upper") || slice_is(name, "lower"))
		return change_case(j, s, *name.data == 'u', false, out);
	else
		return refuse(j, "method", name);
	return 0;
}

/* of an object: get(NAME), get(NAME, OTHERWISE) */
static int get_method(struct jinja *j, const struct jinja_dict *d, const struct arguments *a,
		      struct jinja_value *out)
{
	const struct jinja_value *v;

	if (!a->count || a->count > 2 || a->at[0].kind != JINJA_STRING)
		return jinja_error(j, -TENON_E_VALUE, "get() without a name");
	v = jinja_get(d, a->at[0].string);
	*out = (struct jinja_value){ .kind = JINJA_NONE };
	if (v || a->count == 2)
		*out = v ? *v : a->at[1];
	return 0;
}

int jinja_method(struct jinja *j, bool live, struct tenon_slice name, const struct jinja_value *of,
		 struct jinja_value *out)
{
	const struct jinja_value self = *of;
	struct arguments a;
	int err = read_arguments(j, live, &a);

	if (err || !live)
		return err;
	if (self.kind == JINJA_STRING)
		return text_method(j, name, self.string, &a, out);
	if (self.kind == JINJA_DICT && slice_is(name, "get"))
		return get_method(j, self.dict, &a, out);
	return refuse(j, "method", name);
}

/* ---- filters: VALUE | NAME */

static int count_items(struct jinja *j, const struct jinja_value *v, int64_t *out)
{
	size_t i;

	*out = 0;
	if (v->kind == JINJA_LIST)
		*out = (int64_t)v->list.count;
	else if (v->kind == JINJA_DICT)
		*out = (int64_t)v->dict->count;
	else if (v->kind == JINJA_STRING)
		for (i = 0; i < v->string.size; i++) /* characters */
			*out += ((unsigned char)v->string.data[i] & 0xc0) != 0x80;
	else if (v->kind != JINJA_UNDEFINED)
		return jinja_error(j, -TENON_E_VALUE, "the length of what has none");
	return 0;
}

int jinja_filter(struct jinja *j, bool live, struct jinja_value *v)
{
	struct arguments a = { .count = 0 };
	struct tenon_slice name, text = { "", 0 };
	int64_t count;
	int err = jinja_take_name(j, &name);

	if (!err && jinja_take(j, "("))
		err = read_arguments(j, live, &a);
	if (err || !live)
		return err;
	if (slice_is(name, "default") || slice_is(name, "d")) {
		if (v->kind == JINJA_UNDEFINED ||
		    (a.count > 1 && jinja_true(&a.at[1]) && !jinja_true(v)))
			*v = a.count ? a.at[0] : jinja_string(text);
		return 0;
	}
	if (a.count)
		return refuse(j, "an argument of filter", name);
	if (slice_is(name, "length") || slice_is(name, "count")) {
		err = count_items(j, v, &count);
		*v = jinja_integer(count);
		return err;
	}
	if (slice_is(name, "first") || slice_is(name, "last")) {
		if (v->kind != JINJA_LIST || !v->list.count)
			return jinja_error(j, -TENON_E_VALUE, "an end of what is no list");
		*v = v->list.at[*name.data == 'f' ? 0 : v->list.count - 1];
		return 0;
	}
	if (slice_is(name, "safe"))
		return 0;
	if (v->kind != JINJA_STRING)
		return refuse(j, "of a value that is no text, filter", name);
	if (slice_is(name, "string"))
		return 0;
	if (slice_is(name, "trim"))
		*v = jinja_string(strip(v->string, text, true, true));
	else if (slice_is(name, "upper") || slice_is(name, "lower"))
		return change_case(j, v->string, *name.data == 'u', false, v);
	else if (slice_is(name, "capitalize"))
		return change_case(j, v->string, false, true, v);
	else
		return refuse(j, "filter", name);
	return 0;
}

/* ---- tests: VALUE is NAME */

static bool is_list_or_text(const struct jinja_value *v)
{
	return v->kind == JINJA_LIST || v->kind == JINJA_STRING || v->kind == JINJA_DICT;
}

int jinja_test(struct jinja *j, bool live, struct jinja_value *v)
{
	static const struct {
		const char *name;
		enum jinja_kind kind;
	} kinds[] = {
		{ "undefined", JINJA_UNDEFINED }, { "none", JINJA_NONE },
		{ "string", JINJA_STRING },	  { "mapping", JINJA_DICT },
		{ "boolean", JINJA_BOOL },	  { "integer", JINJA_INTEGER },
	};
	const bool inverted = jinja_take(j, "not");
	struct tenon_slice name;
	bool is;
	size_t i;
	int err = jinja_take_name(j, &name);

	if (err || !live)
		return err;
	for (i = 0; i < COUNT(kinds) && !slice_is(name, kinds[i].name); i++)
		;
	if (i < COUNT(kinds))
		is = v->kind == kinds[i].kind;
	else if (slice_is(name, "defined"))
		is = v->kind != JINJA_UNDEFINED;
	else if (slice_is(name, "true") || slice_is(name, "false"))
		is = v->kind == JINJA_BOOL && v->integer == (*name.data == 't');
	else if (slice_is(name, "iterable") || slice_is(name, "sequence"))
		is = is_list_or_text(v);
	else if ((slice_is(name, "odd") || slice_is(name, "even")) && v->kind == JINJA_INTEGER)
		is = (v->integer & 1) == (*name.data == 'o');
	else
		return refuse(j, "test", name);
	*v = jinja_bool(is != inverted);
	return 0;
}
