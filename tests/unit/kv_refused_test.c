/* SPDX-License-Identifier: MIT */
/* What a key-value cache refuses: numbers and tensors that do not fit, kernels that fail, and calls from within its kernels. */
#include "tests/unit/kv_reference.h"

static struct tenon_tensor *tensor_of(int32_t ndim, int64_t rows, int64_t heads, int64_t dim)
{
	const int64_t shape[] = { rows, heads, dim };
	struct tenon_tensor *t;

	assert_int_equal(
		tenon_tensor_create(shape, ndim, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &t), 0);
	memset(t->dl.data, 0, (size_t)(rows * heads * (ndim == 3 ? dim : 1)) * sizeof(float));
	return t;
}

/* ---- numbers */

static void assert_no_cache(const struct kv_config *f, int status, const char *words)
{
	struct kv_cache *c = NULL;

	assert_int_equal(kv_cache_create(f, &c), status);
	assert_null(c);
	assert_error_has(words);
}

static void numbers_of_which_there_is_no_cache_are_refused(void **unused)
{
	struct kv_config f = kv_config_of(LAYERS, TOKENS, CHUNK);
	const struct {
		int64_t *number, least;
	} cases[] = {
		{ &f.sequences, 0 },	{ &f.tokens, 1 },      { &f.chunk, 1 },	 { &f.page, 1 },
		{ &f.layer_window, 1 }, { &f.first_layer, 0 }, { &f.layers, 1 }, { &f.q_heads, 1 },
		{ &f.kv_heads, 1 },	{ &f.dim, 1 },	       { &f.v_dim, 1 },	 { &f.rope, 0 },
	};
	int64_t kept;
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		kept = *cases[i].number;
		*cases[i].number = cases[i].least - 1;
		assert_no_cache(&f, -TENON_E_VALUE, "it must be between");
		*cases[i].number = INT64_C(1) << 31;
		assert_no_cache(&f, -TENON_E_VALUE, "it must be between");
		*cases[i].number = kept;
	}
	kv_drop_kernels(&f);
}

static void settings_that_do_not_go_together_are_refused(void **unused)
{
	static const int64_t linear[] = { KV_MHA, KV_LINEAR }, latent[] = { KV_MLA, KV_MHA };
	struct kv_config f = kv_config_of(LAYERS, TOKENS, CHUNK), good = f;
	struct tenon_tensor *factors = tensor_of(2, 1, 1, 1);

	(void)unused;
	f.kind_count = 1;
	assert_no_cache(&f, -TENON_E_VALUE, "kinds of 1 layers");
	f = good;
	f.kinds = linear;
	assert_no_cache(&f, -TENON_E_UNSUPPORTED, "layer 1 has attention of kind 2");
	f.kinds = latent;
	f.window = true;
	assert_no_cache(&f, -TENON_E_UNSUPPORTED, "sliding windows");
	f = good;
	f.v_dim = DIM - 1;
	assert_no_cache(&f, -TENON_E_VALUE, "so they must be equal");
	f = good;
	f.rope_factors = factors;
	assert_no_cache(&f, -TENON_E_VALUE, "extension factors");
	f = good;
	f.tokens = INT32_MAX;
	assert_no_cache(&f, -TENON_E_OVERFLOW, "slots are numbered in 32 bits");
	tenon_object_unref(factors);
	kv_drop_kernels(&good);
}

/* ---- tensors */

typedef int call(struct kv_cache *c, int64_t layer, double scale, const struct kv_tensors *t);

/* A tensor of a call, with its extents. */
struct place {
	const char *name;
	size_t at;
	int32_t ndim;
	int64_t heads, dim;
};

#define AT(member) offsetof(struct kv_tensors, member)

static const struct place qkv = { "qkv", AT(qkv), 3, Q_HEADS + 2 * KV_HEADS, DIM };
static const struct place q = { "q", AT(q), 3, Q_HEADS, DIM };
static const struct place k = { "k", AT(k), 3, KV_HEADS, DIM };
static const struct place v = { "v", AT(v), 3, KV_HEADS, DIM };
static const struct place out = { "out", AT(out), 3, Q_HEADS, DIM };
static const struct place lse = { "lse", AT(lse), 2, Q_HEADS, 1 };

static struct tenon_value *value_at(struct kv_tensors *t, const struct place *p)
{
	return (struct tenon_value *)(void *)((char *)t + p->at);
}

/* Tensors for calls of a step of @rows rows. */
static struct kv_tensors new_tensors(int64_t rows)
{
	const struct place *const all[] = { &qkv, &q, &k, &v, &out, &lse };
	struct kv_tensors t;
	size_t i;

	for (i = 0; i < 6; i++)
		*value_at(&t, all[i]) =
			tenon_arg_object(tensor_of(all[i]->ndim, rows, all[i]->heads, all[i]->dim));
	return t;
}

static void drop_tensors(struct kv_tensors *t)
{
	tenon_value_release(&t->qkv);
	tenon_value_release(&t->q);
	tenon_value_release(&t->k);
	tenon_value_release(&t->v);
	tenon_value_release(&t->out);
	tenon_value_release(&t->lse);
}

enum fault { NO_TENSOR, DTYPE, DEVICE, DIMENSIONS, HEADS, WIDTH, ROWS, GAPS, FAULTS };

/* Put a fault in the copy of a tensor; false if a tensor of so few dimensions has none of this kind. */
static bool spoil(DLTensor *t, int64_t *shape, int64_t *strides, enum fault fault)
{
	memcpy(shape, t->shape, (size_t)t->ndim * sizeof(*shape));
	t->shape = shape;
	switch (fault) {
	case DTYPE:
		t->dtype.bits = 64;
		break;
	case DEVICE:
		t->device.device_id = 1;
		break;
	case DIMENSIONS:
		t->ndim--;
		break;
	case HEADS:
		shape[1]++;
		break;
	case WIDTH:
		if (t->ndim < 3)
			return false;
		shape[2]++;
		break;
	case ROWS:
		shape[0]--;
		break;
	default:
		strides[2] = 1;
		strides[1] = t->ndim == 3 ? shape[2] : 1;
		strides[0] = 2 * shape[1] * strides[1];
		t->strides = strides;
	}
	return true;
}

/* A tensor with each fault in turn is refused by its name. */
static void refuses_faults(struct kv_cache *c, call *how, const struct kv_tensors *good,
			   const struct place *p, unsigned int allowed)
{
	struct kv_tensors t = *good;
	int64_t shape[3], strides[3];
	enum fault fault;
	DLTensor dl;
	int err;

	for (fault = NO_TENSOR; fault < FAULTS; fault++) {
		dl = *kv_tensor(value_at(&t, p));
		*value_at(&t, p) = tenon_arg_int(5);
		if (fault != NO_TENSOR) {
			if (allowed & 1u << fault || !spoil(&dl, shape, strides, fault)) {
				t = *good;
				continue;
			}
			*value_at(&t, p) = tenon_arg_tensor(&dl);
		}
		err = how(c, 0, SCALE, &t);
		if (err != -TENON_E_TYPE && err != -TENON_E_VALUE)
			fail_msg("%s with fault %d: %d", p->name, (int)fault, err);
		assert_error_has(p->name);
		t = *good;
	}
}

static void tensors_that_do_not_fit_the_cache_are_refused(void **unused)
{
	static const struct {
		call *how;
		const struct place *places[5];
		unsigned int allowed;
	} cases[] = {
		{ kv_cache_attend, { &qkv, &out }, 0 },
		{ kv_cache_attend_shared, { &q, &k, &v, &out }, 0 },
		{ kv_cache_attend_self, { &q, &k, &v }, 0 },
		/* what it computes is not of the cache */
		{ kv_cache_attend_self, { &out, &lse }, 1u << HEADS | 1u << WIDTH },
		{ kv_cache_attend_cross, { &q, &out, &lse }, 0 },
	};
	struct kv_config f = kv_config_of(LAYERS, TOKENS, CHUNK);
	struct kv_cache *c = new_cache(&f);
	struct kv_tensors t = new_tensors(3);
	const int64_t id = 0, three = 3;
	size_t i, n;

	(void)unused;
	assert_int_equal(kv_cache_add(c, 0), 0);
	assert_int_equal(kv_cache_begin(c, &id, &three, 1, NULL, 0), 0);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (n = 0; n < 5 && cases[i].places[n]; n++)
			refuses_faults(c, cases[i].how, &t, cases[i].places[n], cases[i].allowed);
		assert_int_equal(cases[i].how(c, -1, SCALE, &t), -TENON_E_VALUE);
		assert_error_has("layer -1; the cache has layers 0 to 1");
		assert_int_equal(cases[i].how(c, LAYERS, SCALE, &t), -TENON_E_VALUE);
		assert_error_has("layer 2");
	}
	/* the step goes on */
	assert_int_equal(kv_cache_attend(c, 0, SCALE, &t), 0);
	drop_tensors(&t);
	tenon_object_unref(c);
}

/* The first rows of a tensor that is lent are a view of it, too. */
static void a_lent_tensor_may_have_more_rows_than_the_step(void **unused)
{
	struct kv_config f = kv_config_of(LAYERS, TOKENS, CHUNK);
	struct kv_cache *c = new_cache(&f);
	struct kv_tensors all = new_tensors(5), t = { 0 };
	DLTensor lent[2] = { *kv_tensor(&all.qkv), *kv_tensor(&all.out) };
	float *written = lent[1].data;
	const int64_t id = 0, two = 2;
	int i;

	(void)unused;
	for (i = 0; i < 5 * (Q_HEADS + 2 * KV_HEADS) * DIM; i++)
		((float *)lent[0].data)[i] = 1;
	t.qkv = tenon_arg_tensor(&lent[0]);
	t.out = tenon_arg_tensor(&lent[1]);
	assert_int_equal(kv_cache_add(c, 0), 0);
	assert_int_equal(kv_cache_begin(c, &id, &two, 1, NULL, 0), 0);
	assert_int_equal(kv_cache_attend(c, 0, SCALE, &t), 0);
	assert_true(written[2 * Q_HEADS * DIM - 1] != 0);
	assert_true(written[2 * Q_HEADS * DIM] == 0);
	drop_tensors(&all);
	tenon_object_unref(c);
}

/* ---- kernels */

static int kernels_left; /* calls before the one that fails; below 0 for none */

static int counted(void *self, const struct tenon_value *args, int32_t count,
		   struct tenon_value *ret)
{
	*ret = tenon_arg_none();
	if (!kernels_left--)
		return tenon_error(-TENON_E_DEVICE, "this kernel was told to fail");
	return tenon_function_call(self, args, count, ret);
}

static void drop_counted(void *self)
{
	tenon_object_unref(self);
}

static struct kv_cache *counted_cache(int lacking)
{
	struct kv_config f = kv_config_of(LAYERS, TOKENS, CHUNK);
	struct tenon_function *whole;
	int i;

	for (i = 0; i < KV_CALLBACKS; i++) {
		whole = f.callbacks[i];
		f.callbacks[i] = NULL;
		if (i == lacking)
			tenon_object_unref(whole);
		else if (whole)
			assert_int_equal(tenon_function_create(whole, counted, drop_counted,
							       &f.callbacks[i]),
					 0);
	}
	kv_state = 11;
	return new_cache(&f);
}

/* A step of a sequence or two in all layers; the first error. */
static int run_step(struct kv_cache *c, size_t sequences, int64_t tokens, const int64_t *tree)
{
	const int64_t ids[] = { 0, 1 }, lengths[] = { tokens, tokens };
	int64_t total = tokens * (int64_t)sequences, layer;
	struct kv_tensors t = new_tensors(total);
	int err = kv_cache_begin(c, ids, lengths, sequences, tree, tree ? (size_t)total : 0);

	for (layer = 0; layer < LAYERS && !err; layer++)
		err = kv_cache_attend(c, layer, SCALE, &t);
	drop_tensors(&t);
	return err;
}

static int read_all(struct kv_cache *c)
{
	const int64_t shape[] = { LAYERS, 6, KV_HEADS, DIM };
	struct tenon_tensor *t[2];
	struct tenon_value all[2];
	int i, err;

	for (i = 0; i < 2; i++) {
		assert_int_equal(
			tenon_tensor_create(shape, 4, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &t[i]),
			0);
		all[i] = tenon_arg_object(t[i]);
	}
	err = kv_cache_debug(c, 0, 0, 6, &all[0], &all[1]);
	tenon_object_unref(t[0]);
	tenon_object_unref(t[1]);
	return err;
}

/* What needs every kernel of a cache without windows; the first error. */
static int whole_history(struct kv_cache *c)
{
	const int64_t ids[] = { 0, 1 }, leaf = 2, tree[] = { -1, 0, 0 }, leaves[] = { 1, 1 };
	const int64_t two[] = { -1, 0, -1, 0 };
	int err = kv_cache_add(c, 0);

	if (!err)
		err = run_step(c, 1, 6, NULL);
	if (!err)
		err = run_step(c, 1, 1, NULL);
	if (!err)
		err = read_all(c);
	if (!err)
		err = kv_cache_fork(c, 0, 1, 6);
	if (!err)
		err = run_step(c, 2, 1, NULL);
	if (!err)
		err = run_step(c, 2, 2, NULL);
	if (!err)
		err = run_step(c, 1, 3, tree);
	if (!err)
		err = run_step(c, 1, 3, tree);
	if (!err)
		err = kv_cache_commit(c, ids, &leaf, 1);
	if (!err)
		err = run_step(c, 2, 2, two);
	if (!err)
		err = kv_cache_commit(c, ids, leaves, 2);
	if (!err)
		err = kv_cache_pop(c, 1, 6);
	return err;
}

static void each_kernel_may_fail_at_each_of_its_calls(void **unused)
{
	struct kv_cache *c;
	int n = 0, err = -TENON_E_DEVICE;

	(void)unused;
	for (; err; n++) {
		c = counted_cache(-1);
		kernels_left = n;
		err = whole_history(c);
		if (err) {
			assert_int_equal(err, -TENON_E_DEVICE);
			assert_error_has("this kernel was told to fail");
		}
		/* what there is can be let go, and the cache used again */
		kernels_left = -1;
		assert_int_equal(kv_cache_clear(c), 0);
		assert_true(kv_cache_is_empty(c));
		assert_int_equal(whole_history(c), 0);
		tenon_object_unref(c);
	}
	assert_true(n > 40);
}

static void a_model_without_a_kernel_that_is_needed_is_told_which(void **unused)
{
	static const struct {
		enum kv_callback which;
		const char *words;
	} cases[] = {
		{ KV_APPEND, "no function for append" },
		{ KV_RAGGED, "no function for ragged prefill" },
		{ KV_PREFILL, "no function for prefill" },
		{ KV_DECODE, "no function for decode" },
		{ KV_TREE_PAGED, "no function for attention with a tree over pages" },
		{ KV_TREE_RAGGED, "no function for attention with a tree over new tokens" },
		{ KV_MERGE, "no function for merge" },
		{ KV_SPLIT_ROTARY, "no function for split and rotate" },
		{ KV_COPY_PAGE, "no function for copy of a page" },
		{ KV_DEBUG, "no function for debug" },
		{ KV_COMPACT, "no function for compacting copy" },
	};
	struct kv_cache *c;
	size_t i;

	(void)unused;
	kernels_left = -1;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		c = counted_cache((int)cases[i].which);
		assert_int_equal(whole_history(c), -TENON_E_UNSUPPORTED);
		assert_error_has(cases[i].words);
		tenon_object_unref(c);
	}
}

/* ---- sequences */

static void ranges_and_windows_that_cannot_be_are_refused(void **unused)
{
	static const int64_t ranges[][2] = { { -1, 2 }, { 2, 1 }, { 0, 4 } };
	static const int64_t windows[][2] = {
		{ 0, 0 }, { -4, 0 }, { INT64_C(1) << 31, 0 }, { 8, -1 }, { 8, 8 }
	};
	struct kv_config f = kv_config_of(LAYERS, TOKENS, CHUNK);
	const struct tenon_value none = tenon_arg_none();
	struct kv_cache *c;
	size_t i;

	(void)unused;
	f.window = true;
	c = new_cache(&f);
	assert_int_equal(kv_cache_add(c, 0), 0);
	assert_int_equal(run_step(c, 1, 3, NULL), 0);
	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		assert_int_equal(kv_cache_debug(c, 0, ranges[i][0], ranges[i][1], &none, &none),
				 -TENON_E_VALUE);
		assert_error_has("of sequence 0, which has 3");
	}
	assert_int_equal(kv_cache_debug(c, 0, 2, 2, &none, &none), 0);
	for (i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		assert_int_equal(kv_cache_set_window(c, 0, windows[i][0], windows[i][1]),
				 -TENON_E_VALUE);
		assert_error_has("the window is at least 1");
	}
	assert_int_equal(kv_cache_set_window(c, 0, 8, 2), 0);
	assert_int_equal(kv_cache_set_window(c, 0, 9, 2), -TENON_E_USAGE);
	assert_error_has("has a window of 8 tokens");
	/* the cache cannot tell which tokens of the window will still be there */
	assert_int_equal(kv_cache_fork(c, 0, 1, -1), -TENON_E_VALUE);
	assert_error_has("its sliding window keeps the first 2 tokens alone");
	assert_int_equal(kv_cache_fork(c, 0, 1, -2), -TENON_E_VALUE);
	assert_error_has("a fork at -2");
	assert_int_equal(kv_cache_fork(c, 0, 1, 2), 0);
	tenon_object_unref(c);
}

static void trees_that_cannot_be_are_refused(void **unused)
{
	struct kv_config f = kv_config_of(1, 2 * KV_TREE_MOST, KV_TREE_MOST + 1);
	const int64_t id = 0, many = KV_TREE_MOST + 1, two = 2, leaf = -2;
	int64_t tree[KV_TREE_MOST + 1] = { -1 };
	struct kv_cache *c = new_cache(&f);

	(void)unused;
	assert_int_equal(kv_cache_add(c, 0), 0);
	assert_int_equal(kv_cache_begin(c, &id, &many, 1, tree, (size_t)many), -TENON_E_VALUE);
	assert_error_has("a token tree of 257 nodes");
	tree[1] = -2;
	assert_int_equal(kv_cache_begin(c, &id, &two, 1, tree, 2), -TENON_E_VALUE);
	assert_error_has("the parent of node 1 of sequence 0 is -2");
	tree[1] = 1;
	assert_int_equal(kv_cache_begin(c, &id, &two, 1, tree, 2), -TENON_E_VALUE);
	tree[1] = 0;
	assert_int_equal(kv_cache_begin(c, &id, &two, 1, tree, 2), 0);
	assert_int_equal(kv_cache_fork(c, 0, 1, 1), -TENON_E_USAGE);
	assert_int_equal(kv_cache_end(c), 0);
	assert_int_equal(kv_cache_fork(c, 0, 1, 1), -TENON_E_VALUE);
	assert_error_has("which has a token tree that is not committed");
	assert_int_equal(kv_cache_commit(c, &id, &leaf, 1), -TENON_E_VALUE);
	assert_error_has("leaf -2 of sequence 0");
	tenon_object_unref(c);

	f = kv_config_of(1, TOKENS, CHUNK);
	f.rope = KV_ROPE_INLINE;
	c = new_cache(&f);
	assert_int_equal(kv_cache_add(c, 0), 0);
	assert_int_equal(kv_cache_begin(c, &id, &two, 1, tree, 2), -TENON_E_UNSUPPORTED);
	assert_error_has("token trees in a cache with");
	tenon_object_unref(c);
}

/* ---- calls from within */

static struct kv_cache *busy_one;

/* Every call of a cache whose kernel this is. */
static int calls_back(void *self, const struct tenon_value *args, int32_t count,
		      struct tenon_value *ret)
{
	const struct tenon_value none[4] = { { 0 } };
	const struct kv_tensors t = { 0 };
	const int64_t id = 0, one = 1;
	struct tenon_tensor *buffer;
	struct kv_cache *c = busy_one;
	struct kv_step step;
	uint64_t offset;
	int64_t n;
	size_t i;
	const int results[] = {
		kv_cache_clear(c),
		kv_cache_add(c, 1),
		kv_cache_remove(c, 0),
		kv_cache_fork(c, 0, 1, -1),
		kv_cache_pop(c, 0, 1),
		kv_cache_end(c),
		kv_cache_set_window(c, 0, 4, 1),
		kv_cache_begin(c, &id, &one, 1, NULL, 0),
		kv_cache_commit(c, &id, &one, 1),
		kv_cache_attend(c, 0, 1, &t),
		kv_cache_attend_shared(c, 0, 1, &t),
		kv_cache_attend_self(c, 0, 1, &t),
		kv_cache_attend_cross(c, 0, 1, &t),
		kv_cache_append_mla(c, 0, none),
		kv_cache_merge(c, none),
		kv_cache_debug(c, 0, 0, 1, none, none),
		kv_cache_positions(c, &buffer, &offset, &n),
		kv_cache_step(c, &step),
		kv_cache_repeated(c, 1),
	};

	(void)self;
	(void)args;
	(void)count;
	*ret = tenon_arg_none();
	for (i = 0; i < sizeof(results) / sizeof(results[0]); i++)
		assert_int_equal(results[i], -TENON_E_USAGE);
	assert_error_has("the key-value cache is in use");
	return 0;
}

static void calls_from_within_a_kernel_are_refused(void **unused)
{
	struct kv_config f = kv_config_of(LAYERS, TOKENS, CHUNK);

	(void)unused;
	tenon_object_unref(f.callbacks[KV_SPLIT_ROTARY]);
	assert_int_equal(
		tenon_function_create(NULL, calls_back, NULL, &f.callbacks[KV_SPLIT_ROTARY]), 0);
	busy_one = new_cache(&f);
	assert_int_equal(kv_cache_add(busy_one, 0), 0);
	assert_int_equal(run_step(busy_one, 1, 3, NULL), 0);
	assert_int_equal(kv_cache_total_length(busy_one), 3);
	tenon_object_unref(busy_one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_which_there_is_no_cache_are_refused),
		cmocka_unit_test(settings_that_do_not_go_together_are_refused),
		cmocka_unit_test(tensors_that_do_not_fit_the_cache_are_refused),
		cmocka_unit_test(a_lent_tensor_may_have_more_rows_than_the_step),
		cmocka_unit_test(each_kernel_may_fail_at_each_of_its_calls),
		cmocka_unit_test(a_model_without_a_kernel_that_is_needed_is_told_which),
		cmocka_unit_test(ranges_and_windows_that_cannot_be_are_refused),
		cmocka_unit_test(trees_that_cannot_be_are_refused),
		cmocka_unit_test(calls_from_within_a_kernel_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
