/* SPDX-License-Identifier: MIT */
/*
 * Token trees: candidates of speculative decoding. A node sees its ancestors and itself; of nodes
 * numbered in depth-first order these are those whose subtree it lies in.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "runtime/kv/kv_internal.h"

static int check_parents(const struct kv_member *m, const int64_t *tree)
{
	int64_t i, base = m->s->tree_size;

	if (base + m->append > KV_TREE_MOST)
		return tenon_error(-TENON_E_VALUE,
				   "a token tree of %" PRIi64 " nodes for sequence %" PRIi64
				   "; %d are possible",
				   base + m->append, m->s->id, KV_TREE_MOST);
	for (i = 0; i < m->append; i++)
		if (tree[i] < -1 || tree[i] >= base + i)
			return tenon_error(-TENON_E_VALUE,
					   "the parent of node %" PRIi64 " of sequence %" PRIi64
					   " is %" PRIi64 "; want -1 or a node before it",
					   base + i, m->s->id, tree[i]);
	return 0;
}

/* Allocate the lists of nodes; they stay with their sequences. */
static int allocate_nodes(const struct kv_cache *c)
{
	struct kv_sequence *s;
	size_t i;

	for (i = 0; i < c->member_count; i++) {
		s = c->members[i].s;
		if (!s->tree)
			s->tree = malloc(KV_TREE_MOST * sizeof(*s->tree));
		if (!s->tree)
			return tenon_error(-TENON_E_NOMEM, "no memory for a token tree");
	}
	return 0;
}

int kv_tree_check(const struct kv_cache *c, const int64_t *tree, size_t tree_size)
{
	int64_t at = 0;
	size_t i;
	int err = 0;

	for (i = 0; i < c->member_count && !tree; i++)
		if (c->members[i].s->tree_size)
			return tenon_error(-TENON_E_VALUE,
					   "sequence %" PRIi64
					   " has a token tree that is not committed",
					   c->members[i].s->id);
	if (!tree)
		return 0;
	if (c->sliding || c->mla || c->config.rope == KV_ROPE_INLINE)
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"token trees in a cache with sliding windows, with inline rotary "
			"embeddings or of kind MLA");
	for (i = 0; i < c->member_count; i++)
		at += c->members[i].append;
	if ((int64_t)tree_size != at)
		return tenon_error(-TENON_E_VALUE,
				   "parents of %zu tokens; %" PRIi64 " are appended", tree_size,
				   at);
	for (i = 0, at = 0; i < c->member_count && !err; i++) {
		err = check_parents(&c->members[i], tree + at);
		at += c->members[i].append;
	}
	return err ? err : allocate_nodes(c);
}

void kv_tree_add(struct kv_cache *c, const int64_t *tree)
{
	const struct kv_member *m;
	int64_t k, at = 0;
	int16_t first;
	size_t i;

	for (i = 0; tree && i < c->member_count; i++) {
		m = &c->members[i];
		first = (int16_t)m->s->tree_size;
		for (k = 0; k < m->append; k++)
			m->s->tree[m->s->tree_size++] =
				(struct kv_node){ (int16_t)tree[at++], first };
	}
}

void kv_tree_pop(struct kv_sequence *s, int64_t count)
{
	s->tree_size -= count < s->tree_size ? (int32_t)count : s->tree_size;
}

int32_t kv_tree_last(const struct kv_sequence *s)
{
	return s->tree_size ? s->tree_size - s->tree[s->tree_size - 1].first : 0;
}

int32_t kv_tree_depth(const struct kv_sequence *s, int32_t node)
{
	int32_t depth = 0;

	while (s->tree[node].parent >= 0) {
		node = s->tree[node].parent;
		depth++;
	}
	return depth;
}

bool kv_tree_is_chain(const struct kv_sequence *s)
{
	int32_t i;

	for (i = 0; i < s->tree_size; i++)
		if (s->tree[i].parent != i - 1)
			return false;
	return true;
}

bool kv_tree_on(const struct kv_cache *c, const struct kv_member *m, int depth)
{
	if (!c->append_first)
		return true;
	return m->chain_count - 1 == depth || (depth == 1 && m->chain_count > 2);
}

/* Write for each node of a tree its number in depth-first order, and the end of its subtree. */
static void write_mask(const struct kv_sequence *s, int32_t *mask)
{
	int32_t size[KV_TREE_MOST], next[KV_TREE_MOST], root = 0, i, *from;

	for (i = 0; i < s->tree_size; i++)
		size[i] = 1;
	for (i = s->tree_size; i-- > 0;)
		if (s->tree[i].parent >= 0)
			size[s->tree[i].parent] += size[i];
	for (i = 0; i < s->tree_size; i++) {
		from = s->tree[i].parent < 0 ? &root : &next[s->tree[i].parent];
		mask[2 * i] = *from;
		mask[2 * i + 1] = *from + size[i];
		next[i] = *from + 1;
		*from += size[i];
	}
}

void kv_tree_mask(struct kv_cache *c, int depth)
{
	const struct kv_member *m;
	int32_t *indptr, *mask, nodes = 0;
	size_t i;

	for (i = 0; i < c->member_count; i++)
		if (kv_tree_on(c, &c->members[i], depth))
			nodes += c->members[i].s->tree_size;
	mask = kv_array(c, kv_depth_view(depth, KV_D_MASK), 2 * (int64_t)nodes);
	indptr = kv_array(c, kv_depth_view(depth, KV_D_MASK_INDPTR), (int64_t)c->member_count + 1);
	nodes = 0;
	for (i = 0; i < c->member_count; i++) {
		m = &c->members[i];
		indptr[i] = nodes;
		if (!kv_tree_on(c, m, depth))
			continue;
		write_mask(m->s, mask + 2 * nodes);
		nodes += m->s->tree_size;
	}
	indptr[i] = nodes;
}
