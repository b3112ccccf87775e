/* SPDX-License-Identifier: MIT */
/* Divide a chat template into tokens, with Jinja's rules for white space around blocks. */
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "llm/jinja_parts.h"

struct division {
	struct jinja *j;
	const char *at, *end;
	size_t room;
	bool line_starts; /* what is at @at begins a line, as far as Jinja is concerned */
};

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int add(struct division *d, enum jinja_token_kind kind, const char *start, const char *end)
{
	struct jinja *j = d->j;
	struct jinja_token *more;

	if (j->count == d->room) {
		d->room = d->room ? 2 * d->room : 256;
		more = realloc(j->tokens, d->room * sizeof(*more));
		if (!more)
			return tenon_error(-TENON_E_NOMEM, "no memory for a chat template");
		j->tokens = more;
	}
	j->tokens[j->count++] = (struct jinja_token){ kind, { start, (size_t)(end - start) } };
	return 0;
}

/* An error at a place of the program. */
static int error_at(struct division *d, const char *at, const char *what)
{
	struct jinja *j = d->j;

	if (add(d, TOKEN_END, at, at))
		return -TENON_E_NOMEM;
	j->at = --j->count;
	return jinja_error(j, -TENON_E_FORMAT, "%s", what);
}

/* ---- what is in a tag */

static const char *end_of_string(const char *at, const char *end)
{
	const char quote = *at++;

	while (at < end && *at != quote)
		at += *at == '\\' ? 2 : 1;
	return at < end ? at : NULL;
}

static int add_operator(struct division *d, int *depth)
{
	static const char *const pairs[] = { "==", "!=", "<=", ">=", "//", "**" };
	size_t i, size = 1;

	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (d->end - d->at >= 2 && !memcmp(d->at, pairs[i], 2))
			size = 2;
	if (!strchr("+-*/%~<>=.,:()[]{}|!", *d->at) || !*d->at)
		return error_at(d, d->at, "this character is not Jinja's");
	if (strchr("([{", *d->at))
		++*depth;
	if (strchr(")]}", *d->at))
		--*depth;
	d->at += size;
	return add(d, TOKEN_OPERATOR, d->at - size, d->at);
}

/* Add the next token in a tag. */
static int add_inside(struct division *d, int *depth)
{
	const char *start = d->at, *to = start;

	if (*start == '"' || *start == '\'') {
		to = end_of_string(start, d->end);
		if (!to)
			return error_at(d, start, "a string without an end");
		d->at = to + 1;
		return add(d, TOKEN_STRING, start + 1, to);
	}
	if (is_letter(*start)) {
		while (to < d->end && (is_letter(*to) || is_digit(*to)))
			to++;
		d->at = to;
		return add(d, TOKEN_NAME, start, to);
	}
	if (is_digit(*start)) {
		while (to < d->end && is_digit(*to))
			to++;
		d->at = to;
		return add(d, TOKEN_INTEGER, start, to);
	}
	return add_operator(d, depth);
}

/* Remove white space behind a tag: all of it behind "-", one end of a line behind a block. */
static void trim_behind(struct division *d, char sign, bool block)
{
	const char *start = d->at;

	if (sign == '-')
		while (d->at < d->end && jinja_is_space(*d->at))
			d->at++;
	else if (block && sign != '+' && d->at < d->end && *d->at == '\n')
		d->at++;
	d->line_starts = d->at > start && d->at[-1] == '\n';
}

/* Add what is in a tag, and its end: "%}" or "}}". */
static int add_tag(struct division *d, bool block)
{
	const char *const close = block ? "%}" : "}}", *start = d->at;
	int depth = 0, err = 0;
	char sign = 0;

	while (!err) {
		while (d->at < d->end && jinja_is_space(*d->at))
			d->at++;
		if (d->at == d->end)
			return error_at(d, start, "a tag without an end");
		sign = *d->at == '-' || *d->at == '+' ? *d->at : 0;
		if (!depth && d->end - d->at >= (sign ? 3 : 2) && !memcmp(d->at + !!sign, close, 2))
			break;
		err = add_inside(d, &depth);
	}
	if (err)
		return err;
	d->at += sign ? 3 : 2;
	err = add(d, block ? TOKEN_BLOCK_END : TOKEN_PRINT_END, d->at, d->at);
	trim_behind(d, sign, block);
	return err;
}

/* ---- what is between tags */

/* The next tag; the end of the program for none. */
static const char *find_tag(const struct division *d)
{
	const char *at = d->at;

	while ((at = memchr(at, '{', (size_t)(d->end - at)))) {
		if (d->end - at >= 2 && strchr("{%#", at[1]) && at[1])
			return at;
		at++;
	}
	return d->end;
}

/* Add the text before a tag. Spaces are removed in front of "-", and of a block that is alone on its line so far. */
static int add_text(struct division *d, const char *tag, char sign, bool block)
{
	const char *end = tag, *line = tag;

	if (sign == '-') {
		while (end > d->at && jinja_is_space(end[-1]))
			end--;
	} else if (block && sign != '+') {
		while (line > d->at && jinja_is_space(line[-1]) && line[-1] != '\n')
			line--;
		if ((line > d->at && line[-1] == '\n') || (line == d->at && d->line_starts))
			end = line;
	}
	return end > d->at ? add(d, TOKEN_TEXT, d->at, end) : 0;
}

static int skip_comment(struct division *d, const char *tag)
{
	const char *close = memmem(d->at, (size_t)(d->end - d->at), "#}", 2);

	if (!close)
		return error_at(d, tag, "a comment without an end");
	d->at = close + 2;
	trim_behind(d, close > tag + 2 ? close[-1] : 0, true);
	return 0;
}

int jinja_divide(struct jinja *j)
{
	struct division d = { j, j->program.data, j->program.data + j->program.size, 0, true };
	const char *tag;
	bool block;
	char sign;
	int err = 0;

	/* Jinja drops an end of a line at the end */
	if (j->program.size && d.end[-1] == '\n')
		d.end--;
	while (!err && d.at < d.end) {
		tag = find_tag(&d);
		if (tag == d.end) {
			err = add(&d, TOKEN_TEXT, d.at, d.end);
			break;
		}
		block = tag[1] != '{';
		sign = d.end - tag > 2 && (tag[2] == '-' || tag[2] == '+') ? tag[2] : 0;
		err = add_text(&d, tag, sign, block);
		d.at = tag + (sign ? 3 : 2);
		if (!err && tag[1] == '#') {
			err = skip_comment(&d, tag);
			continue;
		}
		if (!err)
			err = add(&d, block ? TOKEN_BLOCK : TOKEN_PRINT, tag, d.at);
		if (!err)
			err = add_tag(&d, block);
	}
	return err ? err : add(&d, TOKEN_END, d.end, d.end);
}
