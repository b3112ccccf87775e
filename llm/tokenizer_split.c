/* SPDX-License-Identifier: MIT */
/* Encoding a text: it is normalized and divided into words by the steps of the file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "lib/slice_text.h"
#include "llm/tokenizer_bpe.h"

/* An expression that takes longer, or more memory in KiB, is refused: a file may have any. */
#define MATCH_LIMIT 1000000
#define HEAP_LIMIT  16384

/* ---- expressions */

/* Refuse what Oniguruma, whose language the files are in, and PCRE2 read in different ways. */
static int check_expression(struct tenon_slice s)
{
	bool in_class = false;
	size_t i, opened = 0;
	char next;

	for (i = 0; i < s.size; i++) {
		next = i + 1 < s.size ? s.data[i + 1] : 0;
		if (s.data[i] == '\\') {
			i++;
			if (next && strchr("wWbBhH", next))
				break;
		} else if (in_class && s.data[i] == ']' && i > opened) {
			in_class = false;
		} else if (in_class && ((s.data[i] == '[' && next != ':') ||
					(s.data[i] == '&' && next == '&'))) {
			break;
		} else if (in_class && s.data[i] == '[') {
			/* [:alpha:] */
			while (i + 1 < s.size && !(s.data[i] == ':' && s.data[i + 1] == ']'))
				i++;
			i++;
		} else if (!in_class && s.data[i] == '[') {
			in_class = true;
			opened = i + 1 + (next == '^');
		} else if (!in_class && s.data[i] == '(' && next == '?') {
			i += 2;
			while (i < s.size && strchr("ix-", s.data[i]) && s.data[i])
				i++;
			if (i < s.size && strchr("ms", s.data[i]) && s.data[i])
				break;
			i--;
		}
	}
	if (i >= s.size)
		return 0;
	return tenon_error(
		-TENON_E_UNSUPPORTED,
		"expression at byte %zu: \\w, \\b, \\h, classes in classes and the flags m "
		"and s are not supported",
		i);
}

int bpe_compile(struct tokenizer *t, struct tenon_slice pattern, bool literal, pcre2_code **out)
{
	/* \C would divide characters, and the rest of the text is not checked for UTF-8 again */
	uint32_t flags =
		PCRE2_UTF |
		(literal ? PCRE2_LITERAL : PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | PCRE2_MULTILINE);
	unsigned char text[128];
	size_t offset;
	int why, err = literal ? 0 : check_expression(pattern);

	if (err)
		return err;
	*out = pcre2_compile((PCRE2_SPTR)pattern.data, pattern.size, flags, &why, &offset, NULL);
	if (!*out) {
		pcre2_get_error_message(why, text, sizeof(text));
		return tenon_error(-TENON_E_FORMAT, "expression at byte %zu: %s", offset,
				   (const char *)text);
	}
	if (!t->match)
		t->match = pcre2_match_data_create(1, NULL);
	if (!t->limits)
		t->limits = pcre2_match_context_create(NULL);
	if (!t->match || !t->limits)
		return tenon_error(-TENON_E_NOMEM, "no memory for an expression");
	pcre2_set_match_limit(t->limits, MATCH_LIMIT);
	pcre2_set_heap_limit(t->limits, HEAP_LIMIT);
	return 0;
}

int bpe_match_failed(int error)
{
	if (error == PCRE2_ERROR_NOMEMORY)
		return tenon_error(-TENON_E_NOMEM, "no memory for an expression of the tokenizer");
	return tenon_error(-TENON_E_VALUE,
			   "an expression of the tokenizer fails on this text (error %d of PCRE2)",
			   error);
}

/* where a search for all matches is */
struct search {
	size_t from;
	size_t last; /* end of the last match; SIZE_MAX before the first */
	size_t start, end;
};

#define SEARCH_INIT                                                                                \
	{                                                                                          \
		0, SIZE_MAX, 0, 0                                                                  \
	}

/* Find the next match, in the manner of Oniguruma: an empty one not right behind another. */
static int find_next(struct tokenizer *t, pcre2_code *code, struct tenon_slice text,
		     struct search *s, bool *found)
{
	size_t *place;
	int n;

	for (*found = false; s->from <= text.size;
	     s->from +=
	     bpe_character((struct tenon_slice){ text.data + s->from, text.size - s->from })) {
		n = pcre2_match(code, (PCRE2_SPTR)text.data, text.size, s->from, PCRE2_NO_UTF_CHECK,
				t->match, t->limits);
		if (n == PCRE2_ERROR_NOMATCH)
			return 0;
		if (n < 0)
			return bpe_match_failed(n);
		place = pcre2_get_ovector_pointer(t->match);
		/* \K in a lookaround moves the start anywhere */
		if (place[0] < s->from || place[1] < place[0])
			return tenon_error(
				-TENON_E_VALUE,
				"an expression of the tokenizer matches bytes %zu to %zu "
				"of a text from byte %zu on",
				place[0], place[1], s->from);
		s->start = place[0];
		s->end = place[1];
		if (s->start < s->end || s->end != s->last) {
			s->from = s->last = s->end;
			*found = true;
			return 0;
		}
		if (s->from == text.size)
			return 0;
	}
	return 0;
}

/* ---- normalizing */

/* Append bytes, all of which come from @origin. */
static void put(struct tenon_buffer *to, struct tenon_buffer *origins, struct tenon_slice bytes,
		size_t origin)
{
	size_t i;

	tenon_buffer_slice(to, bytes);
	for (i = 0; i < bytes.size && origins; i++)
		tenon_buffer_append(origins, &origin, sizeof(origin));
}

/* Append a part of a text as it is. */
static void keep(struct tenon_buffer *to, struct tenon_buffer *origins, struct tenon_slice text,
		 const size_t *from, size_t start, size_t end)
{
	size_t i;

	tenon_buffer_append(to, text.data + start, end - start);
	for (i = start; i < end && origins; i++)
		tenon_buffer_append(origins, from ? &from[i] : &i, sizeof(i));
}

static int replace(struct tokenizer *t, const struct bpe_step *step, struct tenon_slice text,
		   const size_t *from, struct tenon_buffer *to, struct tenon_buffer *origins)
{
	struct search s = SEARCH_INIT;
	size_t done = 0;
	bool found;
	int err;

	for (;;) {
		err = find_next(t, step->code, text, &s, &found);
		if (err || !found)
			break;
		keep(to, origins, text, from, done, s.start);
		put(to, origins, step->text, from ? from[s.start] : s.start);
		done = s.end;
	}
	if (!err)
		keep(to, origins, text, from, done, text.size);
	return err;
}

/* A step reads an origin for each byte of its text: it does not begin where one of both is cut short. */
static int written(const struct tenon_buffer *text, const struct tenon_buffer *origins)
{
	return text->status ? text->status : origins ? origins->status : 0;
}

int bpe_normalize(struct tokenizer *t, struct tenon_slice text, struct tenon_buffer *out,
		  struct tenon_buffer *origins)
{
	struct tenon_buffer next, next_origins;
	const struct bpe_step *step;
	const size_t *from;
	int err;

	keep(out, origins, text, NULL, 0, text.size);
	err = written(out, origins);
	for (step = t->normal.step; step < t->normal.step + t->normal.count && !err; step++) {
		if (!out->size)
			break;
		next = next_origins = (struct tenon_buffer)TENON_BUFFER_INIT;
		text = (struct tenon_slice){ out->data, out->size };
		from = origins ? (const size_t *)(const void *)origins->data : NULL;
		if (step->kind == STEP_PREPEND) {
			put(&next, origins ? &next_origins : NULL, step->text, 0);
			keep(&next, origins ? &next_origins : NULL, text, from, 0, text.size);
		} else {
			err = replace(t, step, text, from, &next, origins ? &next_origins : NULL);
		}
		tenon_buffer_fini(out);
		*out = next;
		if (origins) {
			tenon_buffer_fini(origins);
			*origins = next_origins;
		}
		if (!err)
			err = written(out, origins);
	}
	return err;
}

/* ---- dividing */

static int encode_steps(const struct bpe_encoding *e, uint32_t step, struct tenon_slice text,
			bool first);

/* a part of a text, and whether the expression matched it */
struct part {
	size_t start, end;
	bool matched;
};

/* what divides a text at the moment */
struct division {
	const struct bpe_encoding *e;
	uint32_t step;
	struct tenon_slice text;
	bool first;
	bool any;	   /* there is a pending part */
	bool last_matched; /* the part before this one matched */
	struct part pending;
};

static int flush(struct division *d)
{
	const struct part p = d->pending;
	const bool any = d->any && p.start < p.end;

	d->any = false;
	return any ? encode_steps(d->e, d->step + 1,
				  (struct tenon_slice){ d->text.data + p.start, p.end - p.start },
				  d->first && !p.start)
		   : 0;
}

/* Add a part: join it to the pending part, or emit that and make this the pending one. */
static int add_part(struct division *d, size_t start, size_t end, bool matched)
{
	const struct bpe_step *step = &d->e->t->splits.step[d->step];
	const bool is = matched != step->invert;
	bool join = false;
	int err = 0;

	if (step->behavior == REMOVED && is)
		return flush(d);
	if (step->behavior == CONTIGUOUS)
		join = d->pending.matched == is;
	else if (step->behavior == MERGED_WITH_PREVIOUS)
		join = is && !d->last_matched;
	else if (step->behavior == MERGED_WITH_NEXT)
		join = !is && d->last_matched;
	d->last_matched = is;
	if (d->any && join) {
		d->pending.end = end;
		d->pending.matched = is;
		return 0;
	}
	err = flush(d);
	d->pending = (struct part){ start, end, is };
	d->any = true;
	return err;
}

static int divide(const struct bpe_encoding *e, uint32_t step, struct tenon_slice text, bool first)
{
	struct division d = { .e = e, .step = step, .text = text, .first = first };
	struct search s = SEARCH_INIT;
	size_t done = 0;
	bool found;
	int err;

	for (;;) {
		err = find_next(e->t, e->t->splits.step[step].code, text, &s, &found);
		if (!err && found && s.start > done)
			err = add_part(&d, done, s.start, false);
		if (!err && found)
			err = add_part(&d, s.start, s.end, true);
		if (err || !found)
			break;
		done = s.end;
	}
	if (!err && done < text.size)
		err = add_part(&d, done, text.size, false);
	return err ? err : flush(&d);
}

/* Spaces become U+2581, and one may be put in front. */
static void mark_spaces(const struct bpe_step *step, struct tenon_slice text, bool first,
			struct tenon_buffer *to)
{
	const bool prepend =
		step->prepend == PREPEND_ALWAYS || (step->prepend == PREPEND_FIRST && first);
	size_t i, start = 0;

	if (prepend && *text.data != ' ' && !slice_starts(text, BPE_SPACE))
		tenon_buffer_append(to, BPE_SPACE, 3);
	for (i = 0; i <= text.size; i++) {
		if (i < text.size && text.data[i] != ' ')
			continue;
		tenon_buffer_append(to, text.data + start, i - start);
		if (i < text.size)
			tenon_buffer_append(to, BPE_SPACE, 3);
		start = i + 1;
	}
}

/* Do the steps from @step on. @first: the text begins where the whole one does. */
static int encode_steps(const struct bpe_encoding *e, uint32_t step, struct tenon_slice text,
			bool first)
{
	const struct bpe_step *s = &e->t->splits.step[step];
	struct tenon_buffer changed = TENON_BUFFER_INIT;
	int err;

	if (step == e->t->splits.count)
		return bpe_encode_word(e->t, text, e->tokens);
	if (s->kind == STEP_SPLIT)
		return divide(e, step, text, first);
	if (s->kind == STEP_METASPACE) {
		mark_spaces(s, text, first, &changed);
	} else if (*text.data == ' ') {
		return encode_steps(e, step + 1, text, first);
	} else {
		tenon_buffer_append(&changed, " ", 1);
		tenon_buffer_slice(&changed, text);
	}
	err = changed.status;
	if (!err)
		err = encode_steps(e, step + 1, (struct tenon_slice){ changed.data, changed.size },
				   first);
	tenon_buffer_fini(&changed);
	return err;
}

/* ---- all */

/* Encode a normalized text without added tokens. */
static int encode_words(const struct bpe_encoding *e, const struct bpe_piece *piece)
{
	return encode_steps(e, 0, piece->text, !bpe_origin(piece, 0));
}

/* Encode the text between two added tokens that are searched before normalization. */
static int encode_between(const struct bpe_encoding *e, const struct bpe_piece *piece)
{
	struct tenon_buffer text = TENON_BUFFER_INIT, origins = TENON_BUFFER_INIT;
	struct bpe_piece normal = *piece;
	int err = 0;

	if (e->t->normal.count) {
		err = bpe_normalize(e->t, piece->text, &text, e->t->origins ? &origins : NULL);
		normal.text = (struct tenon_slice){ text.data, text.size };
		normal.origin = (const size_t *)(const void *)origins.data;
	}
	if (!err && normal.text.size)
		err = bpe_take_added(e, &normal, true, encode_words);
	tenon_buffer_fini(&origins);
	tenon_buffer_fini(&text);
	return err;
}

int tokenizer_encode(struct tokenizer *t, struct tenon_slice text,
		     const struct tokenizer_span *plain, size_t count, struct tenon_buffer *tokens)
{
	const struct bpe_encoding e = { t, plain, count, tokens };
	const struct bpe_piece whole = { text, 0, NULL };
	size_t at;

	if (t->problem)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s; or use bytes or numbers as tokens (--bytes, --tokens)",
				   t->problem);
	if (!bpe_is_utf8(text, &at))
		return tenon_error(-TENON_E_VALUE, "byte %zu of the text is not UTF-8", at);
	return bpe_take_added(&e, &whole, false, encode_between);
}
