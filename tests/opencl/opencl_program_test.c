/* SPDX-License-Identifier: MIT */
/* Source, SPIR-V and device binaries, and the cache of what was compiled, on the fake OpenCL. */
#include "tests/opencl/opencl_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

static const char spirv[20] = "\x03\x02\x23\x07";

static void ready(struct tenon_executable *e)
{
	struct tenon_kernel *k = NULL;

	assert_int_equal(tenon_executable_kernel(e, 0, &k), 0);
	tenon_object_unref(e);
}

/* How often the compiler was asked while a kernel was made ready. */
static long compilations(void)
{
	long before = fake->sources;

	ready(rig_source());
	return fake->sources - before;
}

static void use_cache(void)
{
	char command[sizeof(rig_cache) + 64];

	snprintf(command, sizeof(command), "rm -rf '%s'/*", rig_cache);
	assert_int_equal(system(command), 0);
	setenv("TENON_CACHE_DIR", rig_cache, 1);
}

static void a_kernel_that_does_not_compile_brings_the_log(void **state)
{
	struct tenon_executable *e = rig_source();
	struct tenon_kernel *k = NULL;

	(void)state;
	fake->compile_fails = 1;
	assert_int_equal(tenon_executable_kernel(e, 0, &k), -TENON_E_DEVICE);
	assert_error_has("opencl:0 (Fake, accelerator): kernel add does not compile:\n"
			 "fake.cl:1: error: told to fail");
	/* it is not remembered */
	fake->compile_fails = 0;
	assert_int_equal(tenon_executable_kernel(e, 0, &k), 0);
	tenon_object_unref(e);
}

static void a_program_without_the_kernel_names_it(void **state)
{
	struct tenon_executable *e = rig_source();
	struct tenon_kernel *k = NULL;

	(void)state;
	fake->kernel_fails = 1;
	assert_int_equal(tenon_executable_kernel(e, 0, &k), -TENON_E_NOT_FOUND);
	assert_error_has("opencl:0 (Fake, accelerator): the program has no kernel add");
	tenon_object_unref(e);
}

static void a_kernel_with_other_arguments_than_the_table_says_is_refused(void **state)
{
	struct tenon_executable *e = rig_source();
	struct tenon_kernel *k = NULL;

	(void)state;
	fake->arguments = 4;
	assert_int_equal(tenon_executable_kernel(e, 0, &k), -TENON_E_FORMAT);
	assert_error_has("kernel add takes 4 arguments, the module's table says 3");
	tenon_object_unref(e);
}

static void a_format_nobody_knows_is_refused_with_those_that_are(void **state)
{
	struct tenon_program program = { { "opencl", 6 }, { "ptx", 3 }, { "x", 1 }, rig_kernels, 2,
					 "fake.so" };
	struct tenon_executable *e = NULL;

	(void)state;
	assert_int_equal(tenon_executable_create(device, &program, NULL, &e), -TENON_E_UNSUPPORTED);
	assert_error_has("format \"ptx\"; known: cl, SPIR-V, xclbin, awsxclbin, aocx");
}

static void all_kernels_of_a_device_binary_are_of_one_program(void **state)
{
	struct tenon_executable *e = rig_executable("xclbin", "FAKE:bits", 9);
	struct tenon_kernel *k[2];

	(void)state;
	assert_int_equal(tenon_executable_kernel(e, 0, &k[0]), 0);
	assert_int_equal(tenon_executable_kernel(e, 1, &k[1]), 0);
	assert_int_equal(fake->binaries, 1);
	assert_int_equal(fake->sources, 0);
	tenon_object_unref(e);
}

static void a_binary_of_another_device_is_refused(void **state)
{
	struct tenon_executable *e = rig_executable("aocx", "bits", 4);
	struct tenon_kernel *k = NULL;

	(void)state;
	assert_int_equal(tenon_executable_kernel(e, 0, &k), -TENON_E_DEVICE);
	assert_error_has("a binary for another device?: CL_INVALID_BINARY (-42)");
	tenon_object_unref(e);
}

static void spirv_is_refused_where_the_driver_does_not_take_it(void **state)
{
	struct tenon_executable *e = rig_executable("", spirv, sizeof(spirv));
	struct tenon_kernel *k = NULL;

	(void)state;
	assert_int_equal(tenon_executable_kernel(e, 0, &k), -TENON_E_UNSUPPORTED);
	assert_error_has("kernel add is SPIR-V, which this driver does not take");
	tenon_object_unref(e);
}

static void the_options_of_the_uri_reach_the_compiler(void **state)
{
	struct tenon_device *plain = device;
	struct tenon_device *d = NULL;

	(void)state;
	assert_int_equal(tenon_device_open("opencl://0?options=-cl-mad-enable%20-DX=1", &d), 0);
	device = d;
	ready(rig_source());
	device = plain;
	tenon_object_unref(d);
	assert_string_equal(fake->options, "-cl-mad-enable -DX=1");
}

static void spirv_goes_to_a_driver_of_2_1(void **state)
{
	(void)state;
	fake->version = "OpenCL 2.1 fake";
	fake->il = "SPIR-V_1.2";
	rig_reopen();
	ready(rig_executable("", spirv, sizeof(spirv)));
	assert_int_equal(fake->ils, 1);
	assert_int_equal(fake->sources, 0);
}

static void spirv_goes_to_an_older_driver_with_the_extension(void **state)
{
	struct tenon_kernel *k = NULL;
	struct tenon_executable *e;

	(void)state;
	fake->il = "SPIR-V_1.0";
	rig_reopen();
	ready(rig_executable("", spirv, sizeof(spirv)));
	assert_int_equal(fake->ils, 1);
	fake->lacks = "clCreateProgramWithILKHR";
	e = rig_executable("", spirv, sizeof(spirv));
	assert_int_equal(tenon_executable_kernel(e, 0, &k), -TENON_E_UNSUPPORTED);
	assert_error_has("SPIR-V, which this driver does not take");
	tenon_object_unref(e);
}

/* TVM's three fields: format, table of kernels, bytes */
static struct tenon_module *module_of(const char *kind, const char *format, const char *code)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_module *m = NULL;

	tenon_buffer_string(&b, tenon_slice_of(format));
	tenon_buffer_u64(&b, 1);
	tenon_buffer_string(&b, tenon_slice_of("add"));
	tenon_buffer_string(&b, tenon_slice_of(""));
	tenon_buffer_u64(&b, 3);
	tenon_buffer_append(&b, "\x03\x40\x01\0\x03\x40\x01\0\0\x20\x01\0", 12);
	tenon_buffer_u64(&b, 1);
	tenon_buffer_string(&b, tenon_slice_of("threadIdx.x"));
	tenon_buffer_string(&b, tenon_slice_of(code));
	assert_int_equal(tenon_module_load_bytes(kind, (struct tenon_slice){ b.data, b.size }, &m),
			 0);
	tenon_buffer_fini(&b);
	return m;
}

static void call_and_check(const char *kind, const char *format, const char *code)
{
	struct tenon_memory *out = rig_memory(64), *in = rig_memory(64);
	struct tenon_value args[4] = { tenon_arg_none() }, none = tenon_arg_none();
	struct tenon_module *m = module_of(kind, format, code);
	struct tenon_function *f = NULL;
	int32_t back[16] = { 0 };

	args[0] = args[1] = (struct tenon_value){ .type = TENON_TYPE_POINTER };
	args[0].as.pointer = out;
	args[1].as.pointer = in;
	args[2] = tenon_arg_int(5);
	args[3] = tenon_arg_int(16);
	assert_int_equal(tenon_module_get_function(m, "add", &f), 0);
	assert_int_equal(tenon_function_call(f, args, 4, &none), 0);
	assert_int_equal(tenon_device_sync(device, rig_soon()), 0);
	assert_int_equal(tenon_queue_read(queue, back, out, 0, 64, NULL), 0);
	assert_int_equal(tenon_queue_sync(queue, rig_soon()), 0);
	assert_int_equal(back[0], 5);
	assert_int_equal(back[15], 5);
	tenon_object_unref(f);
	tenon_object_unref(m);
	tenon_object_unref(out);
	tenon_object_unref(in);
}

static void only_the_piece_of_a_kernel_is_compiled_and_not_before_its_first_call(void **state)
{
	static const char source[] = "// Function: other\nother\n// Function: add\nadd\n"
				     "// Function: add_more\nadd_more\n";
	struct tenon_module *m = module_of("opencl", "cl", source);
	struct tenon_function *f = NULL;

	(void)state;
	assert_int_equal(tenon_module_get_function(m, "add", &f), 0);
	assert_int_equal(fake->sources, 0);
	tenon_object_unref(f);
	tenon_object_unref(m);
	call_and_check("opencl", "cl", source);
	assert_int_equal(fake->sources, 1);
	assert_string_equal(fake->text, "add\n");
}

static void modules_of_all_three_kinds_run(void **state)
{
	(void)state;
	call_and_check("opencl", "cl", "// Function: add\nadd");
	assert_int_equal(fake->binaries, 0);
	call_and_check("opencl", "xclbin", "FAKE:bits");
	call_and_check("sdaccel", "xclbin", "FAKE:bits");
	call_and_check("sdaccel", "awsxclbin", "FAKE:bits");
	call_and_check("aocl", "aocx", "FAKE:bits");
	assert_int_equal(fake->binaries, 4);
	assert_int_equal(fake->sources, 1);
}

static void a_program_is_compiled_once_and_then_read_from_the_cache(void **state)
{
	(void)state;
	use_cache();
	assert_int_equal(compilations(), 1);
	assert_int_equal(fake->binaries, 0);
	assert_int_equal(compilations(), 0);
	assert_int_equal(fake->binaries, 1);
	/* a driver that does not want it any more gets the source */
	fake->binaries_fail = 1;
	assert_int_equal(compilations(), 1);
	assert_string_equal(tenon_error_message(), "");
}

static void a_damaged_cache_is_no_failure(void **state)
{
	char command[sizeof(rig_cache) + 128];

	(void)state;
	use_cache();
	assert_int_equal(compilations(), 1);
	snprintf(command, sizeof(command),
		 "find '%s' -type f | while read f; do printf garbage > \"$f\"; done", rig_cache);
	assert_int_equal(system(command), 0);
	assert_int_equal(compilations(), 1);
	assert_int_equal(fake->binaries, 0);
	/* and it was mended */
	assert_int_equal(compilations(), 0);
}

static void another_driver_or_other_options_compile_anew(void **state)
{
	struct tenon_device *plain, *d = NULL;

	(void)state;
	use_cache();
	assert_int_equal(compilations(), 1);
	fake->driver = "7.6";
	rig_reopen();
	assert_int_equal(compilations(), 1);
	plain = device;
	assert_int_equal(tenon_device_open("opencl://0?options=-DX", &d), 0);
	device = d;
	assert_int_equal(compilations(), 1);
	device = plain;
	tenon_object_unref(d);
	assert_int_equal(compilations(), 0);
}

static void a_cache_that_has_no_place_is_no_failure(void **state)
{
	char path[sizeof(rig_cache) + 16];
	FILE *file;

	(void)state;
	use_cache();
	/* a file where a folder would have to be: not even root can write there */
	snprintf(path, sizeof(path), "%s/file", rig_cache);
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	setenv("TENON_CACHE_DIR", path, 1);
	assert_int_equal(compilations(), 1);
	assert_int_equal(compilations(), 1);
	if (geteuid()) {
		assert_int_equal(chmod(rig_cache, 0500), 0);
		setenv("TENON_CACHE_DIR", rig_cache, 1);
		assert_int_equal(compilations(), 1);
		assert_int_equal(compilations(), 1);
		assert_int_equal(chmod(rig_cache, 0700), 0);
	}
	assert_string_equal(tenon_error_message(), "");
}

static void a_program_whose_kernel_fails_is_not_kept(void **state)
{
	struct tenon_executable *e;
	struct tenon_kernel *k = NULL;

	(void)state;
	use_cache();
	e = rig_source();
	fake->kernel_fails = 1;
	assert_int_equal(tenon_executable_kernel(e, 0, &k), -TENON_E_NOT_FOUND);
	fake->kernel_fails = 0;
	tenon_object_unref(e);
	assert_int_equal(compilations(), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_CASE(a_kernel_that_does_not_compile_brings_the_log),
		RIG_CASE(a_program_without_the_kernel_names_it),
		RIG_CASE(a_kernel_with_other_arguments_than_the_table_says_is_refused),
		RIG_CASE(a_format_nobody_knows_is_refused_with_those_that_are),
		RIG_CASE(all_kernels_of_a_device_binary_are_of_one_program),
		RIG_CASE(a_binary_of_another_device_is_refused),
		RIG_CASE(spirv_is_refused_where_the_driver_does_not_take_it),
		RIG_CASE(only_the_piece_of_a_kernel_is_compiled_and_not_before_its_first_call),
		RIG_CASE(the_options_of_the_uri_reach_the_compiler),
		RIG_CASE(spirv_goes_to_a_driver_of_2_1),
		RIG_CASE(spirv_goes_to_an_older_driver_with_the_extension),
		RIG_CASE(modules_of_all_three_kinds_run),
		RIG_CASE(a_program_is_compiled_once_and_then_read_from_the_cache),
		RIG_CASE(a_damaged_cache_is_no_failure),
		RIG_CASE(another_driver_or_other_options_compile_anew),
		RIG_CASE(a_cache_that_has_no_place_is_no_failure),
		RIG_CASE(a_program_whose_kernel_fails_is_not_kept),
	};

	return rig_prepare() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
