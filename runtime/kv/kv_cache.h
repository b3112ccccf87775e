/* SPDX-License-Identifier: MIT */
/* The paged key-value cache, as Relax programs use it. */
#ifndef RUNTIME_KV_KV_CACHE_H
#define RUNTIME_KV_KV_CACHE_H

/*
 * Keys and values of all tokens, in pages on a device; kernels of the model read and write them.
 * A forward step begins with kv_cache_begin(), which reserves pages for the new tokens and computes
 * the arrays that tell kernels where tokens are. All arrays are in one buffer, which is copied to
 * the device once, before the first kernel. Attention then only calls kernels.
 *
 * The pages and workspaces are allocated with the cache and never grow. A warm step allocates
 * nothing. One thread at a time may use a cache: a second one, or a kernel that calls back, is
 * refused.
 */

#include <tenon/function.h>
#include <tenon/tensor.h>

#include "runtime/kv/kv_pages.h"

#define KV_DEPTHS 2 /* parts of the tree of blocks that attention treats separately */

/** enum kv_kind - kind of attention of a layer; numbers are TVM's */
enum kv_kind {
	KV_MHA = 0,
	KV_MLA = 1,
	KV_LINEAR = 2,
	KV_MHA_WINDOW = 3, /* each layer has a window of its own */
};

enum kv_rope { KV_ROPE_NONE = 0, KV_ROPE_NORMAL = 1, KV_ROPE_INLINE = 2 };

/** enum kv_callback - functions of the model that a cache calls */
enum kv_callback {
	KV_APPEND,
	KV_APPEND_MLA,
	KV_RAGGED,
	KV_PREFILL,
	KV_DECODE,
	KV_PREFILL_SLIDING,
	KV_DECODE_SLIDING,
	KV_TREE_PAGED,
	KV_TREE_RAGGED,
	KV_PREFILL_MLA,
	KV_MERGE,
	KV_MERGE_SECOND,
	KV_SPLIT_ROTARY,
	KV_COPY_PAGE,
	KV_DEBUG,
	KV_COMPACT,
	KV_CALLBACKS
};

/**
 * struct kv_config - arguments of kv_cache_create()
 * @sequences: number of sequences that are expected
 * @tokens: number of tokens that all of them have room for
 * @chunk: most tokens of a forward step
 * @page: tokens in a page
 * @window: sliding windows are supported
 * @layer_window: window of layers of kind KV_MHA_WINDOW
 * @first_layer: number of the first layer of this cache
 * @layers: number of layers of this cache
 * @kinds: enum kv_kind of all layers; @kind_count of them
 * @q_heads: heads of queries
 * @kv_heads: heads of keys and values
 * @dim: size of a head of queries and keys
 * @v_dim: size of a head of values
 * @rope: enum kv_rope
 * @rope_scale: handed to kernels
 * @rope_theta: handed to kernels
 * @rope_factors: extension factors, or NULL; referenced
 * @dtype: of the cache
 * @device: of the cache
 * @callbacks: referenced; NULL for those that the model lacks
 */
struct kv_config {
	int64_t sequences;
	int64_t tokens;
	int64_t chunk;
	int64_t page;
	bool window;
	int64_t layer_window;
	int64_t first_layer;
	int64_t layers;
	const int64_t *kinds;
	size_t kind_count;
	int64_t q_heads;
	int64_t kv_heads;
	int64_t dim;
	int64_t v_dim;
	int64_t rope;
	double rope_scale;
	double rope_theta;
	struct tenon_tensor *rope_factors;
	DLDataType dtype;
	DLDevice device;
	struct tenon_function *callbacks[KV_CALLBACKS];
};

struct kv_cache;

/** kv_cache_create - allocate a cache, an object of type kv_cache_type() */
int kv_cache_create(const struct kv_config *config, struct kv_cache **out);

/* Type index of caches; 0 before the first one. */
int32_t kv_cache_type(void);

/* The functions below return -TENON_E_USAGE while the cache is in use. */

int kv_cache_clear(struct kv_cache *c);
int kv_cache_add(struct kv_cache *c, int64_t id);
int kv_cache_remove(struct kv_cache *c, int64_t id);
/*
 * Add a sequence that begins with @position tokens of another, -1 for all. Tokens that a running step has yet to write can be
 * shared, and not be copied: -TENON_E_USAGE.
 */
int kv_cache_fork(struct kv_cache *c, int64_t parent, int64_t child, int64_t position);
int kv_cache_pop(struct kv_cache *c, int64_t id, int64_t count);
int kv_cache_set_window(struct kv_cache *c, int64_t id, int64_t window, int64_t sink);

/**
 * kv_cache_begin - begin a forward step
 * @c: cache
 * @ids: @count sequences, each at most once
 * @lengths: number of tokens that each appends, at least 1
 * @count: number of sequences, at least 1
 * @tree: for each token its parent, numbered from 0 in each sequence, -1 for a root; or NULL
 * @tree_size: number of entries of @tree
 *
 * Return: 0; -TENON_E_VALUE, -TENON_E_NOT_FOUND for wrong arguments; -TENON_E_OVERFLOW when the pages
 *	do not suffice, naming what is left. A refused step changes nothing.
 */
int kv_cache_begin(struct kv_cache *c, const int64_t *ids, const int64_t *lengths, size_t count,
		   const int64_t *tree, size_t tree_size);

/* The step is over: what its layers have not written stays as it is. */
int kv_cache_end(struct kv_cache *c);

/* Accept the path from a root to @leaves[i] (-1: nothing) of the last step's nodes of each tree. */
int kv_cache_commit(struct kv_cache *c, const int64_t *ids, const int64_t *leaves, size_t count);

/* Tensors of an attention call: None where a call has none. They may have more rows than needed. */
struct kv_tensors {
	struct tenon_value qkv;
	struct tenon_value q;
	struct tenon_value k;
	struct tenon_value v;
	struct tenon_value out;
	struct tenon_value lse;
};

/* Attention of one layer: split and rotate, append, attend. Uses @qkv and @out. */
int kv_cache_attend(struct kv_cache *c, int64_t layer, double scale, const struct kv_tensors *t);
/* Attention with keys and values of layer @layer. Uses @q, @k, @v and @out. */
int kv_cache_attend_shared(struct kv_cache *c, int64_t layer, double scale,
			   const struct kv_tensors *t);
/* Attention of the new tokens among themselves. Uses @q, @k, @v, @out, @lse. */
int kv_cache_attend_self(struct kv_cache *c, int64_t layer, double scale,
			 const struct kv_tensors *t);
/* Attention to the tokens in pages. Uses @q, @out, @lse. */
int kv_cache_attend_cross(struct kv_cache *c, int64_t layer, double scale,
			  const struct kv_tensors *t);
/* Store what MLA keeps of the new tokens. */
int kv_cache_append_mla(struct kv_cache *c, int64_t layer, const struct tenon_value *kv);
/* Merge @out2, @lse2 into @out, @lse. */
int kv_cache_merge(struct kv_cache *c, const struct tenon_value tensors[4]);
/* Read keys and values of tokens @start to @end, all layers; @v is NULL for MLA. */
int kv_cache_debug(struct kv_cache *c, int64_t id, int64_t start, int64_t end,
		   const struct tenon_value *k, const struct tenon_value *v);

/* Get the positions of the new tokens: the shared buffer, where they begin, and how many. */
int kv_cache_positions(struct kv_cache *c, struct tenon_tensor **buffer, uint64_t *offset,
		       int64_t *count);

/**
 * struct kv_step - a forward step, as a recording of its kernels needs it
 * @form: steps with the same number give kernels the same arguments, whatever their tokens and however long the sequences
 *	are; 0 for a step that has none, since it appends several tokens to a sequence or has a token tree
 * @unwritten: layers in which the step's tokens have no keys and values yet
 * @begins: how many steps have begun
 * @others: changes when this thread uses another cache
 */
struct kv_step {
	uint64_t form;
	int64_t unwritten;
	uint64_t begins;
	uint64_t others;
};

/*
 * Get the step that has begun; the form is 0 when there is none. The arrays of one with a form are on the device
 * afterwards, so that its kernels can be repeated.
 */
int kv_cache_step(struct kv_cache *c, struct kv_step *out);

/* How often this thread used caches. */
uint64_t kv_uses_here(void);

/* A recording has repeated the kernels of attention, for so many layers that write keys and values. */
int kv_cache_repeated(struct kv_cache *c, int64_t layers);

int64_t kv_cache_free_pages(const struct kv_cache *c);
int64_t kv_cache_total_length(const struct kv_cache *c);
/* Get the number of tokens of a sequence. */
int kv_cache_length(const struct kv_cache *c, int64_t id, int64_t *out);
bool kv_cache_is_empty(const struct kv_cache *c);

#endif /* RUNTIME_KV_KV_CACHE_H */
