/* SPDX-License-Identifier: MIT */
/*
 * Kernels for the paged key-value cache that compute what the cache expects of a model as plainly as possible.
 *
 * They have no tiles and no rotary embeddings. Instead they add a term of the position to keys and queries, so that a
 * wrong position shows.
 */
#ifndef TESTS_UNIT_KV_KERNELS_H
#define TESTS_UNIT_KV_KERNELS_H

#include <math.h>
#include <stdlib.h>
#include <tenon/memory.h>

#include "runtime/kv/kv_cache.h"
#include "tests/unit/suite.h"

#define Q_HEADS	 2
#define KV_HEADS 1
#define DIM	 4
#define PAGE	 4

static uint64_t kv_state;

/* A random number below @below, of a history that is the same each time. */
static inline uint32_t pick(uint32_t below)
{
	kv_state = kv_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(kv_state >> 33) % below;
}

/* Histories are the same each time, or others for each SEED. */
static inline void kv_begin_history(uint64_t first)
{
	const char *seed = getenv("SEED");

	kv_state = first;
	if (seed && *seed)
		kv_state += strtoull(seed, NULL, 0) * UINT64_C(0x9e3779b97f4a7c15);
}

static int kv_failing = -1; /* callback that fails, or -1 */
static int kv_calls[KV_CALLBACKS];

static inline DLTensor *kv_tensor(const struct tenon_value *v)
{
	DLTensor *t;

	assert_int_equal(tenon_value_tensor(v, &t), 0);
	return t;
}

/* the device of the caches */
static DLDevice kv_place = { kDLCPU, 0 };

static inline void *kv_data(const struct tenon_value *v)
{
	DLTensor *t = kv_tensor(v);

	/* compiled code refuses others where data are addresses */
	assert_true(!t->byte_offset || t->device.device_type != kDLCPU);
	return (char *)t->data + t->byte_offset;
}

static inline int kv_enter_kernel(enum kv_callback which)
{
	kv_calls[which]++;
	return (int)which == kv_failing
		       ? tenon_error(-TENON_E_DEVICE, "the kernel was told to fail")
		       : 0;
}

/* One key more for a row: running maximum, sum and weighted values. */
struct kv_row {
	double most, sum, out[DIM];
};

static inline void kv_begin_row(struct kv_row *r)
{
	memset(r, 0, sizeof(*r));
	r->most = -5e4;
	r->sum = 1;
}

static inline void kv_add_key(struct kv_row *r, const float *q, const float *k, const float *v,
			      double scale)
{
	double s = 0, most;
	int i;

	for (i = 0; i < DIM; i++)
		s += (double)q[i] * k[i];
	s *= scale * 1.4426950408889634;
	most = s > r->most ? s : r->most;
	r->sum = r->sum * exp2(r->most - most) + exp2(s - most);
	for (i = 0; i < DIM; i++)
		r->out[i] = r->out[i] * exp2(r->most - most) + exp2(s - most) * v[i];
	r->most = most;
}

static inline void kv_end_row(const struct kv_row *r, float *out, float *lse)
{
	int i;

	for (i = 0; i < DIM; i++)
		out[i] = (float)(r->out[i] / r->sum);
	*lse = (float)(r->most + log2(r->sum));
}

static inline float kv_turned(float x, int32_t position, int i)
{
	return x + (i == 0 ? 0.05f * (float)position : 0);
}

static int kv_split(void *self, const struct tenon_value *a, int32_t n, struct tenon_value *ret)
{
	const float *qkv = kv_data(&a[0]);
	const int32_t *position = kv_data(&a[1]);
	float *q = kv_data(&a[2]), *k = kv_data(&a[3]), *v = kv_data(&a[4]);
	int64_t rows = kv_tensor(&a[0])->shape[0], r;
	int i;

	(void)self;
	*ret = tenon_arg_none();
	assert_int_equal(n, 6);
	assert_int_equal(kv_tensor(&a[1])->shape[0], rows);
	for (r = 0; r < rows; r++, qkv += (Q_HEADS + 2 * KV_HEADS) * DIM) {
		for (i = 0; i < Q_HEADS * DIM; i++)
			*q++ = kv_turned(qkv[i], position[r], i % DIM);
		for (i = 0; i < DIM; i++)
			*k++ = kv_turned(qkv[Q_HEADS * DIM + i], position[r], i);
		for (i = 0; i < DIM; i++)
			*v++ = qkv[(Q_HEADS + KV_HEADS) * DIM + i];
	}
	return kv_enter_kernel(KV_SPLIT_ROTARY);
}

static inline float *kv_slot(const struct tenon_value *pages, int64_t slot, int value)
{
	assert_in_range(slot, 0, kv_tensor(pages)->shape[0] * PAGE - 1);
	return (float *)kv_data(pages) + ((slot / PAGE * 2 + value) * PAGE + slot % PAGE) * DIM;
}

/* TVM's kernels of GPUs read the slot of each thread of a block of 1024, also behind the last token. */
static inline void kv_check_behind(const int32_t *slot, int64_t rows)
{
	int64_t threads = (rows * DIM + 1023) / 1024 * 1024, r;

	/* what these kernels receive of a device is a copy of the array alone */
	if (kv_place.device_type != kDLCPU)
		return;
	for (r = rows; r < threads / DIM; r++)
		assert_int_equal(slot[r], -1);
}

static int kv_append(void *self, const struct tenon_value *a, int32_t n, struct tenon_value *ret)
{
	const float *k = kv_data(&a[1]), *v = kv_data(&a[2]);
	const int32_t *slot = kv_data(&a[3]);
	int64_t rows = kv_tensor(&a[3])->shape[0], r;

	(void)self;
	*ret = tenon_arg_none();
	assert_int_equal(n, 4);
	kv_check_behind(slot, rows);
	for (r = 0; r < rows; r++, k += DIM, v += DIM)
		if (slot[r] >= 0) {
			memcpy(kv_slot(&a[0], slot[r], 0), k, DIM * sizeof(*k));
			memcpy(kv_slot(&a[0], slot[r], 1), v, DIM * sizeof(*v));
		}
	return kv_enter_kernel(KV_APPEND);
}

static int kv_ragged_any(const struct tenon_value *a, bool tree)
{
	const float *q = kv_data(&a[0]), *k = kv_data(&a[2]), *v = kv_data(&a[3]);
	const int32_t *indptr = kv_data(&a[1]), *nodes = tree ? kv_data(&a[6]) : NULL;
	const int32_t *mask = tree ? kv_data(&a[7]) : NULL, *m;
	int shift = tree ? 1 : 0, h;
	float *out = kv_data(&a[7 + shift]), *lse = kv_data(&a[8 + shift]);
	double scale = a[13].as.real;
	int64_t batch = kv_tensor(&a[1])->shape[0] - 1, b, r, j;
	struct kv_row row;

	if (!tree)
		scale = a[13].as.real;
	for (b = 0; b < batch; b++)
		for (r = indptr[b]; r < indptr[b + 1]; r++)
			for (h = 0; h < Q_HEADS; h++) {
				kv_begin_row(&row);
				for (j = indptr[b]; j < indptr[b + 1]; j++) {
					m = tree ? mask + 2 * nodes[b] : NULL;
					if (tree ? !(m[2 * (j - indptr[b])] <=
							     m[2 * (r - indptr[b])] &&
						     m[2 * (r - indptr[b])] <
							     m[2 * (j - indptr[b]) + 1])
						 : j > r)
						continue;
					kv_add_key(&row, q + (r * Q_HEADS + h) * DIM, k + j * DIM,
						   v + j * DIM, scale);
				}
				kv_end_row(&row, out + (r * Q_HEADS + h) * DIM,
					   lse + r * Q_HEADS + h);
			}
	return kv_enter_kernel(tree ? KV_TREE_RAGGED : KV_RAGGED);
}

static int kv_ragged(void *self, const struct tenon_value *a, int32_t n, struct tenon_value *ret)
{
	(void)self;
	*ret = tenon_arg_none();
	assert_int_equal(n, 14);
	return kv_ragged_any(a, false);
}

static int kv_tree_ragged(void *self, const struct tenon_value *a, int32_t n,
			  struct tenon_value *ret)
{
	(void)self;
	*ret = tenon_arg_none();
	assert_int_equal(n, 14);
	return kv_ragged_any(a, true);
}

/* what the kernels over pages receive */
struct kv_paged {
	const struct tenon_value *pages;
	const float *q;
	const int32_t *rows; /* NULL: a row for each entry */
	const int32_t *indptr, *index, *lengths;
	bool windows;
	int64_t entries;
	float *out, *lse;
	double scale;
	const int32_t *nodes, *mask;
};

static inline void kv_paged_row(const struct kv_paged *p, int64_t e, int64_t r)
{
	int64_t pages = p->indptr[e + 1] - p->indptr[e], keys = 0, j, at, slot, node;
	int64_t offset = p->windows ? p->lengths[p->entries + e] : 0;
	int64_t sink = p->windows ? p->lengths[2 * p->entries + e] : 0, tree, row_node;
	struct kv_row row;
	int h;

	if (pages)
		keys = (pages - 1) * PAGE + p->lengths[e] - offset + sink;
	tree = p->nodes ? p->nodes[e + 1] - p->nodes[e] : 0;
	for (h = 0; h < Q_HEADS; h++) {
		kv_begin_row(&row);
		for (j = 0; j < keys; j++) {
			node = j - (keys - tree);
			row_node = p->rows ? tree - (p->rows[e + 1] - r) : 0;
			if (node >= 0 && !(p->mask[2 * (p->nodes[e] + node)] <=
						   p->mask[2 * (p->nodes[e] + row_node)] &&
					   p->mask[2 * (p->nodes[e] + row_node)] <
						   p->mask[2 * (p->nodes[e] + node) + 1]))
				continue;
			at = j < sink ? j : j - sink + offset;
			slot = (int64_t)p->index[p->indptr[e] + at / PAGE] * PAGE + at % PAGE;
			kv_add_key(&row, p->q + (r * Q_HEADS + h) * DIM, kv_slot(p->pages, slot, 0),
				   kv_slot(p->pages, slot, 1), p->scale);
		}
		kv_end_row(&row, p->out + (r * Q_HEADS + h) * DIM, p->lse + r * Q_HEADS + h);
	}
}

static int kv_paged_any(const struct tenon_value *a, enum kv_callback which)
{
	bool decode = which == KV_DECODE || which == KV_DECODE_SLIDING;
	bool tree = which == KV_TREE_PAGED;
	int s = decode ? 0 : 1, causal = decode || tree ? 0 : 1;
	struct kv_paged p = { .q = kv_data(&a[0]), .pages = &a[1 + s] };
	int64_t e, r;

	p.rows = decode ? NULL : kv_data(&a[1]);
	p.indptr = kv_data(&a[2 + s]);
	p.index = kv_data(&a[3 + s]);
	p.lengths = kv_data(&a[4 + s]);
	p.windows = kv_tensor(&a[4 + s])->ndim == 2;
	p.entries = kv_tensor(&a[2 + s])->shape[0] - 1;
	p.out = kv_data(&a[7 + s]);
	p.lse = kv_data(&a[8 + s]);
	p.scale = a[12 + s + causal].as.real;
	if (tree) {
		p.nodes = kv_data(&a[14]);
		p.mask = kv_data(&a[15]);
		assert_int_equal(kv_tensor(&a[15])->ndim, 2);
	}
	for (e = 0; e < p.entries; e++)
		for (r = decode ? e : p.rows[e]; r < (decode ? e + 1 : p.rows[e + 1]); r++)
			kv_paged_row(&p, e, r);
	return kv_enter_kernel(which);
}

#define KV_PAGED(name, which, count)                                                               \
	static int name(void *self, const struct tenon_value *a, int32_t n,                        \
			struct tenon_value *ret)                                                   \
	{                                                                                          \
		(void)self;                                                                        \
		*ret = tenon_arg_none();                                                           \
		assert_int_equal(n, count);                                                        \
		return kv_paged_any(a, which);                                                     \
	}

KV_PAGED(kv_prefill, KV_PREFILL, 15)
KV_PAGED(kv_decode, KV_DECODE, 13)
KV_PAGED(kv_prefill_sliding, KV_PREFILL_SLIDING, 15)
KV_PAGED(kv_decode_sliding, KV_DECODE_SLIDING, 13)
KV_PAGED(kv_tree_paged, KV_TREE_PAGED, 16)

/* Merge the second partial result into the first; heads of @dim values. */
static inline void kv_merge_rows(const struct tenon_value *a, int64_t dim)
{
	float *out = kv_data(&a[0]), *lse = kv_data(&a[1]);
	const float *out2 = kv_data(&a[2]), *lse2 = kv_data(&a[3]);
	int64_t rows = kv_tensor(&a[1])->shape[0] * Q_HEADS, i, k;
	double most, x, y;

	assert_int_equal(kv_tensor(&a[0])->shape[2], dim);
	for (i = 0; i < rows; i++) {
		most = fmax(lse[i], lse2[i]);
		x = exp2(lse[i] - most);
		y = exp2(lse2[i] - most);
		for (k = i * dim; k < (i + 1) * dim; k++)
			out[k] = (float)((out[k] * x + out2[k] * y) / (x + y));
		lse[i] = (float)(most + log2(x + y));
	}
}

static int kv_merge(void *self, const struct tenon_value *a, int32_t n, struct tenon_value *ret)
{
	(void)self;
	*ret = tenon_arg_none();
	assert_int_equal(n, 4);
	kv_merge_rows(a, DIM);
	return kv_enter_kernel(KV_MERGE);
}

static int kv_copy_page(void *self, const struct tenon_value *a, int32_t n, struct tenon_value *ret)
{
	int64_t i;
	int value;

	(void)self;
	*ret = tenon_arg_none();
	assert_int_equal(n, 4);
	for (i = 0; i < a[3].as.integer; i++)
		for (value = 0; value < 2; value++)
			memcpy(kv_slot(&a[0], a[2].as.integer * PAGE + i, value),
			       kv_slot(&a[0], a[1].as.integer * PAGE + i, value),
			       DIM * sizeof(float));
	return kv_enter_kernel(KV_COPY_PAGE);
}

static int kv_compact(void *self, const struct tenon_value *a, int32_t n, struct tenon_value *ret)
{
	const int32_t *indptr = kv_data(&a[1]), *from = kv_data(&a[2]);
	int64_t batch = a[3].as.integer, moves = kv_tensor(&a[2])->shape[1], i;
	int value;

	(void)self;
	*ret = tenon_arg_none();
	assert_int_equal(n, 4);
	assert_int_equal(indptr[batch], moves);
	for (i = 0; i < moves; i++)
		for (value = 0; value < 2; value++)
			memcpy(kv_slot(&a[0], from[moves + i], value),
			       kv_slot(&a[0], from[i], value), DIM * sizeof(float));
	return kv_enter_kernel(KV_COMPACT);
}

/* Copy the rows of a layer: keys to [layers, rows, DIM], values to the same of another tensor. */
static int kv_debug(void *self, const struct tenon_value *a, int32_t n, struct tenon_value *ret)
{
	const int32_t *slot = kv_data(&a[1]);
	int64_t rows = kv_tensor(&a[1])->shape[0], r, at;
	int value;

	(void)self;
	*ret = tenon_arg_none();
	assert_int_equal(n, 5);
	for (r = 0; r < rows; r++)
		for (value = 0; value < 2; value++) {
			at = (a[4].as.integer * rows + r) * DIM;
			memcpy((float *)kv_data(&a[2 + value]) + at, kv_slot(&a[0], slot[r], value),
			       DIM * sizeof(float));
		}
	return kv_enter_kernel(KV_DEBUG);
}

/* ---- caches on a device, whose kernels run here */

/* a tensor of an argument: its copy in host memory, and what that was before the kernel */
struct kv_shadow {
	DLTensor *there;
	struct tenon_tensor *here;
	void *before;
	size_t bytes;
};

static inline void kv_fetch(const struct tenon_value *v, struct kv_shadow *s)
{
	*s = (struct kv_shadow){ 0 };
	if (tenon_value_tensor(v, &s->there)) {
		tenon_error_clear();
		return;
	}
	if (s->there->device.device_type == kDLCPU)
		return;
	assert_int_equal(tenon_tensor_bytes(s->there, &s->bytes), 0);
	assert_int_equal(
		tenon_tensor_create(s->there->shape, s->there->ndim, s->there->dtype, &s->here), 0);
	if (tenon_tensor_copy(s->there, &s->here->dl))
		fail_msg("%s", tenon_error_message());
	s->before = malloc(s->bytes + 1);
	assert_non_null(s->before);
	memcpy(s->before, s->here->dl.data, s->bytes);
}

/* What the kernel did not write is not sent back: two arguments may be the same memory. */
static inline void kv_send(struct kv_shadow *s)
{
	if (s->here && memcmp(s->before, s->here->dl.data, s->bytes) &&
	    tenon_tensor_copy(&s->here->dl, s->there))
		fail_msg("%s", tenon_error_message());
	tenon_object_unref(s->here);
	free(s->before);
}

/* Call the kernel *@self with copies of tensors that are on a device. */
static int kv_call_here(void *self, const struct tenon_value *a, int32_t n, struct tenon_value *ret)
{
	struct tenon_value here[16];
	struct kv_shadow shadows[16];
	int32_t i;
	int err;

	assert_true(n <= 16);
	for (i = 0; i < n; i++) {
		kv_fetch(&a[i], &shadows[i]);
		here[i] = shadows[i].here ? tenon_arg_object(shadows[i].here) : a[i];
	}
	err = (*(const tenon_call_fn *)self)(NULL, here, n, ret);
	for (i = 0; i < n; i++)
		kv_send(&shadows[i]);
	return err;
}

/* A configuration of @layers layers with all kernels. Release them with kv_drop_kernels(). */
static inline struct kv_config kv_config_of(int64_t layers, int64_t tokens, int64_t chunk)
{
	static const int64_t kinds[8] = { 0 };
	static const tenon_call_fn kernels[KV_CALLBACKS] = {
		[KV_APPEND] = kv_append,
		[KV_RAGGED] = kv_ragged,
		[KV_PREFILL] = kv_prefill,
		[KV_DECODE] = kv_decode,
		[KV_PREFILL_SLIDING] = kv_prefill_sliding,
		[KV_DECODE_SLIDING] = kv_decode_sliding,
		[KV_TREE_PAGED] = kv_tree_paged,
		[KV_TREE_RAGGED] = kv_tree_ragged,
		[KV_MERGE] = kv_merge,
		[KV_SPLIT_ROTARY] = kv_split,
		[KV_COPY_PAGE] = kv_copy_page,
		[KV_DEBUG] = kv_debug,
		[KV_COMPACT] = kv_compact,
	};
	struct kv_config f = { .sequences = 4,
			       .tokens = tokens,
			       .chunk = chunk,
			       .page = PAGE,
			       .layer_window = 1024,
			       .layers = layers,
			       .kinds = kinds,
			       .kind_count = (size_t)layers,
			       .q_heads = Q_HEADS,
			       .kv_heads = KV_HEADS,
			       .dim = DIM,
			       .v_dim = DIM,
			       .rope_scale = 1,
			       .rope_theta = 10000,
			       .dtype = { TENON_DTYPE_FLOAT, 32, 1 },
			       .device = kv_place };
	const bool here = kv_place.device_type == kDLCPU;
	int i;

	for (i = 0; i < KV_CALLBACKS; i++)
		if (kernels[i])
			assert_int_equal(
				tenon_function_create(here ? NULL : (void *)(uintptr_t)&kernels[i],
						      here ? kernels[i] : kv_call_here, NULL,
						      &f.callbacks[i]),
				0);
	return f;
}

static inline void kv_drop_kernels(struct kv_config *f)
{
	int i;

	for (i = 0; i < KV_CALLBACKS; i++)
		tenon_object_unref(f->callbacks[i]);
}

#endif /* TESTS_UNIT_KV_KERNELS_H */
