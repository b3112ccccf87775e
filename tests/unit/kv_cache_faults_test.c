/* SPDX-License-Identifier: MIT */
/* The paged key-value cache when kernels fail, or pages run out: it works afterwards. */
#include "tests/nomem/failing_malloc.h"
#include "tests/unit/kv_reference.h"

/* A kernel that fails leaves a cache that works. */
static void failing_kernels_leave_a_cache_that_works(void **unused)
{
	static const enum kv_callback which[] = { KV_SPLIT_ROTARY, KV_APPEND, KV_DECODE,
						  KV_RAGGED };
	struct kv_config f = kv_config_of(LAYERS, TOKENS, CHUNK);
	struct kv_cache *c = new_cache(&f);
	const int64_t id = 0, two = 2, one = 1;
	int64_t pages = kv_cache_free_pages(c), shape[] = { 2, Q_HEADS, DIM };
	struct kv_tensors t = { 0 };
	struct tenon_tensor *qkv = random_rows(2), *out;
	size_t i;

	(void)unused;
	kv_state = 1;
	assert_int_equal(tenon_tensor_create(shape, 3, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &out),
			 0);
	t.qkv = tenon_arg_object(qkv);
	t.out = tenon_arg_object(out);
	lists[0].used = true;
	assert_int_equal(kv_cache_add(c, 0), 0);
	for (i = 0; i < 4; i++) {
		assert_int_equal(
			kv_cache_begin(c, &id, which[i] == KV_DECODE ? &one : &two, 1, NULL, 0), 0);
		kv_failing = (int)which[i];
		assert_int_equal(kv_cache_attend(c, 0, SCALE, &t), -TENON_E_DEVICE);
		assert_error_has("the kernel was told to fail");
		kv_failing = -1;
		assert_int_equal(kv_cache_pop(c, 0, which[i] == KV_DECODE ? 1 : 2), 0);
		assert_int_equal(kv_cache_free_pages(c), pages);
		forward(c, false);
		assert_int_equal(kv_cache_pop(c, 0, lists[0].length), 0);
		lists[0].length = 0;
	}
	/* a fork whose copy fails is none */
	assert_int_equal(kv_cache_begin(c, &id, &two, 1, NULL, 0), 0);
	assert_int_equal(kv_cache_end(c), 0);
	kv_failing = KV_COPY_PAGE;
	assert_int_equal(kv_cache_fork(c, 0, id_of(1), 1), -TENON_E_DEVICE);
	kv_failing = -1;
	assert_int_equal(kv_cache_pop(c, 0, 2), 0);
	assert_int_equal(kv_cache_fork(c, 0, id_of(1), 0), 0);
	lists[1].used = true;
	end(c, pages);
	tenon_object_unref(qkv);
	tenon_object_unref(out);
}

/* Five pages of four tokens: the first sequences of a step get pages, the last one does not. */
static void pages_that_run_out_within_a_batch_change_nothing(void **unused)
{
	struct kv_config f = kv_config_of(LAYERS, 16, CHUNK);
	struct kv_cache *c = new_cache(&f);
	int64_t pages = kv_cache_free_pages(c);
	struct step s = { .count = 3,
			  .member = { 0, 1, 2 },
			  .ids = { id_of(0), id_of(1), id_of(2) },
			  .lengths = { 4, 4, 4 },
			  .total = 12 };
	int i;

	(void)unused;
	kv_state = 3;
	for (i = 0; i < 3; i++) {
		assert_int_equal(kv_cache_add(c, id_of(i)), 0);
		lists[i].used = true;
	}
	take_step(c, &s);
	for (i = 0; i < 3; i++)
		s.lengths[i] = 1;
	assert_int_equal(kv_cache_begin(c, s.ids, s.lengths, 3, NULL, 0), -TENON_E_OVERFLOW);
	assert_error_has("the key-value cache is full");
	assert_int_equal(kv_cache_free_pages(c), pages - 3);
	assert_int_equal(kv_cache_total_length(c), 12);
	s.count = s.total = 2;
	take_step(c, &s);
	assert_int_equal(kv_cache_free_pages(c), 0);

	/* a fork within a page needs one more: without it there is no child, and the parent goes on */
	assert_int_equal(kv_cache_fork(c, id_of(0), id_of(3), 2), -TENON_E_OVERFLOW);
	assert_int_equal(kv_cache_remove(c, id_of(3)), -TENON_E_NOT_FOUND);
	assert_int_equal(kv_cache_pop(c, id_of(1), 6), -TENON_E_VALUE);
	assert_int_equal(kv_cache_total_length(c), 14);
	take_step(c, &s);

	/* what a removed sequence had can be used, the sequence itself cannot */
	remove_one(c, 2);
	assert_int_equal(kv_cache_fork(c, id_of(2), id_of(3), 1), -TENON_E_NOT_FOUND);
	assert_int_equal(kv_cache_fork(c, id_of(0), id_of(3), 2), 0);
	lists[3] = lists[0];
	lists[3].length = 2;
	s.member[1] = 3;
	s.ids[1] = id_of(3);
	take_step(c, &s);
	end(c, pages);
}

/* Attention over what earlier steps wrote: each kernel fails once, and the step is taken again. */
static void kernels_that_read_earlier_tokens_may_fail(void **unused)
{
	static const enum kv_callback which[] = { KV_RAGGED, KV_PREFILL, KV_MERGE };
	struct kv_config f = kv_config_of(LAYERS, TOKENS, CHUNK);
	struct kv_cache *c = new_cache(&f);
	int64_t pages = kv_cache_free_pages(c), shape[] = { 2, Q_HEADS, DIM };
	struct step s = {
		.count = 1, .member = { 0 }, .ids = { id_of(0) }, .lengths = { 6 }, .total = 6
	};
	struct tenon_tensor *qkv = random_rows(2), *out;
	struct kv_tensors t = { 0 };
	size_t i;

	(void)unused;
	kv_state = 5;
	assert_int_equal(tenon_tensor_create(shape, 3, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &out),
			 0);
	t.qkv = tenon_arg_object(qkv);
	t.out = tenon_arg_object(out);
	lists[0].used = true;
	assert_int_equal(kv_cache_add(c, id_of(0)), 0);
	take_step(c, &s);
	s.lengths[0] = s.total = 2;
	for (i = 0; i < sizeof(which) / sizeof(which[0]); i++) {
		assert_int_equal(kv_cache_begin(c, s.ids, s.lengths, 1, NULL, 0), 0);
		kv_failing = (int)which[i];
		assert_int_equal(kv_cache_attend(c, 0, SCALE, &t), -TENON_E_DEVICE);
		assert_error_has("the kernel was told to fail");
		kv_failing = -1;
		assert_int_equal(kv_cache_pop(c, id_of(0), 2), 0);
		take_step(c, &s);
	}
	end(c, pages);
	tenon_object_unref(qkv);
	tenon_object_unref(out);
}

/* A pop inside a page that a fork shares copies the rest of the page: without the copy, that is gone too. */
static void a_pop_whose_copy_fails_cuts_the_sequence_to_whole_pages(void **unused)
{
	struct kv_config f = kv_config_of(LAYERS, TOKENS, CHUNK);
	struct kv_cache *c = new_cache(&f);
	int64_t pages = kv_cache_free_pages(c);
	struct step s = { .count = 1,
			  .member = { 0, 1 },
			  .ids = { id_of(0), id_of(1) },
			  .lengths = { 10, 1 },
			  .total = 10 };

	(void)unused;
	kv_state = 6;
	lists[0].used = true;
	assert_int_equal(kv_cache_add(c, id_of(0)), 0);
	take_step(c, &s);
	assert_int_equal(kv_cache_fork(c, id_of(0), id_of(1), 10), 0);
	lists[1] = lists[0];
	s.count = 2;
	s.lengths[0] = 1;
	s.total = 2;
	take_step(c, &s);
	kv_failing = KV_COPY_PAGE;
	assert_int_equal(kv_cache_pop(c, id_of(1), 5), -TENON_E_DEVICE);
	kv_failing = -1;
	assert_error_has("is cut to 4 tokens");
	lists[1].length = 4;
	assert_int_equal(kv_cache_total_length(c), total_length());
	take_step(c, &s);
	take_step(c, &s);
	end(c, pages);
}

/* A draft of three tokens, of which the first and the third are accepted: the third has to move. */
static void a_commit_whose_kernel_fails_leaves_drafts_that_can_be_popped(void **unused)
{
	struct kv_config f = kv_config_of(LAYERS, TOKENS, CHUNK);
	struct kv_cache *c = new_cache(&f);
	int64_t pages = kv_cache_free_pages(c), leaf = 2;
	struct step s = {
		.count = 1, .member = { 0 }, .ids = { id_of(0) }, .lengths = { 5 }, .total = 5
	};
	struct step draft = { .count = 1,
			      .member = { 0 },
			      .ids = { id_of(0) },
			      .lengths = { 3 },
			      .total = 3,
			      .tree = { -1, 0, 0 },
			      .is_tree = true };

	(void)unused;
	kv_state = 7;
	lists[0].used = true;
	assert_int_equal(kv_cache_add(c, id_of(0)), 0);
	take_step(c, &s);
	assert_int_equal(kv_cache_begin(c, draft.ids, draft.lengths, 1, draft.tree, 3), 0);
	attend(c, &draft);
	kv_failing = KV_COMPACT;
	assert_int_equal(kv_cache_commit(c, draft.ids, &leaf, 1), -TENON_E_DEVICE);
	kv_failing = -1;
	assert_error_has("the kernel was told to fail");
	assert_int_equal(kv_cache_total_length(c), 8);
	assert_int_equal(kv_cache_pop(c, id_of(0), 3), 0);
	s.lengths[0] = s.total = 2;
	take_step(c, &s);
	assert_int_equal(kv_cache_begin(c, draft.ids, draft.lengths, 1, draft.tree, 3), 0);
	attend(c, &draft);
	commit(c, &draft);
	take_step(c, &s);
	end(c, pages);
}

/* The step has one block more than the one before, so that it needs memory for views. */
static void a_step_without_memory_leaves_the_tree_before_it(void **unused)
{
	struct kv_config f;
	struct kv_cache *c;
	const int64_t ids[] = { 0, 1 }, other = 2, ones[] = { 1, 1 }, four = 4, five = 5;
	const int64_t tree[] = { -1, 0, 0, 1, 2 }, more[] = { 4, -1 }, leaf = 3;
	int64_t length;
	long n = 0;
	int err = -TENON_E_NOMEM;

	(void)unused;
	if (!failing_malloc_works())
		skip();
	while (err) {
		f = kv_config_of(LAYERS, TOKENS, CHUNK);
		c = new_cache(&f);
		assert_int_equal(kv_cache_add(c, 0), 0);
		assert_int_equal(kv_cache_add(c, 2), 0);
		assert_int_equal(kv_cache_begin(c, &other, &four, 1, NULL, 0), 0);
		assert_int_equal(kv_cache_fork(c, 2, 1, -1), 0);
		assert_int_equal(kv_cache_begin(c, ids, &five, 1, tree, 5), 0);
		failing_malloc_start(++n);
		err = kv_cache_begin(c, ids, ones, 2, more, 2);
		failing_malloc_stop();
		if (err) {
			assert_int_equal(err, -TENON_E_NOMEM);
			assert_int_equal(kv_cache_total_length(c), 4 + 4 + 5);
			assert_int_equal(kv_cache_commit(c, ids, &leaf, 1), 0);
			assert_int_equal(kv_cache_length(c, 0, &length), 0);
			assert_int_equal(length, 3);
		}
		tenon_error_clear();
		tenon_object_unref(c);
	}
	/* the lists of members, blocks and nodes, and views after them */
	assert_true(n > 4);
}

/* The window keeps four of the twelve tokens of a step; none stays where the step fails. */
static void a_step_without_memory_leaves_no_tokens_in_a_window(void **unused)
{
	struct kv_config f;
	struct kv_cache *c;
	const int64_t id = 0, all = CHUNK;
	int64_t pages;
	long n = 0;
	int err = -TENON_E_NOMEM;

	(void)unused;
	if (!failing_malloc_works())
		skip();
	while (err) {
		f = kv_config_of(LAYERS, TOKENS, CHUNK);
		f.window = true;
		c = new_cache(&f);
		pages = kv_cache_free_pages(c);
		assert_int_equal(kv_cache_add(c, 0), 0);
		assert_int_equal(kv_cache_set_window(c, 0, 4, 1), 0);
		failing_malloc_start(++n);
		err = kv_cache_begin(c, &id, &all, 1, NULL, 0);
		failing_malloc_stop();
		if (err) {
			assert_int_equal(err, -TENON_E_NOMEM);
			assert_int_equal(kv_cache_total_length(c), 0);
			assert_int_equal(kv_cache_free_pages(c), pages);
		}
		tenon_error_clear();
		tenon_object_unref(c);
	}
	assert_true(n > 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failing_kernels_leave_a_cache_that_works),
		cmocka_unit_test(pages_that_run_out_within_a_batch_change_nothing),
		cmocka_unit_test(kernels_that_read_earlier_tokens_may_fail),
		cmocka_unit_test(a_pop_whose_copy_fails_cuts_the_sequence_to_whole_pages),
		cmocka_unit_test(a_commit_whose_kernel_fails_leaves_drafts_that_can_be_popped),
		cmocka_unit_test(a_step_without_memory_leaves_the_tree_before_it),
		cmocka_unit_test(a_step_without_memory_leaves_no_tokens_in_a_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
