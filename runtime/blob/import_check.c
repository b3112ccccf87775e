/* SPDX-License-Identifier: MIT */
/* Check that the imports of a blob form a tree without cycles and not too deep. */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "lib/cursor_fast.h"
#include "runtime/blob/import_blob.h"

/* Compilers nest a few levels; recursive walks of the tree need a bounded stack. */
#define DEPTH_MOST 256

/* A module with several importers appears below each when a tree is printed: bound the total. */
#define UNFOLD_BASE 1024
#define UNFOLD_EACH 16

struct walk {
	const struct import_blob *b;
	uint32_t *depth;   /* of each module; 0 for the root */
	uint64_t *places;  /* number of appearances in the unfolded tree */
	uint32_t *parents; /* parents not yet visited */
	uint32_t *queue;
};

static uint64_t row(const struct import_blob *b, uint64_t i)
{
	return load_u64(b->rows + 8 * i);
}

static uint64_t child(const struct import_blob *b, uint64_t i)
{
	return load_u64(b->children + 8 * i);
}

static int fault(const struct import_blob *b, int status)
{
	return tenon_error_in(status, "import tree at 0x%" PRIx64, b->row_place);
}

static int check_rows(const struct import_blob *b)
{
	uint64_t i, before = 0, now;

	if (b->row_count != b->count + 1)
		return tenon_error(
			-TENON_E_FORMAT,
			"%" PRIu64 " row pointers for %zu modules, want one more%s", b->row_count,
			b->count,
			b->row_count > b->count + 1
				? "; TVM 0.14 and later write such a blob when a module cannot "
				  "be saved"
				: "");
	for (i = 0; i < b->row_count; i++) {
		now = row(b, i);
		if (!i && now)
			return tenon_error(-TENON_E_FORMAT, "row 0 begins at %" PRIu64 ", want 0",
					   now);
		if (now < before)
			return tenon_error(-TENON_E_FORMAT,
					   "row pointers run backwards: row %" PRIu64
					   " begins at %" PRIu64 ", row %" PRIu64 " at %" PRIu64,
					   i - 1, before, i, now);
		before = now;
	}
	if (before != b->child_count)
		return tenon_error(-TENON_E_FORMAT,
				   "the rows end at child %" PRIu64 ", there are %" PRIu64, before,
				   b->child_count);
	return 0;
}

/* @forward: every child comes after its parents, as TVM writes trees. */
static int check_children(const struct import_blob *b, bool *forward)
{
	uint64_t i, at, c;

	*forward = true;
	for (i = 0; i < b->count; i++) {
		for (at = row(b, i); at < row(b, i + 1); at++) {
			c = child(b, at);
			if (c >= b->count)
				return tenon_error(-TENON_E_FORMAT,
						   "module %" PRIu64 " imports module %" PRIu64
						   ", there are %zu",
						   i, c, b->count);
			if (c <= i)
				*forward = false;
		}
	}
	return 0;
}

static int walk_module(struct walk *w, uint64_t i)
{
	const struct import_blob *b = w->b;
	uint64_t at, c;

	for (at = row(b, i); at < row(b, i + 1); at++) {
		c = child(b, at);
		if (w->depth[c] <= w->depth[i])
			w->depth[c] = w->depth[i] + 1;
		/* No overflow: each step checks both against a bound. */
		w->places[c] += w->places[i];
		if (w->depth[c] > DEPTH_MOST)
			return tenon_error(-TENON_E_UNSUPPORTED,
					   "modules import each other more than %d deep",
					   DEPTH_MOST);
		if (w->places[c] > UNFOLD_BASE + UNFOLD_EACH * (uint64_t)b->count)
			return tenon_error(-TENON_E_UNSUPPORTED,
					   "module %" PRIu64 " is imported in more than %zu ways",
					   c, UNFOLD_BASE + UNFOLD_EACH * b->count);
	}
	return 0;
}

/* Every remaining module has a remaining parent, so following parents ends in a cycle. */
static int cycle(const struct walk *w)
{
	const struct import_blob *b = w->b;
	uint32_t *parent = w->queue;
	uint64_t i, at, steps;

	for (i = 0; i < b->count; i++)
		for (at = row(b, i); w->parents[i] && at < row(b, i + 1); at++)
			parent[child(b, at)] = (uint32_t)i;
	for (i = 0; !w->parents[i]; i++)
		;
	for (steps = 0; steps < b->count; steps++)
		i = parent[i];
	return tenon_error(-TENON_E_CYCLE,
			   "module %" PRIu64 " (kind \"%.*s\") is among its own imports", i,
			   (int)b->entries[i].kind.size, b->entries[i].kind.data);
}

/* Visit parents before children, for trees that are not numbered in that order. */
static int walk_sorted(struct walk *w)
{
	const struct import_blob *b = w->b;
	uint64_t i, at, c, first = 0, last = 0;
	int err = 0;

	for (i = 0; i < b->child_count; i++)
		w->parents[child(b, i)]++;
	for (i = 0; i < b->count; i++)
		if (!w->parents[i])
			w->queue[last++] = (uint32_t)i;
	while (first < last && !err) {
		i = w->queue[first++];
		err = walk_module(w, i);
		for (at = row(b, i); at < row(b, i + 1); at++) {
			c = child(b, at);
			if (!--w->parents[c])
				w->queue[last++] = (uint32_t)c;
		}
	}
	return err || last == b->count ? err : cycle(w);
}

static int walk_all(const struct import_blob *b, bool forward)
{
	struct walk w = { .b = b };
	uint64_t i;
	int err = 0;

	w.places = calloc(b->count, forward ? 12 : 20);
	if (!w.places)
		return tenon_error(-TENON_E_NOMEM, "no memory to check %zu modules", b->count);
	w.depth = (uint32_t *)(w.places + b->count);
	w.parents = w.depth + b->count;
	w.queue = w.parents + b->count;
	w.places[0] = 1;
	if (!forward)
		err = walk_sorted(&w);
	for (i = 0; forward && i < b->count && !err; i++)
		err = walk_module(&w, i);
	free(w.places);
	return err;
}

int import_blob_check_tree(const struct import_blob *b)
{
	bool forward;
	int err;

	if (!b->count)
		return fault(b, tenon_error(-TENON_E_FORMAT, "there is no module"));
	if (b->count > UINT32_MAX)
		return fault(b, tenon_error(-TENON_E_UNSUPPORTED, "%zu modules", b->count));
	err = check_rows(b);
	if (!err)
		err = check_children(b, &forward);
	if (!err)
		err = walk_all(b, forward);
	return err ? fault(b, err) : 0;
}
