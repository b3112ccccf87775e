/* SPDX-License-Identifier: MIT */
/* Expressions of chat templates: operators, members, slices. What is called is in jinja_call.c. */
#include <string.h>

#include "lib/slice_text.h"
#include "llm/jinja_call.h"

static const struct jinja_value undefined = { .kind = JINJA_UNDEFINED };

/* ---- operators on values */

static bool is_number(const struct jinja_value *v)
{
	return v->kind == JINJA_INTEGER || v->kind == JINJA_BOOL;
}

/* Lists may be as deep as a template nests them, and have the same list more than once: each comparison is a step. */
static int is_equal(struct jinja *j, const struct jinja_value *a, const struct jinja_value *b,
		    bool *out)
{
	size_t i;
	int err = jinja_step_over(j, a->kind == JINJA_STRING ? a->string.size : 0);

	if (is_number(a) && is_number(b)) {
		*out = a->integer == b->integer;
	} else if (a->kind != b->kind) {
		*out = false;
	} else if (a->kind == JINJA_STRING) {
		*out = tenon_slice_equal(a->string, b->string);
	} else if (a->kind == JINJA_LIST) {
		*out = a->list.count == b->list.count;
		if (++j->depth > JINJA_DEPTH_MOST)
			return jinja_error(j, -TENON_E_OVERFLOW, "lists that are too deep");
		for (i = 0; i < a->list.count && *out && !err; i++)
			err = is_equal(j, &a->list.at[i], &b->list.at[i], out);
		j->depth--;
	} else {
		*out = a->kind != JINJA_DICT || a->dict == b->dict;
	}
	return err;
}

static int is_in(struct jinja *j, const struct jinja_value *a, const struct jinja_value *b,
		 bool *out)
{
	size_t i;
	int err = 0;

	*out = false;
	if (b->kind == JINJA_STRING && a->kind == JINJA_STRING) {
		err = jinja_step_over(j, b->string.size);
		/* an empty text may be no memory */
		*out = !a->string.size ||
		       (b->string.size &&
			memmem(b->string.data, b->string.size, a->string.data, a->string.size));
	} else if (b->kind == JINJA_DICT && a->kind == JINJA_STRING) {
		*out = jinja_get(b->dict, a->string);
	} else if (b->kind == JINJA_LIST) {
		for (i = 0; i < b->list.count && !*out && !err; i++)
			err = is_equal(j, a, &b->list.at[i], out);
	} else if (b->kind != JINJA_DICT && b->kind != JINJA_UNDEFINED) {
		return jinja_error(j, -TENON_E_VALUE, "\"in\" what is no text, list or object");
	}
	return err;
}

static int join(struct jinja *j, const struct jinja_value *a, const struct jinja_value *b,
		struct jinja_value *out)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;
	int err = jinja_print(j, a, &text);

	if (!err)
		err = jinja_print(j, b, &text);
	if (!err)
		err = jinja_keep(j, &text, out);
	tenon_buffer_fini(&text);
	return err;
}

static int calculate(struct jinja *j, char operator, const struct jinja_value * a,
		     const struct jinja_value *b, struct jinja_value *out)
{
	int64_t result = 0;
	bool over = false;

	if (operator== '+' && a->kind == JINJA_STRING && b->kind == JINJA_STRING)
		return join(j, a, b, out);
	if (!is_number(a) || !is_number(b))
		return jinja_error(j, -TENON_E_VALUE,
				   "\"%c\" of other values than two %s",
				   operator, operator== '+' ? "texts or two integers" : "integers");
	if (operator== '+')
		over = __builtin_add_overflow(a->integer, b->integer, &result);
	else if (operator== '-')
		over = __builtin_sub_overflow(a->integer, b->integer, &result);
	else if (operator== '*')
		over = __builtin_mul_overflow(a->integer, b->integer, &result);
	else if (b->integer <= 0)
		return jinja_error(j, -TENON_E_UNSUPPORTED, "a divisor that is not positive");
	else
		result = a->integer % b->integer;
	/* as in Python, the sign is the divisor's */
	if (operator== '%' && result<0)
		result += b->integer;
	*out = jinja_integer(result);
	return over ? jinja_error(j, -TENON_E_OVERFLOW, "an integer is too large") : 0;
}

/* ---- members and slices */

static struct jinja_value member(const struct jinja_value *of, struct tenon_slice name)
{
	const struct jinja_value *v = of->kind == JINJA_DICT ? jinja_get(of->dict, name) : NULL;

	return v ? *v : undefined;
}

/* Texts are indexed by characters; only those of ASCII, where these are bytes, are here. */
static int check_ascii(struct jinja *j, const struct jinja_value *v)
{
	size_t i;

	for (i = 0; v->kind == JINJA_STRING && i < v->string.size; i++)
		if ((unsigned char)v->string.data[i] >= 0x80)
			return jinja_error(j, -TENON_E_UNSUPPORTED,
					   "a part of a text that is not ASCII");
	return v->kind == JINJA_STRING ? jinja_step_over(j, v->string.size) : 0;
}

static int element(struct jinja *j, const struct jinja_value *of, const struct jinja_value *index,
		   struct jinja_value *out)
{
	const size_t count = of->kind == JINJA_LIST	? of->list.count
			     : of->kind == JINJA_STRING ? of->string.size
							: 0;
	int64_t i = index->integer;

	*out = undefined;
	if (index->kind == JINJA_STRING) {
		*out = member(of, index->string);
		return of->kind != JINJA_UNDEFINED
			       ? 0
			       : jinja_error(j, -TENON_E_VALUE, "a member of what is undefined");
	}
	if (index->kind != JINJA_INTEGER)
		return jinja_error(j, -TENON_E_VALUE, "an index that is no integer or text");
	i += i < 0 ? (int64_t)count : 0;
	if (i < 0 || (uint64_t)i >= count)
		return 0;
	if (check_ascii(j, of))
		return tenon_error_status();
	if (of->kind == JINJA_LIST)
		*out = of->list.at[i];
	else
		*out = jinja_string((struct tenon_slice){ of->string.data + i, 1 });
	return 0;
}

static size_t bound(const struct jinja_value *v, size_t otherwise, size_t count)
{
	int64_t i = v->integer;

	if (v->kind != JINJA_INTEGER)
		return otherwise;
	i += i < 0 ? (int64_t)count : 0;
	return i < 0 ? 0 : (uint64_t)i > count ? count : (size_t)i;
}

static int slice(struct jinja *j, const struct jinja_value *of, const struct jinja_value *from,
		 const struct jinja_value *to, struct jinja_value *out)
{
	const bool text = of->kind == JINJA_STRING;
	const size_t count = text ? of->string.size : of->list.count;
	size_t start, end;

	if (!text && of->kind != JINJA_LIST)
		return jinja_error(j, -TENON_E_VALUE, "a slice of what is no list or text");
	if (check_ascii(j, of))
		return tenon_error_status();
	start = bound(from, 0, count);
	end = bound(to, count, count);
	if (end < start)
		end = start;
	*out = *of;
	if (text)
		out->string = (struct tenon_slice){ of->string.data + start, end - start };
	else {
		out->list.at += start;
		out->list.count = end - start;
	}
	return 0;
}

/* [::-1] of a list */
static int reverse(struct jinja *j, const struct jinja_value *of, struct jinja_value *out)
{
	const size_t count = of->list.count;
	struct jinja_value *list;
	size_t i;

	if (of->kind != JINJA_LIST)
		return jinja_error(j, -TENON_E_UNSUPPORTED, "the reverse of what is no list");
	list = jinja_alloc(j, (count + 1) * sizeof(*list));
	if (!list)
		return tenon_error_status();
	for (i = 0; i < count; i++)
		list[i] = of->list.at[count - 1 - i];
	*out = (struct jinja_value){ .kind = JINJA_LIST, .list = { list, count } };
	return 0;
}

/* Read the step of a slice, behind its second colon: only the one that turns a whole list round is known. */
static int read_step(struct jinja *j, bool live, const struct jinja_value *of, bool whole,
		     struct jinja_value *v)
{
	if (!whole || !jinja_take(j, "-") || !slice_is(j->tokens[j->at].text, "1"))
		return jinja_error(j, -TENON_E_UNSUPPORTED, "a step of a slice other than [::-1]");
	j->at++;
	if (jinja_expect(j, "]"))
		return tenon_error_status();
	return live ? reverse(j, of, v) : 0;
}

/* Read what is between brackets: an index or a slice. */
static int read_index(struct jinja *j, bool live, struct jinja_value *v)
{
	struct jinja_value from = undefined, to = undefined, of = *v;
	bool open = true;
	int err = 0;

	if (!jinja_take(j, ":")) {
		err = jinja_expression(j, live, &from);
		if (err)
			return err;
		if (jinja_take(j, "]"))
			return live ? element(j, &of, &from, v) : 0;
		err = jinja_expect(j, ":");
		open = false;
	}
	if (!err && jinja_take(j, ":"))
		return read_step(j, live, &of, open, v);
	if (!err && !jinja_take(j, "]")) {
		err = jinja_expression(j, live, &to);
		if (!err)
			err = jinja_expect(j, "]");
	}
	return err || !live ? err : slice(j, &of, &from, &to, v);
}

/* Read the members, indices, calls, filters and tests behind a value. */
static int read_behind(struct jinja *j, bool live, struct jinja_value *v)
{
	struct jinja_value of;
	struct tenon_slice name;
	int err = 0;

	while (!err) {
		if (jinja_take(j, ".")) {
			err = jinja_take_name(j, &name);
			if (err)
				break;
			of = *v;
			if (jinja_take(j, "("))
				err = jinja_method(j, live, name, &of, v);
			else if (live && of.kind == JINJA_UNDEFINED)
				err = jinja_error(j, -TENON_E_VALUE,
						  "a member of what is undefined");
			else
				*v = member(&of, name);
		} else if (jinja_take(j, "[")) {
			err = read_index(j, live, v);
		} else if (jinja_take(j, "|")) {
			err = jinja_filter(j, live, v);
		} else if (jinja_take(j, "is")) {
			err = jinja_test(j, live, v);
		} else {
			break;
		}
	}
	return err;
}

/* ---- values as they are written */

static int read_string(struct jinja *j, struct tenon_slice raw, struct jinja_value *out)
{
	char *to, *start;
	size_t i;

	*out = jinja_string(raw);
	if (!memchr(raw.data, '\\', raw.size))
		return 0;
	start = to = jinja_alloc(j, raw.size);
	if (!to)
		return tenon_error_status();
	for (i = 0; i < raw.size; i++) {
		if (raw.data[i] != '\\') {
			*to++ = raw.data[i];
			continue;
		}
		i++;
		if (i == raw.size || !strchr("nrt\\'\"", raw.data[i]) || !raw.data[i])
			return jinja_error(j, -TENON_E_UNSUPPORTED, "\"\\%.1s\" in a text",
					   i < raw.size ? raw.data + i : "");
		*to++ = raw.data[i] == 'n'   ? '\n'
			: raw.data[i] == 'r' ? '\r'
			: raw.data[i] == 't' ? '\t'
					     : raw.data[i];
	}
	*out = jinja_string((struct tenon_slice){ start, (size_t)(to - start) });
	return 0;
}

static int read_integer(struct jinja *j, struct tenon_slice digits, struct jinja_value *out)
{
	int64_t n = 0;
	size_t i;

	if (digits.size > 18)
		return jinja_error(j, -TENON_E_OVERFLOW, "an integer is too large");
	for (i = 0; i < digits.size; i++)
		n = 10 * n + (digits.data[i] - '0');
	*out = jinja_integer(n);
	return 0;
}

static int read_list(struct jinja *j, bool live, struct jinja_value *out)
{
	struct jinja_value *list = jinja_alloc(j, JINJA_ARGUMENTS_MOST * sizeof(*list));
	size_t count = 0;
	int err = list ? 0 : tenon_error_status();

	while (!err && !jinja_take(j, "]")) {
		if (count == JINJA_ARGUMENTS_MOST)
			return jinja_error(j, -TENON_E_UNSUPPORTED, "a list of more than %d items",
					   JINJA_ARGUMENTS_MOST);
		err = jinja_expression(j, live, &list[count++]);
		if (!err && !jinja_take(j, ",")) {
			err = jinja_expect(j, "]");
			break;
		}
	}
	*out = (struct jinja_value){ .kind = JINJA_LIST, .list = { list, count } };
	return err;
}

static int read_name(struct jinja *j, bool live, struct tenon_slice name, struct jinja_value *out)
{
	static const struct {
		const char *name;
		struct jinja_value value;
	} words[] = {
		{ "true", { .kind = JINJA_BOOL, .integer = 1 } },
		{ "True", { .kind = JINJA_BOOL, .integer = 1 } },
		{ "false", { .kind = JINJA_BOOL } },
		{ "False", { .kind = JINJA_BOOL } },
		{ "none", { .kind = JINJA_NONE } },
		{ "None", { .kind = JINJA_NONE } },
	};
	const struct jinja_value *v;
	size_t i;

	if (jinja_take(j, "("))
		return jinja_function(j, live, name, out);
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (slice_is(name, words[i].name)) {
			*out = words[i].value;
			return 0;
		}
	v = jinja_get(&j->variables, name);
	*out = v ? *v : undefined;
	/* a function that is asked for, and not called */
	if (!v && jinja_has_function(name))
		*out = jinja_bool(true);
	return 0;
}

static int read_value(struct jinja *j, bool live, struct jinja_value *out)
{
	const struct jinja_token t = j->tokens[j->at];
	int err;

	*out = undefined;
	if (jinja_take(j, "(")) {
		err = jinja_expression(j, live, out);
		return err ? err : jinja_expect(j, ")");
	}
	if (jinja_take(j, "["))
		return read_list(j, live, out);
	if (t.kind != TOKEN_NAME && t.kind != TOKEN_STRING && t.kind != TOKEN_INTEGER)
		return jinja_error(
			j, t.kind == TOKEN_OPERATOR ? -TENON_E_UNSUPPORTED : -TENON_E_FORMAT,
			"\"%.*s\" where a value should be", slice_shown(t.text, 40), t.text.data);
	j->at++;
	if (t.kind == TOKEN_NAME)
		return read_name(j, live, t.text, out);
	return t.kind == TOKEN_STRING ? read_string(j, t.text, out) : read_integer(j, t.text, out);
}

/* ---- operators, the tightest first */

static int read_unary(struct jinja *j, bool live, struct jinja_value *out)
{
	const struct jinja_value zero = jinja_integer(0);
	struct jinja_value v;
	int err = jinja_step(j);

	if (!err && jinja_take(j, "-")) {
		if (++j->depth > JINJA_DEPTH_MOST)
			return jinja_error(j, -TENON_E_OVERFLOW, "an expression is too deep");
		err = read_unary(j, live, &v);
		j->depth--;
		*out = undefined;
		return err || !live ? err : calculate(j, '-', &zero, &v, out);
	}
	if (!err)
		err = read_value(j, live, out);
	return err ? err : read_behind(j, live, out);
}

/* A row of operators of one level, from left to right. */
static int read_row(struct jinja *j, bool live, const char *operators,
		    int (*next)(struct jinja *j, bool live, struct jinja_value *out),
		    struct jinja_value *out)
{
	struct jinja_value a, b;
	char word[2] = "";
	const char *o;
	int err = next(j, live, out);

	while (!err) {
		for (o = operators; *o; o++) {
			*word = *o;
			if (jinja_take(j, word))
				break;
		}
		if (!*o)
			break;
		a = *out;
		err = next(j, live, &b);
		if (!err && live)
			err = *o == '~' ? join(j, &a, &b, out) : calculate(j, *o, &a, &b, out);
	}
	return err;
}

static int read_product(struct jinja *j, bool live, struct jinja_value *out)
{
	return read_row(j, live, "*%", read_unary, out);
}

static int read_joined(struct jinja *j, bool live, struct jinja_value *out)
{
	return read_row(j, live, "~", read_product, out);
}

static int read_sum(struct jinja *j, bool live, struct jinja_value *out)
{
	return read_row(j, live, "+-", read_joined, out);
}

static int compare(struct jinja *j, const char *word, const struct jinja_value *a,
		   const struct jinja_value *b, bool *out)
{
	const int err = is_equal(j, a, b, out);

	if (err)
		return err;
	if (word[1] == '=' && (*word == '=' || *word == '!')) {
		*out ^= *word == '!';
		return 0;
	}
	if (!is_number(a) || !is_number(b))
		return jinja_error(j, -TENON_E_UNSUPPORTED, "\"%s\" of other values than integers",
				   word);
	if (!word[1] || !*out)
		*out = *word == '<' ? a->integer < b->integer : a->integer > b->integer;
	return 0;
}

/* Take an operator that compares; NULL for none. */
static const char *take_comparison(struct jinja *j)
{
	static const char *const words[] = { "==", "!=", "<=", ">=", "<", ">", "in" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (jinja_take(j, words[i]))
			return words[i];
	if (slice_is(j->tokens[j->at].text, "not") && j->tokens[j->at].kind == TOKEN_NAME &&
	    slice_is(j->tokens[j->at + 1].text, "in")) {
		j->at += 2;
		return "not in";
	}
	return NULL;
}

static int read_comparison(struct jinja *j, bool live, struct jinja_value *out)
{
	struct jinja_value a, b;
	const char *word;
	bool is = true, all = true;
	int err = read_sum(j, live, out);

	a = *out;
	while (!err && (word = take_comparison(j))) {
		err = read_sum(j, live, &b);
		if (err || !live)
			continue;
		if (!strcmp(word, "in") || !strcmp(word, "not in")) {
			err = is_in(j, &a, &b, &is);
			is ^= *word == 'n';
		} else {
			err = compare(j, word, &a, &b, &is);
		}
		all &= is;
		a = b;
		*out = jinja_bool(all);
	}
	return err;
}

static int read_not(struct jinja *j, bool live, struct jinja_value *out)
{
	bool any = false, inverted = false;
	int err;

	for (; jinja_take(j, "not"); any = true)
		inverted = !inverted;
	err = read_comparison(j, live, out);
	if (!err && live && any)
		*out = jinja_bool(jinja_true(out) != inverted);
	return err;
}

/* Values joined by a word. One is read, but not used, once the result is known: false before "and", true before "or". */
static int read_words(struct jinja *j, bool live, struct jinja_value *out, const char *word,
		      bool known, int (*read)(struct jinja *j, bool live, struct jinja_value *out))
{
	struct jinja_value v;
	int err = read(j, live, out);

	while (!err && jinja_take(j, word)) {
		const bool next = live && jinja_true(out) != known;

		err = read(j, next, &v);
		if (next)
			*out = v;
	}
	return err;
}

static int read_and(struct jinja *j, bool live, struct jinja_value *out)
{
	return read_words(j, live, out, "and", false, read_not);
}

static int read_or(struct jinja *j, bool live, struct jinja_value *out)
{
	return read_words(j, live, out, "or", true, read_and);
}

/* VALUE if CONDITION else OTHER: the condition is behind, so the value is read again once it is known. */
static int read_choice(struct jinja *j, bool live, struct jinja_value *out)
{
	const size_t start = j->at;
	struct jinja_value is = undefined;
	size_t end;
	int err = read_or(j, false, out);

	if (err)
		return err;
	if (!jinja_take(j, "if")) {
		if (!live)
			return 0;
		j->at = start;
		return read_or(j, true, out);
	}
	*out = undefined;
	err = read_or(j, live, &is);
	end = j->at;
	if (!err && live && jinja_true(&is)) {
		j->at = start;
		err = read_or(j, true, out);
		j->at = end;
	}
	if (!err && jinja_take(j, "else")) {
		const bool other = live && !jinja_true(&is);
		struct jinja_value v;

		err = jinja_expression(j, other, &v);
		if (other)
			*out = v;
	}
	return err;
}

int jinja_expression(struct jinja *j, bool live, struct jinja_value *out)
{
	int err;

	*out = undefined;
	if (++j->depth > JINJA_DEPTH_MOST)
		return jinja_error(j, -TENON_E_OVERFLOW, "an expression is too deep");
	err = read_choice(j, live, out);
	if (!live)
		*out = undefined;
	j->depth--;
	return err;
}
