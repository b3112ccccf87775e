/* SPDX-License-Identifier: MIT */
/* What the files of the cache share: its state, views of arrays, calls of kernels. */
#ifndef RUNTIME_KV_KV_INTERNAL_H
#define RUNTIME_KV_KV_INTERNAL_H

/* The cache, for the files of this folder. */

#include "runtime/kv/kv_cache.h"

/* Tensors that kernels receive. Those of a depth follow each other, KV_PER_DEPTH apart. */
enum kv_view {
	KV_V_POSITIONS,
	KV_V_APPEND_INDPTR,
	KV_V_RAGGED_START,
	KV_V_APPEND_SLOTS,
	KV_V_Q,
	KV_V_K,
	KV_V_V,
	KV_V_TEMP_OUT,
	KV_V_TEMP_LSE,
	KV_V_MERGED_LSE,
	KV_V_COMPACT_INDPTR,
	KV_V_COMPACT_SLOTS,
	KV_V_DEPTH,
};

enum kv_depth_view {
	KV_D_ROWS, /* qo_indptr */
	KV_D_PAGE_INDPTR,
	KV_D_PAGES,	    /* page_indices */
	KV_D_LENGTHS,	    /* last_page_len, and for windows its offset and sink */
	KV_D_START,	    /* k_rope_pos_offset */
	KV_D_PAGE_INDPTR_W, /* the same for layers with a window of their own */
	KV_D_PAGES_W,
	KV_D_LENGTHS_W,
	KV_D_START_W,
	KV_D_MASK,
	KV_D_MASK_INDPTR,
	KV_PER_DEPTH
};

#define KV_VIEWS (KV_V_DEPTH + KV_DEPTHS * KV_PER_DEPTH)

/* Arrays in the buffer, in elements */
struct kv_span {
	int64_t at;
	int64_t count;
};

/**
 * struct kv_depth - a depth of the tree of blocks in a forward step
 * @entries: parts that kernels process separately: one for each sequence, or neighbours joined
 * @use_decode: the kernel for one token for each sequence is used
 * @masked: a token tree is in it, which is no chain
 * @empty: there are no pages
 * @coalesced: sequences next to each other that share the block are one entry
 */
struct kv_depth {
	int64_t entries;
	bool use_decode;
	bool masked;
	bool empty;
	bool coalesced;
};

/**
 * struct kv_form - what decides the arguments of a step's kernels, besides the cache and its buffer
 * @number: of no other form, of any cache; 0 for none
 */
struct kv_form {
	uint64_t number;
	int64_t total;
	int depth_count;
	struct kv_depth depths[KV_DEPTHS];
	struct kv_span spans[KV_VIEWS];
};

/** struct kv_member - a sequence of the forward step that begins; nothing reads it afterwards */
struct kv_member {
	struct kv_sequence *s;
	struct kv_reservation plan;
	int64_t append;	  /* tokens */
	int64_t before;	  /* length of the last block before */
	int64_t ragged;	  /* position of the first token in the arrays of new tokens */
	int32_t chain_at; /* blocks from the root, in kv_cache.chain */
	int32_t chain_count;
};

/**
 * struct kv_cache - a paged cache
 * @object: header
 * @config: as it was created; @kinds is a copy
 * @busy: a function runs; atomic
 * @p: pages, blocks, sequences
 * @sliding: sequences may have windows that drop pages
 * @layer_window: layers may have a window of their own
 * @host_merge: see kv_merge.c
 * @mla: all layers of this cache are of kind MLA
 * @page_tensors: for each layer the tensor with its pages
 * @work: tensors for queries, keys, values, partial results, see enum kv_view
 * @opened: the device; NULL for the host
 * @views: tensors that kernels receive
 * @staging: arrays for kernels in host memory
 * @arrays: the same on the device; on the host the same tensor
 * @used: elements of @staging that are used
 * @room: elements of @staging
 * @spans: place of each array
 * @ready: a forward step has begun and its sequences are still there
 * @unwritten: layers in which the step's tokens have no keys and values yet; see kv_rows_written()
 * @dirty: @arrays is out of date
 * @thread: thread that used the device last
 * @calls: number of begins and commits
 * @members: sequences of the step that begins; @member_count of @member_room
 * @chain: blocks of all members
 * @total: new tokens of the step
 * @decode: each sequence has one
 * @append_first: new tokens are appended before attention, which reads them from pages
 * @depth_count: number of depths in use
 * @known: form of the last step that had one, in the buffer that there is now
 * @form: number of the form of the step that has begun; 0 for none
 * @uses: how often the cache was used
 */
struct kv_cache {
	struct tenon_object object;
	struct kv_config config;
	int64_t *kinds;
	int busy;
	struct kv_pages p;
	bool sliding;
	bool layer_window;
	bool mla;
	bool host_merge;
	struct tenon_tensor **page_tensors;
	struct tenon_tensor *work[KV_V_MERGED_LSE + 1];
	struct tenon_device *opened;
	struct tenon_tensor *views[KV_VIEWS];
	struct tenon_tensor *staging;
	struct tenon_tensor *arrays;
	int64_t used;
	int64_t room;
	struct kv_span spans[KV_VIEWS];
	bool ready;
	int64_t unwritten;
	bool dirty;
	uintptr_t thread;
	uint64_t calls;
	struct kv_member *members;
	size_t member_count;
	size_t member_room;
	int32_t *chain;
	int32_t chain_room;
	int64_t total;
	bool decode;
	bool append_first;
	int depth_count;
	struct kv_depth depths[KV_DEPTHS];
	struct kv_form known;
	uint64_t form;
	uint64_t uses;
};

static inline int32_t *kv_staged(struct kv_cache *c, int view)
{
	return (int32_t *)c->staging->dl.data + c->spans[view].at;
}

static inline int kv_depth_view(int depth, enum kv_depth_view view)
{
	return KV_V_DEPTH + depth * KV_PER_DEPTH + (int)view;
}

/* Begin to use the cache; -TENON_E_USAGE while it is in use. */
int kv_enter(struct kv_cache *c);
void kv_leave(struct kv_cache *c);

/* kv_form.c: find the form of the step that has begun. */
void kv_form_note(struct kv_cache *c);
/* Uses of all caches by this thread. */
extern __thread uint64_t kv_uses;

/* kv_arrays.c: forget all arrays and make room for @elements. */
int kv_arrays_reset(struct kv_cache *c, int64_t elements);
/* Place an array in the buffer, which has room for it; returns its elements. */
int32_t *kv_array(struct kv_cache *c, int view, int64_t count);

/* Elements that an array takes at most in addition to its own. */
#define KV_ARRAY_ALIGN 16 /* TENSOR_CODE_ALIGN in bytes */

/* Copy the arrays to the device, if they changed. */
int kv_arrays_sync(struct kv_cache *c);

/**
 * kv_view_set - make the tensor of a view: the first @shape elements of @base at @offset bytes
 *
 * A tensor that a kernel kept is left to it, and a new one made.
 */
int kv_view_set(struct kv_cache *c, int view, const DLTensor *base, uint64_t offset,
		struct tenon_object *keep, const int64_t *shape, int32_t ndim);

/* The view of an array that kv_array() made, with its own shape. */
int kv_array_view(struct kv_cache *c, int view, const int64_t *shape, int32_t ndim);

static inline struct tenon_value kv_view(const struct kv_cache *c, int view)
{
	return tenon_arg_object(c->views[view]);
}

/* Call a function of the model; the error names it. -TENON_E_UNSUPPORTED if the model lacks it. */
int kv_call(struct kv_cache *c, enum kv_callback which, const struct tenon_value *args,
	    int32_t count);

/* Keys and values of the step's tokens are in one layer more. Layers that read those of others have none. */
static inline void kv_rows_written(struct kv_cache *c)
{
	if (c->unwritten)
		c->unwritten--;
}

/* kv_merge.c: merge the last two tensors, all of float32, into the first two. */
bool kv_merges_on_host(const struct kv_cache *c);
int kv_merge_on_host(const struct tenon_value tensors[4]);

/* kv_tree.c: check the parents of new nodes, and make room for them. @tree may be NULL. */
int kv_tree_check(const struct kv_cache *c, const int64_t *tree, size_t tree_size);
/* Add the nodes to the trees of the sequences. */
void kv_tree_add(struct kv_cache *c, const int64_t *tree);
/* Remove the last @count nodes from the tree of a sequence, or all: the step before is then its last one. */
void kv_tree_pop(struct kv_sequence *s, int64_t count);
/* Number of nodes that the last step added; 0 without a tree. */
int32_t kv_tree_last(const struct kv_sequence *s);
/* Number of ancestors of a node. */
int32_t kv_tree_depth(const struct kv_sequence *s, int32_t node);
/* Every node's parent is the one before it. */
bool kv_tree_is_chain(const struct kv_sequence *s);
/* The tree of a sequence is among the keys of a depth. */
bool kv_tree_on(const struct kv_cache *c, const struct kv_member *m, int depth);
/* Write the mask of a depth. */
void kv_tree_mask(struct kv_cache *c, int depth);

#endif /* RUNTIME_KV_KV_INTERNAL_H */
