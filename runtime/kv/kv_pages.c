/* SPDX-License-Identifier: MIT */
/* Blocks and pages of sequences: append, fork, split, cut and slide. */
#include "runtime/kv/kv_pages.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array_room.h"
#include "lib/brief_errors.h"

/* Blocks that a fork adds at most: its parent's new last block, its own, and a split one. */
#define FORK_BLOCKS 3

int kv_pages_init(struct kv_pages *p, int32_t page_size, int32_t page_count)
{
	memset(p, 0, sizeof(*p));
	p->page_size = page_size;
	p->page_count = page_count;
	p->free_block = KV_NONE;
	p->next = malloc((size_t)page_count * sizeof(*p->next));
	if (!p->next)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIi32 " pages", page_count);
	kv_pages_clear(p);
	return 0;
}

static void sequence_free(struct kv_sequence *s)
{
	if (s)
		free(s->tree);
	free(s);
}

void kv_pages_clear(struct kv_pages *p)
{
	int32_t i;

	while (p->sequence_count)
		sequence_free(p->sequences[--p->sequence_count]);
	for (i = 0; i < p->page_count; i++)
		p->next[i] = i + 1 < p->page_count ? i + 1 : KV_NONE;
	p->free_page = p->page_count ? 0 : KV_NONE;
	p->free_pages = p->page_count;
	for (i = 0; i < p->block_room; i++) {
		p->blocks[i].refs = 0;
		p->blocks[i].parent = i + 1 < p->block_room ? i + 1 : KV_NONE;
	}
	p->free_block = p->block_room ? 0 : KV_NONE;
	p->used_blocks = 0;
}

void kv_pages_fini(struct kv_pages *p)
{
	while (p->sequence_count)
		sequence_free(p->sequences[--p->sequence_count]);
	free(p->sequences);
	free(p->blocks);
	free(p->next);
	memset(p, 0, sizeof(*p));
}

/* ---- pages and blocks */

static int64_t pages_for(const struct kv_pages *p, int64_t tokens)
{
	return (tokens + p->page_size - 1) / p->page_size;
}

/* Free a chain of pages from @first to @last, so that @first is used next. */
static void free_chain(struct kv_pages *p, int32_t first, int32_t last, int32_t count)
{
	if (!count)
		return;
	p->next[last] = p->free_page;
	p->free_page = first;
	p->free_pages += count;
}

static void append_page(struct kv_pages *p, struct kv_block *b)
{
	int32_t page = p->free_page;

	p->free_page = p->next[page];
	p->free_pages--;
	p->next[page] = KV_NONE;
	if (b->pages++)
		p->next[b->last] = page;
	else
		b->first = page;
	b->last = page;
}

/* Page @index - 1, or KV_NONE for index 0. */
static int32_t page_before(const struct kv_pages *p, const struct kv_block *b, int64_t index)
{
	return index ? kv_page_at(p, b, index - 1) : KV_NONE;
}

int32_t kv_page_at(const struct kv_pages *p, const struct kv_block *b, int64_t index)
{
	int32_t page = b->first;

	if (index < 0 || index >= b->pages)
		return KV_NONE;
	if (index == b->pages - 1)
		return b->last;
	for (; index > 0; index--)
		page = p->next[page];
	return page;
}

/* Free @count pages of a block, which follow the first @keep. */
static void drop_pages(struct kv_pages *p, struct kv_block *b, int32_t keep, int32_t count)
{
	int32_t before = page_before(p, b, keep), first, last, i, after;

	if (!count)
		return;
	first = keep ? p->next[before] : b->first;
	for (last = first, i = 1; i < count; i++)
		last = p->next[last];
	after = p->next[last];
	if (keep)
		p->next[before] = after;
	else
		b->first = after;
	if (after == KV_NONE)
		b->last = before;
	b->pages -= count;
	if (!b->pages)
		b->first = b->last = KV_NONE;
	free_chain(p, first, last, count);
}

/* Have room for some more blocks, so that new_block() cannot fail. */
static int reserve_blocks(struct kv_pages *p, int32_t more)
{
	int32_t room = p->block_room, i;
	struct kv_block *blocks;

	if (room - p->used_blocks >= more)
		return 0;
	room = room < 16 ? 32 : room;
	blocks = room > INT32_MAX / 2 ? NULL
				      : realloc(p->blocks, (size_t)room * 2 * sizeof(*blocks));
	if (!blocks)
		return tenon_error(-TENON_E_NOMEM, "no memory for the blocks of a cache");
	p->blocks = blocks;
	for (i = room * 2; i-- > p->block_room;) {
		blocks[i].refs = 0;
		blocks[i].parent = p->free_block;
		p->free_block = i;
	}
	p->block_room = room * 2;
	return 0;
}

static int32_t new_block(struct kv_pages *p, int32_t parent, int64_t start)
{
	int32_t i = p->free_block;

	p->free_block = p->blocks[i].parent;
	p->used_blocks++;
	p->blocks[i] = (struct kv_block){
		.first = KV_NONE, .last = KV_NONE, .parent = parent, .refs = 1, .start = start
	};
	return i;
}

/* Free a block and its pages; returns its parent. */
static int32_t free_block(struct kv_pages *p, int32_t i)
{
	struct kv_block *b = &p->blocks[i];
	int32_t parent = b->parent;

	free_chain(p, b->first, b->last, b->pages);
	b->refs = 0;
	b->parent = p->free_block;
	p->free_block = i;
	p->used_blocks--;
	return parent;
}

/* Drop a reference of a block, and of its parents while it was the last. */
static void release_chain(struct kv_pages *p, int32_t i)
{
	while (i != KV_NONE && p->blocks[i].refs == 1)
		i = free_block(p, i);
	if (i != KV_NONE)
		p->blocks[i].refs--;
}

/* ---- sequences */

/* Number of sequences with a smaller id. */
static size_t place_of(const struct kv_pages *p, int64_t id)
{
	size_t low = 0, high = p->sequence_count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (p->sequences[middle]->id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct kv_sequence *kv_sequence(const struct kv_pages *p, int64_t id)
{
	size_t at = place_of(p, id);

	return at < p->sequence_count && p->sequences[at]->id == id ? p->sequences[at] : NULL;
}

int kv_sequence_get(const struct kv_pages *p, int64_t id, struct kv_sequence **out)
{
	*out = kv_sequence(p, id);
	if (*out)
		return 0;
	return tenon_error(-TENON_E_NOT_FOUND, "no sequence %" PRIi64 "; %zu sequences exist", id,
			   p->sequence_count);
}

/* Insert a sequence without a block. */
static int insert(struct kv_pages *p, int64_t id, struct kv_sequence **out)
{
	size_t at = place_of(p, id);
	struct kv_sequence *s;

	if (at < p->sequence_count && p->sequences[at]->id == id)
		return tenon_error(-TENON_E_EXISTS, "sequence %" PRIi64 " exists", id);
	if (!array_reserve(p->sequences, p->sequence_room, p->sequence_count + 1))
		return tenon_error(-TENON_E_NOMEM, "no memory for a sequence");
	s = calloc(1, sizeof(*s));
	if (!s)
		return tenon_error(-TENON_E_NOMEM, "no memory for a sequence");
	s->id = id;
	s->window = KV_NONE;
	memmove(p->sequences + at + 1, p->sequences + at,
		(p->sequence_count - at) * sizeof(*p->sequences));
	p->sequences[at] = s;
	p->sequence_count++;
	*out = s;
	return 0;
}

int kv_add(struct kv_pages *p, int64_t id)
{
	struct kv_sequence *s;
	int err = reserve_blocks(p, 1);

	if (!err)
		err = insert(p, id, &s);
	if (!err)
		s->block = new_block(p, KV_NONE, 0);
	return err;
}

int kv_remove(struct kv_pages *p, int64_t id)
{
	struct kv_sequence *s;
	size_t at;
	int err = kv_sequence_get(p, id, &s);

	if (err)
		return err;
	release_chain(p, s->block);
	at = place_of(p, id);
	p->sequence_count--;
	memmove(p->sequences + at, p->sequences + at + 1,
		(p->sequence_count - at) * sizeof(*p->sequences));
	sequence_free(s);
	return 0;
}

int kv_full(const struct kv_pages *p, const char *what, int64_t wanted)
{
	return tenon_error(-TENON_E_OVERFLOW,
			   "the key-value cache is full: %s needs %" PRIi64 " page%s; %" PRIi32
			   " of %" PRIi32 " pages of %" PRIi32
			   " tokens are free, %zu sequences have %" PRIi64
			   " tokens; remove or shorten a sequence first",
			   what, wanted, wanted == 1 ? "" : "s", p->free_pages, p->page_count,
			   p->page_size, p->sequence_count, kv_total_length(p));
}

int64_t kv_total_length(const struct kv_pages *p)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < p->sequence_count; i++)
		sum += p->sequences[i]->length;
	return sum;
}

/* ---- fork */

/* Where a fork at @position leaves a chain: the block, and how many of its tokens come before. */
static int32_t find_split(const struct kv_pages *p, int32_t last, int64_t position, int64_t *rest)
{
	int32_t i = last;

	while (p->blocks[i].parent != KV_NONE && p->blocks[i].start > position)
		i = p->blocks[i].parent;
	*rest = position - p->blocks[i].start;
	return i;
}

/* Give the first @tokens of a block, whole pages, to a new block that becomes its parent. */
static int32_t split(struct kv_pages *p, int32_t i, int64_t tokens)
{
	int32_t f = new_block(p, p->blocks[i].parent, p->blocks[i].start);
	struct kv_block *front = &p->blocks[f], *b = &p->blocks[i];
	int32_t pages = (int32_t)(tokens / p->page_size);

	front->refs = 2; /* @i, and the fork */
	front->length = tokens;
	front->pages = pages;
	front->first = b->first;
	front->last = kv_page_at(p, b, pages - 1);
	b->first = p->next[front->last];
	p->next[front->last] = KV_NONE;
	b->pages -= pages;
	if (!b->pages)
		b->last = KV_NONE;
	b->length -= tokens;
	b->start += tokens;
	b->parent = f;
	if (b->offset) {
		b->sink -= tokens;
		b->offset -= tokens;
	}
	return f;
}

/*
 * Make a block that continues the first @position tokens of the chain that ends in @last. The
 * caller checked for a free page.
 */
static int32_t branch(struct kv_pages *p, int32_t last, int64_t position,
		      struct kv_sequence *parent, struct kv_copy *copy)
{
	int64_t rest, tail, moved;
	int32_t i = find_split(p, last, position, &rest), c, before;

	tail = rest % p->page_size;
	moved = rest - tail;
	if (moved) {
		before = split(p, i, moved);
		if (parent && parent->window != KV_NONE && i == parent->block)
			parent->sink = parent->sink > moved ? parent->sink - moved : 0;
	} else {
		before = p->blocks[i].parent;
		if (before != KV_NONE)
			p->blocks[before].refs++;
	}
	c = new_block(p, before, position - tail);
	p->blocks[c].length = tail;
	*copy = (struct kv_copy){ KV_NONE, KV_NONE, (int32_t)tail };
	if (tail) {
		append_page(p, &p->blocks[c]);
		copy->from = p->blocks[i].first;
		copy->to = p->blocks[c].first;
	}
	return c;
}

static int check_fork(const struct kv_pages *p, const struct kv_sequence *s, int64_t position)
{
	const struct kv_block *last = &p->blocks[s->block];

	if (position < -1 || position > s->length)
		return tenon_error(-TENON_E_VALUE,
				   "a fork at %" PRIi64 " of sequence %" PRIi64
				   ", which has %" PRIi64 " tokens",
				   position, s->id, s->length);
	if (s->tree_size)
		return tenon_error(-TENON_E_VALUE,
				   "a fork of sequence %" PRIi64
				   ", which has a token tree that is not committed",
				   s->id);
	if (position == -1)
		position = s->length;
	if (s->window != KV_NONE && position > s->length - last->length + s->sink)
		return tenon_error(-TENON_E_VALUE,
				   "a fork at %" PRIi64 " of sequence %" PRIi64
				   ": its sliding window keeps the first %" PRIi64 " tokens alone",
				   position, s->id, s->length - last->length + s->sink);
	return 0;
}

/* End the chain of a sequence with an empty block, so that the one before can be shared. */
static void close_last(struct kv_pages *p, struct kv_sequence *s)
{
	int64_t length = p->blocks[s->block].length;

	/* The reference of the old last block now stands for the new one. */
	s->block = new_block(p, s->block, s->length);
	s->sink = s->sink > length ? s->sink - length : 0;
}

struct kv_copy kv_fork_copy(const struct kv_pages *p, const struct kv_sequence *s, int64_t position)
{
	struct kv_copy copy = { KV_NONE, KV_NONE, 0 };
	int64_t rest;
	int32_t i;

	if (position == -1)
		position = s->length;
	i = find_split(p, s->block, position, &rest);
	copy.tokens = (int32_t)(rest % p->page_size);
	if (copy.tokens)
		copy.from = kv_page_at(p, &p->blocks[i], rest / p->page_size);
	return copy;
}

int kv_fork(struct kv_pages *p, int64_t parent, int64_t child, int64_t position,
	    struct kv_copy *copy)
{
	struct kv_sequence *s, *c;
	int64_t rest;
	int err;

	*copy = (struct kv_copy){ KV_NONE, KV_NONE, 0 };
	err = kv_sequence_get(p, parent, &s);
	if (err)
		return err;
	if (kv_sequence(p, child))
		return tenon_error(-TENON_E_EXISTS, "sequence %" PRIi64 " exists", child);
	err = check_fork(p, s, position);
	if (err)
		return err;
	if (position == -1)
		position = s->length;
	find_split(p, s->block, position, &rest);
	if (rest % p->page_size && !p->free_pages)
		return kv_full(p, "a fork inside a page", 1);
	err = reserve_blocks(p, FORK_BLOCKS);
	if (!err)
		err = insert(p, child, &c);
	if (err)
		return err;
	if (position == s->length && position % p->page_size == 0 && p->blocks[s->block].length)
		close_last(p, s);
	c->block = branch(p, s->block, position, s, copy);
	c->length = position;
	return 0;
}

/* ---- pop */

/* Shorten the last block. Pages kept from before a slid window stay in place. */
static void cut(struct kv_pages *p, struct kv_block *b, int64_t length)
{
	int64_t pages =
		length > b->sink ? pages_for(p, kv_index(b, length - 1) + 1) : pages_for(p, length);

	if (length <= b->sink)
		b->sink = b->offset = 0;
	b->length = length;
	if (pages < b->pages)
		drop_pages(p, b, (int32_t)pages, b->pages - (int32_t)pages);
}

int kv_pop(struct kv_pages *p, struct kv_sequence *s, int64_t count, struct kv_copy *copy)
{
	int32_t i = s->block, freed = 0, old;
	int64_t left = count, position, rest;
	int err;

	*copy = (struct kv_copy){ KV_NONE, KV_NONE, 0 };
	if (count < 0 || count > s->length)
		return tenon_error(-TENON_E_VALUE,
				   "%" PRIi64 " tokens are popped of sequence %" PRIi64
				   ", which has %" PRIi64,
				   count, s->id, s->length);
	/* Find the block that is cut, or the shared one that is left by a fork. */
	for (; p->blocks[i].refs == 1 && left > p->blocks[i].length; i = p->blocks[i].parent) {
		freed += p->blocks[i].pages;
		left -= p->blocks[i].length;
	}
	position = s->length - count;
	if (left && p->blocks[i].refs > 1) {
		find_split(p, i, position, &rest);
		if (rest % p->page_size && !(p->free_pages + freed))
			return kv_full(p, "a pop inside a shared page", 1);
		err = reserve_blocks(p, FORK_BLOCKS);
		if (err)
			return err;
	}
	while (s->block != i) {
		s->block = free_block(p, s->block);
		if (s->sink)
			s->sink += p->blocks[s->block].length;
	}
	s->length = position;
	if (left && p->blocks[i].refs > 1) {
		old = s->block;
		s->block = branch(p, old, position, NULL, copy);
		release_chain(p, old);
		s->window = KV_NONE;
		s->sink = 0;
	} else if (left) {
		cut(p, &p->blocks[i], p->blocks[i].length - left);
	}
	return 0;
}

/* ---- append */

/* Account for tokens that a sliding window drops. */
static int plan_slide(const struct kv_pages *p, const struct kv_sequence *s,
		      struct kv_reservation *r, int64_t wanted)
{
	int64_t gone = r->sequence_length - s->window, page, keep, drop;

	if (!r->sink && s->sink)
		r->sink = r->offset = s->sink;
	keep = pages_for(p, r->sink);
	page = (r->offset + gone) / p->page_size;
	drop = page > keep ? page - keep : 0;
	r->offset = (page - drop) * p->page_size + (r->offset + gone) % p->page_size;
	r->length -= gone;
	r->sequence_length = s->window;
	if (r->length < r->sink || keep + drop > wanted ||
	    wanted - drop != pages_for(p, r->offset + r->length - r->sink))
		return tenon_error(-TENON_E_VALUE,
				   "the window of sequence %" PRIi64
				   " would drop tokens that it shares with others; set windows on "
				   "sequences without a shared prefix",
				   s->id);
	r->keep = (int32_t)keep;
	r->drop = (int32_t)drop;
	return 0;
}

int kv_plan(const struct kv_pages *p, const struct kv_sequence *s, int64_t count, bool slide,
	    struct kv_reservation *r)
{
	const struct kv_block *b = &p->blocks[s->block];
	int64_t wanted, existing;
	int err;

	*r = (struct kv_reservation){ .sequence_length = s->length + count,
				      .length = b->length + count,
				      .sink = b->sink,
				      .offset = b->offset };
	if (b->refs != 1)
		return tenon_error(-TENON_E_VALUE,
				   "the last block of sequence %" PRIi64 " is shared", s->id);
	wanted = pages_for(p, kv_index(b, r->length - 1) + 1);
	if (slide && s->window != KV_NONE && r->sequence_length > s->window) {
		err = plan_slide(p, s, r, wanted);
		if (err)
			return err;
	}
	if (wanted - r->drop > INT32_MAX)
		return tenon_error(-TENON_E_OVERFLOW, "%" PRIi64 " tokens are appended", count);
	wanted -= r->drop;
	/* Do not take pages that the window would drop at once. */
	existing = b->pages - r->keep;
	if (r->drop > existing)
		r->drop = existing > 0 ? (int32_t)existing : 0;
	r->taken = (int32_t)(wanted - (b->pages - r->drop));
	if (r->taken < 0)
		r->taken = 0;
	return 0;
}

void kv_reserve(struct kv_pages *p, struct kv_sequence *s, const struct kv_reservation *r)
{
	struct kv_block *b = &p->blocks[s->block];
	int32_t i;

	drop_pages(p, b, r->keep, r->drop);
	for (i = 0; i < r->taken; i++)
		append_page(p, b);
	b->length = r->length;
	b->sink = r->sink;
	b->offset = r->offset;
	s->length = r->sequence_length;
}

int kv_window(struct kv_pages *p, struct kv_sequence *s, int64_t window, int64_t sink)
{
	int64_t before = s->length - p->blocks[s->block].length;

	if (window <= 0 || window > INT32_MAX || sink < 0 || sink >= window)
		return tenon_error(-TENON_E_VALUE,
				   "a window of %" PRIi64 " tokens with a sink of %" PRIi64
				   "; the window is at least 1, the sink smaller than it",
				   window, sink);
	if (s->window != KV_NONE)
		return tenon_error(-TENON_E_USAGE,
				   "sequence %" PRIi64 " has a window of %" PRIi64 " tokens", s->id,
				   s->window);
	s->window = window;
	s->sink = sink > before ? sink - before : 0;
	return 0;
}
