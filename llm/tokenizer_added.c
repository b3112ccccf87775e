/* SPDX-License-Identifier: MIT */
/* Added tokens: their names are taken out of a text before it is divided. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "llm/tokenizer_file.h"

/* ---- reading */

static int read_one(struct tokenizer_file *r, uint32_t at, struct bpe_added *a)
{
	enum { ID, CONTENT, SINGLE_WORD, LSTRIP, RSTRIP, NORMALIZED, SPECIAL };
	struct tokenizer_field f[] = {
		[ID] = { "id", 0 },
		[CONTENT] = { "content", 0 },
		[SINGLE_WORD] = { "single_word", 0 },
		[LSTRIP] = { "lstrip", 0 },
		[RSTRIP] = { "rstrip", 0 },
		[NORMALIZED] = { "normalized", 0 },
		[SPECIAL] = { "special", 0 },
	};
	uint32_t id;
	size_t invalid;
	int64_t number = 0;
	int err = tokenizer_fields(r, at, "an added token", f, sizeof(f) / sizeof(f[0]));

	id = f[ID].at;
	if (!err && (!id || !f[CONTENT].at))
		err = json_error(&r->t, at, -TENON_E_FORMAT,
				 "an added token without \"id\" or \"content\"");
	if (!err)
		err = json_integer(&r->t, &id, "the id of an added token", 0, INT32_MAX - 1,
				   &number);
	if (!err)
		err = tokenizer_text(r, &f[CONTENT], "", &a->name);
	/* else it could divide a character of a text */
	if (!err && !bpe_is_utf8(a->name, &invalid))
		err = json_error(&r->t, f[CONTENT].at, -TENON_E_FORMAT,
				 "byte %zu of an added token is not UTF-8", invalid);
	if (!err)
		err = tokenizer_flag(r, &f[SINGLE_WORD], false, &a->single_word);
	if (!err)
		err = tokenizer_flag(r, &f[LSTRIP], false, &a->lstrip);
	if (!err)
		err = tokenizer_flag(r, &f[RSTRIP], false, &a->rstrip);
	if (!err)
		err = tokenizer_flag(r, &f[SPECIAL], false, &a->special);
	if (!err)
		err = tokenizer_flag(r, &f[NORMALIZED], !a->special, &a->normalized);
	a->id = (int32_t)number;
	a->normal = (struct tenon_buffer)TENON_BUFFER_INIT;
	return err;
}

int tokenizer_read_added(struct tokenizer_file *r, uint32_t at)
{
	struct tokenizer *t = r->to;
	uint32_t count, i;
	int err;

	if (!at)
		return 0;
	err = json_enter(&r->t, &at, JSMN_ARRAY, "added_tokens", &count);
	if (err)
		return err;
	t->added = calloc((size_t)count + 1, sizeof(*t->added));
	if (!t->added)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu32 " tokens", count);
	for (i = 0; i < count && !err; i++) {
		err = read_one(r, at, &t->added[i]);
		t->added_count += !err;
		json_skip(&r->t, &at);
	}
	return err;
}

/* Check that an added token has the same number as in the vocabulary, or is not in it. */
static int check_number(struct tokenizer_file *r, const struct bpe_added *a)
{
	const int32_t known = bpe_find(r->to, a->name);
	struct tenon_slice *name = &r->to->names[a->id];

	if (known >= 0 && known != a->id)
		return tenon_error(-TENON_E_FORMAT,
				   "%s: added token \"%.*s\" has number %" PRIi32 ", and %" PRIi32
				   " in the vocabulary",
				   r->t.name, json_shown(a->name), a->name.data, a->id, known);
	if (name->data && !tenon_slice_equal(*name, a->name))
		return tenon_error(-TENON_E_FORMAT,
				   "%s: added token \"%.*s\" has number %" PRIi32
				   ", as \"%.*s\" has",
				   r->t.name, json_shown(a->name), a->name.data, a->id,
				   json_shown(*name), name->data);
	*name = a->name;
	return 0;
}

int tokenizer_check_added(struct tokenizer_file *r)
{
	struct tokenizer *t = r->to;
	struct bpe_added *a;
	size_t i;
	int err = 0;

	for (i = 0; i < t->added_count && !err; i++) {
		a = &t->added[i];
		if (!a->name.size)
			continue;
		err = check_number(r, a);
		a->match = a->name;
		if (!err && a->normalized && t->normal.count) {
			err = bpe_normalize(t, a->name, &a->normal, NULL);
			a->match = (struct tenon_slice){ a->normal.data, a->normal.size };
			t->origins |= a->special;
			if (!err && !a->match.size)
				err = tenon_error(-TENON_E_UNSUPPORTED,
						  "%s: nothing is left of added token \"%.*s\" by "
						  "the normalizer",
						  r->t.name, json_shown(a->name), a->name.data);
		}
		if (a->match.size)
			t->first_bytes[(unsigned char)*a->match.data] = true;
		if (!err && a->single_word && !t->word)
			err = bpe_compile(t, tenon_slice_of(BPE_WORD), false, &t->word);
	}
	return err;
}

/* ---- finding */

/* Length of the white space at the beginning of a text; 0 for none. */
static size_t space_at(struct tenon_slice s)
{
	static const struct {
		unsigned char size;
		unsigned char first[4], last[4];
	} spaces[] = {
		{ 1, "\t", "\r" },
		{ 1, " ", " " },
		{ 2, "\xc2\x85", "\xc2\x85" },
		{ 2, "\xc2\xa0", "\xc2\xa0" },
		{ 3, "\xe1\x9a\x80", "\xe1\x9a\x80" },
		{ 3, "\xe2\x80\x80", "\xe2\x80\x8a" },
		{ 3, "\xe2\x80\xa8", "\xe2\x80\xa9" },
		{ 3, "\xe2\x80\xaf", "\xe2\x80\xaf" },
		{ 3, "\xe2\x81\x9f", "\xe2\x81\x9f" },
		{ 3, "\xe3\x80\x80", "\xe3\x80\x80" },
	};
	size_t i;

	for (i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++)
		if (s.size >= spaces[i].size &&
		    memcmp(s.data, spaces[i].first, spaces[i].size) >= 0 &&
		    memcmp(s.data, spaces[i].last, spaces[i].size) <= 0)
			return spaces[i].size;
	return 0;
}

static size_t skip_spaces(struct tenon_slice text, size_t at)
{
	size_t n = 1;

	for (; at < text.size && n; at += n)
		n = space_at((struct tenon_slice){ text.data + at, text.size - at });
	return at;
}

/* The beginning of the character before @at, which is at least 1. */
static size_t character_before(struct tenon_slice text, size_t at)
{
	do
		at--;
	while (at && ((unsigned char)text.data[at] & 0xc0) == 0x80);
	return at;
}

static size_t skip_spaces_back(struct tenon_slice text, size_t at)
{
	size_t before;

	while (at) {
		before = character_before(text, at);
		if (!space_at((struct tenon_slice){ text.data + before, at - before }))
			break;
		at = before;
	}
	return at;
}

/* Test whether the character at @at is one of a word. */
static int check_word(struct tokenizer *t, struct tenon_slice text, size_t at, bool *found)
{
	const size_t size = bpe_character((struct tenon_slice){ text.data + at, text.size - at });
	int n = pcre2_match(t->word, (PCRE2_SPTR)text.data + at, size, 0, PCRE2_NO_UTF_CHECK,
			    t->match, t->limits);

	*found = n >= 0;
	return n >= 0 || n == PCRE2_ERROR_NOMATCH ? 0 : bpe_match_failed(n);
}

/* Test whether a name is part of a longer word. */
static int check_neighbours(struct tokenizer *t, struct tenon_slice text, size_t start, size_t end,
			    bool *joined)
{
	int err = 0;

	*joined = false;
	if (start)
		err = check_word(t, text, character_before(text, start), joined);
	if (!err && !*joined && end < text.size)
		err = check_word(t, text, end, joined);
	return err;
}

static bool is_plain(const struct bpe_encoding *e, size_t start, size_t end)
{
	size_t low = 0, high = e->count, middle;

	/* the first span that ends behind @start */
	while (low < high) {
		middle = low + (high - low) / 2;
		if (e->plain[middle].end > start)
			high = middle;
		else
			low = middle + 1;
	}
	return low < e->count && e->plain[low].start < end;
}

/* The longest added token at @at; NULL for none. A special one is none in a plain part of the text. */
static const struct bpe_added *added_at(const struct bpe_encoding *e, const struct bpe_piece *piece,
					size_t at, bool normalized)
{
	const struct tokenizer *t = e->t;
	const struct tenon_slice rest = { piece->text.data + at, piece->text.size - at };
	const struct bpe_added *best = NULL, *a;

	if (!t->first_bytes[(unsigned char)*rest.data])
		return NULL;
	for (a = t->added; a < t->added + t->added_count; a++)
		if (a->normalized == normalized && a->match.size && a->match.size <= rest.size &&
		    (!best || a->match.size >= best->match.size) &&
		    !memcmp(a->match.data, rest.data, a->match.size) &&
		    !(a->special && is_plain(e, bpe_origin(piece, at),
					     bpe_origin(piece, at + a->match.size - 1) + 1)))
			best = a;
	return best;
}

static int encode_between(const struct bpe_encoding *e, const struct bpe_piece *piece, size_t start,
			  size_t end,
			  int (*between)(const struct bpe_encoding *e,
					 const struct bpe_piece *piece))
{
	struct bpe_piece part = {
		{ piece->text.data + start, end - start },
		piece->start + (piece->origin ? 0 : start),
		piece->origin ? piece->origin + start : NULL,
	};

	return start < end ? between(e, &part) : 0;
}

int bpe_take_added(const struct bpe_encoding *e, const struct bpe_piece *piece, bool normalized,
		   int (*between)(const struct bpe_encoding *e, const struct bpe_piece *piece))
{
	const struct tenon_slice text = piece->text;
	const struct bpe_added *a;
	size_t at = 0, done = 0, start, end;
	bool joined;
	int err = 0;

	while (at < text.size && !err) {
		a = added_at(e, piece, at, normalized);
		if (!a) {
			at++;
			continue;
		}
		start = at;
		at = end = start + a->match.size;
		joined = false;
		if (a->single_word)
			err = check_neighbours(e->t, text, start, end, &joined);
		if (err || joined)
			continue;
		if (a->lstrip)
			start = skip_spaces_back(text, start);
		/* the token before it may have taken that white space */
		if (a->lstrip && start < done)
			start = done;
		if (a->rstrip)
			end = skip_spaces(text, end);
		err = encode_between(e, piece, done, start, between);
		if (!err && start < end)
			err = tenon_buffer_append(e->tokens, &a->id, sizeof(a->id));
		done = end;
	}
	return err ? err : encode_between(e, piece, done, text.size, between);
}
