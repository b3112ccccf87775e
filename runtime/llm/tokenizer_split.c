/* SPDX-License-Identifier: MIT */
/* Encoding a text: added tokens are taken out, the rest is divided into words. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "runtime/llm/tokenizer_bpe.h"

/* An expression that takes longer, or more memory in KiB, is refused: a file may have any. */
#define MATCH_LIMIT 1000000
#define HEAP_LIMIT  16384

int bpe_add_pattern(struct tokenizer *t, struct tenon_slice pattern, bool literal)
{
	/* \C would divide characters, and the rest of the text is not checked for UTF-8 again */
	uint32_t flags =
		PCRE2_UTF | (literal ? PCRE2_LITERAL : PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C);
	pcre2_code *code;
	unsigned char text[128];
	size_t offset;
	int why;

	if (t->pattern_count == PATTERNS_MOST)
		return tenon_error(-TENON_E_FORMAT, "more than %d expressions", PATTERNS_MOST);
	code = pcre2_compile((PCRE2_SPTR)pattern.data, pattern.size, flags, &why, &offset, NULL);
	if (!code) {
		pcre2_get_error_message(why, text, sizeof(text));
		return tenon_error(-TENON_E_FORMAT, "expression at byte %zu: %s", offset,
				   (const char *)text);
	}
	if (!t->match)
		t->match = pcre2_match_data_create(1, NULL);
	if (!t->limits)
		t->limits = pcre2_match_context_create(NULL);
	if (!t->match || !t->limits) {
		pcre2_code_free(code);
		return tenon_error(-TENON_E_NOMEM, "no memory for an expression");
	}
	pcre2_set_match_limit(t->limits, MATCH_LIMIT);
	pcre2_set_heap_limit(t->limits, HEAP_LIMIT);
	t->patterns[t->pattern_count++] = code;
	return 0;
}

/* Divide a text by an expression: what matches and what lies between are words. */
static int encode_words(struct tokenizer *t, uint32_t pattern, struct tenon_slice text,
			struct tenon_buffer *tokens)
{
	size_t at = 0, start, end;
	size_t *found;
	int n, err = 0;

	if (pattern == t->pattern_count)
		return bpe_encode_word(t, text, tokens);
	while (!err && at < text.size) {
		n = pcre2_match(t->patterns[pattern], (PCRE2_SPTR)text.data, text.size, at,
				PCRE2_NOTEMPTY | PCRE2_NO_UTF_CHECK, t->match, t->limits);
		if (n < 0 && n != PCRE2_ERROR_NOMATCH)
			return tenon_error(-TENON_E_VALUE,
					   "an expression of the tokenizer fails on this text "
					   "(error %d of PCRE2)",
					   n);
		found = pcre2_get_ovector_pointer(t->match);
		start = n < 0 ? text.size : found[0];
		end = n < 0 ? text.size : found[1];
		/* \K in a lookaround moves the start anywhere */
		if (n >= 0 && (start < at || end <= start))
			return tenon_error(
				-TENON_E_VALUE,
				"an expression of the tokenizer matches bytes %zu to %zu "
				"of a text from byte %zu on",
				start, end, at);
		if (start > at)
			err = encode_words(t, pattern + 1,
					   (struct tenon_slice){ text.data + at, start - at },
					   tokens);
		if (!err && end > start)
			err = encode_words(t, pattern + 1,
					   (struct tenon_slice){ text.data + start, end - start },
					   tokens);
		at = end;
	}
	return err;
}

static bool begins_with_space(struct tenon_slice s)
{
	return *s.data == ' ' || (s.size >= 3 && !memcmp(s.data, BPE_SPACE, 3));
}

/* Encode a text without added tokens. */
static int encode_plain(struct tokenizer *t, struct tenon_slice text, bool first,
			struct tenon_buffer *tokens)
{
	struct tenon_buffer spaced = TENON_BUFFER_INIT;
	size_t i, start = 0;
	bool prepend;
	int err;

	if (!text.size)
		return 0;
	if (t->byte_level && t->prepend && *text.data != ' ') {
		tenon_buffer_append(&spaced, " ", 1);
		tenon_buffer_slice(&spaced, text);
		text = (struct tenon_slice){ spaced.data, spaced.size };
	}
	if (t->metaspace) {
		prepend = t->prepend == PREPEND_ALWAYS || (t->prepend == PREPEND_FIRST && first);
		if (prepend && !(t->prepend_once && begins_with_space(text)))
			tenon_buffer_append(&spaced, BPE_SPACE, 3);
		for (i = 0; i <= text.size; i++) {
			if (i < text.size && text.data[i] != ' ')
				continue;
			tenon_buffer_append(&spaced, text.data + start, i - start);
			if (i < text.size)
				tenon_buffer_append(&spaced, BPE_SPACE, 3);
			start = i + 1;
		}
		text = (struct tenon_slice){ spaced.data, spaced.size };
	}
	err = spaced.status ? spaced.status : encode_words(t, 0, text, tokens);
	tenon_buffer_fini(&spaced);
	return err;
}

/* The longest added token at the beginning of @text; NULL for none. */
static const struct bpe_added *added_at(const struct tokenizer *t, struct tenon_slice text,
					bool special)
{
	const struct bpe_added *best = NULL, *a;

	if (!t->first_bytes[(unsigned char)*text.data])
		return NULL;
	for (a = t->added; a < t->added + t->added_count; a++)
		if ((special || !a->special) && a->name.size && a->name.size <= text.size &&
		    (!best || a->name.size > best->name.size) &&
		    !memcmp(a->name.data, text.data, a->name.size))
			best = a;
	return best;
}

int tokenizer_encode(struct tokenizer *t, struct tenon_slice text,
		     const struct tokenizer_span *plain, size_t count, struct tenon_buffer *tokens)
{
	const struct bpe_added *a;
	size_t at = 0, start = 0, span = 0;
	bool special;
	int err = 0;

	if (!bpe_is_utf8(text, &at))
		return tenon_error(-TENON_E_VALUE, "byte %zu of the text is not UTF-8", at);
	at = 0;
	while (at < text.size && !err) {
		while (span < count && plain[span].end <= at)
			span++;
		special = span == count || at < plain[span].start;
		a = added_at(t, (struct tenon_slice){ text.data + at, text.size - at }, special);
		/* a name that begins in the form and goes on in the text of a user is none */
		if (a && a->special && span < count && at + a->name.size > plain[span].start)
			a = NULL;
		if (!a) {
			at++;
			continue;
		}
		err = encode_plain(t, (struct tenon_slice){ text.data + start, at - start }, !start,
				   tokens);
		if (!err)
			err = tenon_buffer_append(tokens, &a->id, sizeof(a->id));
		at += a->name.size;
		start = at;
	}
	return err ? err
		   : encode_plain(t, (struct tenon_slice){ text.data + start, text.size - start },
				  !start, tokens);
}
