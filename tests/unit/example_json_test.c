/* SPDX-License-Identifier: MIT */
/* The example of a code generator's module: reading, computing, saving. */
#include "tests/unit/blob.h"

#include "examples/example_json/example_json.h"
#include "runtime/library/file_loader.h"

/* the text of the guide: ((a + b) - c) * d */
static const char guide[] = "subgraph_0\n"
			    "  input 0 2 3\n"
			    "  input 1 2 3\n"
			    "  input 2 2 3\n"
			    "  input 3 2 3\n"
			    "  add 4 inputs: 0 1 shape: 2 3\n"
			    "  sub 5 inputs: 4 2 shape: 2 3\n"
			    "  mul 6 inputs: 5 3 shape: 2 3\n";

static int load_text(const char *text, struct tenon_module **out)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	int err;

	put_string(&b, text);
	err = tenon_module_load_bytes("examplejson", slice_of(&b), out);
	tenon_buffer_fini(&b);
	return err;
}

static struct tenon_module *module_of(const char *text)
{
	struct tenon_module *m;

	if (load_text(text, &m)) {
		print_error("%s\n", tenon_error_message());
		fail();
	}
	return m;
}

static int64_t shape23[2] = { 2, 3 };

static DLTensor tensor23(float *data)
{
	return tenon_dltensor(data, shape23, 2, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
}

static void the_graph_of_the_guide_computes(void **state)
{
	float in[4][6], out[6] = { 0 };
	DLTensor t[5];
	struct tenon_value args[5], ret = tenon_arg_none();
	struct tenon_module *m = module_of(guide);
	struct tenon_function *f;
	DLTensor *dl;
	int i, k;

	(void)state;
	for (i = 0; i < 4; i++)
		for (k = 0; k < 6; k++)
			in[i][k] = (float)(10 * i + k) / 4;
	for (i = 0; i < 5; i++) {
		t[i] = tensor23(i < 4 ? in[i] : out);
		args[i] = tenon_arg_tensor(&t[i]);
	}
	assert_int_equal(tenon_module_get_function(m, "subgraph_0", &f), 0);
	tenon_object_unref(m);
	assert_int_equal(tenon_function_call(f, args, 5, &ret), 0);
	assert_int_equal(tenon_value_tensor(&ret, &dl), 0);
	assert_int_equal(dl->ndim, 2);
	assert_int_equal(dl->shape[0], 2);
	assert_int_equal(dl->shape[1], 3);
	for (k = 0; k < 6; k++) {
		float want = (in[0][k] + in[1][k] - in[2][k]) * in[3][k];

		assert_true(out[k] == want);
		assert_true(((const float *)dl->data)[k] == want);
	}
	tenon_value_release(&ret);
	tenon_object_unref(f);
}

static void arguments_follow_ids_and_the_output_may_be_an_input(void **state)
{
	struct tenon_module *m = module_of("my_subgraph_7\n"
					   "input 9 2 3\n"
					   "input 8 2 3\n"
					   "sub 3 inputs: 8 9 shape: 2 3\n");
	float whole[8] = { 0, 0, 6, 5, 4, 3, 2, 1 }, *a = whole + 2, b[6] = { 1, 1, 1, 1, 1, 1 };
	DLTensor ta = tensor23(a), tb = tensor23(b);
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;

	(void)state;
	/* at an offset, as views of larger tensors are */
	ta.data = whole;
	ta.byte_offset = 8;
	assert_int_equal(tenon_module_get_function(m, "my_subgraph_7", &f), 0);
	assert_int_equal(tenon_call(f, &ret, tenon_arg_tensor(&ta), tenon_arg_tensor(&tb),
				    tenon_arg_tensor(&ta)),
			 0);
	assert_true(a[0] == 5 && a[5] == 0);
	tenon_value_release(&ret);
	tenon_object_unref(f);
	tenon_object_unref(m);
}

static void wrong_arguments_are_refused_in_words(void **state)
{
	struct tenon_module *m = module_of("subgraph_1\n input 0 2 3\n input 1 2 3\n"
					   " add 2 inputs: 0 1 shape: 2 3\n");
	float data[6] = { 0 };
	DLTensor good = tensor23(data), bad = good;
	struct tenon_value ret = tenon_arg_none();
	int64_t other[2] = { 3, 2 }, gaps[2] = { 1, 2 };
	struct tenon_function *f;

	(void)state;
	assert_int_equal(tenon_module_get_function(m, "subgraph_1", &f), 0);
#define CALL(a) tenon_call(f, &ret, tenon_arg_tensor(&good), (a), tenon_arg_tensor(&good))
	assert_int_equal(tenon_call(f, &ret, tenon_arg_tensor(&good)), -TENON_E_TYPE);
	assert_error("subgraph_1: 1 argument given, want 3: 2 inputs and the output");
	assert_int_equal(CALL(tenon_arg_int(3)), -TENON_E_TYPE);
	assert_error_has("subgraph_1: argument 1: ");
	bad.shape = other;
	assert_int_equal(CALL(tenon_arg_tensor(&bad)), -TENON_E_VALUE);
	assert_error("subgraph_1: argument 1 has shape [3, 2], the graph says [2, 3]");
	bad.ndim = 1;
	assert_int_equal(CALL(tenon_arg_tensor(&bad)), -TENON_E_VALUE);
	assert_error("subgraph_1: argument 1 has shape [3], the graph says [2, 3]");
	bad = good;
	bad.dtype.bits = 64;
	assert_int_equal(CALL(tenon_arg_tensor(&bad)), -TENON_E_TYPE);
	assert_error("subgraph_1: argument 1 has dtype float64, the graph wants float32");
	bad = good;
	bad.device.device_type = kDLOpenCL;
	assert_int_equal(CALL(tenon_arg_tensor(&bad)), -TENON_E_VALUE);
	assert_error("subgraph_1: argument 1 is on opencl, the graph runs on the cpu");
	bad = good;
	bad.strides = gaps;
	assert_int_equal(CALL(tenon_arg_tensor(&bad)), -TENON_E_VALUE);
	assert_error("subgraph_1: argument 1 has gaps between elements");
	tenon_object_unref(f);
	tenon_object_unref(m);
}

static void texts_that_are_wrong_are_refused_with_their_line(void **state)
{
	static const struct {
		const char *text;
		const char *message;
	} cases[] = {
		{ "", "line 1: the text has no \"subgraph_\"" },
		{ "\n\n  \t\n", "line 4: the text has no \"subgraph_\"" },
		{ "input 0 1\n", "line 1: a node before the first \"subgraph_\"" },
		{ "subgraph_0\n", "\"subgraph_0\" has no nodes" },
		{ "subgraph_0\ninput\n", "line 2: \"\" where an id should be" },
		{ "subgraph_0\ninput x 1\n", "line 2: \"x\" where an id should be" },
		{ "subgraph_0\ninput 0 ten\n", "line 2: \"ten\" where an extent should be" },
		{ "subgraph_0\ninput 0 -1\n", "line 2: \"-1\" where an extent should be" },
		{ "subgraph_0\ninput 0 1\ninput 0 1\n", "line 3: id 0 is there already" },
		{ "subgraph_0\ninput 4000000000 1\n", "line 2: id 4000000000 is too large" },
		{ "subgraph_0\ndiv 0 1\n",
		  "line 2: \"div\" is no operation; there are input, add, sub, mul" },
		{ "subgraph_0\ninput 0 1\nadd 1 0 0\n",
		  "line 3: \"0\" where \"inputs:\" should be" },
		{ "subgraph_0\ninput 0 1\nadd 1 inputs: 0 2 shape: 1\n",
		  "line 3: there is no node 2 before this one in the graph" },
		{ "subgraph_0\ninput 0 1\nadd 1 inputs: 0 1 shape: 1\n",
		  "line 3: there is no node 1 before this one in the graph" },
		{ "subgraph_0\ninput 0 1\nadd 1 inputs: 0 shape: 1\n",
		  "line 3: \"shape:\" where the id of an input should be" },
		{ "subgraph_0\ninput 0 1\nadd 1 inputs: 0 0 0 shape: 1\n",
		  "line 3: \"0\" where \"shape:\" should be" },
		{ "subgraph_0\ninput 0 4\nadd 1 inputs: 0 0 shape: 5\n",
		  "line 3: node 1 has another shape than its input 0" },
		{ "subgraph_0\ninput 0 1\nsubgraph_1\ninput 1 1\nadd 2 inputs: 0 1 shape: 1\n",
		  "line 5: there is no node 0 before this one in the graph" },
		{ "subgraph_0\ninput 0 1\nsubgraph_0\ninput 1 1\n",
		  "there are two \"subgraph_0\"" },
		{ "subgraph_0\ninput 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n",
		  "line 2: more than 16 extents" },
	};
	struct tenon_module *m;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(load_text(cases[i].text, &m), -TENON_E_FORMAT);
		assert_error(cases[i].message);
	}
}

static void ids_may_come_again_in_another_graph(void **state)
{
	struct tenon_module *m = module_of("subgraph_0\r\n\tinput 0 1\r\n"
					   "subgraph_1\r\n\tinput 0 1\r\n\tinput 1 1\r\n"
					   "\tmul 2 inputs: 0 1 shape: 1");

	(void)state;
	assert_list_field(m, "functions", "subgraph_0 subgraph_1");
	assert_int_equal(number_field(m, "nodes"), 4);
	tenon_object_unref(m);
}

static void a_module_is_saved_loaded_and_shown_as_its_text(void **state)
{
	struct tenon_module *m = module_of(guide), *again;
	struct tenon_buffer b = TENON_BUFFER_INIT, want = TENON_BUFFER_INIT;
	struct tenon_value source;
	struct tenon_slice text;

	(void)state;
	put_string(&want, guide);
	assert_int_equal(tenon_module_save(m, &b), 0);
	assert_int_equal(b.size, want.size);
	assert_memory_equal(b.data, want.data, want.size);
	assert_int_equal(tenon_module_load_bytes("examplejson", slice_of(&b), &again), 0);
	assert_int_equal(tenon_module_source(again, "", &source), 0);
	assert_int_equal(tenon_value_text(&source, &text), 0);
	assert_int_equal(text.size, sizeof(guide) - 1);
	assert_memory_equal(text.data, guide, text.size);
	tenon_value_release(&source);
	assert_int_equal(tenon_module_source(m, "json", &source), -TENON_E_UNSUPPORTED);
	assert_error("no format \"json\": the only one is \"examplejson\"");
	tenon_object_unref(m);
	tenon_object_unref(again);
	tenon_buffer_fini(&b);
	tenon_buffer_fini(&want);
}

static void a_file_is_written_and_loaded_again(void **state)
{
	struct tenon_module *m = module_of(guide), *again;
	struct tenon_slice bytes;
	const char *path = scratch_file("x.examplejson");
	char temporary[2000];

	(void)state;
	assert_int_equal(tenon_module_write(m, path, ""), 0);
	assert_int_equal(file_map_open(path, &bytes), 0);
	assert_int_equal(bytes.size, sizeof(guide) - 1);
	assert_memory_equal(bytes.data, guide, bytes.size);
	file_map_close(&bytes);
	snprintf(temporary, sizeof(temporary), "%s.%ld.new", path, (long)getpid());
	assert_int_equal(access(temporary, F_OK), -1);

	assert_int_equal(tenon_module_load(path, &again), 0);
	assert_slice(again->kind, "examplejson");
	assert_list_field(again, "functions", "subgraph_0");
	tenon_object_unref(again);
	assert_int_equal(tenon_module_inspect(path, &again), 0);
	assert_list_field(again, "functions", "subgraph_0");
	tenon_object_unref(again);
	assert_int_equal(unlink(path), 0);

	assert_int_equal(tenon_module_load(path, &again), -TENON_E_IO);
	assert_error_has(".examplejson: No such file or directory");
	assert_int_equal(tenon_module_write(m, "/no/such/folder/x.examplejson", ""), -TENON_E_IO);
	assert_error("/no/such/folder/x.examplejson: cannot be written: No such file or directory");
	tenon_object_unref(m);
}

static void a_file_that_is_wrong_is_named_with_its_line(void **state)
{
	const char *path = scratch_file("wrong.examplejson");
	struct tenon_module *m;
	char want[2000];

	(void)state;
	write_scratch(path, tenon_slice_of("subgraph_0\nfoo\n"));
	assert_int_equal(tenon_module_load(path, &m), -TENON_E_FORMAT);
	snprintf(want, sizeof(want),
		 "%s: line 2: \"foo\" is no operation; there are input, add, sub, mul", path);
	assert_error(want);
	unlink(path);
}

static void a_blob_holds_it_as_any_kind(void **state)
{
	struct tenon_buffer payload = TENON_BUFFER_INIT, out = TENON_BUFFER_INIT, b;
	const enum tenon_generation both[] = { TENON_GENERATION_LEGACY, TENON_GENERATION_FFI };
	int i;

	(void)state;
	put_string(&payload, guide);
	const struct part parts[] = { { "_lib", { NULL, 0 } },
				      { "examplejson", slice_of(&payload) } };

	for (i = 0; i < 2; i++) {
		struct blob_source src = { .file = "x.so", .generation = both[i] };
		struct tenon_module *m;

		b = blob_of(both[i], parts, 2, ROWS(0, 1, 1), ROWS(1));
		assert_int_equal(import_tree_read(slice_of(&b), &src, NULL, &m), 0);
		assert_int_equal(m->imports[0]->properties,
				 TENON_MODULE_SERIALIZABLE | TENON_MODULE_RUNNABLE);
		out.size = 0;
		assert_int_equal(tenon_module_write_blob(m, both[i], &out), 0);
		assert_int_equal(out.size, b.size);
		assert_memory_equal(out.data, b.data, b.size);
		tenon_object_unref(m);
		tenon_buffer_fini(&b);
	}
	tenon_buffer_fini(&payload);
	tenon_buffer_fini(&out);
}

/* the slice is all there is: no NUL behind it */
static void a_path_may_come_as_bytes(void **state)
{
	const char *path = scratch_file("bytes.examplejson");
	struct tenon_slice bytes = { NULL, strlen(path) };
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;
	char *longer;

	(void)state;
	write_scratch(path, tenon_slice_of(guide));
	longer = malloc(bytes.size + 1);
	assert_non_null(longer);
	memcpy(longer, path, bytes.size);
	longer[bytes.size] = '~';
	bytes.data = longer;
	assert_int_equal(file_loader_find(tenon_slice_of("examplejson"), &f), 0);
	assert_non_null(f);
	if (tenon_call(f, &ret, tenon_arg_bytes(&bytes)))
		fail_msg("%s", tenon_error_message());
	assert_slice(((struct tenon_module *)ret.as.object)->kind, "examplejson");
	tenon_value_release(&ret);
	tenon_object_unref(f);
	free(longer);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_graph_of_the_guide_computes),
		cmocka_unit_test(arguments_follow_ids_and_the_output_may_be_an_input),
		cmocka_unit_test(wrong_arguments_are_refused_in_words),
		cmocka_unit_test(texts_that_are_wrong_are_refused_with_their_line),
		cmocka_unit_test(ids_may_come_again_in_another_graph),
		cmocka_unit_test(a_module_is_saved_loaded_and_shown_as_its_text),
		cmocka_unit_test(a_file_is_written_and_loaded_again),
		cmocka_unit_test(a_file_that_is_wrong_is_named_with_its_line),
		cmocka_unit_test(a_path_may_come_as_bytes),
		cmocka_unit_test(a_blob_holds_it_as_any_kind),
	};

	return example_json_register() ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
