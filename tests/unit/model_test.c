/* SPDX-License-Identifier: MIT */
/* Models that TVM exported, through the one face that all executors have. */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>

#include <tenon/backend/buffer.h>
#include <tenon/backend/cursor.h>
#include <tenon/error.h>
#include "graph_library.h"

#define DATA "tests/interop/data/"

static struct tenon_slice whole_file(const char *name)
{
	static char bytes[2][1 << 17] __attribute__((aligned(128)));
	static int turn;
	struct tenon_slice s;
	FILE *f = fopen(name, "rb");

	if (!f)
		skip();
	turn = !turn;
	s.data = bytes[turn];
	s.size = fread(bytes[turn], 1, sizeof(bytes[turn]), f);
	fclose(f);
	return s;
}

/* the numbers of a .npy file of float32 */
static const float *floats_in(const char *name)
{
	struct tenon_slice npy = whole_file(name);

	return (const float *)(const void *)(npy.data + 10 + (unsigned char)npy.data[8] +
					     256 * (unsigned char)npy.data[9]);
}

static struct tenon_module *load(const char *file)
{
	struct tenon_module *root;

#ifndef __x86_64__
	skip();
#endif
	if (tenon_module_load(file, &root))
		fail_msg("%s", tenon_error_message());
	return root;
}

static void assert_near(struct tenon_model *model, const char *npy, size_t count)
{
	const float *want = floats_in(npy), *got;
	struct tenon_value v;
	DLTensor *t;
	size_t i;

	assert_int_equal(tenon_model_output_value(model, 0, &v), 0);
	assert_int_equal(tenon_value_tensor(&v, &t), 0);
	assert_int_equal(elements_of(t), count);
	got = t->data;
	for (i = 0; i < count; i++)
		if (!(got[i] - want[i] < 1e-6f && want[i] - got[i] < 1e-6f))
			fail_msg("output %zu is %g, want %g", i, (double)got[i], (double)want[i]);
	tenon_value_release(&v);
}

static void run_fixture(const char *folder, const char *file, size_t outputs)
{
	struct tenon_model *model;
	struct tenon_module *root;
	char path[300];

	snprintf(path, sizeof(path), DATA "%s/%s", folder, file);
	root = load(path);
	if (tenon_model_open(root, NULL, &model))
		fail_msg("%s", tenon_error_message());
	tenon_object_unref(root);
	snprintf(path, sizeof(path), DATA "%s/in_x.npy", folder);
	set_floats(model, "x", floats_in(path));
	assert_int_equal(tenon_model_run(model), 0);
	snprintf(path, sizeof(path), DATA "%s/out0.npy", folder);
	assert_near(model, path, outputs);
	tenon_model_close(model);
}

static void graphs_of_both_ends_of_the_range_give_what_tvm_gave(void **state)
{
	(void)state;
	run_fixture("tvm-0.18/graph_mlp", "graph.so", 10);
	run_fixture("tvm-0.8/graph_mlp", "graph.so", 10);
	run_fixture("tvm-0.18/graph_nop", "graph.so", 16);
	run_fixture("tvm-0.8/graph_nop", "graph.so", 16);
}

static void models_compiled_ahead_of_time_give_what_tvm_gave(void **state)
{
	(void)state;
	run_fixture("tvm-0.18/aot_mlp", "aot_packed.so", 10);
}

static void the_same_file_opened_twice_makes_two_models(void **state)
{
	struct tenon_module *root = load(DATA "tvm-0.18/graph_mlp/graph.so");
	struct tenon_model *first, *second;
	static float zeros[32];

	(void)state;
	assert_int_equal(tenon_model_open(root, NULL, &first), 0);
	assert_int_equal(tenon_model_open(root, NULL, &second), 0);
	tenon_object_unref(root);
	set_floats(first, "x", floats_in(DATA "tvm-0.18/graph_mlp/in_x.npy"));
	set_floats(second, "x", zeros);
	assert_int_equal(tenon_model_run(first), 0);
	assert_int_equal(tenon_model_run(second), 0);
	assert_near(first, DATA "tvm-0.18/graph_mlp/out0.npy", 10);
	tenon_model_close(first);
	assert_int_equal(tenon_model_run(second), 0);
	tenon_model_close(second);
}

static int count_op(void *context, size_t index, const struct tenon_op *op)
{
	size_t *n = context;

	assert_int_equal(index, *n);
	assert_true(op->input_count >= 1 && op->output_count == 1);
	++*n;
	return 0;
}

static void a_file_that_is_only_looked_at_is_described(void **state)
{
	struct tenon_model_options o = { .size = sizeof(o), .describe = true };
	struct tenon_model_memory memory;
	struct tenon_model_value value;
	struct tenon_model *model;
	struct tenon_module *root;
	size_t ops = 0, i, params = 0;

	(void)state;
	if (tenon_module_inspect(DATA "tvm-0.18/graph_mlp/graph.so", &root)) {
		tenon_error_clear();
		skip();
	}
	if (tenon_model_open(root, &o, &model))
		fail_msg("%s", tenon_error_message());
	tenon_object_unref(root);
	assert_int_equal(tenon_model_each_op(model, count_op, &ops), 0);
	assert_int_equal(ops, 3);
	assert_int_equal(tenon_model_input_count(model), 4);
	assert_int_equal(tenon_model_value_count(model), 7);
	for (i = 0; i < 7; i++) {
		assert_int_equal(tenon_model_value_at(model, i, &value), 0);
		params += value.role == TENON_ROLE_PARAM;
	}
	assert_int_equal(params, 3);
	tenon_model_memory(model, &memory);
	assert_int_equal(memory.params, 11008);
	assert_int_equal(tenon_model_run(model), -TENON_E_USAGE);
	assert_error_has("opened to be looked at only");
	tenon_model_close(model);
}

struct timeline {
	size_t count;
	uint64_t end;
};

static void note(void *context, size_t index, const struct tenon_op *op, uint64_t begin,
		 uint64_t end)
{
	struct timeline *t = context;

	assert_int_equal(index, t->count++);
	assert_true(begin >= t->end && end >= begin);
	assert_true(op->name.size > 0);
	t->end = end;
}

static void a_profiled_run_tells_of_each_operator_and_gives_the_same(void **state)
{
	struct tenon_module *root = load(DATA "tvm-0.18/graph_mlp/graph.so");
	struct timeline t = { 0, 0 };
	struct tenon_profiler profiler = { sizeof(profiler), note, &t };
	struct tenon_model *model;

	(void)state;
	assert_int_equal(tenon_model_open(root, NULL, &model), 0);
	tenon_object_unref(root);
	set_floats(model, "x", floats_in(DATA "tvm-0.18/graph_mlp/in_x.npy"));
	assert_int_equal(tenon_model_run_profiled(model, &profiler), 0);
	assert_int_equal(t.count, 3);
	assert_near(model, DATA "tvm-0.18/graph_mlp/out0.npy", 10);
	profiler.size = 0;
	assert_int_equal(tenon_model_run_profiled(model, &profiler), -TENON_E_USAGE);
	assert_int_equal(t.count, 3);
	tenon_model_close(model);
}

/* ---- streaming */

struct feed {
	float value;
	float sum;
	int fail_at;
};

static int fill(void *context, struct tenon_model *model, uint64_t round)
{
	struct feed *f = context;
	float values[4] = { (float)round, 0, 0, 0 };

	if (f->fail_at == (int)round)
		return tenon_error(-TENON_E_IO, "the camera went away");
	if (round == 5)
		return 1;
	set_floats(model, "x", values);
	return 0;
}

static int take(void *context, struct tenon_model *model, uint64_t round)
{
	struct feed *f = context;
	struct tenon_value v;
	DLTensor *t;

	(void)round;
	assert_int_equal(tenon_model_output_value(model, 0, &v), 0);
	assert_int_equal(tenon_value_tensor(&v, &t), 0);
	f->sum += ((float *)t->data)[0];
	tenon_value_release(&v);
	return 0;
}

static void a_stream_runs_until_its_source_ends(void **state)
{
	static const float w[4] = { 1, 1, 1, 1 };
	struct tenon_module *lib = make_library();
	struct feed feed = { .fail_at = -1 };
	struct tenon_stream stream = { sizeof(stream), fill, take, &feed };
	struct tenon_model *model;
	uint64_t rounds = 0;

	(void)state;
	assert_int_equal(open_text(lib, CHAIN, NULL, &model), 0);
	tenon_object_unref(lib);
	set_floats(model, "w", w);
	assert_int_equal(tenon_model_stream(model, &stream, &rounds), 0);
	assert_int_equal(rounds, 5);
	assert_true(feed.sum == 0 + 1 + 2 + 3 + 4 + 5 * 2);
	feed.fail_at = 3;
	assert_int_equal(tenon_model_stream(model, &stream, &rounds), -TENON_E_IO);
	assert_error("round 3: the camera went away");
	assert_int_equal(rounds, 3);
	stream.size = 0;
	assert_int_equal(tenon_model_stream(model, &stream, &rounds), -TENON_E_USAGE);
	assert_int_equal(rounds, 0);
	tenon_model_close(model);
}

/* ---- factories */

static struct tenon_value call0(struct tenon_module *m, const char *name)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;

	assert_int_equal(tenon_module_get_function(m, name, &f), 0);
	assert_int_equal(tenon_call(f, &ret), 0);
	tenon_object_unref(f);
	return ret;
}

static void a_factory_tells_its_graph_and_parameters_and_drops_them(void **state)
{
	struct tenon_module *root = load(DATA "tvm-0.18/graph_mlp/graph.so"), *bare;
	struct tenon_buffer bytes = TENON_BUFFER_INIT;
	struct tenon_value ret;
	struct tenon_slice text;
	struct tenon_model *model;

	(void)state;
	ret = call0(root, "get_graph_json");
	assert_int_equal(tenon_value_text(&ret, &text), 0);
	assert_memory_equal(text.data, "{\n  \"nodes\"", 11);
	tenon_value_release(&ret);
	ret = call0(root, "get_graph_params");
	assert_int_equal(ret.type, TENON_TYPE_MAP);
	assert_int_equal(((struct tenon_map *)ret.as.object)->size, 3);
	tenon_value_release(&ret);
	ret = call0(root, "remove_params");
	bare = (struct tenon_module *)ret.as.object;
	assert_int_equal(tenon_model_open(bare, NULL, &model), 0);
	assert_false(tenon_model_input_is_set(model, 1));
	tenon_model_close(model);
	assert_int_equal(tenon_module_save(bare, &bytes), 0);
	assert_true(bytes.size < 3000);
	tenon_buffer_fini(&bytes);
	tenon_object_unref(bare);
	tenon_object_unref(root);
}

static void what_is_no_model_is_refused_with_those_that_are(void **state)
{
	struct tenon_module *lib = make_library();
	struct tenon_model *model;

	(void)state;
	assert_int_equal(tenon_model_open(lib, NULL, &model), -TENON_E_UNSUPPORTED);
	assert_error_has("a module of kind \"library\" is no model. Models this build runs: "
			 "GraphExecutorFactory");
	tenon_object_unref(lib);
}

/* ---- every byte of a factory's payload cut or edited */

static struct tenon_buffer factory_bytes(void)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_slice params = whole_file(DATA "tvm-0.18/params_file/all.params");
	struct tenon_cursor c = tenon_cursor_of(params.data, params.size, "p", 16);
	uint64_t names, i;
	struct tenon_slice name;
	const uint8_t *from;

	tenon_buffer_string(&b, tenon_slice_of(CHAIN));
	assert_int_equal(tenon_cursor_skip(&c, 16), 0);
	from = c.at;
	assert_int_equal(tenon_cursor_u64(&c, &names), 0);
	tenon_buffer_u64(&b, names);
	for (i = 0; i < names; i++)
		assert_int_equal(tenon_cursor_string(&c, &name), 0);
	tenon_buffer_append(&b, from, (size_t)(c.at - from));
	assert_int_equal(tenon_cursor_skip(&c, 8), 0);
	tenon_buffer_append(&b, c.at, tenon_cursor_left(&c));
	tenon_buffer_string(&b, tenon_slice_of("default"));
	return b;
}

static int try_factory(const char *bytes, size_t size)
{
	struct tenon_model_options o = { .size = sizeof(o), .describe = true };
	char *copy = malloc(size ? size : 1);
	struct tenon_model *model;
	struct tenon_module *m;
	int err;

	memcpy(copy, bytes, size);
	err = tenon_module_load_bytes("GraphExecutorFactory", (struct tenon_slice){ copy, size },
				      &m);
	free(copy);
	if (!err) {
		if (tenon_model_open(m, &o, &model))
			assert_true(strlen(tenon_error_message()) > 5);
		else
			tenon_model_close(model);
		tenon_object_unref(m);
	}
	tenon_error_clear();
	return err;
}

static void options_without_their_size_are_refused_and_longer_ones_taken(void **state)
{
	struct {
		struct tenon_model_options known;
		int later; /* a member of newer headers */
	} o = { .known = { .describe = true }, .later = 1 };
	struct tenon_model *model = NULL;
	struct tenon_module *m;
	struct tenon_buffer b = factory_bytes();

	(void)state;
	assert_int_equal(tenon_module_load_bytes("GraphExecutorFactory",
						 (struct tenon_slice){ b.data, b.size }, &m),
			 0);
	assert_int_equal(tenon_model_open(m, &o.known, &model), -TENON_E_USAGE);
	assert_null(model);
	o.known.size = sizeof(o);
	assert_int_equal(tenon_model_open(m, &o.known, &model), 0);
	tenon_model_close(model);
	tenon_object_unref(m);
	tenon_buffer_fini(&b);
}

static void every_byte_of_a_factory_is_cut_and_edited(void **state)
{
	struct tenon_buffer b = factory_bytes();
	size_t i;

	(void)state;
	assert_int_equal(try_factory(b.data, b.size), 0);
	for (i = 0; i < b.size; i++)
		assert_true(try_factory(b.data, i) < 0);
	for (i = 0; i < b.size; i++) {
		b.data[i] ^= 0x11;
		try_factory(b.data, b.size);
		b.data[i] ^= 0x91;
		try_factory(b.data, b.size);
		b.data[i] ^= (char)0x80;
	}
	tenon_buffer_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(graphs_of_both_ends_of_the_range_give_what_tvm_gave),
		cmocka_unit_test(models_compiled_ahead_of_time_give_what_tvm_gave),
		cmocka_unit_test(the_same_file_opened_twice_makes_two_models),
		cmocka_unit_test(a_file_that_is_only_looked_at_is_described),
		cmocka_unit_test(a_profiled_run_tells_of_each_operator_and_gives_the_same),
		cmocka_unit_test(a_stream_runs_until_its_source_ends),
		cmocka_unit_test(a_factory_tells_its_graph_and_parameters_and_drops_them),
		cmocka_unit_test(what_is_no_model_is_refused_with_those_that_are),
		cmocka_unit_test(options_without_their_size_are_refused_and_longer_ones_taken),
		cmocka_unit_test(every_byte_of_a_factory_is_cut_and_edited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
