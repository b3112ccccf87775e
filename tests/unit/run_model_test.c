/* SPDX-License-Identifier: MIT */
/* The command on whole models and files of parameters. */
#include "suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "cli_run.h"

#define MLP "tests/interop/data/tvm-0.18/graph_mlp/"

#ifdef __x86_64__
#define NEEDS_X86
#else
#define NEEDS_X86 skip()
#endif

static char *in_temporary(const char *name)
{
	static char path[4][300];
	static int turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", name);
	return path[turn];
}

/* it ended with a code, and these words are in its output */
static void assert_says(struct cli_run r, int code, const char *words)
{
	if (r.code != code || !strstr(r.out, words))
		fail_msg("exit %d\n%s\n%s\nwant %d and: %s", r.code, r.out, r.err, code, words);
	cli_run_free(&r);
}

static void a_model_is_run_by_the_names_of_its_inputs(void **state)
{
	(void)state;
	NEEDS_X86;
	assert_says(RUN("run", MLP "graph.so", "--input", "x=@" MLP "in_x.npy", "--expect",
			"@" MLP "out0.npy"),
		    CLI_OK, "expected: equal");
	assert_says(RUN("run", MLP "graph.so", "--input", "@" MLP "in_x.npy", "--expect",
			"tvmgen_default_fused_nn_softmax=@" MLP "out0.npy"),
		    CLI_OK, "expected: equal");
	assert_says(RUN("run", MLP "graph.so", "--input", "x=1x32xfloat32=ones", "--expect",
			"@" MLP "out0.npy"),
		    CLI_DIFFERS, "differ");
}

/* The bytes in the first column of each line of the list; lines before and behind it have none. */
static void assert_largest_first(const char *text)
{
	unsigned long bytes, before = ~0ul;
	size_t lines = 0;
	const char *line;

	for (line = strstr(text, "what for"); line && (line = strchr(line, '\n')); line++) {
		if (sscanf(line, "%lu", &bytes) != 1 || line[1] != ' ')
			continue;
		assert_true(bytes <= before);
		before = bytes;
		lines++;
	}
	assert_true(lines > 10);
}

static void the_memory_of_a_model_is_listed_the_largest_first(void **state)
{
	struct cli_run r = RUN("run", MLP "graph.so", "--memory");

	(void)state;
	NEEDS_X86;
	assert_int_equal(r.code, CLI_OK);
	assert_non_null(strstr(r.out, "persistent"));
	assert_non_null(strstr(r.out, "tokens of JSON"));
	assert_non_null(strstr(r.out, "tenon params align"));
	assert_largest_first(r.out);
	cli_run_free(&r);
	assert_refused(RUN("run", MLP "graph.so", "--memory", "--input", "@" MLP "in_x.npy"),
		       CLI_USAGE, "--memory and --input");
	assert_refused(RUN("run", "tests/interop/data/tvm-0.18/host_vecadd/lib.so", "--memory"),
		       CLI_USAGE, "has no model");
}

#ifdef CONFIG_JSON
static void all_that_a_model_takes_it_gives_back(void **state)
{
	static char *const files[] = {
		MLP "graph.so",
		"tests/interop/data/tvm-0.18/aot_mlp/aot_packed.so",
		"tests/interop/data/tvm-0.27.0.post1/model_two_outputs/model.so",
	};
	struct cli_run r;
	size_t i;

	(void)state;
	NEEDS_X86;
	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		r = RUN("run", files[i], "--memory", "--json");
		if (r.code != CLI_OK || !strstr(r.out, "\"allocations\"") ||
		    strstr(r.out, "\"back\":\t\"-\""))
			fail_msg("%s\n%s\n%s", files[i], r.out, r.err);
		cli_run_free(&r);
	}
}
#endif

static void library_graph_and_parameters_may_be_apart(void **state)
{
	(void)state;
	NEEDS_X86;
	assert_says(RUN("run", MLP "lib.so", "--graph", MLP "graph.json", "--params",
			MLP "model.params", "--input", "x=@" MLP "in_x.npy", "--expect",
			"@" MLP "out0.npy"),
		    CLI_OK, "expected: equal");
	assert_refused(RUN("run", MLP "lib.so", "--graph", MLP "meta.json", "--params",
			   MLP "model.params"),
		       CLI_NO_FILE, "has no place in a graph");
	assert_refused(
		RUN("run", MLP "lib.so", "--graph", MLP "graph.json", "--params", MLP "graph.json"),
		CLI_NO_FILE, "no parameters of TVM, but JSON text");
}

static void parameters_that_are_not_known_are_a_matter_of_their_file(void **state)
{
	static const char magic[] = "\x3f\xa1\xb4\x96\xf0\x40\x5e\xdd";
	static char bytes[1 << 16];
	char *path = in_temporary("lanes.params"), *tensor;
	FILE *f = fopen(MLP "model.params", "rb");
	size_t size;

	(void)state;
	NEEDS_X86;
	assert_non_null(f);
	size = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	tensor = memmem(bytes, size, magic, 8);
	assert_non_null(tensor);
	tensor[30] = 4; /* lanes */
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	fclose(f);
	assert_refused(RUN("run", MLP "lib.so", "--graph", MLP "graph.json", "--params", path),
		       CLI_NO_FILE, "4 lanes");
	assert_refused(RUN("bench", MLP "graph.so", "--params", path), CLI_NO_FILE, "4 lanes");
	remove(path);
}

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void a_dtype_that_no_tensor_has_is_refused_by_every_verb(void **state)
{
	char *path = in_temporary("wide.json");

	(void)state;
	NEEDS_X86;
	write_text(path, "{\"nodes\":[{\"op\":\"null\",\"name\":\"x\",\"inputs\":[]}],"
			 "\"arg_nodes\":[0],\"heads\":[[0,0,0]],\"attrs\":{"
			 "\"dltype\":[\"list_str\",[\"uint248\"]],"
			 "\"shape\":[\"list_shape\",[[4]]],\"storage_id\":[\"list_int\",[0]]},"
			 "\"node_row_ptr\":[0,1]}");
	assert_refused(RUN("run", MLP "lib.so", "--graph", path, "--top", "3"), CLI_NO_FILE,
		       "uint248");
	assert_refused(RUN("bench", MLP "lib.so", "--graph", path), CLI_NO_FILE, "uint248");
	assert_refused(RUN("run", MLP "lib.so", "--graph", path, "--input", "4xuint248=zeros"),
		       CLI_USAGE, "uint248");
	remove(path);
}

static void a_model_takes_several_devices_and_a_function_one(void **state)
{
	(void)state;
	NEEDS_X86;
	assert_says(RUN("run", MLP "graph.so", "--device", "cpu", "--device", "cpu:0", "--input",
			"x=@" MLP "in_x.npy", "--expect", "@" MLP "out0.npy"),
		    CLI_OK, "expected: equal");
	assert_says(RUN("bench", MLP "graph.so", "--device", "cpu", "--runs", "3"), CLI_OK,
		    "3 runs: min ");
	assert_refused(RUN("run", MLP "graph.so", "--function", "get_graph_json", "--device", "cpu",
			   "--device", "cpu"),
		       CLI_USAGE, "2 --device: a function runs on one");
	assert_refused(RUN("bench", MLP "graph.so", "--device", "nothing"), CLI_USAGE,
		       "--device nothing");
}

/* A graph kept apart from its library; to be removed. */
static char *graph_file(const char *name, const char *text)
{
	char *path = in_temporary(name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fputs(text, f) < 0, 0);
	assert_int_equal(fclose(f), 0);
	return path;
}

#ifdef CONFIG_DEVICE_NULL
/* the null device runs nothing, but holds tensors: its outputs come back to be printed and compared */
static void what_a_model_has_on_a_device_is_fetched(void **state)
{
	static const char graph[] =
		"{\"nodes\": [{\"op\": \"null\", \"name\": \"x\", \"inputs\": []}, {\"op\": "
		"\"tvm_op\", "
		"\"name\": \"y\", \"attrs\": {\"func_name\": \"__copy\", \"num_inputs\": \"1\", "
		"\"num_outputs\": \"1\", \"flatten_data\": \"0\"}, \"inputs\": [[0, 0, 0]]}], "
		"\"arg_nodes\": [0], \"heads\": [[1, 0, 0]], \"attrs\": {\"dltype\": "
		"[\"list_str\", "
		"[\"float32\", \"float32\"]], \"device_index\": [\"list_int\", [1, 100]], "
		"\"storage_id\": "
		"[\"list_int\", [0, 1]], \"shape\": [\"list_shape\", [[3], [3]]]}, "
		"\"node_row_ptr\": [0, 1, 2]}";
	char *path;

	(void)state;
	NEEDS_X86;
	path = graph_file("copy.json", graph);
	assert_says(RUN("run", MLP "lib.so", "--graph", path, "--device", "null:0", "--input",
			"x=3xfloat32=1,2,3", "--expect", "3xfloat32=1,2,3"),
		    CLI_OK, "y: 3xfloat32 = [1 2 3]");
	assert_refused(RUN("run", MLP "lib.so", "--graph", path, "--input", "x=3xfloat32=1,2,3"),
		       CLI_UNAVAILABLE, "storage 1 is for ");
	remove(path);
}
#endif

/* the bool of old graphs is called uint1, and has a byte as today's */
static void inputs_of_bools_are_filled_a_byte_each(void **state)
{
	static const char graph[] =
		"{\"nodes\": [{\"op\": \"null\", \"name\": \"x\", \"inputs\": []}], "
		"\"arg_nodes\": [0], \"heads\": [[0, 0, 0]], \"attrs\": {\"dltype\": "
		"[\"list_str\", [\"bool\"]], \"storage_id\": [\"list_int\", [0]], \"shape\": "
		"[\"list_shape\", [[4096]]]}, \"node_row_ptr\": [0, 1]}";
	char *path;

	(void)state;
	NEEDS_X86;
	path = graph_file("bools.json", graph);
	assert_says(RUN("bench", MLP "lib.so", "--graph", path, "--runs", "1"), CLI_OK,
		    "1 runs: min ");
	remove(path);
}

static void words_that_do_not_fit_the_model_are_refused(void **state)
{
	(void)state;
	NEEDS_X86;
	assert_refused(RUN("run", MLP "graph.so"), CLI_USAGE,
		       "graph.so: input \"x\" was not given; it is a 1x32xfloat32: ");
	assert_refused(RUN("run", MLP "graph.so", "--input", "y=@" MLP "in_x.npy"), CLI_USAGE,
		       "no input \"y\". It has \"x\"");
	assert_refused(RUN("run", MLP "graph.so", "--input", "x=2x32xfloat32=ones"), CLI_FAILED,
		       "has shape [2, 32], the graph was compiled for [1, 32]");
	assert_refused(RUN("run", MLP "graph.so", "--input", "x=@" MLP "in_x.npy", "--output",
			   "3xfloat32"),
		       CLI_USAGE, "the output is a 1x10xfloat32, not a 3xfloat32");
	assert_refused(RUN("run", MLP "graph.so", "--input", "x=@" MLP "in_x.npy", "--output",
			   "1x10xint8"),
		       CLI_USAGE, "the output is a 1x10xfloat32, not a 1x10xint8");
	assert_refused(RUN("run", MLP "graph.so", "--function", "get_graph_json", "--profile"),
		       CLI_USAGE, "are for models");
}

static void outputs_and_profiles_are_written(void **state)
{
	char *output = in_temporary("y.npy"), words[400];

	(void)state;
	NEEDS_X86;
	snprintf(words, sizeof(words), "1x10xfloat32=>%s", output);
	assert_says(RUN("run", MLP "graph.so", "--input", "x=@" MLP "in_x.npy", "--output", words,
			"--profile", "--repeat", "3"),
		    CLI_OK, "tvmgen_default_fused_nn_contrib_dense_pack_add_nn_relu        3 ");
	assert_int_equal(access(output, R_OK), 0);
	remove(output);
}

#ifdef CONFIG_TRACE
static void a_trace_is_written(void **state)
{
	char *trace = in_temporary("trace.json"), text[64];
	FILE *f;

	(void)state;
	NEEDS_X86;
	assert_says(RUN("run", MLP "graph.so", "--input", "x=@" MLP "in_x.npy", "--trace", trace),
		    CLI_OK, "");
	f = fopen(trace, "r");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	assert_string_equal(text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
	fclose(f);
	remove(trace);
}
#endif

/* standard input is this file for one run */
static struct cli_run run_on(const char *path, int argc, char **argv)
{
	int saved = dup(STDIN_FILENO), fd = open(path, O_RDONLY);
	struct cli_run r;

	assert_true(saved >= 0 && fd >= 0);
	assert_true(dup2(fd, STDIN_FILENO) >= 0);
	r = run_words(argc, argv);
	assert_true(dup2(saved, STDIN_FILENO) >= 0);
	close(saved);
	close(fd);
	return r;
}

#define STREAM(path, ...)                                                                          \
	run_on(path, (int)(sizeof((char *[]){ "tenon", __VA_ARGS__ }) / sizeof(char *)),           \
	       (char *[]){ "tenon", __VA_ARGS__, NULL })

/* a file of frames: x of the fixture for each 'x', zeros for each other letter */
static char *frames(const char *letters)
{
	char frame[32 * sizeof(float)], *path = in_temporary("frames.bin");
	FILE *npy = fopen(MLP "in_x.npy", "rb"), *f = fopen(path, "wb");

	assert_true(npy && f);
	for (; *letters; letters++) {
		memset(frame, 0, sizeof(frame));
		assert_int_equal(fseek(npy, -(long)sizeof(frame), SEEK_END), 0);
		if (*letters == 'x')
			assert_int_equal(fread(frame, 1, sizeof(frame), npy), sizeof(frame));
		assert_int_equal(fwrite(frame, 1, sizeof(frame), f), sizeof(frame));
	}
	fclose(npy);
	fclose(f);
	return path;
}

#ifdef CONFIG_JSON
static void a_profile_is_part_of_the_answer_in_json(void **state)
{
	struct cli_run r;

	(void)state;
	NEEDS_X86;
	r = RUN("run", MLP "graph.so", "--input", "x=@" MLP "in_x.npy", "--profile", "--json",
		"--runs", "2");
	assert_int_equal(r.code, CLI_OK);
	assert_string_equal(r.err, "");
	assert_non_null(strstr(r.out, "\"operators\""));
	assert_non_null(strstr(r.out, "tvmgen_default_fused_nn_softmax"));
	cli_run_free(&r);
	r = RUN("run", MLP "graph.so", "--input", "x=@" MLP "in_x.npy", "--json");
	assert_null(strstr(r.out, "\"operators\""));
	cli_run_free(&r);
}
#endif

static void each_frame_of_a_stream_is_compared(void **state)
{
	char *path = frames("xx");
	struct cli_run r;

	(void)state;
	NEEDS_X86;
	r = STREAM(path, "run", MLP "graph.so", "--stream", "--expect", "@" MLP "out0.npy");
	assert_int_equal(r.code, CLI_OK);
	assert_memory_equal(r.err, "2 frames in ", 12);
	cli_run_free(&r);
	r = STREAM(frames("x0x0"), "run", MLP "graph.so", "--stream", "--expect",
		   "tvmgen_default_fused_nn_softmax=@" MLP "out0.npy");
	assert_int_equal(r.code, CLI_DIFFERS);
	assert_non_null(strstr(r.err, "tenon: frame 1: expected: differs in 10 of 10 elements ("));
	assert_non_null(strstr(r.err, "4 frames in "));
	assert_non_null(strstr(r.err, "tenon: 2 of 4 frames differ from --expect\n"));
	assert_null(strstr(r.err, "frame 3: "));
	cli_run_free(&r);
	r = STREAM(path, "run", MLP "graph.so", "--stream", "--expect", "1", "--expect", "2");
	assert_int_equal(r.code, CLI_USAGE);
	assert_non_null(strstr(r.err, "2 --expect, but the model has 1 output"));
	cli_run_free(&r);
	remove(path);
}

static void what_a_stream_does_not_do_is_refused(void **state)
{
	static char *others[][2] = {
		{ "--output", "1x10xfloat32" }, { "--repeat", "2" },	  { "--top", "2" },
		{ "--profile", "--stream" },	{ "--json", "--stream" },
	};

	(void)state;
	NEEDS_X86;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		char words[64];

		snprintf(words, sizeof(words), "--stream and %s: ", others[i][0]);
		assert_refused(RUN("run", MLP "graph.so", "--stream", others[i][0], others[i][1]),
			       CLI_USAGE, words);
	}
	assert_refused(RUN("run", MLP "graph.so", "--trace", in_temporary("t.json"), "--stream"),
		       CLI_USAGE, "--stream and --trace: ");
}

static void options_that_would_be_passed_over_are_refused(void **state)
{
	(void)state;
	NEEDS_X86;
	assert_refused(RUN("run", MLP "graph.so", "--top", "65"), CLI_USAGE,
		       "--top 65: a whole number from 1 to 64 is wanted");
	assert_refused(RUN("run", MLP "graph.so", "--top", "3", "--json"), CLI_USAGE,
		       "--top and --json: ");
	assert_refused(RUN("run", MLP "lib.so", "--graph", MLP "graph.json", "--function", "main"),
		       CLI_USAGE, "--function and --graph: ");
	assert_refused(
		RUN("bench", MLP "lib.so", "--graph", MLP "graph.json", "--function", "main"),
		CLI_USAGE, "--function and --graph: ");
	assert_refused(RUN("inspect", MLP "lib.so", "--params", MLP "model.params"),
		       CLI_UNAVAILABLE, "is no model");
}

static void a_model_is_measured(void **state)
{
	(void)state;
	NEEDS_X86;
	assert_says(RUN("bench", MLP "graph.so", "--runs", "7", "--per-op"), CLI_OK,
		    "7 runs: min ");
	assert_refused(RUN("bench", MLP "graph.so", "--runs", "0"), CLI_USAGE,
		       "a whole number from 1");
	assert_refused(RUN("bench", MLP "lib.so"), CLI_UNAVAILABLE, "is no model");
}

static void a_model_is_described(void **state)
{
	(void)state;
	assert_says(RUN("inspect", MLP "graph.so"), CLI_OK,
		    "3 operators, parameters 11 KiB, activations 424 bytes, 6 storages\n"
		    "  input   x  1x32xfloat32\n");
	assert_says(RUN("inspect", MLP "graph.so", "--model"), CLI_OK,
		    "     2  %6 = tvmgen_default_fused_nn_softmax(%5)  1x10xfloat32 in #3\n");
	assert_says(RUN("inspect", MLP "lib.so", "--graph", MLP "graph.json", "--dot"), CLI_OK,
		    "\top1 -> v5;\n");
}

static void parameters_are_listed_and_aligned(void **state)
{
	char *aligned = in_temporary("aligned.params");

	(void)state;
	assert_says(RUN("params", "list", MLP "model.params"), CLI_OK,
		    "3 parameters, 11008 bytes\n");
	assert_says(RUN("params", "align", MLP "model.params", aligned, "--align", "4096"), CLI_OK,
		    "3 parameters, aligned to 4096 bytes\n");
	assert_says(RUN("params", "list", aligned), CLI_OK,
		    "p0    8x32x8xfloat32                   8192         8192      4096\n");
	remove(aligned);
	assert_refused(RUN("params"), CLI_USAGE,
		       "list, extract, align, convert, from-npy or from-npz");
	assert_refused(RUN("params", "list"), CLI_USAGE, "which file? tenon params list FILE");
	assert_refused(RUN("params", "align", MLP "model.params", aligned, "--align", "48"),
		       CLI_USAGE, "a power of two");
}

static void parameters_are_made_of_arrays_and_taken_apart(void **state)
{
	char *made = in_temporary("made.params"), folder[512], full[300];

	(void)state;
	assert_says(RUN("params", "from-npy", MLP "in_x.npy", "second=" MLP "out0.npy", made),
		    CLI_OK, "2 parameters, aligned to 128 bytes\n");
	assert_says(RUN("params", "list", made), CLI_OK, "second  1x10xfloat32");
	assert_non_null(getcwd(folder, sizeof(folder)));
	snprintf(full, sizeof(full), "%s", made);
	assert_int_equal(chdir(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp"), 0);
	assert_says(RUN("params", "extract", full, "in_x"), CLI_OK, "in_x.npy\n");
	assert_refused(RUN("params", "extract", full, "third"), CLI_NO_FILE,
		       "no parameter \"third\"");
	remove("in_x.npy");
	assert_int_equal(chdir(folder), 0);
	remove(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_model_is_run_by_the_names_of_its_inputs),
		cmocka_unit_test(the_memory_of_a_model_is_listed_the_largest_first),
#ifdef CONFIG_JSON
		cmocka_unit_test(all_that_a_model_takes_it_gives_back),
#endif
		cmocka_unit_test(library_graph_and_parameters_may_be_apart),
		cmocka_unit_test(parameters_that_are_not_known_are_a_matter_of_their_file),
		cmocka_unit_test(a_dtype_that_no_tensor_has_is_refused_by_every_verb),
		cmocka_unit_test(a_model_takes_several_devices_and_a_function_one),
#ifdef CONFIG_DEVICE_NULL
		cmocka_unit_test(what_a_model_has_on_a_device_is_fetched),
#endif
		cmocka_unit_test(inputs_of_bools_are_filled_a_byte_each),
		cmocka_unit_test(words_that_do_not_fit_the_model_are_refused),
		cmocka_unit_test(outputs_and_profiles_are_written),
#ifdef CONFIG_TRACE
		cmocka_unit_test(a_trace_is_written),
#endif
#ifdef CONFIG_JSON
		cmocka_unit_test(a_profile_is_part_of_the_answer_in_json),
#endif
		cmocka_unit_test(each_frame_of_a_stream_is_compared),
		cmocka_unit_test(what_a_stream_does_not_do_is_refused),
		cmocka_unit_test(options_that_would_be_passed_over_are_refused),
		cmocka_unit_test(a_model_is_measured),
		cmocka_unit_test(a_model_is_described),
		cmocka_unit_test(parameters_are_listed_and_aligned),
		cmocka_unit_test(parameters_are_made_of_arrays_and_taken_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
