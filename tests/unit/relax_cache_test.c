/* SPDX-License-Identifier: MIT */
/* Caches as a program makes and fills them: that of rows, the arguments of the paged one, and what a weak reference keeps of them. */
#include "tests/unit/kv_kernels.h"
#include "tests/unit/relax_builtin_call.h"

static const DLDataType f32 = { TENON_DTYPE_FLOAT, 32, 1 };

/* The call is refused with these words. */
#define REFUSES(status, words, builtin, ...)                                                       \
	do {                                                                                       \
		struct tenon_value refused_;                                                       \
                                                                                                   \
		assert_int_equal(TRY(builtin, &refused_, __VA_ARGS__), status);                    \
		assert_error_has(words);                                                           \
	} while (0)

static struct tenon_value shape_of(const int64_t *extents, size_t count)
{
	struct tenon_shape *s;

	assert_int_equal(tenon_shape_create(extents, count, &s), 0);
	return tenon_arg_object(s);
}

/* ---- the cache of rows */

static float numbers[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
static int64_t two_rows[] = { 2, 2 };

static DLTensor rows_from(int first, int64_t *shape)
{
	return tenon_dltensor(numbers + 2 * first, shape, 2, f32);
}

/* A cache of the first two rows, with room for @room. */
static struct tenon_value new_rows(int64_t room)
{
	const int64_t reserve[] = { room, 2 };
	struct tenon_value s = shape_of(reserve, 2), cache;
	DLTensor t = rows_from(0, two_rows);

	if (TRY(attention_kv_cache_create, &cache, tenon_arg_tensor(&t), s, tenon_arg_int(-1)))
		fail_msg("%s", tenon_error_message());
	tenon_value_release(&s);
	return cache;
}

/* The cache has these rows, each of which begins with its number. */
static void assert_rows(struct tenon_value cache, const float *first, int64_t count)
{
	const struct tenon_tensor *t;
	struct tenon_value view;
	int64_t i;

	assert_int_equal(TRY(attention_kv_cache_view, &view, cache), 0);
	t = (const struct tenon_tensor *)view.as.object;
	assert_int_equal(t->dl.shape[0], count);
	for (i = 0; i < count; i++)
		assert_true(((const float *)t->dl.data)[2 * i] == first[i]);
	tenon_value_release(&view);
}

static void a_cache_of_rows_begins_with_what_it_is_given(void **state)
{
	const int64_t four[] = { 4, 2 }, wide[] = { 4, 3 }, flat[] = { 4 }, below[] = { -1, 2 };
	int64_t gaps[] = { 4, 1 }, many[65], one = 1;
	struct tenon_value s = shape_of(four, 2), other[3], cache;
	DLTensor t = rows_from(0, two_rows), deep;
	int i;

	(void)state;
	other[0] = shape_of(wide, 2);
	other[1] = shape_of(flat, 1);
	other[2] = shape_of(below, 2);
	for (i = 0; i < 3; i++) {
		REFUSES(-TENON_E_VALUE, "does not have the rows", attention_kv_cache_create,
			tenon_arg_tensor(&t), other[i], tenon_arg_int(0));
		tenon_value_release(&other[i]);
	}
	REFUSES(-TENON_E_VALUE, "5 rows in use of 4", attention_kv_cache_create,
		tenon_arg_tensor(&t), s, tenon_arg_int(5));
	t.strides = gaps;
	REFUSES(-TENON_E_VALUE, "a tensor of rows without gaps", attention_kv_cache_create,
		tenon_arg_tensor(&t), s, tenon_arg_int(0));
	t.strides = NULL;
	t.ndim = 0;
	REFUSES(-TENON_E_VALUE, "a tensor of rows", attention_kv_cache_create, tenon_arg_tensor(&t),
		s, tenon_arg_int(0));
	t.ndim = 2;
	assert_int_equal(
		TRY(attention_kv_cache_create, &cache, tenon_arg_tensor(&t), s, tenon_arg_int(1)),
		0);
	assert_rows(cache, (const float[]){ 1 }, 1);
	tenon_value_release(&cache);
	tenon_value_release(&s);
	for (i = 0; i < 65; i++)
		many[i] = one;
	deep = tenon_dltensor(numbers, many, 65, f32);
	s = shape_of(many, 65);
	REFUSES(-TENON_E_VALUE, "65 dimensions", attention_kv_cache_create, tenon_arg_tensor(&deep),
		s, tenon_arg_int(0));
	tenon_value_release(&s);
}

static void a_cache_of_rows_grows(void **state)
{
	struct tenon_value cache = new_rows(0), ret, view, s;
	int64_t three[] = { 3, 2 }, none[] = { 0, 2 }, wide[] = { 2, 3 }, flat[] = { 2 };
	DLTensor t = rows_from(2, three), empty = rows_from(0, none), other;

	(void)state;
	assert_rows(cache, (const float[]){ 1, 3 }, 2);
	assert_int_equal(TRY(attention_kv_cache_append, &ret, cache, tenon_arg_tensor(&t)), 0);
	tenon_value_release(&ret);
	assert_int_equal(TRY(attention_kv_cache_append, &ret, cache, tenon_arg_tensor(&empty)), 0);
	tenon_value_release(&ret);
	assert_rows(cache, (const float[]){ 1, 3, 5, 7, 9 }, 5);
	other = tenon_dltensor(numbers, wide, 2, f32);
	REFUSES(-TENON_E_VALUE, "are not those of the cache", attention_kv_cache_append, cache,
		tenon_arg_tensor(&other));
	other = tenon_dltensor(numbers, flat, 1, f32);
	REFUSES(-TENON_E_VALUE, "are not those of the cache", attention_kv_cache_append, cache,
		tenon_arg_tensor(&other));
	other = rows_from(0, two_rows);
	other.dtype.code = TENON_DTYPE_INT;
	REFUSES(-TENON_E_VALUE, "are not those of the cache", attention_kv_cache_append, cache,
		tenon_arg_tensor(&other));
	other = rows_from(0, two_rows);
	REFUSES(-TENON_E_VALUE, "2 rows; the cache has 5", attention_kv_cache_update, cache,
		tenon_arg_tensor(&other));
	s = shape_of((const int64_t[]){ 5, 2 }, 2);
	assert_int_equal(TRY(attention_kv_cache_view, &view, cache, s), 0);
	tenon_value_release(&view);
	tenon_value_release(&s);
	s = shape_of((const int64_t[]){ 5 }, 1);
	REFUSES(-TENON_E_VALUE, "5 rows of another shape", attention_kv_cache_view, cache, s);
	tenon_value_release(&s);
	tenon_value_release(&cache);
	/* all rows anew */
	cache = new_rows(2);
	other = rows_from(3, two_rows);
	assert_int_equal(TRY(attention_kv_cache_update, &ret, cache, tenon_arg_tensor(&other)), 0);
	tenon_value_release(&ret);
	assert_rows(cache, (const float[]){ 7, 9 }, 2);
	tenon_value_release(&cache);
}

static void rows_of_nothing_take_no_bytes(void **state)
{
	int64_t empty[] = { 2, 0 };
	struct tenon_value s = shape_of(empty, 2), cache, ret;
	DLTensor t = tenon_dltensor(numbers, empty, 2, f32);

	(void)state;
	assert_int_equal(
		TRY(attention_kv_cache_create, &cache, tenon_arg_tensor(&t), s, tenon_arg_int(-1)),
		0);
	assert_int_equal(TRY(attention_kv_cache_append, &ret, cache, tenon_arg_tensor(&t)), 0);
	tenon_value_release(&ret);
	tenon_value_release(&cache);
	tenon_value_release(&s);
}

static void a_ring_of_rows_keeps_its_first(void **state)
{
	static const float turns[][4] = { { 0 }, { 5, 7, 9, 11 }, { 5, 1, 9, 11 } };
	static const int rows[] = { 4, 5, 0 };
	struct tenon_value cache = new_rows(2), ret;
	int64_t one[] = { 1, 2 };
	DLTensor t = rows_from(2, two_rows);
	int i;

	(void)state;
	/* a ring of 4 whose first row stays once it is written */
	assert_int_equal(TRY(attention_kv_cache_window_override_with_sinks, &ret, cache,
			     tenon_arg_tensor(&t), tenon_arg_int(4), tenon_arg_int(1)),
			 0);
	tenon_value_release(&ret);
	for (i = 0; i < 3; i++) {
		t = rows_from(rows[i], one);
		assert_int_equal(TRY(attention_kv_cache_window_override_with_sinks, &ret, cache,
				     tenon_arg_tensor(&t), tenon_arg_int(4), tenon_arg_int(1)),
				 0);
		tenon_value_release(&ret);
		if (i)
			assert_rows(cache, turns[i], 4);
	}
	tenon_value_release(&cache);

	cache = new_rows(2);
	t = rows_from(2, one);
	assert_int_equal(TRY(attention_kv_cache_window_override, &ret, cache, tenon_arg_tensor(&t),
			     tenon_arg_int(2)),
			 0);
	tenon_value_release(&ret);
	assert_rows(cache, (const float[]){ 5, 3 }, 2);
	tenon_value_release(&cache);
}

static void rings_that_cannot_be_are_refused(void **state)
{
	static const int64_t rings[][2] = { { 0, 0 }, { 4, -1 }, { 4, 5 }, { 4, 3 }, { 1, 0 } };
	struct tenon_value cache = new_rows(4);
	DLTensor t = rows_from(2, two_rows), one;
	int64_t single[] = { 1, 2 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rings) / sizeof(rings[0]); i++)
		REFUSES(-TENON_E_VALUE, "2 rows for a ring of",
			attention_kv_cache_window_override_with_sinks, cache, tenon_arg_tensor(&t),
			tenon_arg_int(rings[i][0]), tenon_arg_int(rings[i][1]));
	one = rows_from(2, single);
	REFUSES(-TENON_E_VALUE, "the cache has 2", attention_kv_cache_window_override, cache,
		tenon_arg_tensor(&one), tenon_arg_int(1));
	assert_rows(cache, (const float[]){ 1, 3 }, 2);
	tenon_value_release(&cache);
}

static void rows_of_several_caches_are_removed(void **state)
{
	struct tenon_value caches[] = { new_rows(2), new_rows(4), tenon_arg_int(7) }, list, ret;
	struct tenon_array *pair, *mixed;

	(void)state;
	assert_int_equal(tenon_array_create(caches, 2, &pair), 0);
	assert_int_equal(tenon_array_create(caches, 3, &mixed), 0);
	list = tenon_arg_object(pair);
	REFUSES(-TENON_E_VALUE, "3 rows are removed of 2", attention_kv_cache_array_popn, list,
		tenon_arg_int(3));
	REFUSES(-TENON_E_VALUE, "-1 rows are removed", attention_kv_cache_array_popn, list,
		tenon_arg_int(-1));
	REFUSES(-TENON_E_TYPE, "item 2 is no cache of rows but int", attention_kv_cache_array_popn,
		tenon_arg_object(mixed), tenon_arg_int(1));
	assert_int_equal(TRY(attention_kv_cache_array_popn, &ret, list, tenon_arg_int(1)), 0);
	assert_rows(caches[0], (const float[]){ 1 }, 1);
	assert_rows(caches[1], (const float[]){ 1 }, 1);
	REFUSES(-TENON_E_TYPE, "item 2 is no cache of rows", attention_kv_cache_array_clear,
		tenon_arg_object(mixed));
	assert_int_equal(TRY(attention_kv_cache_array_clear, &ret, list), 0);
	assert_rows(caches[1], NULL, 0);
	tenon_object_unref(mixed);
	tenon_object_unref(pair);
	tenon_value_release(&caches[0]);
	tenon_value_release(&caches[1]);
}

/* ---- the arguments of the paged cache */

#define ARGUMENTS 28

/* Arguments that make a cache; each is to be released. */
static void paged_arguments(struct tenon_value *args)
{
	static const int64_t sizes[] = { 4, 16, 8, 4, 0 }, layers[] = { 0, 1 }, kind = 0, one = 1;
	struct kv_config f = kv_config_of(1, 16, 8);
	struct tenon_value item = tenon_arg_object(f.callbacks[KV_MERGE]);
	struct tenon_tensor *like;
	struct tenon_array *list;
	int i;

	for (i = 0; i < ARGUMENTS; i++)
		args[i] = tenon_arg_int(1);
	args[0] = shape_of(sizes, 5);
	args[1] = shape_of(layers, 2);
	args[2] = tenon_arg_int(Q_HEADS);
	args[4] = args[5] = tenon_arg_int(DIM);
	args[6] = shape_of(&kind, 1);
	args[7] = args[8] = tenon_arg_int(0);
	args[11] = args[13] = args[14] = tenon_arg_none();
	assert_int_equal(tenon_tensor_create(&one, 1, f32, &like), 0);
	args[12] = tenon_arg_object(like);
	for (i = 15; i < 23; i++) {
		assert_int_equal(tenon_array_create(NULL, 0, &list), 0);
		args[i] = tenon_arg_object(list);
	}
	assert_int_equal(tenon_array_create(&item, 1, &list), 0);
	args[23] = tenon_arg_object(list);
	for (i = 24; i < 28; i++)
		assert_int_equal(tenon_value_own(&item, &args[i]), 0);
	kv_drop_kernels(&f);
}

static int make_paged(const struct tenon_value *args, struct tenon_value *ret)
{
	return relax_builtin_paged_attention_kv_cache_create(NULL, args, ARGUMENTS, ret);
}

/* With one other argument, which is released, no cache is made. */
static void refuses_paged(const struct tenon_value *good, int at, struct tenon_value wrong,
			  int status, const char *words)
{
	struct tenon_value args[ARGUMENTS], ret;

	memcpy(args, good, sizeof(args));
	args[at] = wrong;
	assert_int_equal(make_paged(args, &ret), status);
	assert_error_has(words);
	tenon_value_release(&wrong);
}

static struct tenon_value tuple_of(const struct tenon_value *items, size_t count)
{
	struct tenon_array *a;

	assert_int_equal(tenon_array_create(items, count, &a), 0);
	return tenon_arg_object(a);
}

static void arguments_of_which_there_is_no_paged_cache_are_refused(void **state)
{
	const int64_t n[] = { 4, 16, 8, 4, 0, 0, 0 }, far[] = { INT64_MIN, INT64_MAX };
	struct tenon_value good[ARGUMENTS], pair[3], ret, kept;
	int i;

	(void)state;
	paged_arguments(good);
	pair[0] = tenon_arg_string("tirx");
	pair[1] = good[24];
	pair[2] = tenon_arg_int(1);
	refuses_paged(good, 0, shape_of(n, 4), -TENON_E_VALUE, "4 numbers, want 5 or 6");
	refuses_paged(good, 0, shape_of(n, 7), -TENON_E_VALUE, "7 numbers, want 5 or 6");
	/* the sixth is the window of layers */
	refuses_paged(good, 0, shape_of(n, 6), -TENON_E_VALUE, "the window of layers is 0");
	refuses_paged(good, 1, shape_of(n, 3), -TENON_E_UNSUPPORTED, "several workers");
	refuses_paged(good, 1, shape_of(far, 2), -TENON_E_VALUE, "the number of");
	refuses_paged(good, 7, tenon_arg_int(1), -TENON_E_UNSUPPORTED, "transfer of caches");
	refuses_paged(good, 15, tuple_of(pair + 2, 1), -TENON_E_TYPE,
		      "the name of an implementation");
	refuses_paged(good, 15, tuple_of(pair, 1), -TENON_E_TYPE, "one function behind \"tirx\"");
	refuses_paged(good, 15, tuple_of(pair, 3), -TENON_E_TYPE, "one function behind \"tirx\"");
	pair[1] = tenon_arg_int(1);
	refuses_paged(good, 22, tuple_of(pair, 2), -TENON_E_TYPE, "one function behind \"tirx\"");
	pair[0] = tenon_arg_string("flashinfer");
	refuses_paged(good, 15, tuple_of(pair, 2), -TENON_E_UNSUPPORTED,
		      "attention by \"flashinfer\"");
	refuses_paged(good, 23, tuple_of(NULL, 0), -TENON_E_TYPE,
		      "expected functions, at least one");
	refuses_paged(good, 23, tuple_of(pair + 1, 1), -TENON_E_TYPE, "expected functions");

	/* tir is the older name; a second merge, an append and factors may be there */
	pair[0] = tenon_arg_string("tir");
	pair[1] = good[24];
	kept = good[16];
	good[16] = tuple_of(pair, 2);
	tenon_value_release(&kept);
	kept = good[23];
	pair[0] = good[24];
	pair[2] = good[24];
	good[23] = tuple_of(pair, 3);
	tenon_value_release(&kept);
	kept = good[13];
	good[13] = good[24];
	assert_int_equal(make_paged(good, &ret), 0);
	tenon_value_release(&ret);
	good[11] = good[12];
	assert_int_equal(make_paged(good, &ret), -TENON_E_VALUE);
	assert_error_has("extension factors");
	good[8] = tenon_arg_int(KV_ROPE_NORMAL);
	assert_int_equal(make_paged(good, &ret), 0);
	tenon_value_release(&ret);
	good[11] = tenon_arg_none();
	good[13] = kept;
	for (i = 0; i < ARGUMENTS; i++)
		tenon_value_release(&good[i]);
}

/* ---- weak references */

/* An object whose last reference this is lets its contents go, and its memory with the weak one. */
static void ends_in_two_parts(void *object)
{
	tenon_object_ref_weak(object);
	tenon_object_unref(object);
	assert_false(tenon_object_promote(object));
	tenon_object_unref_weak(object);
}

static void a_weak_reference_keeps_the_memory_of_a_cache(void **state)
{
	struct tenon_value args[ARGUMENTS], ret, tuple, six[6];
	int i;

	(void)state;
	ends_in_two_parts(new_rows(2).as.object);
	paged_arguments(args);
	assert_int_equal(make_paged(args, &ret), 0);
	ends_in_two_parts(ret.as.object);
	tuple = tuple_of(&args[12], 1);
	for (i = 0; i < 3; i++)
		six[i] = tenon_arg_int(1);
	six[3] = six[4] = args[23];
	six[5] = tuple;
	assert_int_equal(relax_builtin_rnn_state_create(NULL, six, 6, &ret), 0);
	ends_in_two_parts(ret.as.object);
	tenon_value_release(&tuple);
	for (i = 0; i < ARGUMENTS; i++)
		tenon_value_release(&args[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cache_of_rows_begins_with_what_it_is_given),
		cmocka_unit_test(a_cache_of_rows_grows),
		cmocka_unit_test(rows_of_nothing_take_no_bytes),
		cmocka_unit_test(a_ring_of_rows_keeps_its_first),
		cmocka_unit_test(rings_that_cannot_be_are_refused),
		cmocka_unit_test(rows_of_several_caches_are_removed),
		cmocka_unit_test(arguments_of_which_there_is_no_paged_cache_are_refused),
		cmocka_unit_test(a_weak_reference_keeps_the_memory_of_a_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
