/* SPDX-License-Identifier: MIT */
/* Attention of a key-value cache beside the plain one: layers with a window, keys that layers share, the new tokens alone. */
#include "tests/unit/kv_reference.h"

#define WINDOW 6

/* Token @n has the value @n + 1 in each element of its row. */
static struct tenon_tensor *numbered_rows(int64_t from, int64_t rows, int64_t heads)
{
	const int64_t shape[] = { rows, heads, DIM };
	struct tenon_tensor *t;
	int64_t i;

	assert_int_equal(tenon_tensor_create(shape, 3, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &t),
			 0);
	for (i = 0; i < rows * heads * DIM; i++)
		((float *)t->dl.data)[i] = (float)(from + i / (heads * DIM) + 1);
	return t;
}

/* Begin a step of sequence 0. */
static void begin(struct kv_cache *c, int64_t rows)
{
	const int64_t id = 0;

	if (kv_cache_begin(c, &id, &rows, 1, NULL, 0))
		fail_msg("%s", tenon_error_message());
}

/* With a scale of 0 a token sees all tokens alike: attention is the mean of their values. */
static struct tenon_tensor *mean_of(struct kv_cache *c, int64_t layer, int64_t from, int64_t rows)
{
	struct tenon_tensor *qkv = numbered_rows(from, rows, Q_HEADS + 2 * KV_HEADS);
	struct tenon_tensor *out = numbered_rows(0, rows, Q_HEADS);
	const struct kv_tensors t = { .qkv = tenon_arg_object(qkv), .out = tenon_arg_object(out) };

	if (kv_cache_attend(c, layer, 0, &t))
		fail_msg("%s", tenon_error_message());
	tenon_object_unref(qkv);
	return out;
}

/* The last row is the mean of the values of tokens @first to @last; the tensor is dropped. */
static void assert_mean(struct tenon_tensor *out, int64_t first, int64_t last)
{
	const float *row = (const float *)out->dl.data + (out->dl.shape[0] - 1) * Q_HEADS * DIM;
	float want = (float)(first + last) / 2 + 1;
	int i;

	for (i = 0; i < Q_HEADS * DIM; i++)
		assert_float_equal(row[i], want, 1e-4);
	tenon_object_unref(out);
}

static struct kv_cache *cache_with_a_window(void)
{
	static const int64_t kinds[LAYERS] = { KV_MHA, KV_MHA_WINDOW };
	struct kv_config f = kv_config_of(LAYERS, TOKENS, CHUNK);
	struct kv_cache *c;

	f.kinds = kinds;
	f.layer_window = WINDOW;
	/* such a cache drops no pages */
	f.window = true;
	c = new_cache(&f);
	assert_int_equal(kv_cache_add(c, 0), 0);
	return c;
}

static void a_layer_with_a_window_sees_the_last_tokens_alone(void **unused)
{
	struct kv_cache *c = cache_with_a_window();
	int64_t n;

	(void)unused;
	memset(kv_calls, 0, sizeof(kv_calls));
	begin(c, 3);
	assert_mean(mean_of(c, 0, 0, 3), 0, 2);
	assert_mean(mean_of(c, 1, 0, 3), 0, 2);
	begin(c, 2);
	assert_mean(mean_of(c, 0, 3, 2), 0, 4);
	assert_mean(mean_of(c, 1, 3, 2), 0, 4);
	assert_int_equal(kv_calls[KV_PREFILL], 1);
	assert_int_equal(kv_calls[KV_PREFILL_SLIDING], 1);
	for (n = 5; n < 20; n++) {
		begin(c, 1);
		assert_mean(mean_of(c, 0, n, 1), 0, n);
		assert_mean(mean_of(c, 1, n, 1), n < WINDOW ? 0 : n - WINDOW + 1, n);
	}
	assert_int_equal(kv_cache_total_length(c), 20);
	tenon_object_unref(c);
}

/* A fork has what it shares on one depth, and its own tokens on the other: each has a window. */
static void forks_have_a_window_on_each_depth(void **unused)
{
	struct kv_cache *c = cache_with_a_window();
	const int64_t ids[] = { 0, 1 }, ones[] = { 1, 1 };
	int64_t n;

	(void)unused;
	begin(c, 8);
	tenon_object_unref(mean_of(c, 0, 0, 8));
	tenon_object_unref(mean_of(c, 1, 0, 8));
	assert_int_equal(kv_cache_fork(c, 0, 1, -1), 0);
	/* the second sequence has no tokens of the first one */
	for (n = 8; n < 10; n++) {
		assert_int_equal(kv_cache_begin(c, ids + 1, ones, 1, NULL, 0), 0);
		assert_mean(mean_of(c, 0, n, 1), 0, n);
		tenon_object_unref(mean_of(c, 1, n, 1));
	}
	assert_int_equal(kv_cache_begin(c, ids, ones, 2, NULL, 0), 0);
	tenon_object_unref(mean_of(c, 0, 8, 2));
	tenon_object_unref(mean_of(c, 1, 8, 2));
	assert_int_equal(kv_cache_total_length(c), 9 + 11);
	/* a window of the sequence is one more */
	assert_int_equal(kv_cache_set_window(c, 0, 16, 1), 0);
	tenon_object_unref(c);
}

static struct kv_cache *plain_cache(int64_t rope)
{
	struct kv_config f = kv_config_of(LAYERS, TOKENS, CHUNK);
	struct kv_cache *c;

	f.rope = rope;
	c = new_cache(&f);
	assert_int_equal(kv_cache_add(c, 0), 0);
	return c;
}

/* A layer that has no keys of its own reads those of another one. */
static void layers_share_the_keys_of_another(void **unused)
{
	static const int64_t steps[] = { 3, 1, 4, 1 };
	struct kv_cache *c = plain_cache(KV_ROPE_NONE);
	struct tenon_tensor *q, *k, *out;
	struct kv_tensors t = { 0 };
	int64_t n = 0;
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); n += steps[i++]) {
		begin(c, steps[i]);
		q = numbered_rows(n, steps[i], Q_HEADS);
		k = numbered_rows(n, steps[i], KV_HEADS);
		out = numbered_rows(0, steps[i], Q_HEADS);
		t.q = tenon_arg_object(q);
		t.k = t.v = tenon_arg_object(k);
		t.out = tenon_arg_object(out);
		assert_mean(mean_of(c, 0, n, steps[i]), 0, n + steps[i] - 1);
		assert_int_equal(kv_cache_attend_shared(c, 0, 0, &t), 0);
		assert_mean(out, 0, n + steps[i] - 1);
		tenon_object_unref(k);
		tenon_object_unref(q);
	}
	tenon_object_unref(c);
}

static void the_new_tokens_attend_to_themselves(void **unused)
{
	static const int64_t ropes[] = { KV_ROPE_NONE, KV_ROPE_INLINE };
	const int64_t shape[] = { 2, Q_HEADS };
	struct tenon_tensor *q = numbered_rows(3, 2, Q_HEADS), *k = numbered_rows(3, 2, KV_HEADS);
	struct tenon_tensor *out, *lse;
	struct kv_tensors t = { .q = tenon_arg_object(q), .k = tenon_arg_object(k) };
	struct kv_cache *c;
	size_t i;

	(void)unused;
	t.v = t.k;
	assert_int_equal(tenon_tensor_create(shape, 2, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &lse),
			 0);
	t.lse = tenon_arg_object(lse);
	for (i = 0; i < 2; i++) {
		c = plain_cache(ropes[i]);
		begin(c, 3);
		assert_mean(mean_of(c, 0, 0, 3), 0, 2);
		begin(c, 2);
		out = numbered_rows(0, 2, Q_HEADS);
		t.out = tenon_arg_object(out);
		assert_int_equal(kv_cache_attend_self(c, 0, 0, &t), 0);
		assert_mean(out, 3, 4);
		tenon_object_unref(c);
	}
	tenon_object_unref(lse);
	tenon_object_unref(k);
	tenon_object_unref(q);
}

static void a_step_tells_the_positions_of_its_tokens(void **unused)
{
	struct kv_cache *c = plain_cache(KV_ROPE_NONE);
	struct tenon_tensor *buffer;
	const int32_t *positions;
	int64_t count, i;
	uint64_t offset;

	(void)unused;
	assert_int_equal(kv_cache_positions(c, &buffer, &offset, &count), -TENON_E_USAGE);
	assert_error_has("no forward step has begun");
	begin(c, 4);
	begin(c, 3);
	assert_int_equal(kv_cache_positions(c, &buffer, &offset, &count), 0);
	positions = (const int32_t *)(const void *)((char *)buffer->dl.data + offset);
	assert_int_equal(count, 3);
	for (i = 0; i < count; i++)
		assert_int_equal(positions[i], 4 + i);
	tenon_object_unref(c);
}

static struct tenon_value kept;

/* Keeps the places of the last tokens on their pages. */
static int keeps(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	if (kept.type == TENON_TYPE_NONE)
		assert_int_equal(tenon_value_own(&args[4], &kept), 0);
	return kv_decode(self, args, count, ret);
}

static void a_tensor_that_a_kernel_keeps_is_left_to_it(void **unused)
{
	struct kv_config f = kv_config_of(LAYERS, TOKENS, CHUNK);
	struct kv_cache *c;
	const int64_t ids[] = { 0, 1 }, ones[] = { 1, 1 };

	(void)unused;
	tenon_object_unref(f.callbacks[KV_DECODE]);
	assert_int_equal(tenon_function_create(NULL, keeps, NULL, &f.callbacks[KV_DECODE]), 0);
	c = new_cache(&f);
	assert_int_equal(kv_cache_add(c, 0), 0);
	assert_int_equal(kv_cache_add(c, 1), 0);
	begin(c, 1);
	assert_mean(mean_of(c, 0, 0, 1), 0, 0);
	assert_int_equal(kv_tensor(&kept)->shape[0], 1);
	assert_int_equal(kv_cache_begin(c, ids, ones, 2, NULL, 0), 0);
	tenon_object_unref(mean_of(c, 0, 1, 2));
	assert_int_equal(kv_tensor(&kept)->shape[0], 1);
	tenon_object_unref(c);
	assert_non_null(kv_tensor(&kept)->data);
	tenon_value_release(&kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_layer_with_a_window_sees_the_last_tokens_alone),
		cmocka_unit_test(forks_have_a_window_on_each_depth),
		cmocka_unit_test(layers_share_the_keys_of_another),
		cmocka_unit_test(the_new_tokens_attend_to_themselves),
		cmocka_unit_test(a_step_tells_the_positions_of_its_tokens),
		cmocka_unit_test(a_tensor_that_a_kernel_keeps_is_left_to_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
