/* SPDX-License-Identifier: MIT */
/* A plain reference for the paged key-value cache, whose attention is compared: every sequence is a list. */
#ifndef TESTS_UNIT_KV_REFERENCE_H
#define TESTS_UNIT_KV_REFERENCE_H

#include "tests/unit/kv_kernels.h"

#include <stdlib.h>

#define LAYERS 2
#define TOKENS 48
#define CHUNK  12
#define IDS    6
#define LIST   256
#define ROW    ((Q_HEADS + 2 * KV_HEADS) * DIM)
#define SCALE  0.5

struct token {
	float k[LAYERS][DIM], v[LAYERS][DIM];
};

struct list {
	bool used;
	int64_t length, window, sink;
	struct token tokens[LIST];
	int pages; /* without a window; kv_cache_test.c counts them */
	int page[LIST /
		 PAGE]; /* numbers of the reference's own: lists that share a page have the same */
};

static struct list lists[IDS];

static inline int64_t pages_of(int64_t tokens)
{
	return (tokens + PAGE - 1) / PAGE;
}

/* How many of the first @count lists have a page. */
static inline int lists_with(int page, int count)
{
	int found = 0, i, k;

	for (i = 0; i < count; i++)
		for (k = 0; k < lists[i].pages; k++)
			found += lists[i].page[k] == page;
	return found;
}

static inline bool is_shared(int page)
{
	return lists_with(page, IDS) > 1;
}

static inline struct kv_cache *new_cache(struct kv_config *f)
{
	struct kv_cache *c;

	if (kv_cache_create(f, &c))
		fail_msg("%s", tenon_error_message());
	kv_drop_kernels(f);
	memset(lists, 0, sizeof(lists));
	kv_failing = -1;
	return c;
}

static inline int64_t id_of(int i)
{
	return i == 5 ? INT64_C(1) << 40 : i == 4 ? -7 : i * 3;
}

static inline struct tenon_tensor *random_rows(int64_t rows)
{
	const int64_t shape[] = { rows, Q_HEADS + 2 * KV_HEADS, DIM };
	struct tenon_tensor *t;
	int64_t i;

	assert_int_equal(tenon_tensor_create(shape, 3, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &t),
			 0);
	for (i = 0; i < rows * ROW; i++)
		((float *)t->dl.data)[i] = (float)pick(2000) / 1000 - 1;
	return t;
}

/* a forward step, as the reference sees it */
struct step {
	int count, member[IDS];
	int64_t ids[IDS], lengths[IDS], total;
	int64_t tree[CHUNK];
	bool is_tree;
};

static inline int32_t position_of(const struct step *s, int64_t base, int64_t at, int64_t k)
{
	int32_t depth = 0;

	if (!s->is_tree)
		return (int32_t)(base + k);
	for (; s->tree[at + k] >= 0; k = s->tree[at + k])
		depth++;
	return (int32_t)base + depth;
}

static inline bool sees(const struct step *s, int64_t at, int64_t k, int64_t j)
{
	if (!s->is_tree)
		return j <= k;
	while (k > j && k >= 0)
		k = s->tree[at + k];
	return k == j;
}

/* Append the rows of a layer to the reference and compare attention of each. */
static inline void check_member(const struct step *s, int m, int64_t at, int layer,
				const float *qkv, const float *out, int64_t before)
{
	struct list *l = &lists[s->member[m]];
	float turned[DIM], want[DIM], lse;
	struct kv_row row;
	int64_t k, j;
	int h, i;

	for (k = 0; k < s->lengths[m]; k++)
		for (i = 0; i < DIM; i++) {
			l->tokens[before + k].k[layer][i] =
				kv_turned(qkv[(at + k) * ROW + Q_HEADS * DIM + i],
					  position_of(s, before, at, k), i);
			l->tokens[before + k].v[layer][i] =
				qkv[(at + k) * ROW + (Q_HEADS + KV_HEADS) * DIM + i];
		}
	for (k = 0; k < s->lengths[m]; k++)
		for (h = 0; h < Q_HEADS; h++) {
			for (i = 0; i < DIM; i++)
				turned[i] = kv_turned(qkv[(at + k) * ROW + h * DIM + i],
						      position_of(s, before, at, k), i);
			kv_begin_row(&row);
			row.sum = 0;
			for (j = 0; j < before + s->lengths[m]; j++)
				if (j < before || sees(s, at, k, j - before))
					kv_add_key(&row, turned, l->tokens[j].k[layer],
						   l->tokens[j].v[layer], SCALE);
			kv_end_row(&row, want, &lse);
			for (i = 0; i < DIM; i++)
				if (fabs(want[i] - out[((at + k) * Q_HEADS + h) * DIM + i]) > 2e-4)
					fail_msg("sequence %d, layer %d, token %d of %d behind %d: "
						 "%g, want %g",
						 s->member[m], layer, (int)k, (int)s->lengths[m],
						 (int)before,
						 out[((at + k) * Q_HEADS + h) * DIM + i], want[i]);
		}
}

/* The same tensor on the device of the cache. */
static inline struct tenon_tensor *placed(struct tenon_tensor *t)
{
	struct tenon_tensor *there;

	if (kv_place.device_type == kDLCPU) {
		tenon_object_ref(t);
		return t;
	}
	if (tenon_tensor_create_on(kv_place, t->dl.shape, t->dl.ndim, t->dl.dtype, &there) ||
	    tenon_tensor_copy(&t->dl, &there->dl))
		fail_msg("%s", tenon_error_message());
	return there;
}

/* Attention of all layers, with rows behind those of the step now and then. */
static inline void attend(struct kv_cache *c, const struct step *s)
{
	int64_t shape[] = { s->total + pick(2) * 3, Q_HEADS, DIM }, at;
	struct tenon_tensor *qkv, *out, *qkv_there, *out_there;
	struct kv_tensors t = { 0 };
	int layer, m;

	for (layer = 0; layer < LAYERS; layer++) {
		qkv = random_rows(shape[0]);
		assert_int_equal(
			tenon_tensor_create(shape, 3, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &out),
			0);
		qkv_there = placed(qkv);
		out_there = placed(out);
		t.qkv = tenon_arg_object(qkv_there);
		t.out = tenon_arg_object(out_there);
		if (kv_cache_attend(c, layer, SCALE, &t) ||
		    (out != out_there && tenon_tensor_copy(&out_there->dl, &out->dl)))
			fail_msg("%s", tenon_error_message());
		tenon_object_unref(qkv_there);
		tenon_object_unref(out_there);
		for (m = 0, at = 0; m < s->count; at += s->lengths[m++])
			check_member(s, m, at, layer, qkv->dl.data, out->dl.data,
				     lists[s->member[m]].length);
		tenon_object_unref(qkv);
		tenon_object_unref(out);
	}
}

/* Attention of all layers over random rows, without a look at what it computes. */
static inline void attend_rows(struct kv_cache *c, int64_t rows)
{
	int64_t shape[] = { rows, Q_HEADS, DIM };
	struct tenon_tensor *qkv, *out;
	struct kv_tensors t = { 0 };
	int layer;

	for (layer = 0; layer < LAYERS; layer++) {
		qkv = random_rows(rows);
		assert_int_equal(
			tenon_tensor_create(shape, 3, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &out),
			0);
		t.qkv = tenon_arg_object(qkv);
		t.out = tenon_arg_object(out);
		if (kv_cache_attend(c, layer, SCALE, &t))
			fail_msg("%s", tenon_error_message());
		tenon_object_unref(qkv);
		tenon_object_unref(out);
	}
}

/* The keys and values of a sequence of at most CHUNK tokens. */
struct kv_rows {
	int64_t count;
	float k[LAYERS][CHUNK][DIM], v[LAYERS][CHUNK][DIM];
};

static inline struct kv_rows rows_of(struct kv_cache *c, int64_t id)
{
	struct kv_rows rows = { 0 };
	struct tenon_tensor *k, *v;
	struct tenon_value a, b;
	int64_t shape[] = { LAYERS, 0, DIM };
	size_t bytes;
	int layer;

	assert_int_equal(kv_cache_length(c, id, &rows.count), 0);
	assert_in_range(rows.count, 0, CHUNK);
	shape[1] = rows.count;
	bytes = (size_t)rows.count * sizeof(rows.k[0][0]);
	assert_int_equal(tenon_tensor_create(shape, 3, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &k),
			 0);
	assert_int_equal(tenon_tensor_create(shape, 3, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &v),
			 0);
	a = tenon_arg_object(k);
	b = tenon_arg_object(v);
	if (kv_cache_debug(c, id, 0, rows.count, &a, &b))
		fail_msg("%s", tenon_error_message());
	for (layer = 0; layer < LAYERS; layer++) {
		memcpy(rows.k[layer], (char *)k->dl.data + (size_t)layer * bytes, bytes);
		memcpy(rows.v[layer], (char *)v->dl.data + (size_t)layer * bytes, bytes);
	}
	tenon_object_unref(k);
	tenon_object_unref(v);
	return rows;
}

static inline struct step random_step(bool tree)
{
	struct step s = { .is_tree = tree };
	int order[IDS], i, k, swap, one = pick(3) == 0 && !tree;
	int64_t n;

	for (i = 0; i < IDS; i++)
		order[i] = i;
	for (i = IDS - 1; i > 0; i--) {
		k = (int)pick((uint32_t)i + 1);
		swap = order[i];
		order[i] = order[k];
		order[k] = swap;
	}
	for (i = 0; i < IDS; i++) {
		if (!lists[order[i]].used || pick(3) == 0 || s.total == CHUNK)
			continue;
		n = one ? 1 : 1 + pick(7);
		n = n < CHUNK - s.total ? n : CHUNK - s.total;
		s.member[s.count] = order[i];
		s.ids[s.count] = id_of(order[i]);
		s.lengths[s.count++] = n;
		for (k = 0; k < n; k++)
			s.tree[s.total + k] = (int64_t)pick((uint32_t)k + 1) - 1;
		s.total += n;
	}
	return s;
}

/* Keep the path to a random leaf of each tree. */
static inline void commit(struct kv_cache *c, const struct step *s)
{
	int64_t leaves[IDS], at = 0, node, depth, base;
	struct token path[CHUNK];
	struct list *l;
	int m;

	for (m = 0; m < s->count; at += s->lengths[m++]) {
		l = &lists[s->member[m]];
		base = l->length;
		leaves[m] = (int64_t)pick((uint32_t)s->lengths[m] + 1) - 1;
		for (depth = 0, node = leaves[m]; node >= 0; node = s->tree[at + node])
			depth++;
		l->length += depth;
		for (node = leaves[m]; node >= 0; node = s->tree[at + node])
			path[--depth] = l->tokens[base + node];
		memcpy(&l->tokens[base], path, (size_t)(l->length - base) * sizeof(*path));
	}
	if (kv_cache_commit(c, s->ids, leaves, (size_t)s->count))
		fail_msg("%s", tenon_error_message());
}

static inline int64_t total_length(void)
{
	int64_t sum = 0;
	int i;

	for (i = 0; i < IDS; i++)
		sum += lists[i].used ? lists[i].length : 0;
	return sum;
}

/* What windows leave of a list. */
static inline void slide(struct list *l)
{
	int64_t gone = l->length - l->window;

	if (!l->window || gone <= 0)
		return;
	memmove(&l->tokens[l->sink], &l->tokens[l->sink + gone],
		(size_t)(l->length - l->sink - gone) * sizeof(l->tokens[0]));
	l->length = l->window;
}

static inline void forward(struct kv_cache *c, bool tree)
{
	struct step s = random_step(tree);
	int64_t pages = kv_cache_free_pages(c), wanted = 0;
	bool windows = false;
	const struct list *l;
	int m, err;

	if (!s.count)
		return;
	for (m = 0; m < s.count; m++) {
		l = &lists[s.member[m]];
		windows |= l->window > 0;
		wanted += pages_of(l->length + s.lengths[m]) - pages_of(l->length);
	}
	err = kv_cache_begin(c, s.ids, s.lengths, (size_t)s.count, tree ? s.tree : NULL,
			     tree ? (size_t)s.total : 0);
	if (err) {
		/* full: nothing changed */
		assert_int_equal(err, -TENON_E_OVERFLOW);
		assert_error_has("the key-value cache is full");
		assert_int_equal(kv_cache_free_pages(c), pages);
		assert_true(windows || wanted > pages);
		return;
	}
	assert_true(windows || wanted <= pages);
	attend(c, &s);
	if (tree) {
		commit(c, &s);
		return;
	}
	for (m = 0; m < s.count; m++) {
		lists[s.member[m]].length += s.lengths[m];
		slide(&lists[s.member[m]]);
	}
}

static inline void remove_one(struct kv_cache *c, int i)
{
	assert_int_equal(kv_cache_remove(c, id_of(i)), lists[i].used ? 0 : -TENON_E_NOT_FOUND);
	lists[i].used = false;
	lists[i].length = lists[i].window = 0;
}

/* Keys and values of all sequences are those that were appended. */
static inline void check_rows(struct kv_cache *c)
{
	int64_t shape[] = { LAYERS, 0, DIM }, at;
	struct tenon_tensor *k, *v;
	struct tenon_value a, b;
	int i, layer;

	for (i = 0; i < IDS; i++) {
		shape[1] = lists[i].length;
		if (!shape[1] || kv_place.device_type != kDLCPU)
			continue;
		assert_int_equal(
			tenon_tensor_create(shape, 3, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &k),
			0);
		assert_int_equal(
			tenon_tensor_create(shape, 3, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &v),
			0);
		a = tenon_arg_object(k);
		b = tenon_arg_object(v);
		if (kv_cache_debug(c, id_of(i), 0, shape[1], &a, &b))
			fail_msg("%s", tenon_error_message());
		for (layer = 0; layer < LAYERS; layer++)
			for (at = 0; at < shape[1]; at++) {
				assert_memory_equal(
					(float *)k->dl.data + (layer * shape[1] + at) * DIM,
					lists[i].tokens[at].k[layer], DIM * sizeof(float));
				assert_memory_equal(
					(float *)v->dl.data + (layer * shape[1] + at) * DIM,
					lists[i].tokens[at].v[layer], DIM * sizeof(float));
			}
		tenon_object_unref(k);
		tenon_object_unref(v);
	}
}

/* All sequences gone, all pages free. */
static inline void end(struct kv_cache *c, int64_t pages)
{
	int i;

	for (i = 0; i < IDS; i++)
		remove_one(c, i);
	assert_true(kv_cache_is_empty(c));
	assert_int_equal(kv_cache_free_pages(c), pages);
	tenon_error_clear();
	tenon_object_unref(c);
}

/* Begin a step, and compare attention of all layers. */
static inline void take_step(struct kv_cache *c, const struct step *s)
{
	int m;

	if (kv_cache_begin(c, s->ids, s->lengths, (size_t)s->count, NULL, 0))
		fail_msg("%s", tenon_error_message());
	attend(c, s);
	for (m = 0; m < s->count; m++)
		lists[s->member[m]].length += s->lengths[m];
}

#endif /* TESTS_UNIT_KV_REFERENCE_H */
