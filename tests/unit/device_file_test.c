/* SPDX-License-Identifier: MIT */
/* Files with the programs of devices, loaded as modules. */
#include "tests/unit/blob.h"

#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "runtime/library/file_loader.h"
#include "runtime/payload/payload_file.h"

#define TABLE(kernels)	"{\"tvm_version\": \"0.1.0\", \"func_info\": {" kernels "}}"
#define KERNEL(members) TABLE("\"vecadd_kernel\": {" members "}")
#define TYPES		"\"arg_types\": [\"handle\", \"handle\", \"handle\"]"
#define TAGS		"\"launch_param_tags\": [\"blockIdx.x\", \"threadIdx.x\"]"
#define EXTRA		"\"arg_extra_tags\": [0, 0, 0]"

static char folder[512];

static const char *path_of(const char *name)
{
	static char path[2][600];
	static int next;
	char *p = path[next++ % 2];

	snprintf(p, sizeof(path[0]), "%s/%s", folder, name);
	return p;
}

static void write_file(const char *name, struct tenon_slice bytes)
{
	FILE *f = fopen(path_of(name), "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes.data, 1, bytes.size, f), bytes.size);
	assert_int_equal(fclose(f), 0);
}

static int make_folder(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(folder, sizeof(folder), "%s/device-file-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(folder));
	return 0;
}

static int remove_folder(void **state)
{
	static const char *const names[] = { "dev.cl", "dev.ptx", "dev.vulkan",
					     "dev.tvm_meta.json" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(path_of(names[i]));
	return rmdir(folder);
}

/* The payload of the only import of a stored library. */
static struct tenon_buffer stored(const char *file)
{
	struct tenon_buffer bytes = TENON_BUFFER_INIT;
	struct tenon_module *root;

	assert_int_equal(tenon_module_inspect(data_file(file), &root), 0);
	assert_int_equal(root->import_count, 1);
	assert_int_equal(tenon_module_save(root->imports[0], &bytes), 0);
	tenon_object_unref(root);
	return bytes;
}

/* Write a table and load the program beside it. */
static int load(const char *program, const char *table, struct tenon_module **out)
{
	if (table)
		write_file("dev.tvm_meta.json", tenon_slice_of(table));
	return tenon_module_load(path_of(program), out);
}

/* The end of a payload, from where a text begins. */
static struct tenon_slice from(const struct tenon_buffer *payload, const char *text, size_t before)
{
	const char *at = memmem(payload->data, payload->size, text, strlen(text));

	assert_non_null(at);
	at -= before;
	return (struct tenon_slice){ at, payload->size - (size_t)(at - payload->data) };
}

static void a_program_and_its_table_make_the_payload_of_a_library(void **state)
{
	static const char *const tables[] = {
		KERNEL("\"name\": \"vecadd_kernel\", " TYPES ", " TAGS ", " EXTRA),
		/* in another order, with the key of old, and with what nobody knows */
		KERNEL(EXTRA ", \"thread_axis_tags\": [\"blockIdx.x\", \"threadIdx.x\"], "
			     "\"new\": {\"in\": [1, {}]}, " TYPES ", \"name\": "
			     "\"vecadd\\u005fkernel\""),
	};
	struct tenon_buffer want = stored("tvm-0.27.0.post1/opencl_vecadd/lib.so"),
			    got = TENON_BUFFER_INIT;
	struct tenon_module *m;
	size_t i;

	(void)state;
	write_file("dev.cl", from(&want, "// Function: ", 0));
	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (load("dev.cl", tables[i], &m))
			fail_msg("%s", tenon_error_message());
		assert_slice(m->kind, "opencl");
		got.size = 0;
		assert_int_equal(tenon_module_save(m, &got), 0);
		assert_int_equal(got.size, want.size);
		assert_memory_equal(got.data, want.data, want.size);
		tenon_object_unref(m);
	}
	tenon_buffer_fini(&got);
	tenon_buffer_fini(&want);
}

static void vulkan_programs_have_a_magic_number_in_front(void **state)
{
	static const char table[] = KERNEL(TYPES ", " TAGS);
	struct tenon_buffer want = stored("tvm-0.18/vulkan_vecadd/lib.so"), got = TENON_BUFFER_INIT,
			    file = TENON_BUFFER_INIT;
	struct tenon_function *f;
	struct tenon_module *m;

	(void)state;
	/* number of programs, length of a name, name, flag, number of words, words */
	const struct tenon_slice programs = from(&want, "\x03\x02#\x07", 8 + 8 + 13 + 4 + 8);

	tenon_buffer_u32(&file, 0x02700027);
	tenon_buffer_slice(&file, programs);
	write_file("dev.vulkan", slice_of(&file));
	if (load("dev.vulkan", table, &m))
		fail_msg("%s", tenon_error_message());
	assert_slice(m->kind, "vulkan");
	assert_int_equal(tenon_module_save(m, &got), 0);
	assert_memory_equal(got.data + got.size - programs.size, programs.data, programs.size);
	assert_int_equal(tenon_module_get_function(m, "vecadd_kernel", &f), 0);
	tenon_object_unref(f);
	tenon_object_unref(m);

	write_file("dev.vulkan", programs);
	assert_true(load("dev.vulkan", table, &m) < 0);
	assert_error_has("0x1 is not the magic number of Vulkan programs, 0x2700027");
	tenon_buffer_fini(&got);
	tenon_buffer_fini(&file);
	tenon_buffer_fini(&want);
}

static void a_table_that_is_missing_or_wrong_is_told(void **state)
{
	static const struct {
		const char *table, *message;
	} cases[] = {
		{ "", "dev.tvm_meta.json" },
		{ "[]", "want an object" },
		{ "{\"func_info\": {", "the text ends too early" },
		{ "{\"tvm_version\": \"0.1.0\"}", "there is no func_info" },
		{ TABLE("\"k\": {" TAGS "}"), "kernel k has no arg_types" },
		{ TABLE("\"k\": {\"arg_types\": [\"float33x\"]}"),
		  "an argument of type \"float33x\"" },
		{ TABLE("\"k\": {\"arg_types\": \"handle\"}"), "arg_types is a string" },
		{ TABLE("\"k\": {\"arg_types\": [], \"arg_extra_tags\": [-1]}"),
		  "an argument's tag is -1, want 0" },
		{ TABLE("\"k\": 3"), "a kernel is" },
		{ TABLE("\"k\""), "0 values for a key" },
		{ KERNEL("\"arg_types\""), "0 values for a key" },
		{ "{\"func_info\": 3}", "func_info is" },
		{ "{\"func_info\"}", "0 values for a key" },
	};
	struct tenon_module *m = NULL;
	size_t i;

	(void)state;
	write_file("dev.ptx", tenon_slice_of(".version 6.0"));
	assert_true(load("dev.ptx", NULL, &m) < 0);
	assert_error_has("dev.ptx: the table of its kernels, which TVM writes beside it");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(load("dev.ptx", cases[i].table, &m) < 0);
		assert_error_has(cases[i].message);
		assert_null(m);
	}
	unlink(path_of("dev.ptx"));
	assert_int_equal(load("dev.ptx", TABLE(""), &m), -TENON_E_IO);
	assert_error_has("dev.ptx: No such file");
}

static void a_table_without_kernels_has_no_functions(void **state)
{
	struct tenon_module *m;
	struct tenon_function *f;

	(void)state;
	write_file("dev.ptx", tenon_slice_of(".version 6.0"));
	assert_int_equal(load("dev.ptx", TABLE(""), &m), 0);
	assert_slice(m->kind, "cuda");
	assert_int_equal(tenon_module_find_function(m, tenon_slice_of("k"), true, &f), 0);
	assert_null(f);
	tenon_object_unref(m);
}

static void every_edit_of_a_table_is_refused_or_read(void **state)
{
	char table[] = KERNEL("\"name\": \"k\", " TYPES ", " TAGS ", " EXTRA);
	static const char other[] = { 0, '"', '{', '}', '[', ']', ',', ':', '\\', '9', (char)0xff };
	struct tenon_module *m;
	size_t at, i;

	(void)state;
	write_file("dev.ptx", tenon_slice_of(".version 6.0"));
	for (at = 0; at < sizeof(table) - 1; at++) {
		const char kept = table[at];

		for (i = 0; i < sizeof(other); i++) {
			table[at] = other[i];
			if (load("dev.ptx", table, &m))
				assert_true(*tenon_error_message());
			else
				tenon_object_unref(m);
		}
		table[at] = kept;
	}
}

/* the slice is all there is: no NUL behind it */
static void a_path_may_come_as_bytes(void **state)
{
	const char *path = path_of("dev.cl");
	struct tenon_slice bytes = { NULL, strlen(path) };
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;
	char *longer;

	(void)state;
	longer = malloc(bytes.size + 1);
	assert_non_null(longer);
	memcpy(longer, path, bytes.size);
	longer[bytes.size] = '~';
	bytes.data = longer;
	write_file("dev.cl", tenon_slice_of("// Function: vecadd_kernel\n"));
	write_file("dev.tvm_meta.json", tenon_slice_of(KERNEL(TYPES ", " TAGS)));
	assert_int_equal(file_loader_find(tenon_slice_of("cl"), &f), 0);
	assert_non_null(f);
	if (tenon_call(f, &ret, tenon_arg_bytes(&bytes)))
		fail_msg("%s", tenon_error_message());
	assert_slice(((struct tenon_module *)ret.as.object)->kind, "opencl");
	tenon_value_release(&ret);
	tenon_object_unref(f);
	free(longer);
}

static int stop_at_third(void *context, const char *suffix)
{
	size_t *count = context;

	assert_true(*suffix);
	return ++*count == 3 ? 7 : 0;
}

static void suffixes_are_visited_until_the_visitor_stops(void **state)
{
	size_t count = 0;

	(void)state;
	assert_int_equal(payload_file_each_suffix(true, stop_at_third, &count), 7);
	assert_int_equal(count, 3);
}

static void arguments_that_name_no_file_of_the_suffix_are_refused(void **state)
{
	static const struct {
		const char *path, *suffix, *message;
		int status;
	} cases[] = {
		{ "program", NULL, "program: does not end in .", -TENON_E_VALUE },
		{ ".cl", NULL, ".cl: No such file", -TENON_E_IO },
		{ "cl", "cl", "cl: does not end in .cl", -TENON_E_VALUE },
		{ "a.cl", "vulkan", "a.cl: does not end in .vulkan", -TENON_E_VALUE },
		{ "program.ptx", "cl", "program.ptx: does not end in .cl", -TENON_E_VALUE },
		{ "/nowhere/a.cl.1", "cl", "/nowhere/a.cl.1: No such file", -TENON_E_IO },
	};
	struct tenon_value args[2], ret = tenon_arg_none();
	struct tenon_function *f;
	size_t i;

	(void)state;
	assert_int_equal(file_loader_find(tenon_slice_of("cl"), &f), 0);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		args[0] = tenon_arg_string(cases[i].path);
		args[1] = tenon_arg_string(cases[i].suffix ? cases[i].suffix : "");
		assert_int_equal(tenon_function_call(f, args, cases[i].suffix ? 2 : 1, &ret),
				 cases[i].status);
		assert_error_has(cases[i].message);
	}
	assert_int_equal(tenon_function_call(f, args, 0, &ret), -TENON_E_TYPE);
	assert_error_has("want the path of a file");
	args[1] = tenon_arg_int(3);
	assert_int_equal(tenon_function_call(f, args, 2, &ret), -TENON_E_TYPE);
	args[0] = tenon_arg_int(3);
	assert_int_equal(tenon_function_call(f, args, 1, &ret), -TENON_E_TYPE);
	tenon_error_clear();
	tenon_object_unref(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_program_and_its_table_make_the_payload_of_a_library, make_folder,
			remove_folder),
		cmocka_unit_test_setup_teardown(vulkan_programs_have_a_magic_number_in_front,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(a_table_that_is_missing_or_wrong_is_told,
						make_folder, remove_folder),
		cmocka_unit_test(suffixes_are_visited_until_the_visitor_stops),
		cmocka_unit_test(arguments_that_name_no_file_of_the_suffix_are_refused),
		cmocka_unit_test_setup_teardown(a_path_may_come_as_bytes, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(a_table_without_kernels_has_no_functions,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(every_edit_of_a_table_is_refused_or_read,
						make_folder, remove_folder),
	};

	return cmocka_run_group_tests_name("device programs in files", tests, NULL, NULL);
}
