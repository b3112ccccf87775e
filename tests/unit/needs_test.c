/* SPDX-License-Identifier: MIT */
/* What files use of the library, and the configuration that has it. */
#include "blob.h"

#include "cli_run.h"
#include "lib/file_map.h"

#define DATA   "tests/interop/data/"
#define GRAPH  DATA "tvm-0.8/graph_mlp/graph.so"
#define AOT    DATA "tvm-0.18/aot_mlp/aot_chost.so"
#define BYOC   DATA "tvm-0.18/byoc_dnnl_mlp/graph.so"
#define RELAX  DATA "tvm-0.27.0.post1/model_mlp/model.so"
#define OPENCL DATA "tvm-0.27.0.post1/model_mlp_opencl/model.so"
#define METAL  DATA "tvm-0.27.0.post1/metal_vecadd/lib.so"
#define SPEAKS "tests/llm/data/bytes/model.so"
#define TFLITE "tests/ethosu/data/u65_cpu_fallback/vela.tflite"
#define CALLS  "tests/tflite/data/variables.tflite"

static void assert_has(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("\n%s\nwant: %s", text, words);
}

static void assert_lacks(const char *text, const char *words)
{
	if (strstr(text, words))
		fail_msg("\n%s\nwant without: %s", text, words);
}

/* the configuration for these words has these options, and no others but messages and small code */
#define ASSERT_OPTIONS(options, ...) assert_options(RUN("needs", "--kconfig", __VA_ARGS__), options)

static void assert_options(struct cli_run r, const char *options)
{
	char found[512] = "";
	char *line, *rest = r.out;

	assert_int_equal(r.code, CLI_OK);
	while ((line = strsep(&rest, "\n"))) {
		char *end = strstr(line, "=y");

		if (*line == '#' || !end || !strncmp(line, "CONFIG_ERROR_MESSAGES", 21) ||
		    !strncmp(line, "CONFIG_OPTIMIZE_SIZE", 20))
			continue;
		*end = 0;
		assert_true(strlen(found) + strlen(line) < sizeof(found));
		strcat(strcat(found, *found ? " " : ""), line + strlen("CONFIG_"));
	}
	assert_string_equal(found, options);
	cli_run_free(&r);
}

static void the_options_are_those_of_executor_and_code(void **state)
{
	(void)state;
	ASSERT_OPTIONS("DSO GRAPH_EXECUTOR THREAD_POOL TVM_LEGACY", GRAPH);
	ASSERT_OPTIONS("AOT_EXECUTOR DSO TVM_FFI_COMPAT TVM_LEGACY", AOT);
	ASSERT_OPTIONS("DSO RELAX_VM TVM_FFI_COMPAT", RELAX);
}

static void a_program_of_a_device_needs_its_backend(void **state)
{
	(void)state;
	ASSERT_OPTIONS("DEVICES DEVICE_OPENCL DSO RELAX_VM TVM_FFI_COMPAT", OPENCL);
}

static void a_graph_for_a_vendors_library_needs_its_runtime(void **state)
{
	(void)state;
	ASSERT_OPTIONS("DNNL_JSON DSO GRAPH_EXECUTOR TVM_LEGACY", BYOC);
}

static void a_language_model_needs_what_it_calls(void **state)
{
	struct cli_run r = RUN("needs", "--kconfig", SPEAKS);

	(void)state;
	assert_int_equal(r.code, CLI_OK);
	assert_has(r.out, "\nCONFIG_LANGUAGE_MODELS=y\n");
	cli_run_free(&r);
	r = RUN("needs", "--kconfig", RELAX);
	assert_lacks(r.out, "LANGUAGE_MODELS");
	cli_run_free(&r);
}

static void several_files_need_what_each_does(void **state)
{
	(void)state;
	ASSERT_OPTIONS("DSO GRAPH_EXECUTOR PARAMS_FILES RELAX_VM THREAD_POOL "
		       "TVM_FFI_COMPAT TVM_LEGACY",
		       GRAPH, RELAX, "anywhere/weights.safetensors");
}

static void builtins_backends_payloads_and_dtypes_are_named(void **state)
{
	struct cli_run r = RUN("needs", OPENCL);

	(void)state;
	assert_int_equal(r.code, CLI_OK);
	assert_has(r.out, "executors    relax\n");
	assert_has(r.out, "vm.builtin.alloc_storage");
	assert_has(r.out, "backends     opencl\n");
	assert_has(r.out, "opencl cl");
	assert_has(r.out, "float32");
	assert_has(r.out, "runtime      TVMFFIErrorSetRaisedFromCStrParts\n");
	/* its own functions are none that the program registers */
	assert_lacks(r.out, "functions ");
	cli_run_free(&r);
}

static void a_kind_that_no_build_runs_is_said_to_be_unsupported(void **state)
{
	struct cli_run r = RUN("needs", METAL);

	(void)state;
	assert_int_equal(r.code, CLI_OK);
	assert_has(r.out, "unsupported  metal\n");
	cli_run_free(&r);
}

static void a_model_of_tensorflow_lite_needs_its_executor_and_npu(void **state)
{
	struct cli_run r = RUN("needs", TFLITE);

	(void)state;
	assert_int_equal(r.code, CLI_OK);
	assert_has(r.out, "CONFIG_TFLITE_EXECUTOR ");
	assert_has(r.out, "SIN");
#if defined(CONFIG_DEVICE_ETHOSU) || defined(CONFIG_DEVICE_ETHOSU_MODULE)
	assert_has(r.out, "CONFIG_DEVICE_ETHOSU ");
#endif
	cli_run_free(&r);
}

/* the second operator of graph 1 becomes another, which graph 0 lacks */
static void operators_of_a_graph_that_is_called_are_needed(void **state)
{
	const size_t code = 0x4b8; /* 144 there is ASSIGN_VARIABLE */
	const char *path = scratch_file("calls.tflite");
	struct tenon_slice file;
	struct cli_run r;
	char *bytes;

	(void)state;
	assert_int_equal(file_map_open(CALLS, &file), 0);
	bytes = malloc(file.size);
	assert_non_null(bytes);
	memcpy(bytes, file.data, file.size);
	assert_true(file.size > code && (uint8_t)bytes[code] == 144);
	bytes[code] = (char)150;
	write_scratch(path, (struct tenon_slice){ bytes, file.size });
	r = RUN("needs", (char *)path);
	assert_int_equal(r.code, CLI_OK);
	assert_has(r.out, "CALL_ONCE");
	assert_has(r.out, "GELU");
	unlink(path);
	cli_run_free(&r);
	free(bytes);
	file_map_close(&file);
}

static void json_has_the_same(void **state)
{
	struct cli_run r = RUN("needs", "--json", RELAX);

	(void)state;
	assert_int_equal(r.code, CLI_OK);
	assert_has(r.out, "\"executors\":\t[\"relax\"]");
	assert_has(r.out, "\"name\":\t\"RELAX_VM\"");
	cli_run_free(&r);
}

static void a_file_that_is_no_module_is_refused(void **state)
{
	(void)state;
	assert_refused(RUN("needs", "README.md"), CLI_NO_FILE, "README.md");
	assert_refused(RUN("needs", "nowhere.so"), CLI_NO_FILE, "nowhere.so");
	assert_refused(RUN("needs"), CLI_USAGE, "which files");
	assert_refused(RUN("needs", "--json", "--kconfig", RELAX), CLI_USAGE, "--kconfig");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_options_are_those_of_executor_and_code),
		cmocka_unit_test(a_program_of_a_device_needs_its_backend),
		cmocka_unit_test(a_graph_for_a_vendors_library_needs_its_runtime),
		cmocka_unit_test(a_language_model_needs_what_it_calls),
		cmocka_unit_test(several_files_need_what_each_does),
		cmocka_unit_test(builtins_backends_payloads_and_dtypes_are_named),
		cmocka_unit_test(a_kind_that_no_build_runs_is_said_to_be_unsupported),
		cmocka_unit_test(a_model_of_tensorflow_lite_needs_its_executor_and_npu),
		cmocka_unit_test(operators_of_a_graph_that_is_called_are_needed),
		cmocka_unit_test(json_has_the_same),
		cmocka_unit_test(a_file_that_is_no_module_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
