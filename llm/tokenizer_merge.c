/* SPDX-License-Identifier: MIT */
/* Byte-pair encoding of one word: neighbours are merged, the pair of the lowest rank first. */
#include <stdlib.h>
#include <tenon/backend/buffer.h>

#include "lib/brief_errors.h"
#include "lib/utf8.h"
#include "llm/tokenizer_bpe.h"

#define NONE UINT32_MAX

uint64_t bpe_hash(const void *data, size_t size)
{
	const unsigned char *at = data;
	uint64_t h = 0xcbf29ce484222325u;

	for (; size; size--)
		h = (h ^ *at++) * 0x100000001b3u;
	return h ^ h >> 29;
}

uint64_t bpe_hash_pair(uint32_t left, uint32_t right)
{
	uint64_t h = ((uint64_t)left << 32 | right) * 0x9e3779b97f4a7c15u;

	return h ^ h >> 32;
}

int32_t bpe_find(const struct tokenizer *t, struct tenon_slice name)
{
	uint64_t at = bpe_hash(name.data, name.size);
	uint32_t found;

	for (;; at++) {
		found = t->by_name[at & t->name_mask];
		if (found == NONE)
			return -1;
		if (tenon_slice_equal(t->names[found], name))
			return (int32_t)found;
	}
}

const struct bpe_merge *bpe_find_merge(const struct tokenizer *t, uint32_t left, uint32_t right)
{
	uint64_t at = bpe_hash_pair(left, right);
	const struct bpe_merge *m;

	for (;; at++) {
		m = &t->merges[at & t->merge_mask];
		if (m->rank == NONE)
			return NULL;
		if (m->left == left && m->right == right)
			return m;
	}
}

size_t bpe_character(struct tenon_slice s)
{
	int n = utf8_character(s);

	return n > 0 ? (size_t)n : 1;
}

bool bpe_is_utf8(struct tenon_slice s, size_t *at)
{
	int n;

	for (*at = 0; *at < s.size; *at += (size_t)n) {
		n = utf8_character((struct tenon_slice){ s.data + *at, s.size - *at });
		if (n < 1)
			return false;
	}
	return true;
}

/* ---- the pairs that could be merged, ordered as a heap */

static bool before(const struct bpe_candidate *a, const struct bpe_candidate *b)
{
	return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

static void heap_put(struct bpe_candidate *heap, size_t *count, struct bpe_candidate c)
{
	size_t i = (*count)++;

	for (; i && before(&c, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = c;
}

static struct bpe_candidate heap_take(struct bpe_candidate *heap, size_t *count)
{
	struct bpe_candidate top = heap[0], last = heap[--*count];
	size_t i = 0, child;

	for (;; i = child) {
		child = 2 * i + 1;
		if (child >= *count)
			break;
		if (child + 1 < *count && before(&heap[child + 1], &heap[child]))
			child++;
		if (!before(&heap[child], &last))
			break;
		heap[i] = heap[child];
	}
	heap[i] = last;
	return top;
}

static void offer(struct tokenizer *t, size_t *count, uint32_t at)
{
	const struct bpe_symbol *s = &t->symbols[at];
	const struct bpe_merge *m;

	if (s->after == NONE)
		return;
	m = bpe_find_merge(t, (uint32_t)s->id, (uint32_t)t->symbols[s->after].id);
	if (m)
		heap_put(t->heap, count,
			 (struct bpe_candidate){ m->rank, at, m->left, m->right, m->id });
}

/* Merge as long as there is a pair. The first symbol stays the first. */
static void merge_all(struct tokenizer *t, uint32_t count)
{
	struct bpe_symbol *s = t->symbols, *left;
	struct bpe_candidate c;
	size_t waiting = 0;
	uint32_t i, right;

	for (i = 0; i + 1 < count; i++)
		offer(t, &waiting, i);
	while (waiting) {
		c = heap_take(t->heap, &waiting);
		left = &s[c.at];
		right = left->after;
		/* one of them may have been merged with another neighbour */
		if ((uint32_t)left->id != c.left || right == NONE ||
		    (uint32_t)s[right].id != c.right)
			continue;
		left->id = (int32_t)c.id;
		left->after = s[right].after;
		s[right].id = -1;
		if (left->after != NONE)
			s[left->after].before = c.at;
		offer(t, &waiting, c.at);
		if (left->before != NONE)
			offer(t, &waiting, left->before);
	}
}

/* each merge takes one candidate and offers two */
static int reserve_candidates(struct tokenizer *t, size_t symbols)
{
	struct bpe_symbol *s;
	struct bpe_candidate *c;
	size_t room = symbols + symbols / 2 + 64;

	if (symbols <= t->room)
		return 0;
	if (symbols > UINT32_MAX / 8)
		return tenon_error(-TENON_E_OVERFLOW, "a text of %zu bytes", symbols);
	s = realloc(t->symbols, room * sizeof(*s));
	if (s)
		t->symbols = s;
	c = s ? realloc(t->heap, 3 * room * sizeof(*c)) : NULL;
	if (!c)
		return tenon_error(-TENON_E_NOMEM, "no memory to encode %zu bytes", symbols);
	t->heap = c;
	t->room = room;
	return 0;
}

static void add_symbol(struct tokenizer *t, uint32_t *count, int32_t id)
{
	if (id < 0)
		return;
	t->symbols[*count] = (struct bpe_symbol){ id, *count - 1, *count + 1 };
	++*count;
}

/* Add the unknown token that waits, and let one wait if @more; fused, several are one. */
static void add_unknown(struct tokenizer *t, uint32_t *count, bool *waiting, bool more)
{
	if (*waiting && !(more && t->fuse_unknown))
		add_symbol(t, count, t->unknown);
	*waiting = more && t->unknown >= 0;
}

/* Add the bytes of a character; false if one has no token. */
static bool add_bytes(struct tokenizer *t, uint32_t *count, struct tenon_slice character)
{
	size_t i;

	for (i = 0; i < character.size; i++)
		if (t->byte_tokens[(unsigned char)character.data[i]] < 0)
			return false;
	for (i = 0; i < character.size; i++)
		add_symbol(t, count, t->byte_tokens[(unsigned char)character.data[i]]);
	return true;
}

static void add_word(struct tokenizer *t, struct tenon_slice word, uint32_t *count)
{
	struct tenon_slice rest = word, character;
	bool unknown = false;
	int32_t id;

	for (; rest.size; rest.data += character.size, rest.size -= character.size) {
		character =
			(struct tenon_slice){ rest.data, t->byte_level ? 1 : bpe_character(rest) };
		id = t->byte_level ? t->byte_tokens[(unsigned char)*rest.data]
				   : bpe_find(t, character);
		if (id >= 0) {
			add_unknown(t, count, &unknown, false);
			add_symbol(t, count, id);
		} else if (t->byte_level || !t->byte_fallback || !add_bytes(t, count, character)) {
			add_unknown(t, count, &unknown, true);
		}
	}
	add_unknown(t, count, &unknown, false);
}

/* Find a word that is the name of a token as a whole. In byte-level names, characters stand for bytes. */
static int find_whole(const struct tokenizer *t, struct tenon_slice word, int32_t *id)
{
	char small[256], *name, *to;
	uint32_t c;
	size_t i;

	*id = -1;
	if (!t->byte_level) {
		*id = bpe_find(t, word);
		return 0;
	}
	name = to = word.size <= sizeof(small) / 2 ? small : malloc(2 * word.size);
	if (!name)
		return tenon_error(-TENON_E_NOMEM, "no memory for a word of %zu bytes", word.size);
	for (i = 0; i < word.size; i++) {
		c = bpe_byte_character((unsigned char)word.data[i]);
		if (c >= 0x80)
			*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(c >= 0x80 ? 0x80 | (c & 63) : c);
	}
	*id = bpe_find(t, (struct tenon_slice){ name, (size_t)(to - name) });
	if (name != small)
		free(name);
	return 0;
}

int bpe_encode_word(struct tokenizer *t, struct tenon_slice word, struct tenon_buffer *tokens)
{
	uint32_t count = 0, at;
	int32_t whole = -1;
	int err = 0;

	if (!word.size)
		return 0;
	if (t->ignore_merges)
		err = find_whole(t, word, &whole);
	if (err)
		return err;
	if (whole >= 0)
		return tenon_buffer_append(tokens, &whole, sizeof(whole));
	err = reserve_candidates(t, word.size);
	if (err)
		return err;
	add_word(t, word, &count);
	if (!count)
		return 0;
	t->symbols[count - 1].after = NONE;
	merge_all(t, count);
	for (at = 0; at != NONE && !err; at = t->symbols[at].after)
		err = tenon_buffer_append(tokens, &t->symbols[at].id, sizeof(int32_t));
	return err;
}
