/* SPDX-License-Identifier: MIT */
/* Create a cache, and change its sequences under its lock. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/memory.h>

#include "lib/brief_errors.h"
#include "runtime/kv/kv_internal.h"
#include "runtime/model/tensor_place.h"

static int32_t cache_type;

int32_t kv_cache_type(void)
{
	return __atomic_load_n(&cache_type, __ATOMIC_RELAXED);
}

static void cache_free(struct kv_cache *c)
{
	int64_t i;
	int k;

	for (k = 0; k < KV_VIEWS; k++)
		tenon_object_unref(c->views[k]);
	for (k = 0; k <= KV_V_MERGED_LSE; k++)
		tenon_object_unref(c->work[k]);
	for (i = 0; c->page_tensors && i < c->config.layers; i++)
		tenon_object_unref(c->page_tensors[i]);
	tenon_object_unref(c->staging);
	tenon_object_unref(c->arrays);
	tenon_object_unref(c->config.rope_factors);
	for (k = 0; k < KV_CALLBACKS; k++)
		tenon_object_unref(c->config.callbacks[k]);
	tenon_object_unref(c->opened);
	kv_pages_fini(&c->p);
	free(c->page_tensors);
	free(c->kinds);
	free(c->members);
	free(c->chain);
}

static void cache_delete(void *self, int flags)
{
	if (flags & TENON_DELETE_CONTENT)
		cache_free(self);
	if (flags & TENON_DELETE_MEMORY)
		free(self);
}

static int refuse_number(const char *what, int64_t found, int64_t least, int64_t most)
{
	return tenon_error(-TENON_E_VALUE,
			   "%s is %" PRIi64 ", it must be between %" PRIi64 " and %" PRIi64, what,
			   found, least, most);
}

static int check_numbers(const struct kv_config *f)
{
	const struct {
		const char *what;
		int64_t value, least, most;
	} all[] = {
		{ "the number of sequences", f->sequences, 0, INT32_MAX },
		{ "the number of tokens", f->tokens, 1, INT32_MAX },
		{ "the size of a chunk", f->chunk, 1, INT32_MAX },
		{ "the size of a page", f->page, 1, INT32_MAX },
		{ "the window of layers", f->layer_window, 1, INT32_MAX },
		{ "the number of the first layer", f->first_layer, 0, INT32_MAX },
		{ "the number of layers", f->layers, 1, INT32_MAX },
		{ "the number of heads", f->q_heads, 1, INT32_MAX },
		{ "the number of heads of keys", f->kv_heads, 1, INT32_MAX },
		{ "the size of a head", f->dim, 1, INT32_MAX },
		{ "the size of a value's head", f->v_dim, 1, INT32_MAX },
		{ "the mode of rotary embeddings", f->rope, KV_ROPE_NONE, KV_ROPE_INLINE },
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].value < all[i].least || all[i].value > all[i].most)
			return refuse_number(all[i].what, all[i].value, all[i].least, all[i].most);
	if (f->kind_count < (size_t)(f->first_layer + f->layers))
		return tenon_error(-TENON_E_VALUE,
				   "kinds of %zu layers; the cache has layers up to "
				   "%" PRIi64,
				   f->kind_count, f->first_layer + f->layers - 1);
	return 0;
}

/* Derive the flags of a cache from its configuration, and check that these go together. */
static int check_kinds(struct kv_cache *c)
{
	struct kv_config *f = &c->config;
	int64_t i, mla = 0;

	for (i = 0; i < (int64_t)f->kind_count; i++) {
		if (c->kinds[i] != KV_MHA && c->kinds[i] != KV_MLA && c->kinds[i] != KV_MHA_WINDOW)
			return tenon_error(-TENON_E_UNSUPPORTED,
					   "layer %" PRIi64 " has attention of kind %" PRIi64
					   "; supported are 0 (MHA), 1 (MLA) and 3 (MHA with a "
					   "window)",
					   i, c->kinds[i]);
		c->layer_window |= c->kinds[i] == KV_MHA_WINDOW;
		mla += i >= f->first_layer && i < f->first_layer + f->layers &&
		       c->kinds[i] == KV_MLA;
	}
	c->sliding = f->window && !c->layer_window;
	c->mla = mla == f->layers;
	if (mla && c->sliding)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "sliding windows in a cache with attention of kind MLA");
	if (mla < f->layers && f->v_dim != f->dim)
		return tenon_error(-TENON_E_VALUE,
				   "heads of keys have %" PRIi64
				   " elements and those of values %" PRIi64
				   "; pages hold both, so they must be equal",
				   f->dim, f->v_dim);
	if (f->rope_factors && f->rope != KV_ROPE_NORMAL)
		return tenon_error(
			-TENON_E_VALUE,
			"extension factors of rotary embeddings are for mode 1, found %" PRIi64,
			f->rope);
	if (f->window && f->rope != KV_ROPE_NONE)
		f->rope = KV_ROPE_INLINE;
	return 0;
}

static int work_tensor(struct kv_cache *c, int view, int64_t heads, int64_t dim, DLDataType dtype)
{
	const int64_t shape[] = { c->config.chunk, heads, dim };

	return tenon_tensor_create_on(c->config.device, shape, dim ? 3 : 2, dtype, &c->work[view]);
}

static int allocate_work(struct kv_cache *c)
{
	static const DLDataType float32 = { TENON_DTYPE_FLOAT, 32, 1 };
	const struct kv_config *f = &c->config;
	int err = 0;

	if (!c->mla) {
		err = work_tensor(c, KV_V_Q, f->q_heads, f->dim, f->dtype);
		if (!err)
			err = work_tensor(c, KV_V_K, f->kv_heads, f->dim, f->dtype);
		if (!err)
			err = work_tensor(c, KV_V_V, f->kv_heads, f->dim, f->dtype);
	}
	if (!err)
		err = work_tensor(c, KV_V_TEMP_OUT, f->q_heads, f->v_dim, f->dtype);
	if (!err)
		err = work_tensor(c, KV_V_TEMP_LSE, f->q_heads, 0, float32);
	if (!err)
		err = work_tensor(c, KV_V_MERGED_LSE, f->q_heads, 0, float32);
	return err;
}

static int allocate_pages(struct kv_cache *c)
{
	const struct kv_config *f = &c->config;
	const int64_t mha[] = { c->p.page_count, 2, f->kv_heads, f->page, f->dim };
	const int64_t mla[] = { c->p.page_count, f->page, f->dim };
	int64_t i;
	int err = 0;

	c->page_tensors = calloc((size_t)f->layers, sizeof(*c->page_tensors));
	if (!c->page_tensors)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIi64 " layers", f->layers);
	for (i = 0; i < f->layers && !err; i++) {
		if (c->kinds[f->first_layer + i] == KV_MLA)
			err = tenon_tensor_create_on(f->device, mla, 3, f->dtype,
						     &c->page_tensors[i]);
		else
			err = tenon_tensor_create_on(f->device, mha, 5, f->dtype,
						     &c->page_tensors[i]);
		if (err)
			tenon_error_in(err, "pages of layer %" PRIi64, i);
	}
	return err;
}

static int allocate(struct kv_cache *c)
{
	const struct kv_config *f = &c->config;
	int64_t pages =
		(f->tokens + f->page - 1) / f->page + 1 + (f->window ? 2 * f->sequences : 0);
	int err;

	if (pages > INT32_MAX / f->page)
		return tenon_error(-TENON_E_OVERFLOW,
				   "%" PRIi64 " pages of %" PRIi64
				   " tokens: slots are numbered in 32 bits",
				   pages, f->page);
	err = kv_pages_init(&c->p, (int32_t)f->page, (int32_t)pages);
	if (!err)
		err = allocate_work(c);
	if (!err)
		err = allocate_pages(c);
	/* Room for a typical step; larger ones extend it. */
	if (!err)
		err = kv_arrays_reset(c, (f->chunk < 4096 ? f->chunk : 4096) * 2 + 2 * pages +
						 f->sequences % 65536 * 24 + 1024);
	return err;
}

int kv_cache_create(const struct kv_config *config, struct kv_cache **out)
{
	struct kv_cache *c;
	int32_t type;
	int k, err;

	*out = NULL;
	err = tenon_type_register("relax.vm.PagedKVCache", TENON_TYPE_OBJECT, &type);
	if (!err)
		err = check_numbers(config);
	if (err)
		return err;
	__atomic_store_n(&cache_type, type, __ATOMIC_RELAXED);
	c = calloc(1, sizeof(*c));
	if (!c)
		return tenon_error(-TENON_E_NOMEM, "no memory for a key-value cache");
	tenon_object_init(&c->object, type, cache_delete);
	c->config = *config;
	c->p.free_block = KV_NONE;
	tenon_object_ref(c->config.rope_factors);
	for (k = 0; k < KV_CALLBACKS; k++)
		tenon_object_ref(c->config.callbacks[k]);
	c->kinds = malloc(config->kind_count * sizeof(*c->kinds));
	if (c->kinds)
		memcpy(c->kinds, config->kinds, config->kind_count * sizeof(*c->kinds));
	else
		err = tenon_error(-TENON_E_NOMEM, "no memory for %zu layers", config->kind_count);
	c->config.kinds = c->kinds;
	if (!err)
		err = check_kinds(c);
	if (!err && !place_is_host(config->device))
		err = tenon_device_get(config->device, &c->opened);
	if (!err)
		err = allocate(c);
	c->host_merge = !err && kv_merges_on_host(c);
	if (err) {
		tenon_object_unref(c);
		return err;
	}
	*out = c;
	return 0;
}

/* ---- use by one thread at a time */

static __thread char this_thread;

int kv_enter(struct kv_cache *c)
{
	int unused = 0, err;

	if (!__atomic_compare_exchange_n(&c->busy, &unused, 1, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return tenon_error(-TENON_E_USAGE,
				   "the key-value cache is in use, by another thread or by the "
				   "caller of this function");
	if (c->opened && c->thread != (uintptr_t)&this_thread) {
		err = place_follow(c->opened);
		if (err) {
			kv_leave(c);
			return err;
		}
		c->thread = (uintptr_t)&this_thread;
	}
	c->uses++;
	kv_uses++;
	return 0;
}

void kv_leave(struct kv_cache *c)
{
	__atomic_store_n(&c->busy, 0, __ATOMIC_RELEASE);
}

static const char *const callback_names[KV_CALLBACKS] = {
	"append",
	"append (MLA)",
	"ragged prefill",
	"prefill",
	"decode",
	"prefill with windows",
	"decode with windows",
	"attention with a tree over pages",
	"attention with a tree over new tokens",
	"prefill (MLA)",
	"merge",
	"second merge",
	"split and rotate",
	"copy of a page",
	"debug",
	"compacting copy",
};

int kv_call(struct kv_cache *c, enum kv_callback which, const struct tenon_value *args,
	    int32_t count)
{
	struct tenon_function *f = c->config.callbacks[which];
	struct tenon_value ignored = tenon_arg_none();
	int err;

	if (!f)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "the model has no function for %s, which this step needs",
				   callback_names[which]);
	err = tenon_function_call(f, args, count, &ignored);
	if (err)
		return tenon_error_in(err > 0 ? -TENON_E_CALL : err, "function for %s",
				      callback_names[which]);
	tenon_value_release(&ignored);
	return 0;
}

/* ---- sequences */

/* Copy the part of a page that a fork or pop could not share, in all layers. */
static int copy_page(struct kv_cache *c, const struct kv_copy *copy)
{
	struct tenon_value args[4];
	int64_t i;
	int err = 0;

	for (i = 0; copy->tokens && i < c->config.layers && !err; i++) {
		args[0] = tenon_arg_object(c->page_tensors[i]);
		args[1] = tenon_arg_int(copy->from);
		args[2] = tenon_arg_int(copy->to);
		args[3] = tenon_arg_int(copy->tokens);
		err = kv_call(c, KV_COPY_PAGE, args, 4);
	}
	return err;
}

int kv_cache_clear(struct kv_cache *c)
{
	int err = kv_enter(c);

	if (err)
		return err;
	kv_pages_clear(&c->p);
	c->ready = false;
	kv_leave(c);
	return 0;
}

int kv_cache_add(struct kv_cache *c, int64_t id)
{
	int err = kv_enter(c);

	if (err)
		return err;
	err = kv_add(&c->p, id);
	kv_leave(c);
	return err;
}

int kv_cache_remove(struct kv_cache *c, int64_t id)
{
	int err = kv_enter(c);

	if (err)
		return err;
	err = kv_remove(&c->p, id);
	if (!err)
		c->ready = false;
	kv_leave(c);
	return err;
}

/*
 * Whole pages are shared, so that a step writes its tokens for all sequences. What a fork copies has to be there: TVM copies
 * what the memory holds.
 */
static int check_copied(struct kv_cache *c, int64_t parent, int64_t position)
{
	const struct kv_sequence *s = kv_sequence(&c->p, parent);
	const int32_t *slots, size = c->p.page_size;
	struct kv_copy copy;
	int64_t i;

	if (!c->ready || !c->unwritten || !s || position < -1 || position > s->length)
		return 0;
	slots = kv_staged(c, KV_V_APPEND_SLOTS);
	copy = kv_fork_copy(&c->p, s, position);
	for (i = 0; i < c->total; i++)
		if (slots[i] >= 0 && slots[i] / size == copy.from && slots[i] % size < copy.tokens)
			return tenon_error(-TENON_E_USAGE,
					   "a fork of sequence %" PRIi64
					   " copies tokens that the forward step has yet to write; "
					   "fork it before the step begins, or after "
					   "kv_state_end_forward",
					   parent);
	return 0;
}

int kv_cache_fork(struct kv_cache *c, int64_t parent, int64_t child, int64_t position)
{
	struct kv_copy copy;
	int err = kv_enter(c);

	if (err)
		return err;
	err = check_copied(c, parent, position);
	err = err ? err : kv_fork(&c->p, parent, child, position, &copy);
	if (!err) {
		err = copy_page(c, &copy);
		if (err)
			kv_remove(&c->p, child);
	}
	kv_leave(c);
	return err;
}

int kv_cache_pop(struct kv_cache *c, int64_t id, int64_t count)
{
	struct kv_sequence *s;
	struct kv_copy copy, none;
	int err = kv_enter(c);

	if (err)
		return err;
	err = kv_sequence_get(&c->p, id, &s);
	if (!err && count)
		err = kv_pop(&c->p, s, count, &copy);
	if (!err && count) {
		c->ready = false;
		/* The nodes of a tree that is not committed are the last tokens. */
		kv_tree_pop(s, count);
		err = copy_page(c, &copy);
		/* cut the sequence to the tokens that were copied */
		if (err && !kv_pop(&c->p, s, copy.tokens, &none))
			tenon_error_in(err, "sequence %" PRIi64 " is cut to %" PRIi64 " tokens", id,
				       s->length);
	}
	kv_leave(c);
	return err;
}

int kv_cache_end(struct kv_cache *c)
{
	int err = kv_enter(c);

	if (err)
		return err;
	c->unwritten = 0;
	kv_leave(c);
	return 0;
}

int kv_cache_set_window(struct kv_cache *c, int64_t id, int64_t window, int64_t sink)
{
	struct kv_sequence *s;
	int err = kv_enter(c);

	if (err)
		return err;
	err = kv_sequence_get(&c->p, id, &s);
	if (!err && !c->sliding && !c->layer_window)
		err = tenon_error(-TENON_E_UNSUPPORTED,
				  "the cache was created without support of sliding windows");
	if (!err)
		err = kv_window(&c->p, s, window, sink);
	kv_leave(c);
	return err;
}

int64_t kv_cache_free_pages(const struct kv_cache *c)
{
	return c->p.free_pages;
}

int64_t kv_cache_total_length(const struct kv_cache *c)
{
	return kv_total_length(&c->p);
}

int kv_cache_length(const struct kv_cache *c, int64_t id, int64_t *out)
{
	struct kv_sequence *s;
	int err = kv_sequence_get(&c->p, id, &s);

	*out = err ? 0 : s->length;
	return err;
}

bool kv_cache_is_empty(const struct kv_cache *c)
{
	return !c->p.sequence_count && !c->p.used_blocks && c->p.free_pages == c->p.page_count;
}
