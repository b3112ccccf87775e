/* SPDX-License-Identifier: MIT */
/* Latent attention (MLA) over the paged key-value cache beside plain lists of latent rows. */
#include "tests/unit/kv_kernels.h"

#define LAYERS 2
#define TOKENS 64
#define CHUNK  12
#define IDS    5
#define LIST   256
#define LATENT (DIM - 1) /* the rest of a row is its rotated part */
#define VALUE  2	 /* size of a head of values before it became latent */
#define SCALE  0.5

struct list {
	bool used;
	int64_t length;
	float rows[LAYERS][LIST][DIM];
};

static struct list lists[IDS];
/* ---- kernels */

static float *row_at(const struct tenon_value *pages, int64_t slot)
{
	assert_in_range(slot, 0, kv_tensor(pages)->shape[0] * PAGE - 1);
	return (float *)kv_data(pages) + slot * DIM;
}

static int append_mla(void *self, const struct tenon_value *a, int32_t n, struct tenon_value *ret)
{
	const float *rows = kv_data(&a[1]);
	const int32_t *slot = kv_data(&a[2]);
	int64_t count = kv_tensor(&a[2])->shape[0], i;

	(void)self;
	*ret = tenon_arg_none();
	assert_int_equal(n, 3);
	assert_int_equal(kv_tensor(&a[0])->ndim, 3);
	kv_check_behind(slot, count);
	for (i = 0; i < count; i++)
		memcpy(row_at(&a[0], slot[i]), rows + i * DIM, DIM * sizeof(*rows));
	return kv_enter_kernel(KV_APPEND_MLA);
}

/* Queries of one entry against the rows in its pages. */
static int prefill_mla(void *self, const struct tenon_value *a, int32_t n, struct tenon_value *ret)
{
	const float *q = kv_data(&a[0]), *found;
	const int32_t *rows = kv_data(&a[1]), *indptr = kv_data(&a[3]), *index = kv_data(&a[4]);
	const int32_t *last = kv_data(&a[5]);
	float *out = kv_data(&a[6]), *lse = kv_data(&a[7]), wide[DIM];
	int64_t entries = kv_tensor(&a[3])->shape[0] - 1, e, r, j, keys;
	struct kv_row row;
	int h;

	(void)self;
	*ret = tenon_arg_none();
	assert_int_equal(n, 10);
	assert_int_equal(a[8].as.integer, 0);
	for (e = 0; e < entries; e++) {
		keys = indptr[e + 1] - indptr[e];
		keys = keys ? (keys - 1) * PAGE + last[e] : 0;
		for (r = rows[e] * Q_HEADS; r < rows[e + 1] * Q_HEADS; r++) {
			kv_begin_row(&row);
			for (j = 0; j < keys; j++) {
				found = row_at(&a[2], (int64_t)index[indptr[e] + j / PAGE] * PAGE +
							      j % PAGE);
				kv_add_key(&row, q + r * DIM, found, found, a[9].as.real);
			}
			kv_end_row(&row, wide, &lse[r]);
			for (h = 0; h < LATENT; h++)
				out[r * LATENT + h] = wide[h];
		}
	}
	return kv_enter_kernel(KV_PREFILL_MLA);
}

/* The new tokens among themselves, with the values of before the projection. */
static int ragged(void *self, const struct tenon_value *a, int32_t n, struct tenon_value *ret)
{
	const float *q = kv_data(&a[0]), *k = kv_data(&a[2]), *v = kv_data(&a[3]);
	const int32_t *indptr = kv_data(&a[1]);
	float *out = kv_data(&a[7]), *lse = kv_data(&a[8]), wide[DIM], value[DIM] = { 0 };
	int64_t batch = kv_tensor(&a[1])->shape[0] - 1, b, r, j;
	struct kv_row row;
	int h;

	(void)self;
	*ret = tenon_arg_none();
	assert_int_equal(n, 14);
	assert_int_equal(a[9].as.integer, 1);
	for (b = 0; b < batch; b++)
		for (r = indptr[b]; r < indptr[b + 1]; r++)
			for (h = 0; h < Q_HEADS; h++) {
				kv_begin_row(&row);
				for (j = indptr[b]; j <= r; j++) {
					memcpy(value, v + (j * Q_HEADS + h) * VALUE,
					       VALUE * sizeof(*v));
					kv_add_key(&row, q + (r * Q_HEADS + h) * DIM,
						   k + (j * Q_HEADS + h) * DIM, value,
						   a[13].as.real);
				}
				kv_end_row(&row, wide, &lse[r * Q_HEADS + h]);
				memcpy(out + (r * Q_HEADS + h) * VALUE, wide, VALUE * sizeof(*out));
			}
	return kv_enter_kernel(KV_RAGGED);
}

static int merge_latent(void *self, const struct tenon_value *a, int32_t n, struct tenon_value *ret)
{
	(void)self;
	*ret = tenon_arg_none();
	assert_int_equal(n, 4);
	kv_merge_rows(a, LATENT);
	return kv_enter_kernel(KV_MERGE);
}

static int merge_values(void *self, const struct tenon_value *a, int32_t n, struct tenon_value *ret)
{
	(void)self;
	*ret = tenon_arg_none();
	assert_int_equal(n, 4);
	kv_merge_rows(a, VALUE);
	return kv_enter_kernel(KV_MERGE_SECOND);
}

static int copy_page(void *self, const struct tenon_value *a, int32_t n, struct tenon_value *ret)
{
	(void)self;
	*ret = tenon_arg_none();
	assert_int_equal(n, 4);
	memcpy(row_at(&a[0], a[2].as.integer * PAGE), row_at(&a[0], a[1].as.integer * PAGE),
	       (size_t)a[3].as.integer * DIM * sizeof(float));
	return kv_enter_kernel(KV_COPY_PAGE);
}

static struct kv_cache *new_cache(void)
{
	static const int64_t kinds[LAYERS] = { KV_MLA, KV_MLA };
	static const tenon_call_fn own[KV_CALLBACKS] = {
		[KV_APPEND_MLA] = append_mla,
		[KV_PREFILL_MLA] = prefill_mla,
		[KV_RAGGED] = ragged,
		[KV_MERGE] = merge_latent,
		[KV_MERGE_SECOND] = merge_values,
		[KV_COPY_PAGE] = copy_page,
	};
	struct kv_config f = kv_config_of(LAYERS, TOKENS, CHUNK);
	struct kv_cache *c;
	int i;

	f.kinds = kinds;
	f.v_dim = LATENT;
	for (i = 0; i < KV_CALLBACKS; i++)
		if (own[i]) {
			tenon_object_unref(f.callbacks[i]);
			assert_int_equal(tenon_function_create(NULL, own[i], NULL, &f.callbacks[i]),
					 0);
		}
	if (kv_cache_create(&f, &c))
		fail_msg("%s", tenon_error_message());
	kv_drop_kernels(&f);
	memset(lists, 0, sizeof(lists));
	kv_failing = -1;
	return c;
}

/* ---- a model of one attention layer */

static struct tenon_tensor *tensor(int32_t ndim, int64_t rows, int64_t heads, int64_t dim)
{
	const int64_t shape[] = { rows, ndim == 3 ? heads : dim, dim };
	struct tenon_tensor *t;

	assert_int_equal(
		tenon_tensor_create(shape, ndim, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &t), 0);
	return t;
}

static struct tenon_tensor *random_tensor(int32_t ndim, int64_t rows, int64_t heads, int64_t dim)
{
	struct tenon_tensor *t = tensor(ndim, rows, heads, dim);
	int64_t i, n = rows * (ndim == 3 ? heads : 1) * dim;

	for (i = 0; i < n; i++)
		((float *)t->dl.data)[i] = (float)pick(2000) / 1000 - 1;
	return t;
}

/* The value that a latent row stands for. */
static void value_of(const float *latent, float *value)
{
	value[0] = latent[0] + 0.5f * latent[2];
	value[1] = latent[1] - 0.25f * latent[0];
}

/* a forward step */
struct step {
	int count, member[IDS];
	int64_t ids[IDS], lengths[IDS], total;
	bool decode, has_past;
};

/* tensors of a step in one layer */
struct layer {
	struct tenon_tensor *kv, *q, *k, *v, *out, *lse, *latent, *lse2, *out2;
};

static struct layer new_layer(int64_t rows)
{
	struct layer l = {
		.kv = random_tensor(2, rows, 0, DIM),
		.q = random_tensor(3, rows, Q_HEADS, DIM),
		.k = tensor(3, rows, Q_HEADS, DIM),
		.v = tensor(3, rows, Q_HEADS, VALUE),
		.out = tensor(3, rows, Q_HEADS, VALUE),
		.lse = tensor(2, rows, 0, Q_HEADS),
		.latent = tensor(3, rows, Q_HEADS, LATENT),
		.lse2 = tensor(2, rows, 0, Q_HEADS),
		.out2 = tensor(3, rows, Q_HEADS, VALUE),
	};
	const float *kv = l.kv->dl.data;
	int64_t i;

	for (i = 0; i < rows * Q_HEADS; i++) {
		memcpy((float *)l.k->dl.data + i * DIM, kv + i / Q_HEADS * DIM, DIM * sizeof(*kv));
		value_of(kv + i / Q_HEADS * DIM, (float *)l.v->dl.data + i * VALUE);
	}
	return l;
}

static void free_layer(struct layer *l)
{
	struct tenon_tensor *all[] = { l->kv,  l->q,	  l->k,	   l->v,   l->out,
				       l->lse, l->latent, l->lse2, l->out2 };
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		tenon_object_unref(all[i]);
}

static void attend_to_pages(struct kv_cache *c, int layer, const struct layer *l, int64_t rows)
{
	struct kv_tensors t = { .q = tenon_arg_object(l->q),
				.out = tenon_arg_object(l->latent),
				.lse = tenon_arg_object(l->lse2) };
	int64_t i;

	if (kv_cache_attend_cross(c, layer, SCALE, &t))
		fail_msg("%s", tenon_error_message());
	for (i = 0; i < rows * Q_HEADS; i++)
		value_of((float *)l->latent->dl.data + i * LATENT,
			 (float *)l->out2->dl.data + i * VALUE);
}

/* What DeepSeek's models do: pages alone to decode, the new tokens alone for a first prompt, else both. */
static const float *attend(struct kv_cache *c, const struct step *s, int layer,
			   const struct layer *l)
{
	struct kv_tensors t = { .q = tenon_arg_object(l->q),
				.k = tenon_arg_object(l->k),
				.v = tenon_arg_object(l->v),
				.out = tenon_arg_object(l->out),
				.lse = tenon_arg_object(l->lse) };
	const struct tenon_value parts[] = { tenon_arg_object(l->out), tenon_arg_object(l->lse),
					     tenon_arg_object(l->out2), tenon_arg_object(l->lse2) };
	const struct tenon_value kv = tenon_arg_object(l->kv);

	if (kv_cache_append_mla(c, layer, &kv))
		fail_msg("%s", tenon_error_message());
	if (s->decode) {
		attend_to_pages(c, layer, l, s->total);
		return l->out2->dl.data;
	}
	if (kv_cache_attend_self(c, layer, SCALE, &t))
		fail_msg("%s", tenon_error_message());
	if (s->has_past) {
		attend_to_pages(c, layer, l, s->total);
		if (kv_cache_merge(c, parts))
			fail_msg("%s", tenon_error_message());
	}
	return l->out->dl.data;
}

/* Compare a row of a head with attention to the whole list. */
static void check_row(const struct list *l, int layer, int64_t last, const float *q,
		      const float *have)
{
	float wide[DIM] = { 0 }, want[DIM], lse;
	struct kv_row row;
	int64_t j;
	int i;

	kv_begin_row(&row);
	row.sum = 0;
	for (j = 0; j <= last; j++) {
		value_of(l->rows[layer][j], wide);
		kv_add_key(&row, q, l->rows[layer][j], wide, SCALE);
	}
	kv_end_row(&row, want, &lse);
	for (i = 0; i < VALUE; i++)
		if (fabs(want[i] - have[i]) > 2e-4)
			fail_msg("layer %d, token %d: %g, want %g", layer, (int)last, have[i],
				 want[i]);
}

static void check(const struct step *s, int layer, const struct layer *made, const float *have)
{
	const float *kv = made->kv->dl.data, *q = made->q->dl.data;
	int64_t at = 0, k;
	struct list *l;
	int m, h;

	for (m = 0; m < s->count; m++) {
		l = &lists[s->member[m]];
		for (k = 0; k < s->lengths[m]; k++, at++) {
			memcpy(l->rows[layer][l->length + k], kv + at * DIM, DIM * sizeof(*kv));
			for (h = 0; h < Q_HEADS; h++)
				check_row(l, layer, l->length + k, q + (at * Q_HEADS + h) * DIM,
					  have + (at * Q_HEADS + h) * VALUE);
		}
	}
}

static struct step random_step(void)
{
	struct step s = { .decode = pick(2) };
	int i, at = (int)pick(IDS), k;

	for (i = 0; i < IDS; i++) {
		k = (at + i) % IDS;
		if (!lists[k].used || pick(4) == 0 || s.total + 7 > CHUNK)
			continue;
		s.member[s.count] = k;
		s.ids[s.count] = k;
		s.lengths[s.count] = s.decode ? 1 : 1 + pick(6);
		s.has_past |= lists[k].length > 0;
		s.total += s.lengths[s.count++];
	}
	s.decode = s.total == s.count;
	return s;
}

static void forward(struct kv_cache *c)
{
	struct step s = random_step();
	struct layer l;
	int layer, m, err;

	if (!s.count)
		return;
	err = kv_cache_begin(c, s.ids, s.lengths, (size_t)s.count, NULL, 0);
	if (err) {
		assert_int_equal(err, -TENON_E_OVERFLOW);
		return;
	}
	for (layer = 0; layer < LAYERS; layer++) {
		l = new_layer(s.total);
		check(&s, layer, &l, attend(c, &s, layer, &l));
		free_layer(&l);
	}
	for (m = 0; m < s.count; m++)
		lists[s.member[m]].length += s.lengths[m];
}

static void fork_one(struct kv_cache *c)
{
	int from = (int)pick(IDS), to = (int)pick(IDS);
	int64_t at;

	if (!lists[from].used || lists[to].used)
		return;
	at = pick((uint32_t)lists[from].length + 1);
	if (kv_cache_fork(c, from, to, at))
		return; /* full */
	lists[to] = lists[from];
	lists[to].length = at;
}

static void pop_one(struct kv_cache *c)
{
	int i = (int)pick(IDS);
	int64_t n;

	if (!lists[i].used)
		return;
	n = pick((uint32_t)lists[i].length + 1);
	if (!kv_cache_pop(c, i, n))
		lists[i].length -= n;
}

static void random_histories_equal_plain_lists(void **unused)
{
	struct kv_cache *c;
	int i, k, history;
	int64_t pages;

	(void)unused;
	for (history = 0; history < 30; history++) {
		kv_begin_history((uint64_t)history * 131 + 5);
		c = new_cache();
		pages = kv_cache_free_pages(c);
		for (i = 0; i < 120; i++) {
			k = (int)pick(IDS);
			switch (pick(8)) {
			case 0:
				if (!lists[k].used) {
					assert_int_equal(kv_cache_add(c, k), 0);
					lists[k].used = true;
				}
				break;
			case 1:
				fork_one(c);
				break;
			case 2:
				pop_one(c);
				break;
			case 3:
				if (pick(3) == 0 && lists[k].used) {
					assert_int_equal(kv_cache_remove(c, k), 0);
					lists[k].used = false;
					lists[k].length = 0;
				}
				break;
			default:
				forward(c);
			}
		}
		assert_int_equal(kv_cache_clear(c), 0);
		assert_int_equal(kv_cache_free_pages(c), pages);
		tenon_error_clear();
		tenon_object_unref(c);
	}
	assert_true(kv_calls[KV_APPEND_MLA] > 0 && kv_calls[KV_PREFILL_MLA] > 0);
	assert_true(kv_calls[KV_RAGGED] > 0 && kv_calls[KV_MERGE_SECOND] > 0);
	/* forks are read on two depths, whose parts are merged */
	assert_true(kv_calls[KV_MERGE] > 0 && kv_calls[KV_COPY_PAGE] > 0);
}

static void what_latent_attention_lacks_is_refused(void **unused)
{
	const int64_t id = 0, two = 2, root[] = { -1, -1 };
	struct kv_cache *c = new_cache();
	struct layer l = new_layer(2);
	struct kv_tensors t = { .q = tenon_arg_object(l.q),
				.out = tenon_arg_object(l.latent),
				.lse = tenon_arg_object(l.lse2) };
	const struct tenon_value heads = tenon_arg_object(l.q);

	(void)unused;
	assert_int_equal(kv_cache_add(c, 0), 0);
	assert_int_equal(kv_cache_begin(c, &id, &two, 1, root, 2), -TENON_E_UNSUPPORTED);
	assert_int_equal(kv_cache_set_window(c, 0, 8, 0), -TENON_E_UNSUPPORTED);
	assert_int_equal(kv_cache_begin(c, &id, &two, 1, NULL, 0), 0);
	/* queries, keys and values in one tensor are for other layers */
	t.qkv = heads;
	assert_int_equal(kv_cache_attend(c, 0, SCALE, &t), -TENON_E_VALUE);
	assert_int_equal(kv_cache_append_mla(c, 0, &heads), -TENON_E_VALUE);
	assert_int_equal(kv_cache_append_mla(c, LAYERS, &heads), -TENON_E_VALUE);
	/* a first prompt has no tokens in pages */
	assert_int_equal(kv_cache_attend_cross(c, 0, SCALE, &t), -TENON_E_USAGE);
	tenon_error_clear();
	free_layer(&l);
	tenon_object_unref(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_histories_equal_plain_lists),
		cmocka_unit_test(what_latent_attention_lacks_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
