/* SPDX-License-Identifier: MIT */
/* Modules that are inspected, also those of other machines. */
#include "tests/unit/elf_image.h"

#include "runtime/library/file_extension.h"

static struct tenon_module *inspect(const char *path)
{
	struct tenon_module *m;

	if (tenon_module_inspect(path, &m)) {
		print_error("%s\n", tenon_error_message());
		fail();
	}
	return m;
}

static void a_legacy_module_shows_its_host_code_and_its_kernels(void **state)
{
	struct tenon_module *m = inspect(data_file("tvm-0.18/opencl_multi/lib.so")), *p;

	(void)state;
	assert_slice(m->kind, "library");
	assert_text_field(m, "machine", "x86-64");
	assert_text_field(m, "generation", "legacy");
	assert_text_field(m, "tvm", "0.8 to 0.20");
	assert_int_equal(number_field(m, "size"), 43272);
	assert_list_field(m, "functions", "triple two_kernels transpose_zy");
	assert_int_equal(m->import_count, 1);
	p = m->imports[0];
	assert_slice(p->kind, "opencl");
	assert_int_equal(number_field(p, "size"), 3127);
	/* the dump: the symbol's place in the file, and 42 bytes in front of the payload */
	assert_int_equal(number_field(p, "offset"), 21391);
	assert_list_field(
		p, "functions",
		"two_kernels_kernel triple_kernel transpose_zy_kernel two_kernels_kernel_1");
	tenon_object_unref(m);
}

static void a_later_module_shows_names_without_their_prefix(void **state)
{
	struct tenon_module *m = inspect(data_file("tvm-0.27.0.post1/tree_nested/lib.so"));

	(void)state;
	assert_text_field(m, "generation", "ffi");
	assert_text_field(m, "tvm", "0.26 or later");
	assert_slice(m->imports[0]->kind, "opencl");
	assert_slice(m->imports[0]->imports[0]->kind, "cuda");
#ifdef CONFIG_DEVICE_CUDA
	assert_text_field(m->imports[0]->imports[0], "loader", "ready");
#else
	assert_text_field(m->imports[0]->imports[0], "loader", "missing");
#endif
	tenon_object_unref(m);
	m = inspect(data_file("tvm-0.25.0.post1/opencl_multi/lib.so"));
	assert_text_field(m, "tvm", "0.24 to 0.25");
	tenon_object_unref(m);
}

static int is_clean(void *context, struct tenon_slice name)
{
	size_t *count = context;

	assert_true(name.size < 2 || memcmp(name.data, "__", 2));
	++*count;
	return 0;
}

static void context_variables_are_no_functions(void **state)
{
	static const char *const files[] = { "tvm-0.27.0.post1/host_vecadd/lib.so",
					     "tvm-0.18/host_vecadd/lib.so",
					     "tvm-0.18/c_host/lib.so" };
	size_t i, count = 0;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct tenon_module *m = inspect(data_file(files[i]));

		assert_int_equal(tenon_module_each_function(m, is_clean, &count), 0);
		tenon_object_unref(m);
	}
	assert_true(count >= 3);
}

static void sources_are_shown_where_there_are_any(void **state)
{
	static const struct {
		const char *file;
		const char *begin;
	} cases[] = {
		{ "tvm-0.18/opencl_multi/lib.so", "// Function: " },
		{ "tvm-0.18/dev_source_only/metal.so", "// Function: vecadd_kernel\n#include" },
		{ "tvm-0.18/dev_source_only/webgpu.so", "//------" },
		{ "tvm-0.27.0.post1/cuda_vecadd/lib.so", "" },
	};
	struct tenon_value source;
	struct tenon_slice text;
	struct tenon_module *m;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		m = inspect(data_file(cases[i].file));
		assert_int_equal(tenon_module_source(m->imports[0], "", &source), 0);
		assert_int_equal(tenon_value_text(&source, &text), 0);
		assert_true(text.size > 100);
		assert_memory_equal(text.data, cases[i].begin, strlen(cases[i].begin));
		tenon_value_release(&source);
		tenon_object_unref(m);
	}
	m = inspect(data_file("tvm-0.18/opencl_multi/lib.so"));
	assert_int_equal(tenon_module_source(m->imports[0], "ptx", &source), -TENON_E_UNSUPPORTED);
	assert_error("a \"opencl\" module has no source as \"ptx\"; its own format is \"cl\"");
	tenon_object_unref(m);
	m = inspect(data_file("tvm-0.18/vulkan_multi/lib.so"));
	assert_int_equal(tenon_module_source(m->imports[0], "", &source), -TENON_E_UNSUPPORTED);
	assert_error("this \"vulkan\" module holds no source text");
	tenon_object_unref(m);
}

static void functions_are_found_and_refuse_to_be_called(void **state)
{
	const char *path = data_file("tvm-0.18/opencl_multi/lib.so");
	struct tenon_value ret = tenon_arg_none();
	struct tenon_module *m = inspect(path);
	struct tenon_function *f;
	char want[2000];

	(void)state;
	assert_int_equal(tenon_module_get_function(m, "triple", &f), 0);
	assert_int_equal(tenon_call(f, &ret), -TENON_E_UNSUPPORTED);
	snprintf(want, sizeof(want),
		 "%s: opened for inspection only. Load the file to call functions", path);
	assert_error(want);
	tenon_object_unref(f);
	assert_int_equal(tenon_module_get_function(m, "triple_kernel", &f), 0);
	tenon_object_unref(m);
#ifdef CONFIG_DEVICE_OPENCL
	assert_int_equal(tenon_call(f, &ret), -TENON_E_UNSUPPORTED);
	assert_error_has("import 1 of 2 (kind \"opencl\", 3 KiB at 0x538f): opened for "
			 "inspection only. Load the file to call functions.");
#else
	assert_int_equal(tenon_call(f, &ret), -TENON_E_NO_LOADER);
	assert_error_has("import 1 of 2 (kind \"opencl\", 3 KiB at 0x538f): no loader");
#endif
	tenon_object_unref(f);
}

static void constants_are_listed_without_being_loaded(void **state)
{
	struct tenon_module *m = inspect(data_file("tvm-0.18/byoc_dnnl_mlp/lib.so"));
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;

	(void)state;
	assert_slice(m->kind, "const_loader");
	assert_text_field(m, "loader", "ready");
	assert_int_equal(number_field(m, "parameters"), 3);
	assert_list_field(m, "functions", "tvmgen_default_dnnl_main_0 tvmgen_default_dnnl_main_2");
	assert_int_equal(tenon_module_get_function(m, "tvmgen_default_dnnl_main_0", &f), 0);
	assert_int_equal(tenon_call(f, &ret), -TENON_E_UNSUPPORTED);
	assert_error_has("(kind \"const_loader\", 11 KiB at 0x354e): opened");
	tenon_object_unref(f);
	tenon_object_unref(m);
}

static void a_module_of_another_machine_shows_its_tree(void **state)
{
	static const char *const names[] = { "__tvm_ffi_add", "__tvm_ffi__library_bin",
					     "__tvm_ffi__metadata_add", NULL };
	struct image i = { .names = names, .content_of = 1 };
	struct tenon_buffer payload = TENON_BUFFER_INIT, blob, b;
	const char *path = scratch_file("other.so");
	struct tenon_module *m;
	int n;

	(void)state;
	put_device(&payload, "hsaco", "add_kernel", "code", true);
	const struct part parts[] = { { "_lib", { NULL, 0 } }, { "hip", slice_of(&payload) } };

	blob = blob_of(TENON_GENERATION_FFI, parts, 2, ROWS(0, 1, 1), ROWS(1));
	i.content = slice_of(&blob);
	for (n = 0; n < 12; n++) {
		i.wide = n & 1;
		i.big = n & 2;
		i.way = (enum image_way)(n / 4);
		i.machine = i.big ? 22 : 40;
		b = image_of(&i);
		write_scratch(path, slice_of(&b));
		m = inspect(path);
		assert_text_field(m, "machine", i.big ? (i.wide ? "s390x" : "s390") : "arm");
		assert_list_field(m, "functions", "add");
		assert_slice(m->imports[0]->kind, "hip");
		assert_list_field(m->imports[0], "functions", "add_kernel");
		assert_int_equal(number_field(m->imports[0], "offset"),
				 IMAGE_CONTENT + blob.size - payload.size);
		tenon_object_unref(m);
		tenon_buffer_fini(&b);
	}
	unlink(path);
	tenon_buffer_fini(&payload);
	tenon_buffer_fini(&blob);
}

/* 0.20 kept calling convention and blob; 0.21 has the next one's calls, in the older blob */
static void versions_between_the_generations_are_legacy(void **state)
{
	static const char *const names[][4] = { { "f", "__TVMFuncCall", NULL },
						{ "f", "__TVMFFIFunctionCall",
						  "__TVMBackendGetFuncFromEnv", NULL } };
	static const char *const versions[] = { "0.8 to 0.20", "0.21" };
	const char *path = scratch_file("between.so");
	struct image i = {
		.wide = true, .machine = 62, .content_of = 1, .content = { "12345678", 8 }
	};
	struct tenon_module *m;
	struct tenon_buffer b;
	int n;

	(void)state;
	for (n = 0; n < 2; n++) {
		i.names = names[n];
		b = image_of(&i);
		write_scratch(path, slice_of(&b));
		m = inspect(path);
		assert_text_field(m, "generation", "legacy");
		assert_text_field(m, "tvm", versions[n]);
		tenon_object_unref(m);
		tenon_buffer_fini(&b);
	}
	unlink(path);
}

static void assert_inspects_to(const char *path, int status, const char *message)
{
	struct tenon_module *m;
	char want[4000];

	assert_int_equal(tenon_module_inspect(path, &m), status);
	assert_null(m);
	snprintf(want, sizeof(want), "%s: %s", path, message);
	assert_error(want);
}

static void a_damaged_tree_is_named_with_its_file(void **state)
{
	static const char *const names[] = { "__tvm_dev_mblob", NULL };
	const struct part parts[] = { { "_lib", { NULL, 0 } }, { "acme", { "x", 1 } } };
	struct image i = { .names = names, .wide = true, .machine = 62 };
	const char *path = scratch_file("damaged.so");
	struct tenon_buffer blob, b;

	(void)state;
	blob = blob_of(TENON_GENERATION_LEGACY, parts, 1, ROWS(0, 1), ROWS(7));
	i.content = slice_of(&blob);
	b = image_of(&i);
	write_scratch(path, slice_of(&b));
	assert_inspects_to(path, -TENON_E_FORMAT,
			   "import tree at 0xa30: module 0 imports module 7, there are 1");
	tenon_buffer_fini(&b);
	tenon_buffer_fini(&blob);
	unlink(path);
}

static void what_is_no_module_is_refused_by_name(void **state)
{
	const char *path = scratch_file("text.so");

	(void)state;
	assert_inspects_to("/no/such.so", -TENON_E_IO, "No such file or directory");
	assert_inspects_to("/tmp", -TENON_E_IO, "is a directory, want a file");
	write_scratch(path, tenon_slice_of("import numpy\n"));
	assert_inspects_to(path, -TENON_E_FORMAT, "not an ELF file; it looks like text");
	write_scratch(path, tenon_slice_of(""));
	assert_inspects_to(path, -TENON_E_FORMAT, "not an ELF file; it looks like an empty file");
	unlink(path);
}

static void a_real_file_cut_anywhere_is_refused_or_whole(void **state)
{
	const char *path = scratch_file("cut.so");
	struct tenon_slice whole;
	struct tenon_module *m;
	size_t size, refused = 0;

	(void)state;
	assert_int_equal(file_map_open(data_file("tvm-0.18/opencl_vecadd/lib.so"), &whole), 0);
	for (size = 0; size < 20000; size += size < 200 ? 1 : 499) {
		write_scratch(path, (struct tenon_slice){ whole.data, size });
		if (tenon_module_inspect(path, &m)) {
			refused++;
			assert_null(m);
			tenon_error_clear();
			continue;
		}
		/* behind the last segment stand section headers, which can be done without */
		assert_true(size > 16000);
		assert_list_field(m->imports[0], "functions", "vecadd_kernel");
		tenon_object_unref(m);
	}
	assert_true(refused > 220);
	unlink(path);
	file_map_close(&whole);
}

static void a_shared_object_of_nobodys_is_listed_as_a_library(void **state)
{
	static const char *const names[] = { "one", "two", NULL };
	struct image i = { .names = names, .wide = true, .machine = 62 };
	struct tenon_buffer b = image_of(&i);
	const char *path = scratch_file("plain.so");
	struct tenon_module *m;

	(void)state;
	write_scratch(path, slice_of(&b));
	m = inspect(path);
	assert_text_field(m, "generation", "none");
	assert_int_equal(field_of(m, "tvm").type, TENON_TYPE_NONE);
	assert_list_field(m, "functions", "one two");
	tenon_object_unref(m);
	unlink(path);
	tenon_buffer_fini(&b);
}

static void object_files_of_a_system_library_are_read(void **state)
{
	struct tenon_module *m = inspect(data_file("tvm-0.18/syslib_prefix/cl_devc.o"));

	(void)state;
	/* the blob's symbol has the library's prefix in front */
	assert_slice(m->kind, "library");
	assert_int_equal(m->import_count, 1);
	assert_slice(m->imports[0]->kind, "opencl");
	tenon_object_unref(m);
}

/* a library of @count functions that all have the name of the first, of @length letters */
static struct tenon_buffer namesakes(size_t count, size_t length)
{
	static char name[256];
	const char *names[16] = { name };
	struct image i = { .wide = true, .machine = 62, .names = names };
	struct tenon_buffer b;
	size_t k;

	memset(name, 'a', length);
	for (k = 1; k < count; k++)
		names[k] = "b";
	b = image_of(&i);
	for (k = 2; k <= count; k++)
		memcpy(b.data + IMAGE_SYMBOLS + 24 * k, b.data + IMAGE_SYMBOLS + 24, 4);
	return b;
}

static void names_longer_together_than_the_file_are_refused(void **state)
{
	const char *path = scratch_file("names.so");
	struct tenon_buffer b = namesakes(10, 250);
	struct tenon_module *m;
	char want[2000];

	(void)state;
	assert_true(b.size > 2500);
	write_scratch(path, slice_of(&b));
	tenon_object_unref(inspect(path));
	tenon_buffer_fini(&b);
	b = namesakes(11, 250);
	assert_int_equal(b.size, 0xa00);
	write_scratch(path, slice_of(&b));
	assert_int_equal(tenon_module_inspect(path, &m), -TENON_E_FORMAT);
	snprintf(want, sizeof(want),
		 "%s: the names of its 12 symbols are longer together than the file of 2560 bytes",
		 path);
	assert_error(want);
	tenon_buffer_fini(&b);
	unlink(path);
}

static void extensions_leave_versions_out(void **state)
{
	static const struct {
		const char *path;
		const char *extension;
		bool library;
	} cases[] = { { "lib.so", "so", true },
		      { "/a.b/lib.so.1.2.3", "so", true },
		      { "x.tar", "tar", false },
		      { "/opt/v1.2/module", "", true },
		      { "module", "", true },
		      { "a.so.tar", "tar", false },
		      { "m.examplejson", "examplejson", false },
		      { "m.dylib", "dylib", true },
		      { "", "", true },
		      { "m.", "", true } };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tenon_slice e = file_extension(cases[i].path);

		assert_true(tenon_slice_equal(e, tenon_slice_of(cases[i].extension)));
		assert_int_equal(file_extension_is_library(e), cases[i].library);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_legacy_module_shows_its_host_code_and_its_kernels),
		cmocka_unit_test(a_later_module_shows_names_without_their_prefix),
		cmocka_unit_test(context_variables_are_no_functions),
		cmocka_unit_test(sources_are_shown_where_there_are_any),
		cmocka_unit_test(functions_are_found_and_refuse_to_be_called),
		cmocka_unit_test(constants_are_listed_without_being_loaded),
		cmocka_unit_test(a_module_of_another_machine_shows_its_tree),
		cmocka_unit_test(versions_between_the_generations_are_legacy),
		cmocka_unit_test(a_damaged_tree_is_named_with_its_file),
		cmocka_unit_test(what_is_no_module_is_refused_by_name),
		cmocka_unit_test(a_real_file_cut_anywhere_is_refused_or_whole),
		cmocka_unit_test(a_shared_object_of_nobodys_is_listed_as_a_library),
		cmocka_unit_test(object_files_of_a_system_library_are_read),
		cmocka_unit_test(names_longer_together_than_the_file_are_refused),
		cmocka_unit_test(extensions_leave_versions_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
