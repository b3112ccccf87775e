/* SPDX-License-Identifier: MIT */
/* Attention: calls of the model's kernels with the arrays of the step. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "runtime/kv/kv_internal.h"
#include "runtime/model/tensor_place.h"

#define LAYER_THETA 10000 /* of rotary embeddings in layers with a window of their own */

/* an attention call: a layer, and what the kernels receive */
struct call {
	struct kv_cache *c;
	int64_t kind;
	struct tenon_value pages;
	double scale;
	struct tenon_value q;
	struct tenon_value k;
	struct tenon_value v;
	struct tenon_value out;
	struct tenon_value lse;
	bool computed; /* @out and @lse have a result */
};

static int find_layer(struct kv_cache *c, int64_t layer, struct call *call)
{
	const struct kv_config *f = &c->config;

	if (layer < f->first_layer || layer - f->first_layer >= f->layers)
		return tenon_error(-TENON_E_VALUE,
				   "layer %" PRIi64 "; the cache has layers %" PRIi64
				   " to %" PRIi64,
				   layer, f->first_layer, f->first_layer + f->layers - 1);
	call->c = c;
	call->kind = c->kinds[layer];
	call->pages = tenon_arg_object(c->page_tensors[layer - f->first_layer]);
	call->computed = false;
	return 0;
}

static int begin_call(struct kv_cache *c, int64_t layer, double scale, struct call *call)
{
	int err;

	memset(call, 0, sizeof(*call));
	if (!c->ready)
		return tenon_error(-TENON_E_USAGE,
				   "no forward step has begun since sequences were removed, popped "
				   "or cleared; call kv_state_begin_forward");
	err = find_layer(c, layer, call);
	if (err)
		return err;
	call->scale = scale;
	return kv_arrays_sync(c);
}

/* ---- tensors of the caller, which may have more rows than the step */

/* a tensor of the caller, or its first rows */
struct given {
	struct tenon_value value;
	struct tenon_tensor *made; /* a view that is to be released */
	DLTensor dl;		   /* a view of a borrowed tensor */
	int64_t shape[3];
};

static int check_given(const struct kv_cache *c, const char *what, const DLTensor *t, int64_t heads,
		       int64_t dim, DLDataType dtype)
{
	char found[TENON_DTYPE_NAME], wanted[TENON_DTYPE_NAME];
	int32_t ndim = dim ? 3 : 2;

	if (!tenon_dtype_equal(t->dtype, dtype))
		return tenon_error(-TENON_E_TYPE, "%s has dtype %s, want %s", what,
				   tenon_dtype_name(t->dtype, found),
				   tenon_dtype_name(dtype, wanted));
	if (t->device.device_type != c->config.device.device_type ||
	    t->device.device_id != c->config.device.device_id)
		return tenon_error(-TENON_E_VALUE, "%s is not on the device of the cache", what);
	if (t->ndim != ndim || t->shape[1] != heads || (dim && t->shape[2] != dim) ||
	    t->shape[0] < c->total)
		return tenon_error(-TENON_E_VALUE,
				   "%s has %" PRIi32 " dimensions, [%" PRIi64 ", %" PRIi64
				   "%s%" PRIi64 "]; want at least %" PRIi64 " rows of [%" PRIi64
				   ", %" PRIi64 "]",
				   what, t->ndim, t->ndim > 0 ? t->shape[0] : 0,
				   t->ndim > 1 ? t->shape[1] : 0, t->ndim > 2 ? ", " : "; ",
				   t->ndim > 2 ? t->shape[2] : 0, c->total, heads, dim ? dim : 1);
	if (!tenon_tensor_compact(t))
		return tenon_error(-TENON_E_VALUE, "%s has gaps between its elements", what);
	return 0;
}

/* Get the first rows of an argument. Release it with drop_given(). */
static int given_rows(const struct kv_cache *c, const struct tenon_value *argument,
		      const char *what, int64_t heads, int64_t dim, DLDataType dtype,
		      struct given *g)
{
	DLTensor *t;
	int err;

	g->made = NULL;
	err = tenon_value_tensor(argument, &t);
	if (!err)
		err = check_given(c, what, t, heads, dim, dtype);
	if (err)
		return tenon_error_in(err, "tensor %s", what);
	g->value = *argument;
	if (t->shape[0] == c->total)
		return 0;
	memcpy(g->shape, t->shape, (size_t)t->ndim * sizeof(*g->shape));
	g->shape[0] = c->total;
	g->dl = *t;
	g->dl.shape = g->shape;
	g->dl.strides = NULL;
	place_settle(&g->dl);
	if (argument->type != TENON_TYPE_TENSOR) {
		g->value = tenon_arg_tensor(&g->dl);
		return 0;
	}
	err = tenon_tensor_view(&g->dl, argument->as.object, &g->made);
	if (!err)
		g->value = tenon_arg_object(g->made);
	return err;
}

static void drop_given(struct given *g, int count)
{
	while (count-- > 0)
		tenon_object_unref(g[count].made);
}

/* ---- kernels */

static struct tenon_value depth_view(const struct call *a, int depth, enum kv_depth_view view)
{
	return kv_view(a->c, kv_depth_view(depth, view));
}

/* Attention of the new tokens among themselves. */
static int attend_new(struct call *a, bool inlined)
{
	struct kv_cache *c = a->c;
	struct tenon_value args[15];
	int n = 0, err;

	args[n++] = a->q;
	args[n++] = kv_view(c, KV_V_APPEND_INDPTR);
	args[n++] = a->k;
	args[n++] = a->v;
	args[n++] = kv_view(c, KV_V_APPEND_INDPTR);
	args[n++] = kv_view(c, KV_V_POSITIONS);
	if (c->depths[0].masked) {
		args[n++] = depth_view(a, 0, KV_D_MASK_INDPTR);
		args[n++] = depth_view(a, 0, KV_D_MASK);
	} else {
		args[n++] = kv_view(c, KV_V_RAGGED_START);
	}
	args[n++] = a->out;
	args[n++] = a->lse;
	if (!c->depths[0].masked)
		args[n++] = tenon_arg_int(1); /* causal */
	args[n++] = tenon_arg_int(inlined);
	args[n++] = tenon_arg_float(c->config.rope_scale);
	args[n++] = tenon_arg_float(c->config.rope_theta);
	args[n++] = tenon_arg_float(a->scale);
	err = kv_call(c, c->depths[0].masked ? KV_TREE_RAGGED : KV_RAGGED, args, n);
	a->computed = !err;
	return err;
}

/* Merge a partial result into that of the call. */
static int merge(struct call *a)
{
	struct tenon_value args[4];

	args[0] = a->out;
	args[1] = a->lse;
	args[2] = kv_view(a->c, KV_V_TEMP_OUT);
	args[3] = kv_view(a->c, KV_V_TEMP_LSE);
	return a->c->host_merge ? kv_merge_on_host(args) : kv_call(a->c, KV_MERGE, args, 4);
}

static enum kv_callback paged_kernel(const struct call *a, int depth)
{
	bool windows = a->c->sliding || a->kind == KV_MHA_WINDOW;

	if (a->c->append_first && a->c->depths[depth].masked)
		return KV_TREE_PAGED;
	if (a->c->depths[depth].use_decode)
		return windows ? KV_DECODE_SLIDING : KV_DECODE;
	return windows ? KV_PREFILL_SLIDING : KV_PREFILL;
}

/* Attention to the tokens of a depth. */
static int attend_depth(struct call *a, int depth, bool causal)
{
	bool own = a->kind == KV_MHA_WINDOW;
	enum kv_callback which = paged_kernel(a, depth);
	struct kv_cache *c = a->c;
	struct tenon_value args[17];
	int n = 0;

	args[n++] = a->q;
	if (which != KV_DECODE && which != KV_DECODE_SLIDING)
		args[n++] = depth_view(a, depth, KV_D_ROWS);
	args[n++] = a->pages;
	args[n++] = depth_view(a, depth, own ? KV_D_PAGE_INDPTR_W : KV_D_PAGE_INDPTR);
	args[n++] = depth_view(a, depth, own ? KV_D_PAGES_W : KV_D_PAGES);
	args[n++] = depth_view(a, depth, own ? KV_D_LENGTHS_W : KV_D_LENGTHS);
	args[n++] = depth_view(a, depth, own ? KV_D_START_W : KV_D_START);
	args[n++] = kv_view(c, KV_V_POSITIONS);
	args[n++] = a->computed ? kv_view(c, KV_V_TEMP_OUT) : a->out;
	args[n++] = a->computed ? kv_view(c, KV_V_TEMP_LSE) : a->lse;
	if (which == KV_PREFILL || which == KV_PREFILL_SLIDING)
		args[n++] = tenon_arg_int(causal);
	args[n++] = tenon_arg_int(c->config.rope == KV_ROPE_INLINE);
	args[n++] = tenon_arg_float(own ? 1 : c->config.rope_scale);
	args[n++] = tenon_arg_float(own ? LAYER_THETA : c->config.rope_theta);
	args[n++] = tenon_arg_float(a->scale);
	if (which == KV_TREE_PAGED) {
		args[n++] = depth_view(a, depth, KV_D_MASK_INDPTR);
		args[n++] = depth_view(a, depth, KV_D_MASK);
	}
	return kv_call(c, which, args, n);
}

static int attend_depth_mla(struct call *a, int depth)
{
	struct kv_cache *c = a->c;
	struct tenon_value args[10];
	int n = 0;

	args[n++] = a->q;
	args[n++] = depth_view(a, depth, KV_D_ROWS);
	args[n++] = a->pages;
	args[n++] = depth_view(a, depth, KV_D_PAGE_INDPTR);
	args[n++] = depth_view(a, depth, KV_D_PAGES);
	args[n++] = depth_view(a, depth, KV_D_LENGTHS);
	args[n++] = a->computed ? kv_view(c, KV_V_TEMP_OUT) : a->out;
	args[n++] = a->computed ? kv_view(c, KV_V_TEMP_LSE) : a->lse;
	args[n++] = tenon_arg_int(0); /* not causal */
	args[n++] = tenon_arg_float(a->scale);
	return kv_call(c, KV_PREFILL_MLA, args, n);
}

/* Attention to the tokens in pages, depth after depth. */
static int attend_pages(struct call *a, bool causal)
{
	bool first;
	int d, err = 0;

	for (d = 0; d < a->c->depth_count && !err; d++) {
		if (a->c->depths[d].empty)
			continue;
		first = !a->computed;
		err = a->kind == KV_MLA ? attend_depth_mla(a, d) : attend_depth(a, d, causal);
		a->computed |= !err;
		if (!err && !first)
			err = merge(a);
	}
	if (!err && !a->computed)
		err = tenon_error(-TENON_E_USAGE,
				  "there are no tokens that the step can attend to");
	return err;
}

/* ---- the calls of the model */

static int split_rotary(struct call *a, const struct tenon_value *qkv)
{
	const struct kv_config *f = &a->c->config;
	struct tenon_value args[6];

	args[0] = *qkv;
	args[1] = kv_view(a->c, KV_V_POSITIONS);
	args[2] = a->q;
	args[3] = a->k;
	args[4] = a->v;
	args[5] = f->rope_factors ? tenon_arg_object(f->rope_factors)
				  : tenon_arg_int(f->rope == KV_ROPE_NORMAL);
	return kv_call(a->c, KV_SPLIT_ROTARY, args, 6);
}

static int append(struct call *a)
{
	struct tenon_value args[4];
	int err;

	args[0] = a->pages;
	args[1] = a->k;
	args[2] = a->v;
	args[3] = kv_view(a->c, KV_V_APPEND_SLOTS);
	err = kv_call(a->c, KV_APPEND, args, 4);
	if (!err)
		kv_rows_written(a->c);
	return err;
}

static int check_kind(const struct call *a)
{
	if (a->kind == KV_MHA || a->kind == KV_MHA_WINDOW)
		return 0;
	return tenon_error(-TENON_E_VALUE,
			   "the layer has attention of kind %" PRIi64
			   "; this function is for kinds 0 and 3",
			   a->kind);
}

/* What both sorts of whole attention do behind the rotation. */
static int attend_all(struct call *a)
{
	bool causal = a->kind == KV_MHA_WINDOW && !a->c->append_first;
	int err = 0;

	a->lse = kv_view(a->c, KV_V_MERGED_LSE);
	if (!a->c->append_first)
		err = attend_new(a, a->c->config.rope == KV_ROPE_INLINE);
	return err ? err : attend_pages(a, causal);
}

static int attend(struct kv_cache *c, int64_t layer, double scale, const struct kv_tensors *t)
{
	const struct kv_config *f = &c->config;
	struct given g[2] = { 0 };
	struct call a;
	int err;

	err = begin_call(c, layer, scale, &a);
	if (!err)
		err = check_kind(&a);
	if (!err)
		err = given_rows(c, &t->qkv, "qkv", f->q_heads + 2 * f->kv_heads, f->dim, f->dtype,
				 &g[0]);
	if (!err)
		err = given_rows(c, &t->out, "out", f->q_heads, f->v_dim, f->dtype, &g[1]);
	if (!err) {
		a.q = kv_view(c, KV_V_Q);
		a.k = kv_view(c, KV_V_K);
		a.v = kv_view(c, KV_V_V);
		a.out = g[1].value;
		err = split_rotary(&a, &g[0].value);
	}
	if (!err && c->append_first)
		err = append(&a);
	if (!err)
		err = attend_all(&a);
	if (!err && !c->append_first)
		err = append(&a);
	drop_given(g, 2);
	return err;
}

typedef int attention(struct kv_cache *c, int64_t layer, double scale, const struct kv_tensors *t);

static int entered(attention *how, struct kv_cache *c, int64_t layer, double scale,
		   const struct kv_tensors *t)
{
	int err = kv_enter(c);

	if (err)
		return err;
	err = how(c, layer, scale, t);
	kv_leave(c);
	return err;
}

int kv_cache_attend(struct kv_cache *c, int64_t layer, double scale, const struct kv_tensors *t)
{
	return entered(attend, c, layer, scale, t);
}

static int given_qkv(struct kv_cache *c, const struct kv_tensors *t, struct given g[3])
{
	const struct kv_config *f = &c->config;
	int err = given_rows(c, &t->q, "q", f->q_heads, f->dim, f->dtype, &g[0]);

	if (!err)
		err = given_rows(c, &t->k, "k", f->kv_heads, f->dim, f->dtype, &g[1]);
	if (!err)
		err = given_rows(c, &t->v, "v", f->kv_heads, f->v_dim, f->dtype, &g[2]);
	return err;
}

static int attend_shared(struct kv_cache *c, int64_t layer, double scale,
			 const struct kv_tensors *t)
{
	const struct kv_config *f = &c->config;
	struct given g[4] = { 0 };
	struct call a;
	int err;

	err = begin_call(c, layer, scale, &a);
	if (!err)
		err = check_kind(&a);
	if (!err)
		err = given_qkv(c, t, g);
	if (!err)
		err = given_rows(c, &t->out, "out", f->q_heads, f->v_dim, f->dtype, &g[3]);
	if (!err) {
		a.q = g[0].value;
		a.k = g[1].value;
		a.v = g[2].value;
		a.out = g[3].value;
		err = attend_all(&a);
	}
	drop_given(g, 4);
	return err;
}

int kv_cache_attend_shared(struct kv_cache *c, int64_t layer, double scale,
			   const struct kv_tensors *t)
{
	return entered(attend_shared, c, layer, scale, t);
}

/* Check a tensor of MLA, whose heads are not those of the cache: 3 dimensions and enough rows. */
static int given_free(const struct kv_cache *c, const struct tenon_value *argument,
		      const char *what, DLDataType dtype, int32_t ndim, struct given *g)
{
	DLTensor *t;
	int err = tenon_value_tensor(argument, &t);

	if (err)
		return tenon_error_in(err, "tensor %s", what);
	if (t->ndim != ndim)
		return tenon_error(-TENON_E_VALUE,
				   "tensor %s has %" PRIi32 " dimensions, want %" PRIi32, what,
				   t->ndim, ndim);
	return given_rows(c, argument, what, t->shape[1], ndim == 3 ? t->shape[2] : 0, dtype, g);
}

static int attend_self(struct kv_cache *c, int64_t layer, double scale, const struct kv_tensors *t)
{
	static const DLDataType float32 = { TENON_DTYPE_FLOAT, 32, 1 };
	DLDataType dtype = c->config.dtype;
	struct given g[5] = { 0 };
	struct call a;
	int err;

	err = begin_call(c, layer, scale, &a);
	if (!err && a.kind == KV_MHA)
		err = given_qkv(c, t, g);
	else if (!err)
		err = given_free(c, &t->q, "q", dtype, 3, &g[0]);
	if (!err && a.kind != KV_MHA)
		err = given_free(c, &t->k, "k", dtype, 3, &g[1]);
	if (!err && a.kind != KV_MHA)
		err = given_free(c, &t->v, "v", dtype, 3, &g[2]);
	if (!err)
		err = given_free(c, &t->out, "out", dtype, 3, &g[3]);
	if (!err)
		err = given_free(c, &t->lse, "lse", float32, 2, &g[4]);
	if (!err) {
		a.q = g[0].value;
		a.k = g[1].value;
		a.v = g[2].value;
		a.out = g[3].value;
		a.lse = g[4].value;
		err = attend_new(&a, a.kind == KV_MHA && c->config.rope == KV_ROPE_INLINE);
	}
	drop_given(g, 5);
	return err;
}

int kv_cache_attend_self(struct kv_cache *c, int64_t layer, double scale,
			 const struct kv_tensors *t)
{
	return entered(attend_self, c, layer, scale, t);
}

static int attend_cross(struct kv_cache *c, int64_t layer, double scale, const struct kv_tensors *t)
{
	static const DLDataType float32 = { TENON_DTYPE_FLOAT, 32, 1 };
	const struct kv_config *f = &c->config;
	struct given g[3] = { 0 };
	struct call a;
	int err;

	err = begin_call(c, layer, scale, &a);
	if (!err)
		err = given_rows(c, &t->q, "q", f->q_heads, f->dim, f->dtype, &g[0]);
	if (!err)
		err = given_rows(c, &t->out, "out", f->q_heads, f->v_dim, f->dtype, &g[1]);
	if (!err)
		err = given_rows(c, &t->lse, "lse", f->q_heads, 0, float32, &g[2]);
	if (!err) {
		a.q = g[0].value;
		a.out = g[1].value;
		a.lse = g[2].value;
		err = attend_pages(&a, false);
	}
	drop_given(g, 3);
	return err;
}

int kv_cache_attend_cross(struct kv_cache *c, int64_t layer, double scale,
			  const struct kv_tensors *t)
{
	return entered(attend_cross, c, layer, scale, t);
}

static int append_mla(struct kv_cache *c, int64_t layer, const struct tenon_value *kv)
{
	struct given g = { 0 };
	struct tenon_value args[3];
	struct call a;
	int err;

	err = begin_call(c, layer, 0, &a);
	if (!err && a.kind != KV_MLA)
		err = tenon_error(-TENON_E_VALUE, "layer %" PRIi64 " is not of kind MLA", layer);
	if (!err)
		err = given_rows(c, kv, "kv", c->config.dim, 0, c->config.dtype, &g);
	if (!err) {
		args[0] = a.pages;
		args[1] = g.value;
		args[2] = kv_view(c, KV_V_APPEND_SLOTS);
		err = kv_call(c, KV_APPEND_MLA, args, 3);
	}
	if (!err)
		kv_rows_written(c);
	drop_given(&g, 1);
	return err;
}

int kv_cache_append_mla(struct kv_cache *c, int64_t layer, const struct tenon_value *kv)
{
	int err = kv_enter(c);

	if (err)
		return err;
	err = append_mla(c, layer, kv);
	kv_leave(c);
	return err;
}

int kv_cache_merge(struct kv_cache *c, const struct tenon_value tensors[4])
{
	int err = kv_enter(c);

	if (err)
		return err;
	err = kv_call(c, KV_MERGE_SECOND, tensors, 4);
	kv_leave(c);
	return err;
}

int kv_cache_positions(struct kv_cache *c, struct tenon_tensor **buffer, uint64_t *offset,
		       int64_t *count)
{
	int err = kv_enter(c);

	if (err)
		return err;
	if (!c->ready)
		err = tenon_error(
			-TENON_E_USAGE,
			"no forward step has begun since sequences were removed, popped or "
			"cleared; call kv_state_begin_forward");
	if (!err)
		err = kv_arrays_sync(c);
	*buffer = c->arrays;
	*offset = (uint64_t)c->spans[KV_V_POSITIONS].at * 4;
	*count = c->total;
	kv_leave(c);
	return err;
}
