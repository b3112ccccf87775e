/* SPDX-License-Identifier: MIT */
/* The paged key-value cache beside a reference that keeps every sequence as a plain list. */
#include "tests/unit/kv_kernels.h"

#include <stdlib.h>
#include <tenon/device.h>

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
};

static struct list lists[IDS];
static struct kv_cache *new_cache(struct kv_config *f)
{
	struct kv_cache *c;

	if (kv_cache_create(f, &c))
		fail_msg("%s", tenon_error_message());
	kv_drop_kernels(f);
	memset(lists, 0, sizeof(lists));
	kv_failing = -1;
	return c;
}

static int64_t id_of(int i)
{
	return i == 5 ? INT64_C(1) << 40 : i == 4 ? -7 : i * 3;
}

static struct tenon_tensor *random_rows(int64_t rows)
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

static int32_t position_of(const struct step *s, int64_t base, int64_t at, int64_t k)
{
	int32_t depth = 0;

	if (!s->is_tree)
		return (int32_t)(base + k);
	for (; s->tree[at + k] >= 0; k = s->tree[at + k])
		depth++;
	return (int32_t)base + depth;
}

static bool sees(const struct step *s, int64_t at, int64_t k, int64_t j)
{
	if (!s->is_tree)
		return j <= k;
	while (k > j && k >= 0)
		k = s->tree[at + k];
	return k == j;
}

/* Append the rows of a layer to the reference and compare attention of each. */
static void check_member(const struct step *s, int m, int64_t at, int layer, const float *qkv,
			 const float *out, int64_t before)
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
static struct tenon_tensor *placed(struct tenon_tensor *t)
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
static void attend(struct kv_cache *c, const struct step *s)
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

static struct step random_step(bool tree)
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
static void commit(struct kv_cache *c, const struct step *s)
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

static int64_t total_length(void)
{
	int64_t sum = 0;
	int i;

	for (i = 0; i < IDS; i++)
		sum += lists[i].used ? lists[i].length : 0;
	return sum;
}

/* What windows leave of a list. */
static void slide(struct list *l)
{
	int64_t gone = l->length - l->window;

	if (!l->window || gone <= 0)
		return;
	memmove(&l->tokens[l->sink], &l->tokens[l->sink + gone],
		(size_t)(l->length - l->sink - gone) * sizeof(l->tokens[0]));
	l->length = l->window;
}

static void forward(struct kv_cache *c, bool tree)
{
	struct step s = random_step(tree);
	int64_t pages = kv_cache_free_pages(c);
	int m, err;

	if (!s.count)
		return;
	err = kv_cache_begin(c, s.ids, s.lengths, (size_t)s.count, tree ? s.tree : NULL,
			     tree ? (size_t)s.total : 0);
	if (err) {
		/* full: nothing changed */
		assert_int_equal(err, -TENON_E_OVERFLOW);
		assert_error_has("the key-value cache is full");
		assert_int_equal(kv_cache_free_pages(c), pages);
		return;
	}
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

static void fork_one(struct kv_cache *c)
{
	int from = (int)pick(IDS), to = (int)pick(IDS), err;
	int64_t at =
		lists[from].used && lists[from].length ? pick((uint32_t)lists[from].length + 1) : 0;

	at = pick(4) == 0 ? -1 : at;
	err = kv_cache_fork(c, id_of(from), id_of(to), at);
	if (!lists[from].used) {
		assert_int_equal(err, -TENON_E_NOT_FOUND);
	} else if (lists[to].used) {
		assert_int_equal(err, -TENON_E_EXISTS);
	} else if (err) {
		assert_int_equal(err, -TENON_E_OVERFLOW);
		assert_error_has("the key-value cache is full");
	} else {
		lists[to] = lists[from];
		lists[to].length = at < 0 ? lists[from].length : at;
	}
}

static void pop_one(struct kv_cache *c)
{
	int i = (int)pick(IDS), err;
	int64_t n = lists[i].used ? pick((uint32_t)lists[i].length + 2) : 1;

	err = kv_cache_pop(c, id_of(i), n);
	if (!lists[i].used)
		assert_int_equal(err, -TENON_E_NOT_FOUND);
	else if (n > lists[i].length)
		assert_int_equal(err, -TENON_E_VALUE);
	else if (err)
		assert_int_equal(err, -TENON_E_OVERFLOW);
	else
		lists[i].length -= n;
}

static void remove_one(struct kv_cache *c, int i)
{
	assert_int_equal(kv_cache_remove(c, id_of(i)), lists[i].used ? 0 : -TENON_E_NOT_FOUND);
	lists[i].used = false;
	lists[i].length = lists[i].window = 0;
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

/* All sequences gone, all pages free. */
static void end(struct kv_cache *c, int64_t pages)
{
	int i;

	for (i = 0; i < IDS; i++)
		remove_one(c, i);
	assert_true(kv_cache_is_empty(c));
	assert_int_equal(kv_cache_free_pages(c), pages);
	tenon_error_clear();
	tenon_object_unref(c);
}

static void play_histories(int count)
{
	struct kv_config f;
	struct kv_cache *c;
	int64_t pages;
	int i, history;

	for (history = 0; history < count; history++) {
		kv_state = (uint64_t)history * 977 + 1;
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
		}
		end(c, pages);
	}
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
		kv_state = (uint64_t)history * 31 + 7;
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

/* Begin a step, and compare attention of all layers. */
static void take_step(struct kv_cache *c, const struct step *s)
{
	int m;

	if (kv_cache_begin(c, s->ids, s->lengths, (size_t)s->count, NULL, 0))
		fail_msg("%s", tenon_error_message());
	attend(c, s);
	for (m = 0; m < s->count; m++)
		lists[s->member[m]].length += s->lengths[m];
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
		cmocka_unit_test(random_histories_equal_plain_lists),
		cmocka_unit_test(sliding_windows_keep_sinks_and_the_last_tokens),
		cmocka_unit_test(failing_kernels_leave_a_cache_that_works),
		cmocka_unit_test(wrong_steps_are_refused_and_change_nothing),
		cmocka_unit_test(pages_that_run_out_within_a_batch_change_nothing),
		cmocka_unit_test(kernels_that_read_earlier_tokens_may_fail),
		cmocka_unit_test(a_pop_whose_copy_fails_cuts_the_sequence_to_whole_pages),
		cmocka_unit_test(a_commit_whose_kernel_fails_leaves_drafts_that_can_be_popped),
		cmocka_unit_test(many_forks_of_a_prefix_are_read_together),
		/* the last: where it fails, caches would stay on the device */
		cmocka_unit_test(histories_on_devices_equal_plain_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
