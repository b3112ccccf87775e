/* SPDX-License-Identifier: MIT */
/*
 * Commit of a token tree: the rows of the accepted path move together, the others are dropped.
 *
 * As in TVM, this is about the tokens of a sequence's last step alone. Where a tree grew in several steps, nodes of the
 * earlier ones stay, as tokens, until the program pops them, and the numbers on the path are places among the last step's
 * tokens. TVM wants the sequences of its last step, in order; here any sequences with a tree are committed. TVM's pop does
 * not know trees, so that its commit removes the popped nodes again, from the text; here a step whose nodes are all popped
 * is undone, and the one before it is the last step.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "runtime/kv/kv_internal.h"

/* Slot of token @j of a sequence's last block. */
static int32_t slot_at(const struct kv_cache *c, const struct kv_sequence *s, int64_t j)
{
	const struct kv_block *b = &c->p.blocks[s->block];
	int64_t index = kv_index(b, j);

	return kv_page_at(&c->p, b, index / c->p.page_size) * c->p.page_size +
	       (int32_t)(index % c->p.page_size);
}

/* Length of the path from a root to @leaf. */
static int32_t path_length(const struct kv_sequence *s, int64_t leaf)
{
	return leaf < 0 ? 0 : kv_tree_depth(s, (int32_t)leaf) + 1;
}

/* Check a commit; @nodes receives how many nodes all trees have. */
static int check_commit(struct kv_cache *c, const int64_t *ids, const int64_t *leaves, size_t count,
			int64_t *nodes)
{
	struct kv_sequence *s;
	int32_t last;
	size_t i;
	int err;

	if (!count)
		return tenon_error(-TENON_E_VALUE, "a commit without sequences");
	c->calls++;
	for (i = 0; i < count; i++) {
		err = kv_sequence_get(&c->p, ids[i], &s);
		if (err)
			return err;
		if (s->seen == c->calls)
			return tenon_error(-TENON_E_VALUE,
					   "sequence %" PRIi64 " is committed twice", ids[i]);
		s->seen = c->calls;
		last = kv_tree_last(s);
		if (!last || leaves[i] < -1 || leaves[i] >= last)
			return tenon_error(-TENON_E_VALUE,
					   "leaf %" PRIi64 " of sequence %" PRIi64
					   ", whose tree got %" PRIi32 " nodes in the last step",
					   leaves[i], ids[i], last);
		*nodes += s->tree_size;
	}
	return 0;
}

/* List the slots that move: the nodes of the path, and where they belong. */
static int32_t list_moves(const struct kv_cache *c, const int64_t *ids, const int64_t *leaves,
			  size_t count, int32_t *from, int32_t *to, int32_t *indptr)
{
	const struct kv_sequence *s;
	int32_t n = 0, node, place, first;
	int64_t base;
	size_t i;

	for (i = 0; i < count; i++) {
		s = kv_sequence(&c->p, ids[i]);
		indptr[i] = n;
		base = c->p.blocks[s->block].length - kv_tree_last(s);
		place = path_length(s, leaves[i]);
		n += place;
		first = 0;
		/* from the leaf to the root; nodes at the root that stay need no move */
		for (node = (int32_t)leaves[i]; node >= 0 && !first; node = s->tree[node].parent) {
			place--;
			if (node == place) {
				first = place + 1;
				break;
			}
			from[indptr[i] + place] = slot_at(c, s, base + node);
			to[indptr[i] + place] = slot_at(c, s, base + place);
		}
		n -= first;
		memmove(from + indptr[i], from + indptr[i] + first,
			(size_t)(n - indptr[i]) * sizeof(*from));
		memmove(to + indptr[i], to + indptr[i] + first,
			(size_t)(n - indptr[i]) * sizeof(*to));
	}
	indptr[i] = n;
	return n;
}

static int compact(struct kv_cache *c, int64_t batch, int32_t moves)
{
	const int64_t shape[] = { 2, moves };
	int64_t i;
	struct tenon_value args[4];
	int err;

	err = kv_arrays_sync(c);
	if (!err)
		err = kv_array_view(c, KV_V_COMPACT_INDPTR, (const int64_t[]){ batch + 1 }, 1);
	if (!err)
		err = kv_array_view(c, KV_V_COMPACT_SLOTS, shape, 2);
	args[1] = kv_view(c, KV_V_COMPACT_INDPTR);
	args[2] = kv_view(c, KV_V_COMPACT_SLOTS);
	args[3] = tenon_arg_int(batch);
	for (i = 0; i < c->config.layers && !err; i++) {
		args[0] = tenon_arg_object(c->page_tensors[i]);
		err = kv_call(c, KV_COMPACT, args, 4);
	}
	return err;
}

static int commit(struct kv_cache *c, const int64_t *ids, const int64_t *leaves, size_t count)
{
	int64_t nodes = 0;
	int32_t *indptr, *from, *spare, moves, keep;
	struct kv_sequence *s;
	struct kv_copy none;
	size_t i;
	int err;

	err = check_commit(c, ids, leaves, count, &nodes);
	if (err)
		return err;
	spare = malloc((size_t)nodes * sizeof(*spare));
	if (!spare)
		return tenon_error(-TENON_E_NOMEM, "no memory to commit a token tree");
	err = kv_arrays_reset(c, (int64_t)count + 5 + 2 * nodes + 2 * KV_ARRAY_ALIGN);
	if (err) {
		free(spare);
		return err;
	}
	c->ready = false;
	indptr = kv_array(c, KV_V_COMPACT_INDPTR, (int64_t)count + 1);
	from = kv_array(c, KV_V_COMPACT_SLOTS, 2 * nodes);
	moves = list_moves(c, ids, leaves, count, from, spare, indptr);
	memcpy(from + moves, spare, (size_t)moves * sizeof(*from));
	free(spare);
	if (moves)
		err = compact(c, (int64_t)count, moves);
	for (i = 0; i < count && !err; i++) {
		s = kv_sequence(&c->p, ids[i]);
		keep = path_length(s, leaves[i]);
		err = kv_pop(&c->p, s, kv_tree_last(s) - keep, &none);
		s->tree_size = 0;
	}
	return err;
}

int kv_cache_commit(struct kv_cache *c, const int64_t *ids, const int64_t *leaves, size_t count)
{
	int err = kv_enter(c);

	if (err)
		return err;
	err = commit(c, ids, leaves, count);
	kv_leave(c);
	return err;
}
