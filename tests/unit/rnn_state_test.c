/* SPDX-License-Identifier: MIT */
/* Recurrent states beside a reference that keeps the versions of each sequence as a plain list. */
#include <string.h>

#include "runtime/kv/rnn_state.h"
#include "tests/unit/suite.h"

#define LAYERS	  2
#define SEQUENCES 3
#define HISTORY	  4
#define WIDTH	  2
#define IDS	  5

/* @versions: values of layer 0, the oldest first; layer 1 has the negative ones */
struct list {
	bool used;
	int count;
	float versions[HISTORY];
};

static struct list lists[IDS];
static int failing = -1; /* kernels before the one that fails, or -1 */
static uint64_t random_state;

static int pick(int below)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (int)((random_state >> 33) % (uint64_t)below);
}

static void *data_of(const struct tenon_value *v)
{
	DLTensor *t;

	assert_int_equal(tenon_value_tensor(v, &t), 0);
	/* compiled code refuses others */
	assert_int_equal(t->byte_offset, 0);
	return t->data;
}

/* What a kernel moves: the current version to the output, or the input to the next one. */
static int move(const struct tenon_value *a, int32_t n, bool writes)
{
	float *storage = data_of(&a[0]), *rows = data_of(&a[3]), *at;
	const int32_t *slots = data_of(&a[1]), *versions = data_of(&a[2]);
	DLTensor *t;
	int64_t i;

	assert_int_equal(n, 4);
	if (failing >= 0 && !failing--)
		return tenon_error(-TENON_E_DEVICE, "the kernel was told to fail");
	assert_int_equal(tenon_value_tensor(&a[1], &t), 0);
	for (i = 0; i < t->shape[0]; i++, rows += WIDTH) {
		at = storage + (slots[i] * HISTORY + (versions[i] + writes) % HISTORY) * WIDTH;
		memcpy(writes ? at : rows, writes ? rows : at, WIDTH * sizeof(float));
	}
	return 0;
}

static int read_rows(void *self, const struct tenon_value *a, int32_t n, struct tenon_value *ret)
{
	(void)self;
	*ret = tenon_arg_none();
	return move(a, n, false);
}

static int write_rows(void *self, const struct tenon_value *a, int32_t n, struct tenon_value *ret)
{
	(void)self;
	*ret = tenon_arg_none();
	return move(a, n, true);
}

static struct tenon_array *one_function(tenon_call_fn call)
{
	struct tenon_function *f;
	struct tenon_array *list;
	struct tenon_value item;

	assert_int_equal(tenon_function_create(NULL, call, NULL, &f), 0);
	item = tenon_arg_object(f);
	assert_int_equal(tenon_array_create(&item, 1, &list), 0);
	tenon_object_unref(f);
	return list;
}

static struct tenon_tensor *rows_of(int64_t rows, int64_t width)
{
	const int64_t shape[] = { rows, width };
	struct tenon_tensor *t;

	assert_int_equal(tenon_tensor_create(shape + (rows ? 0 : 1), rows ? 2 : 1,
					     tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &t),
			 0);
	memset(t->dl.data, 0, (size_t)(rows ? rows : 1) * (size_t)width * sizeof(float));
	return t;
}

static struct rnn_state *state_of(tenon_call_fn getter)
{
	struct rnn_config f = { .layers = LAYERS, .sequences = SEQUENCES, .history = HISTORY };
	struct tenon_tensor *zeros = rows_of(0, WIDTH);
	struct tenon_value item = tenon_arg_object(zeros);
	struct rnn_state *r;

	f.getters = one_function(getter);
	f.setters = one_function(write_rows);
	assert_int_equal(tenon_array_create(&item, 1, &f.initial), 0);
	if (rnn_state_create(&f, &r))
		fail_msg("%s", tenon_error_message());
	tenon_object_unref(zeros);
	tenon_object_unref(f.initial);
	tenon_object_unref(f.setters);
	tenon_object_unref(f.getters);
	memset(lists, 0, sizeof(lists));
	failing = -1;
	return r;
}

static struct rnn_state *new_state(void)
{
	return state_of(read_rows);
}

static int64_t id_of(int i)
{
	return i == 4 ? INT64_C(1) << 40 : i * 3 - 1;
}

static void assert_versions(struct rnn_state *r)
{
	struct tenon_tensor *t;
	float have;
	int i, layer;

	for (i = 0; i < IDS; i++)
		for (layer = 0; lists[i].used && layer < LAYERS; layer++) {
			assert_int_equal(rnn_state_debug(r, layer, 0, id_of(i), &t), 0);
			have = ((float *)t->dl.data)[WIDTH - 1] * (layer ? -1 : 1);
			tenon_object_unref(t);
			if (have != lists[i].versions[lists[i].count - 1])
				fail_msg("sequence %d, layer %d has %g, want %g", i, layer, have,
					 lists[i].versions[lists[i].count - 1]);
		}
}

/* A kernel that writes takes the place of the oldest version. */
static void drop_oldest(struct list *l)
{
	if (l->count == HISTORY)
		memmove(l->versions, l->versions + 1, --l->count * sizeof(float));
}

/* Begin a step of the sequences @which, read and write all layers. Return: the first error. */
static int take_step(struct rnn_state *r, const int *which, int count, int64_t length)
{
	struct tenon_tensor *t = rows_of(count, WIDTH);
	const struct tenon_value v = tenon_arg_object(t);
	float *data = t->dl.data, fresh[IDS] = { 0 };
	int64_t ids[IDS] = { 0 }, lengths[IDS] = { 0 };
	int i, k, layer, err;

	for (i = 0; i < count; i++) {
		ids[i] = id_of(which[i]);
		lengths[i] = length;
		fresh[i] = (float)(1 + pick(1000));
	}
	err = rnn_state_begin(r, ids, lengths, (size_t)count, NULL, 0);
	for (layer = 0; layer < LAYERS && !err; layer++) {
		err = rnn_state_get(r, layer, 0, &v);
		for (i = 0; i < count && !err; i++) {
			struct list *l = &lists[which[i]];

			assert_true(data[i * WIDTH] ==
				    l->versions[l->count - 1] * (layer ? -1.0f : 1.0f));
		}
		for (i = 0; i < count; i++)
			for (k = 0; k < WIDTH; k++)
				data[i * WIDTH + k] = fresh[i] * (layer ? -1.0f : 1.0f);
		if (!err)
			err = rnn_state_set(r, layer, 0, &v);
	}
	if (!err)
		err = rnn_state_end(r);
	for (i = 0; i < count && !err; i++) {
		struct list *l = &lists[which[i]];

		if (length > 1)
			l->count = 0;
		drop_oldest(l);
		l->versions[l->count++] = fresh[i];
	}
	tenon_object_unref(t);
	return err;
}

static void add(struct rnn_state *r, int i)
{
	assert_int_equal(rnn_state_add(r, id_of(i)), 0);
	lists[i] = (struct list){ .used = true, .count = 1 };
}

static int used(void)
{
	int i, n = 0;

	for (i = 0; i < IDS; i++)
		n += lists[i].used;
	return n;
}

/* ---- one operation of a history */

static void add_or_fork(struct rnn_state *r, int from, int to)
{
	int err;

	if (pick(2)) {
		err = rnn_state_add(r, id_of(to));
		if (!err)
			lists[to] = (struct list){ .used = true, .count = 1 };
	} else {
		err = rnn_state_fork(r, id_of(from), id_of(to));
		if (!lists[from].used) {
			assert_int_equal(err, -TENON_E_NOT_FOUND);
			return;
		}
		if (!err)
			lists[to] = lists[from];
	}
	if (err)
		assert_true(err == -TENON_E_EXISTS ||
			    (err == -TENON_E_NOMEM && used() == SEQUENCES));
}

static void pop(struct rnn_state *r, int i)
{
	const int n = pick(HISTORY + 1);
	const int err = rnn_state_pop(r, id_of(i), n);

	if (!lists[i].used) {
		assert_int_equal(err, -TENON_E_NOT_FOUND);
	} else if (n >= lists[i].count) {
		assert_int_equal(err, -TENON_E_VALUE);
		assert_error_has("earlier states are kept");
	} else {
		assert_int_equal(err, 0);
		lists[i].count -= n;
	}
}

static void step(struct rnn_state *r)
{
	int which[IDS], count = 0, i;
	bool fails, wrote;

	for (i = 0; i < IDS; i++)
		if (lists[i].used && pick(3))
			which[count++] = i;
	failing = pick(6) ? -1 : pick(2 * LAYERS);
	fails = failing >= 0;
	wrote = failing > 0;
	if (count)
		assert_int_equal(take_step(r, which, count, pick(5) ? 1 : 3),
				 fails ? -TENON_E_DEVICE : 0);
	failing = -1;
	for (i = 0; i < count && fails && wrote; i++)
		drop_oldest(&lists[which[i]]);
}

static void remove_one(struct rnn_state *r, int i)
{
	assert_int_equal(rnn_state_remove(r, id_of(i)), lists[i].used ? 0 : -TENON_E_NOT_FOUND);
	lists[i].used = false;
}

static void random_histories_equal_plain_lists(void **unused)
{
	struct rnn_state *r;
	int i, history;

	(void)unused;
	for (history = 0; history < 20; history++) {
		random_state = (uint64_t)history * 77 + 1;
		r = new_state();
		for (i = 0; i < 200; i++) {
			switch (pick(8)) {
			case 0:
			case 1:
				add_or_fork(r, pick(IDS), pick(IDS));
				break;
			case 2:
				pop(r, pick(IDS));
				break;
			case 3:
				if (!pick(3))
					remove_one(r, pick(IDS));
				break;
			default:
				step(r);
			}
			assert_versions(r);
		}
		tenon_error_clear();
		tenon_object_unref(r);
	}
}

static void wrong_calls_are_refused_and_change_nothing(void **unused)
{
	static const int all[] = { 0, 1, 2 };
	const int64_t twice[] = { id_of(0), id_of(0) }, ones[] = { 1, 1, 1, 1 }, none = 0;
	const int64_t tree[] = { -1, 0, 0 }, three = 3;
	struct rnn_state *r = new_state();
	struct tenon_tensor *small = rows_of(2, WIDTH);
	const struct tenon_value v = tenon_arg_object(small), text = tenon_arg_int(1);
	struct tenon_tensor *t;
	int i;

	(void)unused;
	for (i = 0; i < SEQUENCES; i++)
		add(r, i);
	for (i = 0; i < 2; i++)
		assert_int_equal(take_step(r, all, SEQUENCES, 1), 0);
	assert_int_equal(rnn_state_get(r, 0, 0, &v), -TENON_E_USAGE);
	assert_error_has("no forward step has begun");
	assert_int_equal(rnn_state_begin(r, NULL, NULL, 0, NULL, 0), -TENON_E_VALUE);
	assert_int_equal(rnn_state_begin(r, twice, ones, 2, NULL, 0), -TENON_E_VALUE);
	assert_int_equal(rnn_state_begin(r, twice, ones, 4, NULL, 0), -TENON_E_VALUE);
	assert_int_equal(rnn_state_begin(r, twice, &none, 1, NULL, 0), -TENON_E_VALUE);
	assert_int_equal(rnn_state_begin(r, twice, &three, 1, tree, 3), -TENON_E_UNSUPPORTED);
	assert_error_has("no chain");
	assert_int_equal(rnn_state_pop(r, id_of(0), 3), -TENON_E_VALUE);
	assert_error_has("3 tokens are popped of sequence -1, of which 2 earlier states are kept");
	assert_int_equal(rnn_state_pop(r, id_of(0), -1), -TENON_E_VALUE);
	assert_int_equal(rnn_state_fork(r, id_of(0), id_of(1)), -TENON_E_EXISTS);
	assert_int_equal(rnn_state_fork(r, id_of(0), id_of(3)), -TENON_E_NOMEM);
	assert_error_has("remove a sequence first");
	assert_int_equal(rnn_state_add(r, id_of(3)), -TENON_E_NOMEM);
	assert_int_equal(rnn_state_debug(r, LAYERS, 0, id_of(0), &t), -TENON_E_VALUE);
	assert_int_equal(rnn_state_debug(r, 0, 1, id_of(0), &t), -TENON_E_VALUE);
	assert_int_equal(rnn_state_debug(r, 0, 0, id_of(4), &t), -TENON_E_NOT_FOUND);
	assert_int_equal(rnn_state_begin(r, (const int64_t[]){ id_of(0), id_of(1), id_of(2) }, ones,
					 3, NULL, 0),
			 0);
	assert_int_equal(rnn_state_get(r, 0, 0, &v), -TENON_E_VALUE);
	assert_error_has("space for 3 sequences");
	assert_int_equal(rnn_state_set(r, -1, 0, &v), -TENON_E_VALUE);
	assert_int_not_equal(rnn_state_set(r, 0, 0, &text), 0);
	assert_versions(r);
	assert_int_equal(take_step(r, all, SEQUENCES, 1), 0);

	/* the place of a removed sequence is free, the sequence is not there */
	remove_one(r, 1);
	assert_int_equal(rnn_state_fork(r, id_of(1), id_of(3)), -TENON_E_NOT_FOUND);
	assert_int_equal(rnn_state_pop(r, id_of(1), 0), -TENON_E_NOT_FOUND);
	assert_int_equal(rnn_state_fork(r, id_of(0), id_of(3)), 0);
	lists[3] = lists[0];
	assert_versions(r);
	tenon_error_clear();
	tenon_object_unref(small);
	tenon_object_unref(r);
}

/* Also the kernel of the last layer: others have written then. */
static void a_kernel_that_fails_leaves_the_versions(void **unused)
{
	static const int both[] = { 0, 1 };
	struct rnn_state *r = new_state();
	int i, k;

	(void)unused;
	add(r, 0);
	add(r, 1);
	for (k = 0; k < 2 * LAYERS; k++) {
		for (i = 0; i < HISTORY; i++)
			assert_int_equal(take_step(r, both, 2, 1), 0);
		failing = k;
		assert_int_equal(take_step(r, both, 2, 1), -TENON_E_DEVICE);
		assert_error_has("function for tensor 0: the kernel was told to fail");
		failing = -1;
		assert_versions(r);
		for (i = 0; i < 2; i++) {
			if (k)
				drop_oldest(&lists[i]);
			assert_int_equal(rnn_state_pop(r, id_of(i), lists[i].count),
					 -TENON_E_VALUE);
			assert_int_equal(rnn_state_pop(r, id_of(i), lists[i].count - 1), 0);
			lists[i].count = 1;
		}
		assert_versions(r);
	}
	assert_int_equal(take_step(r, both, 2, 1), 0);
	assert_versions(r);
	assert_int_equal(rnn_state_clear(r), 0);
	assert_int_equal(rnn_state_remove(r, id_of(0)), -TENON_E_NOT_FOUND);
	tenon_error_clear();
	tenon_object_unref(r);
}

static struct tenon_array *two_of(struct tenon_value first, struct tenon_value second)
{
	struct tenon_array *list;

	assert_int_equal(
		tenon_array_create((const struct tenon_value[]){ first, second }, 2, &list), 0);
	return list;
}

static void assert_no_state(const struct rnn_config *f, int status, const char *words)
{
	struct rnn_state *r;

	assert_int_equal(rnn_state_create(f, &r), status);
	assert_error_has(words);
}

static void numbers_of_which_there_is_no_state_are_refused(void **unused)
{
	const int64_t large = INT64_C(1) << 31;
	const struct {
		int64_t layers, sequences, history;
	} cases[] = {
		{ 0, 1, 1 },	 { 1, 0, 1 },	  { 1, 1, 0 },	       { large, 1, 1 },
		{ 1, large, 1 }, { 1, 1, large }, { INT32_MAX, 1, 1 },
	};
	struct tenon_array *functions = one_function(read_rows);
	struct tenon_tensor *zeros = rows_of(0, WIDTH);
	struct tenon_array *two = two_of(tenon_arg_object(zeros), tenon_arg_object(zeros)), *none;
	struct rnn_config f = { .getters = functions, .setters = functions, .initial = two };
	size_t i;

	(void)unused;
	assert_int_equal(tenon_array_create(NULL, 0, &none), 0);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		f.layers = cases[i].layers;
		f.sequences = cases[i].sequences;
		f.history = cases[i].history;
		assert_no_state(&f, -TENON_E_VALUE, "at least 1");
	}
	f.layers = f.sequences = f.history = 1;
	f.initial = none;
	assert_no_state(&f, -TENON_E_VALUE, "at least 1");
	tenon_object_unref(none);
	tenon_object_unref(two);
	tenon_object_unref(zeros);
	tenon_object_unref(functions);
}

static void functions_and_tensors_that_do_not_fit_are_refused(void **unused)
{
	const int64_t gaps[] = { 2 * WIDTH, 1 };
	struct tenon_array *one = one_function(read_rows);
	struct tenon_array *functions = two_of(one->data[0], one->data[0]);
	struct tenon_array *mixed = two_of(one->data[0], tenon_arg_int(1));
	struct tenon_tensor *zeros = rows_of(0, WIDTH), *rows = rows_of(2, WIDTH);
	struct tenon_array *two = two_of(tenon_arg_object(zeros), tenon_arg_object(rows));
	struct tenon_array *numbers = two_of(tenon_arg_object(zeros), tenon_arg_int(1));
	const struct rnn_config good = { .layers = 1,
					 .sequences = 1,
					 .history = 1,
					 .getters = functions,
					 .setters = functions,
					 .initial = two };
	const DLTensor kept = rows->dl;
	struct rnn_config f = good;

	(void)unused;
	f.getters = one;
	assert_no_state(&f, -TENON_E_TYPE, "a function to read");
	f = good;
	f.setters = mixed;
	assert_no_state(&f, -TENON_E_TYPE, "a function to read");
	f = good;
	f.initial = numbers;
	assert_no_state(&f, -TENON_E_TYPE, "initial value 1");
	rows->dl.strides = (int64_t *)(uintptr_t)gaps;
	assert_no_state(&good, -TENON_E_TYPE, "initial value 1");
	rows->dl = kept;
	rows->dl.device.device_type = (DLDeviceType)2;
	assert_no_state(&good, -TENON_E_TYPE, "initial value 1");
	rows->dl = kept;
	tenon_object_unref(numbers);
	tenon_object_unref(two);
	tenon_object_unref(rows);
	tenon_object_unref(zeros);
	tenon_object_unref(mixed);
	tenon_object_unref(functions);
	tenon_object_unref(one);
}

/* A step goes on where another one is refused. */
static void a_refused_step_leaves_the_one_that_runs(void **unused)
{
	struct rnn_state *r = new_state();
	struct tenon_tensor *row = rows_of(1, WIDTH);
	const struct tenon_value v = tenon_arg_object(row);
	const int64_t ids[] = { id_of(0), id_of(4) }, ones[] = { 1, 1 }, tree[] = { 0 };

	(void)unused;
	add(r, 0);
	assert_int_equal(rnn_state_begin(r, ids, ones, 1, NULL, 0), 0);
	((float *)row->dl.data)[WIDTH - 1] = 5;
	assert_int_equal(rnn_state_set(r, 0, 0, &v), 0);
	assert_int_equal(rnn_state_begin(r, ids, ones, 2, NULL, 0), -TENON_E_NOT_FOUND);
	assert_int_equal(rnn_state_begin(r, ids, ones, 1, tree, 1), -TENON_E_UNSUPPORTED);
	((float *)row->dl.data)[WIDTH - 1] = -5;
	assert_int_equal(rnn_state_set(r, 1, 0, &v), 0);
	assert_int_equal(rnn_state_end(r), 0);
	lists[0].versions[lists[0].count++] = 5;
	assert_versions(r);
	tenon_error_clear();
	tenon_object_unref(row);
	tenon_object_unref(r);
}

/* The step that runs is the parent's: its end is no step of the child. */
static void a_fork_within_a_step_has_the_version_before(void **unused)
{
	struct rnn_state *r = new_state();
	struct tenon_tensor *row = rows_of(1, WIDTH);
	const struct tenon_value v = tenon_arg_object(row);
	const int64_t id = id_of(0), one = 1;
	int layer;

	(void)unused;
	add(r, 0);
	assert_int_equal(rnn_state_begin(r, &id, &one, 1, NULL, 0), 0);
	for (layer = 0; layer < LAYERS; layer++) {
		((float *)row->dl.data)[WIDTH - 1] = layer ? -5 : 5;
		assert_int_equal(rnn_state_set(r, layer, 0, &v), 0);
	}
	assert_int_equal(rnn_state_fork(r, id, id_of(1)), 0);
	lists[1] = lists[0];
	assert_int_equal(rnn_state_end(r), 0);
	lists[0].versions[lists[0].count++] = 5;
	assert_versions(r);
	assert_int_equal(rnn_state_pop(r, id_of(1), 1), -TENON_E_VALUE);
	tenon_error_clear();
	tenon_object_unref(row);
	tenon_object_unref(r);
}

static struct rnn_state *busy_one;

/* Every call of a state whose function this is. */
static int calls_back(void *self, const struct tenon_value *args, int32_t count,
		      struct tenon_value *ret)
{
	const struct tenon_value none = tenon_arg_none();
	const int64_t id = id_of(0), one = 1;
	struct rnn_state *r = busy_one;
	struct tenon_tensor *t;
	const int results[] = {
		rnn_state_clear(r),
		rnn_state_add(r, id_of(1)),
		rnn_state_remove(r, id),
		rnn_state_fork(r, id, id_of(1)),
		rnn_state_pop(r, id, 0),
		rnn_state_begin(r, &id, &one, 1, NULL, 0),
		rnn_state_end(r),
		rnn_state_get(r, 0, 0, &none),
		rnn_state_set(r, 0, 0, &none),
		rnn_state_debug(r, 0, 0, id, &t),
	};
	size_t i;

	(void)self;
	(void)args;
	(void)count;
	*ret = tenon_arg_none();
	for (i = 0; i < sizeof(results) / sizeof(results[0]); i++)
		assert_int_equal(results[i], -TENON_E_USAGE);
	assert_error_has("the recurrent state is in use");
	return 0;
}

static void calls_from_within_a_function_are_refused(void **unused)
{
	struct rnn_state *r = busy_one = state_of(calls_back);
	struct tenon_tensor *row = rows_of(1, WIDTH);
	const struct tenon_value v = tenon_arg_object(row);
	const int64_t id = id_of(0), one = 1;

	(void)unused;
	add(r, 0);
	assert_int_equal(rnn_state_begin(r, &id, &one, 1, NULL, 0), 0);
	assert_int_equal(rnn_state_get(r, 0, 0, &v), 0);
	assert_int_equal(rnn_state_end(r), 0);
	assert_int_equal(rnn_state_pop(r, id, 1), 0);
	tenon_object_unref(row);
	tenon_object_unref(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_histories_equal_plain_lists),
		cmocka_unit_test(wrong_calls_are_refused_and_change_nothing),
		cmocka_unit_test(numbers_of_which_there_is_no_state_are_refused),
		cmocka_unit_test(functions_and_tensors_that_do_not_fit_are_refused),
		cmocka_unit_test(a_refused_step_leaves_the_one_that_runs),
		cmocka_unit_test(a_fork_within_a_step_has_the_version_before),
		cmocka_unit_test(a_kernel_that_fails_leaves_the_versions),
		cmocka_unit_test(calls_from_within_a_function_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
