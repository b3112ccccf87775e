/* SPDX-License-Identifier: MIT */
/*
 * The begin of a forward step: everything is checked, then pages are reserved and the arrays
 * written. Kernels process the tree of blocks in parts: depth 0 has the root block of each
 * sequence, depth 1 all others.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array_room.h"
#include "lib/brief_errors.h"
#include "runtime/kv/kv_internal.h"

/*
 * The decode kernel is used unless shared pages are read so many times more often than with the
 * prefill kernel, which reads them once for neighbours that share them.
 */
#define DECODE_RATIO 32

/* ---- checks */

static int make_members(struct kv_cache *c, size_t count)
{
	if (count > INT32_MAX / 64 || !array_reserve(c->members, c->member_room, count))
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu sequences in a step", count);
	return 0;
}

static int check_member(struct kv_cache *c, int64_t id, int64_t length, struct kv_member *m,
			int64_t *total)
{
	int err = kv_sequence_get(&c->p, id, &m->s);

	if (err)
		return err;
	if (m->s->seen == c->calls)
		return tenon_error(-TENON_E_VALUE, "sequence %" PRIi64 " is in the step twice", id);
	m->s->seen = c->calls;
	if (length < 1 || length > c->config.chunk - *total)
		return tenon_error(-TENON_E_VALUE,
				   "sequence %" PRIi64 " appends %" PRIi64
				   " tokens; want at least 1, and at most %" PRIi64
				   " in a step (%" PRIi64 " for sequences before it)",
				   id, length, c->config.chunk, *total);
	m->append = length;
	*total += length;
	return 0;
}

/* Plan the reservations. Pages that one sequence frees are there for the next. */
static int plan_members(struct kv_cache *c)
{
	int64_t balance = c->p.free_pages, wanted = 0;
	struct kv_member *m;
	bool lacking = false;
	size_t i;
	int err = 0;

	for (i = 0; i < c->member_count && !err; i++) {
		m = &c->members[i];
		err = kv_plan(&c->p, m->s, m->append, c->sliding, &m->plan);
		balance += m->plan.drop;
		balance -= m->plan.taken;
		wanted += m->plan.taken;
		lacking |= balance < 0;
	}
	if (!err && lacking)
		err = kv_full(&c->p, "the step", wanted);
	return err;
}

/* List the blocks of each member from the root. */
static int make_chains(struct kv_cache *c, int64_t *pages)
{
	const struct kv_block *b = c->p.blocks;
	struct kv_member *m;
	int32_t at = 0, block, k;
	size_t i;

	*pages = 0;
	for (i = 0; i < c->member_count; i++) {
		m = &c->members[i];
		m->chain_at = at;
		m->chain_count = 0;
		*pages += m->plan.taken;
		for (block = m->s->block; block != KV_NONE; block = b[block].parent) {
			*pages += b[block].pages;
			m->chain_count++;
		}
		if (m->chain_count > INT32_MAX / 8 - at)
			return tenon_error(-TENON_E_OVERFLOW, "too many blocks in a step");
		at += m->chain_count;
	}
	if (!array_reserve(c->chain, c->chain_room, at))
		return tenon_error(-TENON_E_NOMEM, "no memory for a step");
	for (i = 0; i < c->member_count; i++) {
		m = &c->members[i];
		k = m->chain_at + m->chain_count;
		for (block = m->s->block; block != KV_NONE; block = b[block].parent)
			c->chain[--k] = block;
	}
	return 0;
}

/*
 * Kernels that append look at the slot of a thread's token before they test whether there is such a
 * token: the last block of threads reads slots behind the array.
 */
#define THREADS_MOST 1024

static int64_t slots_behind(const struct kv_cache *c)
{
	/* a token has at least one thread for each element of a head */
	return (THREADS_MOST + c->config.dim - 1) / c->config.dim;
}

/*
 * The list of pages grows with each token that begins one. Steps of one token give their kernels a list with room for the
 * next pages, so that steps in a row have one form.
 */
#define PAGES_STEP 64

static int64_t room_for_pages(const struct kv_depth *d, int64_t pages)
{
	return d->use_decode ? (pages + PAGES_STEP - 1) / PAGES_STEP * PAGES_STEP : pages;
}

/* Elements that the arrays of a step take at most. */
static int64_t array_bound(const struct kv_cache *c, int64_t total, int64_t pages)
{
	int64_t batch = (int64_t)c->member_count, nodes = 0;
	size_t i;

	for (i = 0; i < c->member_count; i++)
		nodes += c->members[i].s->tree_size + c->members[i].append;
	return KV_VIEWS * KV_ARRAY_ALIGN + 2 * total + slots_behind(c) + 4 * (batch + 1) +
	       KV_DEPTHS * (14 * (batch + 1) + 2 * nodes + PAGES_STEP) + 2 * pages;
}

/* Check all of a step. The step before goes on if this one is refused. */
static int check_step(struct kv_cache *c, const int64_t *ids, const int64_t *lengths, size_t count,
		      const int64_t *tree, size_t tree_size)
{
	int64_t total = 0, pages;
	size_t i;
	int err;

	if (!count)
		return tenon_error(-TENON_E_VALUE, "a step without sequences");
	err = make_members(c, count);
	if (err)
		return err;
	c->member_count = count;
	c->calls++;
	for (i = 0; i < count && !err; i++)
		err = check_member(c, ids[i], lengths[i], &c->members[i], &total);
	if (!err)
		err = plan_members(c);
	if (!err)
		err = kv_tree_check(c, tree, tree_size);
	if (!err)
		err = make_chains(c, &pages);
	if (!err)
		err = kv_arrays_reset(c, array_bound(c, total, pages));
	if (!err)
		c->total = total;
	return err;
}

/* ---- entries of a depth */

/* part of a depth that kernels process separately */
struct entry {
	size_t member; /* the first */
	size_t end;    /* one past the last */
	int64_t rows;
	const int32_t *blocks;
	int32_t block_count;
};

static int32_t block_on(const struct kv_cache *c, size_t member, int depth)
{
	const struct kv_member *m = &c->members[member];

	return depth < m->chain_count ? c->chain[m->chain_at + depth] : KV_NONE;
}

/* Go to the entry behind @e; begin with e->end == 0. */
static bool next_entry(const struct kv_cache *c, int depth, struct entry *e)
{
	const struct kv_member *m;
	int32_t block;

	if (e->end == c->member_count)
		return false;
	e->member = e->end;
	m = &c->members[e->member];
	block = block_on(c, e->member, depth);
	e->blocks = c->chain + m->chain_at + depth;
	e->block_count = block == KV_NONE ? 0 : depth == KV_DEPTHS - 1 ? m->chain_count - depth : 1;
	e->rows = 0;
	do {
		e->rows += c->members[e->end++].append;
	} while (c->depths[depth].coalesced && e->end < c->member_count &&
		 block_on(c, e->end, depth) == block);
	return true;
}

/* Tokens and pages of an entry */
struct extent {
	int64_t tokens;
	int64_t pages;
	const struct kv_block *first;
	const struct kv_block *last; /* NULL without blocks */
};

static struct extent extent_of(const struct kv_cache *c, const struct entry *e)
{
	struct extent x = { 0, 0, NULL, NULL };
	int32_t i;

	for (i = 0; i < e->block_count; i++) {
		x.last = &c->p.blocks[e->blocks[i]];
		if (!i)
			x.first = x.last;
		x.tokens += x.last->length;
		x.pages += x.last->pages;
	}
	return x;
}

/* Tokens on the first page that the window of a layer does not see. */
static int64_t window_offset(const struct kv_cache *c, int64_t tokens)
{
	int64_t window = c->config.layer_window;

	return tokens <= window ? 0 : (tokens - window) % c->config.page;
}

/* Pages that the window of a layer sees. */
static int64_t window_pages(const struct kv_cache *c, const struct extent *x)
{
	int64_t window = c->config.layer_window, seen, pages;

	if (!x->tokens)
		return 0;
	seen = window_offset(c, x->tokens) + (x->tokens < window ? x->tokens : window);
	pages = (seen + c->config.page - 1) / c->config.page;
	return pages < x->pages ? pages : x->pages;
}

/* Prefer the decode kernel unless it would read the same shared pages too often. */
static bool decode_is_better(struct kv_cache *c, int depth)
{
	int64_t apart = 0, joined = 0, pages;
	struct entry e = { 0 };
	size_t i;

	c->depths[depth].coalesced = true;
	while (next_entry(c, depth, &e)) {
		pages = e.block_count ? c->p.blocks[e.blocks[0]].pages : 0;
		joined += pages;
		for (i = e.member; i < e.end; i++)
			apart += pages;
	}
	return !joined || apart / DECODE_RATIO < joined;
}

/* Decide how each depth is processed. */
static void arrange(struct kv_cache *c, const int64_t *tree)
{
	bool uncommitted = false, masked[KV_DEPTHS] = { false };
	int32_t longest = 0;
	size_t i;
	int d;

	c->decode = true;
	for (i = 0; i < c->member_count; i++) {
		c->decode &= c->members[i].append == 1;
		uncommitted |= c->members[i].s->tree_size > 0;
		if (c->members[i].chain_count > longest)
			longest = c->members[i].chain_count;
	}
	c->depth_count = longest < KV_DEPTHS ? longest : KV_DEPTHS;
	for (d = 0; d < c->depth_count; d++)
		c->depths[d].use_decode = c->decode && decode_is_better(c, d);
	c->append_first = (!c->sliding && c->depths[c->depth_count - 1].use_decode) || uncommitted;
	kv_tree_add(c, tree);
	for (i = 0; tree && i < c->member_count; i++)
		for (d = 0; d < (c->append_first ? c->depth_count : 1); d++)
			if (kv_tree_on(c, &c->members[i], d) && !kv_tree_is_chain(c->members[i].s))
				masked[d] = true;
	for (d = 0; d < c->depth_count; d++) {
		c->depths[d].masked = masked[d];
		/* A mask has a part for each sequence. */
		c->depths[d].coalesced = !c->depths[d].use_decode && d < KV_DEPTHS - 1 &&
					 !(masked[d] && c->append_first);
	}
}

/* ---- arrays */

/* sizes of the arrays of a depth */
struct depth_size {
	int64_t entries;
	int64_t pages;
	int64_t window_pages;
};

static void measure(const struct kv_cache *c, int depth, struct depth_size *size)
{
	struct entry e = { 0 };
	struct extent x;

	memset(size, 0, sizeof(*size));
	while (next_entry(c, depth, &e)) {
		x = extent_of(c, &e);
		size->entries++;
		size->pages += x.pages;
		size->window_pages += window_pages(c, &x);
	}
}

/* Give every array of the depths its place; arrays of one sort follow each other. */
static void place_arrays(struct kv_cache *c, const struct depth_size *size)
{
	int n = c->depth_count, d;

	for (d = 0; d < n; d++)
		kv_array(c, kv_depth_view(d, KV_D_ROWS), size[d].entries + 1);
	for (d = 0; d < n; d++)
		kv_array(c, kv_depth_view(d, KV_D_PAGE_INDPTR), size[d].entries + 1);
	for (d = 0; d < n; d++)
		kv_array(c, kv_depth_view(d, KV_D_PAGES),
			 room_for_pages(&c->depths[d], size[d].pages));
	for (d = 0; d < n && c->layer_window; d++)
		kv_array(c, kv_depth_view(d, KV_D_PAGE_INDPTR_W), size[d].entries + 1);
	for (d = 0; d < n && c->layer_window; d++)
		kv_array(c, kv_depth_view(d, KV_D_PAGES_W), size[d].window_pages);
	for (d = 0; d < n; d++) {
		kv_array(c, kv_depth_view(d, KV_D_LENGTHS), size[d].entries * (c->sliding ? 3 : 1));
		if (c->layer_window)
			kv_array(c, kv_depth_view(d, KV_D_LENGTHS_W), size[d].entries * 3);
	}
	for (d = 0; d < n; d++) {
		kv_array(c, kv_depth_view(d, KV_D_START), size[d].entries);
		if (c->layer_window)
			kv_array(c, kv_depth_view(d, KV_D_START_W), size[d].entries);
	}
}

/* Write the page numbers of an entry from page @skip on; returns where the next ones go. */
static int32_t *write_pages(const struct kv_cache *c, const struct entry *e, int64_t skip,
			    int32_t *to)
{
	const struct kv_block *b;
	int32_t i, page;

	for (i = 0; i < e->block_count; i++) {
		b = &c->p.blocks[e->blocks[i]];
		if (skip >= b->pages) {
			skip -= b->pages;
			continue;
		}
		for (page = b->first; page != KV_NONE; page = c->p.next[page])
			if (skip)
				skip--;
			else
				*to++ = page;
	}
	return to;
}

/* Last page's tokens, and for windows offset and sink, of entry @i of @n. */
static void write_lengths(const struct kv_cache *c, const struct extent *x, int64_t offset,
			  bool windows, int32_t *to, int64_t i, int64_t n)
{
	int64_t sink = x->last ? x->last->sink : 0, moved = x->last ? x->last->offset : 0;

	to[i] = x->tokens ? (int32_t)((x->tokens - sink + moved - 1) % c->config.page + 1) : 0;
	if (!windows)
		return;
	to[n + i] = (int32_t)offset;
	to[2 * n + i] = (int32_t)sink;
}

static void write_depth(struct kv_cache *c, int depth, int64_t n)
{
	int32_t *rows = kv_staged(c, kv_depth_view(depth, KV_D_ROWS));
	int32_t *indptr = kv_staged(c, kv_depth_view(depth, KV_D_PAGE_INDPTR));
	int32_t *pages = kv_staged(c, kv_depth_view(depth, KV_D_PAGES)), *page = pages;
	int32_t *lengths = kv_staged(c, kv_depth_view(depth, KV_D_LENGTHS));
	int32_t *start = kv_staged(c, kv_depth_view(depth, KV_D_START));
	struct entry e = { 0 };
	struct extent x;
	int64_t i = 0;

	rows[0] = indptr[0] = 0;
	for (; next_entry(c, depth, &e); i++) {
		x = extent_of(c, &e);
		rows[i + 1] = rows[i] + (int32_t)e.rows;
		page = write_pages(c, &e, 0, page);
		indptr[i + 1] = (int32_t)(page - pages);
		write_lengths(c, &x, x.last ? x.last->offset : 0, c->sliding, lengths, i, n);
		start[i] = x.first ? (int32_t)x.first->start : 0;
	}
	c->depths[depth].empty = page == pages;
	while (page < pages + c->spans[kv_depth_view(depth, KV_D_PAGES)].count)
		*page++ = 0;
}

/* The same for layers with a window of their own. */
static void write_depth_window(struct kv_cache *c, int depth, int64_t n)
{
	int32_t *indptr = kv_staged(c, kv_depth_view(depth, KV_D_PAGE_INDPTR_W));
	int32_t *pages = kv_staged(c, kv_depth_view(depth, KV_D_PAGES_W)), *page = pages;
	int32_t *lengths = kv_staged(c, kv_depth_view(depth, KV_D_LENGTHS_W));
	int32_t *start = kv_staged(c, kv_depth_view(depth, KV_D_START_W));
	struct entry e = { 0 };
	int64_t i = 0, position;
	struct extent x;

	indptr[0] = 0;
	for (; next_entry(c, depth, &e); i++) {
		x = extent_of(c, &e);
		page = write_pages(c, &e, x.pages - window_pages(c, &x), page);
		indptr[i + 1] = (int32_t)(page - pages);
		write_lengths(c, &x, window_offset(c, x.tokens), true, lengths, i, n);
		position = (x.first ? x.first->start : 0) + x.tokens - c->config.layer_window;
		start[i] = position > 0 ? (int32_t)position : 0;
	}
}

static void reserve_all(struct kv_cache *c)
{
	size_t i;

	for (i = 0; i < c->member_count; i++)
		kv_reserve(&c->p, c->members[i].s, &c->members[i].plan);
}

/* Position of each new token, for rotary embeddings. */
static void write_positions(struct kv_cache *c)
{
	int32_t *to = kv_array(c, KV_V_POSITIONS, c->total);
	const struct kv_member *m;
	int64_t k, place;
	size_t i;

	for (i = 0; i < c->member_count; i++) {
		m = &c->members[i];
		for (k = 0; k < m->append; k++) {
			place = m->s->tree_size
					? kv_tree_depth(m->s,
							m->s->tree_size - (int32_t)(m->append - k))
					: k;
			*to++ = (int32_t)(m->ragged + place);
		}
	}
}

/* Index in the pages of the last block where token @k of an append goes; -1 for nowhere. */
static int64_t append_index(const struct kv_member *m, const struct kv_block *b, int64_t k)
{
	int64_t j;

	if (m->before + k < b->sink)
		return m->before + k;
	j = b->length - m->append + k;
	return j < b->sink ? -1 : kv_index(b, j);
}

/* Slot of each new token: page * page size + place in the page. */
static void write_slots(struct kv_cache *c)
{
	int32_t size = c->p.page_size, page;
	int64_t k, index, current, behind = slots_behind(c);
	int32_t *to = kv_array(c, KV_V_APPEND_SLOTS, c->total + behind);
	const struct kv_member *m;
	const struct kv_block *b;
	size_t i;

	for (i = 0; i < c->member_count; i++) {
		m = &c->members[i];
		b = &c->p.blocks[m->s->block];
		page = KV_NONE;
		current = -1;
		for (k = 0; k < m->append; k++) {
			index = append_index(m, b, k);
			if (index >= 0 && index / size != current) {
				page = page != KV_NONE && index / size == current + 1
					       ? c->p.next[page]
					       : kv_page_at(&c->p, b, index / size);
				current = index / size;
			}
			*to++ = index < 0 || page == KV_NONE
					? -1
					: page * size + (int32_t)(index % size);
		}
	}
	for (k = 0; k < behind; k++)
		*to++ = -1;
	c->spans[KV_V_APPEND_SLOTS].count = c->total;
}

/* Running sum of the new tokens, and where those of each sequence begin. */
static void write_ragged(struct kv_cache *c)
{
	int64_t batch = (int64_t)c->member_count, i;
	int32_t *indptr = kv_array(c, KV_V_APPEND_INDPTR, batch + 1);
	int32_t *start = kv_array(c, KV_V_RAGGED_START, batch);

	indptr[0] = 0;
	for (i = 0; i < batch; i++) {
		indptr[i + 1] = indptr[i] + (int32_t)c->members[i].append;
		start[i] = (int32_t)c->members[i].ragged;
	}
}

static void write_arrays(struct kv_cache *c)
{
	struct depth_size size[KV_DEPTHS];
	int d;

	write_positions(c);
	if (c->append_first)
		reserve_all(c);
	for (d = 0; d < c->depth_count; d++)
		measure(c, d, &size[d]);
	place_arrays(c, size);
	for (d = 0; d < c->depth_count; d++) {
		c->depths[d].entries = size[d].entries;
		write_depth(c, d, size[d].entries);
		if (c->layer_window)
			write_depth_window(c, d, size[d].entries);
	}
	if (!c->append_first)
		reserve_all(c);
	write_ragged(c);
	write_slots(c);
	for (d = 0; d < c->depth_count; d++)
		if (c->depths[d].masked)
			kv_tree_mask(c, d);
}

/* ---- tensors */

static int vector_view(struct kv_cache *c, int view)
{
	return kv_array_view(c, view, &c->spans[view].count, 1);
}

static int lengths_view(struct kv_cache *c, int view, int64_t entries, bool windows)
{
	const int64_t shape[] = { 3, entries };

	return kv_array_view(c, view, windows ? shape : shape + 1, windows ? 2 : 1);
}

static int depth_views(struct kv_cache *c, int depth)
{
	int64_t mask[] = { c->spans[kv_depth_view(depth, KV_D_MASK)].count / 2, 2 };
	int64_t n = c->depths[depth].entries;
	int v, err = 0;

	for (v = KV_D_ROWS; v <= KV_D_MASK_INDPTR && !err; v++) {
		if (v >= KV_D_PAGE_INDPTR_W && v <= KV_D_START_W && !c->layer_window)
			continue;
		if (v >= KV_D_MASK && !c->depths[depth].masked)
			continue;
		if (v == KV_D_LENGTHS || v == KV_D_LENGTHS_W)
			err = lengths_view(c, kv_depth_view(depth, v), n,
					   v == KV_D_LENGTHS_W || c->sliding);
		else if (v == KV_D_MASK)
			err = kv_array_view(c, kv_depth_view(depth, v), mask, 2);
		else
			err = vector_view(c, kv_depth_view(depth, v));
	}
	return err;
}

static int work_view(struct kv_cache *c, int view)
{
	struct tenon_tensor *t = c->work[view];
	int64_t shape[3];

	if (!t)
		return 0;
	memcpy(shape, t->dl.shape, (size_t)t->dl.ndim * sizeof(*shape));
	shape[0] = c->total;
	return kv_view_set(c, view, &t->dl, 0, &t->object, shape, t->dl.ndim);
}

static int make_views(struct kv_cache *c)
{
	int v, d, err = 0;

	for (v = KV_V_POSITIONS; v <= KV_V_APPEND_SLOTS && !err; v++)
		err = vector_view(c, v);
	for (v = KV_V_Q; v <= KV_V_MERGED_LSE && !err; v++)
		err = work_view(c, v);
	for (d = 0; d < c->depth_count && !err; d++)
		err = depth_views(c, d);
	return err;
}

/* New tokens of a member that are there after the reservation: its window may have dropped some. */
static int64_t tokens_left(const struct kv_cache *c, const struct kv_member *m)
{
	const struct kv_block *b = &c->p.blocks[m->s->block];
	int64_t most = b->length - (m->before < b->sink ? m->before : b->sink);

	return m->append < most ? m->append : most;
}

/* Out of memory after the reservation: remove the new tokens again. */
static void take_back(struct kv_cache *c)
{
	struct kv_member *m;
	struct kv_copy none;
	size_t i;

	for (i = 0; i < c->member_count; i++) {
		m = &c->members[i];
		kv_pop(&c->p, m->s, tokens_left(c, m), &none);
		kv_tree_pop(m->s, m->append);
	}
}

int kv_cache_begin(struct kv_cache *c, const int64_t *ids, const int64_t *lengths, size_t count,
		   const int64_t *tree, size_t tree_size)
{
	struct kv_member *m;
	size_t i;
	int err = kv_enter(c);

	if (err)
		return err;
	err = check_step(c, ids, lengths, count, tree, tree_size);
	if (!err) {
		for (i = 0; i < count; i++) {
			m = &c->members[i];
			m->before = c->p.blocks[m->s->block].length;
			m->ragged = m->s->length - m->s->tree_size;
		}
		arrange(c, tree);
		write_arrays(c);
		err = make_views(c);
		c->ready = !err;
		c->unwritten = c->config.layers;
		kv_form_note(c);
		if (err)
			take_back(c);
	}
	kv_leave(c);
	return err;
}
