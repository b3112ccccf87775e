/* SPDX-License-Identifier: MIT */
/* The paged key-value cache beside a reference that keeps every sequence as a plain list. */
#include "tests/unit/kv_reference.h"

#include <tenon/device.h>

static void fork_one(struct kv_cache *c)
{
	int from = (int)pick(IDS), to = (int)pick(IDS), err;
	int64_t free, at = lists[from].used && lists[from].length
				   ? pick((uint32_t)lists[from].length + 1)
				   : 0;

	at = pick(4) == 0 ? -1 : at;
	free = kv_cache_free_pages(c);
	err = kv_cache_fork(c, id_of(from), id_of(to), at);
	if (!lists[from].used) {
		assert_int_equal(err, -TENON_E_NOT_FOUND);
	} else if (lists[to].used) {
		assert_int_equal(err, -TENON_E_EXISTS);
	} else if (err) {
		assert_int_equal(err, -TENON_E_OVERFLOW);
		assert_error_has("the key-value cache is full");
		assert_int_equal(free, 0);
		assert_true((at < 0 ? lists[from].length : at) % PAGE);
	} else {
		lists[to] = lists[from];
		lists[to].length = at < 0 ? lists[from].length : at;
		/* whole pages are shared, the one behind them is copied */
		lists[to].pages = (int)(lists[to].length / PAGE);
	}
}

static void pop_one(struct kv_cache *c)
{
	int i = (int)pick(IDS), err;
	int64_t n = lists[i].used ? pick((uint32_t)lists[i].length + 2) : 1;
	int64_t left = lists[i].length - n, free = kv_cache_free_pages(c);
	int page = (int)(left / PAGE), k;
	bool copies;

	for (k = page + 1; k < lists[i].pages; k++)
		free += !is_shared(lists[i].page[k]);
	copies = n > 0 && left > 0 && left % PAGE && is_shared(lists[i].page[page]);
	err = kv_cache_pop(c, id_of(i), n);
	if (!lists[i].used)
		assert_int_equal(err, -TENON_E_NOT_FOUND);
	else if (n > lists[i].length)
		assert_int_equal(err, -TENON_E_VALUE);
	else if (copies && !free)
		assert_int_equal(err, -TENON_E_OVERFLOW);
	else
		assert_int_equal(err, 0);
	if (err)
		return;
	lists[i].length = left;
	if (copies)
		lists[i].pages = page;
}

static void add_one(struct kv_cache *c, int64_t window, int64_t sink)
{
	int i = (int)pick(IDS);

	assert_int_equal(kv_cache_add(c, id_of(i)), lists[i].used ? -TENON_E_EXISTS : 0);
	if (lists[i].used)
		return;
	lists[i] = (struct list){ .used = true, .window = window, .sink = sink };
	if (window)
		assert_int_equal(kv_cache_set_window(c, id_of(i), window, sink), 0);
}

/* Give the lists the pages that they lack, and compare the number of free ones. */
static void check_pages(const struct kv_cache *c, int64_t all)
{
	static int last;
	int i, k, wanted;

	for (i = 0; i < IDS; i++) {
		wanted = (int)pages_of(lists[i].length);
		for (k = lists[i].pages; k < wanted; k++)
			lists[i].page[k] = ++last;
		lists[i].pages = wanted;
	}
	for (i = 0; i < IDS; i++)
		for (k = 0; k < lists[i].pages; k++)
			all -= lists_with(lists[i].page[k], i) == 0;
	assert_int_equal(kv_cache_free_pages(c), all);
}

static void play_histories(int count)
{
	struct kv_config f;
	struct kv_cache *c;
	int64_t pages;
	int i, history;

	for (history = 0; history < count; history++) {
		kv_begin_history((uint64_t)history * 977 + 1);
		f = kv_config_of(LAYERS, TOKENS + pick(64), CHUNK);
		c = new_cache(&f);
		pages = kv_cache_free_pages(c);
		for (i = 0; i < 150; i++) {
			switch (pick(12)) {
			case 0:
			case 1:
				add_one(c, 0, 0);
				break;
			case 2:
				remove_one(c, (int)pick(IDS));
				break;
			case 3:
			case 4:
				fork_one(c);
				break;
			case 5:
				pop_one(c);
				break;
			case 6:
				forward(c, true);
				break;
			default:
				forward(c, false);
			}
			assert_int_equal(kv_cache_total_length(c), total_length());
			check_pages(c, pages);
		}
		check_rows(c);
		end(c, pages);
	}
}

/* Append rows to sequence 0 in a step of its own, without a look at what attention computes. */
static void append_rows(struct kv_cache *c, int64_t rows, const int64_t *tree)
{
	const int64_t id = 0;

	if (kv_cache_begin(c, &id, &rows, 1, tree, tree ? (size_t)rows : 0))
		fail_msg("%s", tenon_error_message());
	attend_rows(c, rows);
}

/* Commit sequence 0: the tokens that it has then are those before with the numbers @want. */
static void assert_commit_keeps(struct kv_cache *c, int64_t leaf, const int *want, int64_t count)
{
	const int64_t id = 0;
	struct kv_rows before = rows_of(c, 0), after;
	int64_t i;
	int layer;

	if (kv_cache_commit(c, &id, &leaf, 1))
		fail_msg("%s", tenon_error_message());
	after = rows_of(c, 0);
	assert_int_equal(after.count, count);
	for (layer = 0; layer < LAYERS; layer++)
		for (i = 0; i < count; i++) {
			assert_memory_equal(after.k[layer][i], before.k[layer][want[i]],
					    sizeof(after.k[layer][i]));
			assert_memory_equal(after.v[layer][i], before.v[layer][want[i]],
					    sizeof(after.v[layer][i]));
		}
}

static void a_commit_keeps_nodes_of_earlier_steps(void **unused)
{
	static const int kept[] = { 0, 1, 2, 3, 4, 6 };
	struct kv_config f = kv_config_of(LAYERS, 16, CHUNK);
	struct kv_cache *c = new_cache(&f);
	const int64_t id = 0, tree[] = { -1, 0, 0, 0 }, behind = 3;

	(void)unused;
	assert_int_equal(kv_cache_add(c, 0), 0);
	append_rows(c, 3, NULL);
	append_rows(c, 1, tree);
	append_rows(c, 3, tree + 1);
	/* the tree has such a node, the last step has none */
	assert_int_equal(kv_cache_commit(c, &id, &behind, 1), -TENON_E_VALUE);
	tenon_error_clear();
	/* the parent of node 2 is node 0: of the last step's three the middle one goes */
	assert_commit_keeps(c, 2, kept, 6);
	tenon_object_unref(c);
}

/* The error of a step without a tree says that there is one: the program commits it then. */
static void a_refused_step_leaves_the_tree_before_it(void **unused)
{
	static const int kept[] = { 0, 1, 2, 3, 5 };
	struct kv_config f = kv_config_of(LAYERS, 16, CHUNK);
	struct kv_cache *c = new_cache(&f);
	const int64_t ids[] = { 0, 9 }, tree[] = { -1, 0, 0, 1, 2 }, five = 5, ones[] = { 1, 1 };
	const int64_t leaf = 3;

	(void)unused;
	assert_int_equal(kv_cache_add(c, 0), 0);
	append_rows(c, 2, NULL);
	assert_int_equal(kv_cache_begin(c, ids, &five, 1, tree, 5), 0);
	assert_int_equal(kv_cache_begin(c, ids, ones, 1, NULL, 0), -TENON_E_VALUE);
	assert_error_has("has a token tree that is not committed");
	assert_int_equal(kv_cache_begin(c, ids, ones, 2, tree, 2), -TENON_E_NOT_FOUND);
	tenon_error_clear();
	/* the step before goes on */
	attend_rows(c, 5);
	assert_int_equal(kv_cache_begin(c, ids, ones, 1, NULL, 0), -TENON_E_VALUE);
	tenon_error_clear();
	assert_commit_keeps(c, leaf, kept, 5);
	assert_int_equal(kv_cache_commit(c, ids, &leaf, 1), -TENON_E_VALUE);
	append_rows(c, 1, NULL);
	tenon_error_clear();
	tenon_object_unref(c);
}

static void a_pop_takes_nodes_of_the_last_step(void **unused)
{
	static const int kept[] = { 0, 1, 2, 3 };
	struct kv_config f = kv_config_of(LAYERS, 16, CHUNK);
	struct kv_cache *c = new_cache(&f);
	const int64_t id = 0, tree[] = { -1, 0, 0, 1, 2 }, leaf = 1;

	(void)unused;
	assert_int_equal(kv_cache_add(c, 0), 0);
	append_rows(c, 3, tree);
	append_rows(c, 2, tree + 3);
	assert_int_equal(kv_cache_pop(c, 0, 1), 0);
	assert_int_equal(kv_cache_commit(c, &id, &leaf, 1), -TENON_E_VALUE);
	assert_error_has("got 1 nodes in the last step");
	tenon_error_clear();
	assert_commit_keeps(c, 0, kept, 4);
	tenon_object_unref(c);
}

/* What a pop left of a tree is as if the popped step had not been: committed, or grown again. */
static void a_tree_whose_last_step_is_popped_is_that_of_the_step_before(void **unused)
{
	static const int kept[] = { 0, 1, 3 }, grown[] = { 0, 1, 2, 3, 4 };
	struct kv_config f = kv_config_of(LAYERS, 16, CHUNK);
	struct kv_cache *c = new_cache(&f);
	const int64_t tree[] = { -1, 0, 0, 1, 2, 3 }, id = 0, behind = 3;

	(void)unused;
	assert_int_equal(kv_cache_add(c, 0), 0);
	append_rows(c, 1, NULL);
	append_rows(c, 4, tree);
	append_rows(c, 2, tree + 4);
	/* the two of the last step, and one more */
	assert_int_equal(kv_cache_pop(c, 0, 3), 0);
	assert_int_equal(kv_cache_commit(c, &id, &behind, 1), -TENON_E_VALUE);
	assert_error_has("got 3 nodes in the last step");
	tenon_error_clear();
	assert_commit_keeps(c, 2, kept, 3);
	append_rows(c, 1, NULL);

	/* a step that fails is popped, and taken again */
	assert_int_equal(kv_cache_pop(c, 0, 3), 0);
	append_rows(c, 1, NULL);
	append_rows(c, 2, tree);
	append_rows(c, 2, tree + 2);
	assert_int_equal(kv_cache_pop(c, 0, 2), 0);
	append_rows(c, 2, tree + 2);
	assert_commit_keeps(c, 0, grown, 5);
	append_rows(c, 1, NULL);
	tenon_object_unref(c);
}

static void assert_same_rows(const struct kv_rows *a, const struct kv_rows *b, int64_t count)
{
	const size_t size = (size_t)count * sizeof(a->k[0][0]);
	int layer;

	assert_true(a->count >= count && b->count >= count);
	for (layer = 0; layer < LAYERS; layer++) {
		assert_memory_equal(a->k[layer], b->k[layer], size);
		assert_memory_equal(a->v[layer], b->v[layer], size);
	}
}

/* A fork shares whole pages, which the step then writes for both, and copies the page that it is in. */
static void a_fork_copies_no_tokens_that_the_step_has_yet_to_write(void **unused)
{
	struct kv_config f = kv_config_of(LAYERS, 40, CHUNK);
	struct kv_cache *c = new_cache(&f);
	struct kv_rows parent, child;
	const int64_t id = 0, seven = 7, one = 1;

	(void)unused;
	assert_int_equal(kv_cache_add(c, 0), 0);
	append_rows(c, 2, NULL);
	assert_int_equal(kv_cache_begin(c, &id, &seven, 1, NULL, 0), 0);
	assert_int_equal(kv_cache_fork(c, 0, 1, -1), -TENON_E_USAGE);
	assert_error_has("copies tokens that the forward step has yet to write");
	assert_int_equal(kv_cache_fork(c, 0, 1, 3), -TENON_E_USAGE);
	assert_int_equal(kv_cache_fork(c, 0, 1, 10), -TENON_E_VALUE);
	assert_int_equal(kv_cache_length(c, 1, &(int64_t){ 0 }), -TENON_E_NOT_FOUND);
	tenon_error_clear();
	/* those before the step, and those of whole pages */
	assert_int_equal(kv_cache_fork(c, 0, 2, 2), 0);
	assert_int_equal(kv_cache_fork(c, 0, 3, 8), 0);
	attend_rows(c, 7);
	assert_int_equal(kv_cache_fork(c, 0, 1, -1), 0);
	parent = rows_of(c, 0);
	child = rows_of(c, 1);
	assert_same_rows(&parent, &child, 9);
	child = rows_of(c, 2);
	assert_same_rows(&parent, &child, 2);
	child = rows_of(c, 3);
	assert_same_rows(&parent, &child, 8);

	/* layers that read keys and values of others write none: the program says when the step ends */
	assert_int_equal(kv_cache_begin(c, &id, &one, 1, NULL, 0), 0);
	assert_int_equal(kv_cache_fork(c, 0, 4, -1), -TENON_E_USAGE);
	tenon_error_clear();
	assert_int_equal(kv_cache_end(c), 0);
	assert_int_equal(kv_cache_fork(c, 0, 4, -1), 0);
	tenon_object_unref(c);
}

static void commits_of_what_no_step_had_are_refused(void **unused)
{
	struct kv_config f = kv_config_of(LAYERS, 16, CHUNK);
	struct kv_cache *c = new_cache(&f);
	const int64_t unknown[] = { 99, 0 }, ids[] = { 1, 2 }, twice[] = { 1, 1 };
	const int64_t ones[] = { 1, 1 }, wrong[] = { 0, 1 }, none[] = { -1, -1 };
	const int64_t roots[] = { -1, -1 };

	(void)unused;
	assert_int_equal(kv_cache_begin(c, unknown, ones, 1, NULL, 0), -TENON_E_NOT_FOUND);
	assert_int_equal(kv_cache_commit(c, unknown, none, 1), -TENON_E_NOT_FOUND);
	assert_int_equal(kv_cache_add(c, 0), 0);
	assert_int_equal(kv_cache_begin(c, unknown, ones, 2, NULL, 0), -TENON_E_NOT_FOUND);
	assert_int_equal(kv_cache_commit(c, unknown, none, 2), -TENON_E_NOT_FOUND);
	assert_int_equal(kv_cache_commit(c, unknown + 1, none, 1), -TENON_E_VALUE);
	assert_int_equal(kv_cache_commit(c, ids, none, 0), -TENON_E_VALUE);

	assert_int_equal(kv_cache_add(c, 1), 0);
	assert_int_equal(kv_cache_add(c, 2), 0);
	assert_int_equal(kv_cache_begin(c, ids, ones, 2, roots, 2), 0);
	assert_int_equal(kv_cache_begin(c, ids, wrong, 2, roots, 2), -TENON_E_VALUE);
	assert_int_equal(kv_cache_commit(c, twice, none, 2), -TENON_E_VALUE);
	assert_int_equal(kv_cache_remove(c, 2), 0);
	assert_int_equal(kv_cache_commit(c, ids, none, 2), -TENON_E_NOT_FOUND);
	/* what is left of the step is still there */
	assert_int_equal(kv_cache_commit(c, ids, none, 1), 0);
	assert_int_equal(kv_cache_total_length(c), 0);
	tenon_error_clear();
	tenon_object_unref(c);
}

static void random_histories_equal_plain_lists(void **unused)
{
	int i;

	(void)unused;
	play_histories(40);
	/* every kernel had its part; trees over pages need two rounds without a commit */
	for (i = 0; i < KV_CALLBACKS; i++)
		if (i != KV_APPEND_MLA && i != KV_TREE_PAGED && i != KV_PREFILL_SLIDING &&
		    i != KV_DECODE_SLIDING && i != KV_PREFILL_MLA && i != KV_MERGE_SECOND &&
		    i != KV_DEBUG)
			assert_true(kv_calls[i] > 0);
}

/* Pages, arrays and work memory are on the device; the kernels, which are none of a compiler, run here. */
static void play_on(const char *uri)
{
	struct tenon_device *device;

	if (tenon_device_open(uri, &device)) {
		print_message("# no history on %s: %s\n", uri, tenon_error_message());
		tenon_error_clear();
		return;
	}
	kv_place = tenon_device_id(device);
	play_histories(3);
	kv_place = (DLDevice){ kDLCPU, 0 };
	print_message("# histories on %s\n", uri);
	tenon_object_unref(device);
	tenon_device_close_all();
}

static void histories_on_devices_equal_plain_lists(void **unused)
{
	(void)unused;
	play_on("opencl:0");
	play_on("vulkan:0");
	play_on("cuda:0");
}

static void sliding_windows_keep_sinks_and_the_last_tokens(void **unused)
{
	struct kv_config f;
	struct kv_cache *c;
	int64_t pages;
	int i, history;

	(void)unused;
	for (history = 0; history < 20; history++) {
		kv_begin_history((uint64_t)history * 31 + 7);
		f = kv_config_of(LAYERS, 6 * 32, CHUNK);
		f.window = true;
		c = new_cache(&f);
		pages = kv_cache_free_pages(c);
		for (i = 0; i < 120; i++) {
			if (pick(6) == 0)
				add_one(c, 5 + pick(20), pick(5));
			else if (pick(15) == 0)
				remove_one(c, (int)pick(IDS));
			else
				forward(c, false);
			assert_int_equal(kv_cache_total_length(c), total_length());
		}
		end(c, pages);
	}
	assert_true(kv_calls[KV_PREFILL_SLIDING] > 0);
}

static void wrong_steps_are_refused_and_change_nothing(void **unused)
{
	struct kv_config f = kv_config_of(LAYERS, 16, CHUNK);
	struct kv_cache *c = new_cache(&f);
	int64_t pages = kv_cache_free_pages(c);
	const int64_t twice[] = { 0, 0 }, ones[] = { 1, 1 }, unknown[] = { 0, 9 };
	const int64_t none[] = { 0 }, large[] = { CHUNK + 1 }, all[] = { CHUNK };
	const int64_t later[] = { 0, 2 }, root[] = { -1, -2 };
	struct kv_tensors t = { 0 };

	(void)unused;
	assert_int_equal(kv_cache_add(c, 0), 0);
	assert_int_equal(kv_cache_attend(c, 0, SCALE, &t), -TENON_E_USAGE);
	assert_int_equal(kv_cache_begin(c, NULL, NULL, 0, NULL, 0), -TENON_E_VALUE);
	assert_int_equal(kv_cache_begin(c, twice, ones, 2, NULL, 0), -TENON_E_VALUE);
	assert_int_equal(kv_cache_begin(c, unknown, ones, 2, NULL, 0), -TENON_E_NOT_FOUND);
	assert_int_equal(kv_cache_begin(c, twice, none, 1, NULL, 0), -TENON_E_VALUE);
	assert_int_equal(kv_cache_begin(c, twice, large, 1, NULL, 0), -TENON_E_VALUE);
	assert_int_equal(kv_cache_begin(c, twice, ones, 1, later, 2), -TENON_E_VALUE);
	assert_int_equal(kv_cache_begin(c, twice, &later[1], 1, root, 2), -TENON_E_VALUE);
	assert_int_equal(kv_cache_fork(c, 0, 1, 1), -TENON_E_VALUE);
	assert_int_equal(kv_cache_pop(c, 0, 1), -TENON_E_VALUE);
	assert_int_equal(kv_cache_pop(c, 0, -1), -TENON_E_VALUE);
	assert_int_equal(kv_cache_set_window(c, 0, 4, 0), -TENON_E_UNSUPPORTED);
	assert_int_equal(kv_cache_commit(c, twice, ones, 1), -TENON_E_VALUE);
	assert_int_equal(kv_cache_total_length(c), 0);
	assert_int_equal(kv_cache_free_pages(c), pages);
	/* 20 tokens fit; the step that does not fit says what is left */
	assert_int_equal(kv_cache_begin(c, twice, all, 1, NULL, 0), 0);
	assert_int_equal(kv_cache_begin(c, twice, all, 1, NULL, 0), -TENON_E_OVERFLOW);
	assert_error_has("2 of 5 pages of 4 tokens are free, 1 sequences have 12 tokens");
	assert_int_equal(kv_cache_total_length(c), CHUNK);
	assert_int_equal(kv_cache_fork(c, 5, 6, 0), -TENON_E_NOT_FOUND);
	assert_int_equal(kv_cache_remove(c, 0), 0);
	assert_int_equal(kv_cache_fork(c, 0, 1, 0), -TENON_E_NOT_FOUND);
	assert_true(kv_cache_is_empty(c));
	tenon_error_clear();
	tenon_object_unref(c);
}

/* 40 sequences share a prefix: it is read once for all, and the decode kernel has the rest. */
static void many_forks_of_a_prefix_are_read_together(void **unused)
{
	struct kv_config f = kv_config_of(LAYERS, 400, 48);
	struct kv_cache *c = new_cache(&f);
	int64_t ids[40], ones[40], length = 12, shape[] = { 40, Q_HEADS, DIM };
	struct tenon_tensor *qkv = random_rows(40), *out;
	struct kv_tensors t = { 0 };
	int i;

	(void)unused;
	assert_int_equal(tenon_tensor_create(shape, 3, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &out),
			 0);
	t.qkv = tenon_arg_object(qkv);
	t.out = tenon_arg_object(out);
	assert_int_equal(kv_cache_add(c, 0), 0);
	ids[0] = 0;
	assert_int_equal(kv_cache_begin(c, ids, &length, 1, NULL, 0), 0);
	assert_int_equal(kv_cache_attend(c, 0, SCALE, &t), 0);
	for (i = 1; i < 40; i++)
		assert_int_equal(kv_cache_fork(c, 0, i, -1), 0);
	for (i = 0; i < 40; i++) {
		ids[i] = i;
		ones[i] = 1;
	}
	memset(kv_calls, 0, sizeof(kv_calls));
	assert_int_equal(kv_cache_begin(c, ids, ones, 40, NULL, 0), 0);
	assert_int_equal(kv_cache_attend(c, 0, SCALE, &t), 0);
	assert_int_equal(kv_calls[KV_PREFILL], 1);
	assert_int_equal(kv_calls[KV_DECODE], 1);
	assert_int_equal(kv_calls[KV_MERGE], 1);
	assert_int_equal(kv_calls[KV_RAGGED], 0);
	assert_int_equal(kv_cache_clear(c), 0);
	assert_true(kv_cache_is_empty(c));
	tenon_object_unref(c);
	tenon_object_unref(qkv);
	tenon_object_unref(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_commit_keeps_nodes_of_earlier_steps),
		cmocka_unit_test(a_refused_step_leaves_the_tree_before_it),
		cmocka_unit_test(a_pop_takes_nodes_of_the_last_step),
		cmocka_unit_test(a_tree_whose_last_step_is_popped_is_that_of_the_step_before),
		cmocka_unit_test(a_fork_copies_no_tokens_that_the_step_has_yet_to_write),
		cmocka_unit_test(commits_of_what_no_step_had_are_refused),
		cmocka_unit_test(random_histories_equal_plain_lists),
		cmocka_unit_test(sliding_windows_keep_sinks_and_the_last_tokens),
		cmocka_unit_test(wrong_steps_are_refused_and_change_nothing),
		cmocka_unit_test(many_forks_of_a_prefix_are_read_together),
		/* the last: where it fails, caches would stay on the device */
		cmocka_unit_test(histories_on_devices_equal_plain_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
