/* SPDX-License-Identifier: MIT */
/* Import trees that are built: order, payloads, names and references. */
#include "tests/unit/tree.h"

#include <tenon/backend/buffer.h>

static void the_imports_of_a_module_keep_their_order(void **state)
{
	(void)state;
	EACH_GENERATION(g)
	{
		struct tenon_buffer b = tree_of(*g, 3, ROWS(0, 3, 3, 3, 3), ROWS(2, 1, 3));
		struct tenon_module *m;

		assert_int_equal(read_blob(*g, slice_of(&b), &m), 0);
		assert_slice(m->kind, "library");
		assert_int_equal(m->import_count, 3);
		assert_list_field(m->imports[0], "functions", "second");
		assert_list_field(m->imports[1], "functions", "first");
		assert_list_field(m->imports[2], "functions", "third");
		assert_int_equal(strong_count(m->imports[2]), 1);
		tenon_object_unref(m);
		tenon_buffer_fini(&b);
	}
}

static void a_payload_tells_what_and_where_it_is(void **state)
{
	(void)state;
	EACH_GENERATION(g)
	{
		struct tenon_buffer b = tree_of(*g, 2, ROWS(0, 2, 2, 2), ROWS(1, 2));
		struct tenon_module *m, *p;
		const char *payload;

		assert_int_equal(read_blob(*g, slice_of(&b), &m), 0);
		p = m->imports[1];
		assert_slice(p->kind, "hip");
		assert_int_equal(p->properties, TENON_MODULE_SERIALIZABLE);
		assert_text_field(p, "format", "hsaco");
		assert_int_equal(number_field(p, "size"), payloads[*g == FFI][1].size);
		payload = b.data + number_field(p, "offset") - 0x1000;
		assert_memory_equal(payload, payloads[*g == FFI][1].data,
				    payloads[*g == FFI][1].size);
		assert_text_field(p, "loader", "missing");
		assert_text_field(p, "remedy",
				  "Install a plug-in for it, or register a loader "
				  "(tenon/backend/module_kind.h).");
		tenon_object_unref(m);
		tenon_buffer_fini(&b);
	}
}

static void calling_a_listed_function_says_which_loader_is_missing(void **state)
{
	(void)state;
	EACH_GENERATION(g)
	{
		struct tenon_buffer b = tree_of(*g, 2, ROWS(0, 2, 2, 2), ROWS(1, 2));
		struct tenon_function *f;
		struct tenon_value ret = tenon_arg_none();
		struct tenon_module *m;
		char want[256];

		assert_int_equal(read_blob(*g, slice_of(&b), &m), 0);
		assert_int_equal(tenon_module_get_function(m, "second", &f), 0);
		snprintf(want, sizeof(want),
			 "lib.so: import 2 of 3 (kind \"hip\", %zu bytes at 0x%llx): no loader "
			 "for "
			 "this kind. Kinds this build loads: ",
			 payloads[*g == FFI][1].size,
			 (unsigned long long)number_field(m->imports[1], "offset"));
		/* the function holds its module, and that the bytes it reads */
		tenon_object_unref(m);
		assert_int_equal(tenon_call(f, &ret), -TENON_E_NO_LOADER);
		assert_non_null(strstr(tenon_error_message(), want));
		assert_error_has(". Install a plug-in for it, or register a loader "
				 "(tenon/backend/module_kind.h).");
		tenon_object_unref(f);
		tenon_buffer_fini(&b);
	}
}

static void the_last_of_a_thousand_modules_is_found(void **state)
{
	static struct part parts[1001];
	static struct tenon_buffer payload[1000];
	static uint64_t rows[1003], children[1001];
	char name[32];
	const char *list = name;
	size_t i;

	(void)state;
	parts[0].kind = "_lib";
	for (i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "kernel_%zu", i);
		put_string(&payload[i], "cl");
		put_kernels(&payload[i], &list, 1, false);
		put_string(&payload[i], "code");
		parts[i + 1] = (struct part){ "opencl", slice_of(&payload[i]) };
		children[i] = i + 1;
		rows[i + 1] = 1000;
	}
	rows[1001] = 1000;
	rows[1002] = children[1000] = UINT64_MAX;

	struct tenon_buffer b = blob_of(LEGACY, parts, 1001, rows, children);
	struct tenon_function *f;
	struct tenon_module *m;

	assert_int_equal(read_blob(LEGACY, slice_of(&b), &m), 0);
	assert_int_equal(m->import_count, 1000);
	assert_int_equal(tenon_module_get_function(m, "kernel_999", &f), 0);
	tenon_object_unref(f);
	assert_int_equal(tenon_module_get_function(m, "kernel_0", &f), 0);
	tenon_object_unref(f);
	assert_int_equal(tenon_module_get_function(m, "kernel_1000", &f), -TENON_E_NOT_FOUND);
	tenon_error_clear();
	/* a module in the middle of the block outlives all others */
	struct tenon_module *middle = m->imports[500];

	tenon_object_ref(middle);
	tenon_object_unref(m);
	assert_list_field(middle, "functions", "kernel_500");
	tenon_object_unref(middle);
	tenon_buffer_fini(&b);
	for (i = 0; i < 1000; i++)
		tenon_buffer_fini(&payload[i]);
}

static void a_weak_reference_to_a_root_does_not_hold_the_file(void **state)
{
	struct part parts[2] = { part_of(LEGACY, 0), { "_lib", { NULL, 0 } } };
	struct tenon_buffer b = blob_of(LEGACY, parts, 2, ROWS(0, 1, 1), ROWS(1));
	struct tenon_module *m;

	(void)state;
	assert_int_equal(read_blob(LEGACY, slice_of(&b), &m), 0);
	assert_slice(m->kind, "hip");
	tenon_object_ref_weak(m);
	tenon_object_unref(m);
	assert_int_equal(strong_count(&mapping), 1);
	tenon_object_unref_weak(m);
	tenon_buffer_fini(&b);
}

static void without_a_tree_all_modules_are_imports_of_the_library(void **state)
{
	struct part parts[] = { part_of(LEGACY, 0), part_of(LEGACY, 1) };
	struct tenon_buffer b = blob_of(LEGACY, parts, 2, NULL, NULL);
	struct tenon_module *m;

	(void)state;
	assert_int_equal(read_blob(LEGACY, slice_of(&b), &m), 0);
	assert_slice(m->kind, "library");
	assert_int_equal(m->import_count, 2);
	assert_list_field(m->imports[0], "functions", "first");
	assert_list_field(m->imports[1], "functions", "second");
	tenon_object_unref(m);
	tenon_buffer_fini(&b);
}

static void a_tree_without_rows_counts_as_none(void **state)
{
	struct part parts[] = { { "_lib", { NULL, 0 } }, part_of(LEGACY, 1) };
	struct tenon_buffer b = blob_of(LEGACY, parts, 2, NO_ROWS, NO_ROWS);
	struct tenon_module *m;

	(void)state;
	assert_int_equal(read_blob(LEGACY, slice_of(&b), &m), 0);
	assert_slice(m->kind, "library");
	assert_int_equal(m->import_count, 1);
	assert_list_field(m->imports[0], "functions", "second");
	tenon_object_unref(m);
	tenon_buffer_fini(&b);
}

static void a_blob_that_counts_no_module_may_still_hold_the_root(void **state)
{
	struct part part = part_of(LEGACY, 0);
	struct tenon_buffer b = blob_of(LEGACY, &part, 1, NULL, NULL);
	struct tenon_module *m;

	(void)state;
	b.data[8] = 0;
	assert_int_equal(read_blob(LEGACY, slice_of(&b), &m), 0);
	assert_int_equal(m->import_count, 1);
	assert_list_field(m->imports[0], "functions", "first");
	tenon_object_unref(m);
	tenon_buffer_fini(&b);
}

static void an_empty_legacy_blob_is_the_library_alone(void **state)
{
	struct tenon_buffer b = blob_of(LEGACY, NULL, 0, NULL, NULL);
	struct tenon_module *m;

	(void)state;
	assert_int_equal(read_blob(LEGACY, slice_of(&b), &m), 0);
	assert_slice(m->kind, "library");
	assert_int_equal(m->import_count, 0);
	tenon_object_unref(m);
	tenon_buffer_fini(&b);
}

static void longer_function_tables_of_0_20_are_recognised(void **state)
{
	struct part parts[] = { { "_lib", { NULL, 0 } }, part_of(FFI, 0), part_of(FFI, 1) };
	struct tenon_buffer b = blob_of(LEGACY, parts, 3, ROWS(0, 2, 2, 2), ROWS(1, 2));
	struct tenon_module *m;

	(void)state;
	assert_int_equal(read_blob(LEGACY, slice_of(&b), &m), 0);
	assert_list_field(m->imports[0], "functions", "first");
	assert_list_field(m->imports[1], "functions", "second");
	assert_text_field(m->imports[1], "format", "hsaco");
	tenon_object_unref(m);
	tenon_buffer_fini(&b);
}

static void a_module_may_be_imported_by_two(void **state)
{
	(void)state;
	EACH_GENERATION(g)
	{
		struct tenon_buffer b = tree_of(*g, 3, ROWS(0, 2, 3, 4, 4), ROWS(1, 2, 3, 3));
		struct tenon_module *m;

		assert_int_equal(read_blob(*g, slice_of(&b), &m), 0);
		assert_ptr_equal(m->imports[0]->imports[0], m->imports[1]->imports[0]);
		assert_int_equal(strong_count(m->imports[0]->imports[0]), 2);
		tenon_object_unref(m);
		tenon_buffer_fini(&b);
	}
}

static void a_child_may_come_before_its_parent(void **state)
{
	(void)state;
	EACH_GENERATION(g)
	{
		/* 0 imports 2, which imports 1 */
		struct tenon_buffer b = tree_of(*g, 2, ROWS(0, 1, 1, 2), ROWS(2, 1));
		struct tenon_module *m;

		assert_int_equal(read_blob(*g, slice_of(&b), &m), 0);
		assert_list_field(m->imports[0], "functions", "second");
		assert_list_field(m->imports[0]->imports[0], "functions", "first");
		tenon_object_unref(m);
		tenon_buffer_fini(&b);
	}
}

static void an_unknown_kind_in_a_later_blob_is_listed(void **state)
{
	struct tenon_buffer payload = TENON_BUFFER_INIT, b;
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;
	struct tenon_module *m;

	(void)state;
	put_device(&payload, "bin", "acme_matmul", "code", true);
	const struct part parts[] = { { "_lib", { NULL, 0 } },
				      { "acme_npu", slice_of(&payload) },
				      { "acme_dsp", { "\x01\x02\x03", 3 } } };

	b = blob_of(FFI, parts, 3, ROWS(0, 2, 2, 2), ROWS(1, 2));
	assert_int_equal(read_blob(FFI, slice_of(&b), &m), 0);
	assert_slice(m->imports[0]->kind, "acme_npu");
	assert_list_field(m->imports[0], "functions", "acme_matmul");
	assert_text_field(m->imports[0], "format", "bin");
	/* nothing usual: its fault is shown, and it has a size and a place all the same */
	assert_int_equal(number_field(m->imports[1], "size"), 3);
	assert_text_field(m->imports[1], "loader", "missing");
	assert_int_equal(field_of(m->imports[1], "functions").type, TENON_TYPE_NONE);

	assert_int_equal(tenon_module_get_function(m, "acme_matmul", &f), 0);
	assert_int_equal(tenon_call(f, &ret), -TENON_E_NO_LOADER);
	assert_error_has("(kind \"acme_npu\", ");
	tenon_object_unref(f);
	tenon_object_unref(m);
	tenon_buffer_fini(&payload);
	tenon_buffer_fini(&b);
}

static void a_truncated_payload_fails_the_lookup_of_a_function_that_no_other_has(void **state)
{
	static const char *const kinds[] = { "opencl", "cuda", "hip", "webgpu", "tensorrt" };
	struct tenon_buffer whole = TENON_BUFFER_INIT, cut = TENON_BUFFER_INIT, b;
	struct tenon_function *f;
	struct tenon_module *m;
	size_t i;

	(void)state;
	put_device(&whole, "hsaco", "whole", "code", true);
	put_device(&cut, "cl", "cut", "code", true);
	cut.size -= 3;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct part parts[] = { { "_lib", { NULL, 0 } },
					      { kinds[i], slice_of(&cut) },
					      { "hip", slice_of(&whole) } };

		b = blob_of(FFI, parts, 3, ROWS(0, 2, 2, 2), ROWS(1, 2));
		assert_int_equal(read_blob(FFI, slice_of(&b), &m), 0);
		assert_int_equal(tenon_module_get_function(m, "whole", &f), 0);
		tenon_object_unref(f);
		assert_int_equal(tenon_error_status(), 0);
		assert_int_equal(tenon_module_get_function(m, "cut", &f), -TENON_E_TRUNCATED);
		assert_null(f);
		assert_error_has("\"): payload at 0x");
		assert_int_equal(tenon_module_get_function(m->imports[0], "cut", &f),
				 -TENON_E_TRUNCATED);
		tenon_object_unref(m);
		tenon_buffer_fini(&b);
	}
	tenon_buffer_fini(&whole);
	tenon_buffer_fini(&cut);
}

static void a_symbol_larger_than_the_size_is_no_harm(void **state)
{
	(void)state;
	EACH_GENERATION(g)
	{
		struct tenon_buffer b = tree_of(*g, 1, ROWS(0, 1, 1), ROWS(1));
		struct tenon_module *m;

		tenon_buffer_u64(&b, 0x0102030405060708);
		assert_int_equal(read_blob(*g, slice_of(&b), &m), 0);
		tenon_object_unref(m);
		tenon_buffer_fini(&b);
	}
}

static const char *const real_files[] = {
	"tvm-0.18/opencl_multi/lib.so",	       "tvm-0.18/vulkan_multi/lib.so",
	"tvm-0.18/cuda_vecadd/lib.so",	       "tvm-0.18/dev_opencl_cuda/lib.so",
	"tvm-0.18/dev_source_only/metal.so",   "tvm-0.18/byoc_dnnl_mlp/graph.so",
	"tvm-0.18/aot_mlp/aot_packed.so",      "tvm-0.18/relax_mlp/vm.so",
	"tvm-0.8/graph_mlp/graph.so",	       "tvm-0.8/relay_vm_mlp/vm.so",
	"tvm-0.8/vulkan_vecadd/lib.so",	       "tvm-0.27.0.post1/tree_children/lib.so",
	"tvm-0.27.0.post1/tree_nested/lib.so", "tvm-0.25.0.post1/relax_mlp/vm.so",
};

static void blobs_of_real_modules_are_read(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(real_files) / sizeof(real_files[0]); i++) {
		struct real_blob r = real_blob_open(real_files[i]);
		struct tenon_module *m;

		if (read_blob(r.generation, r.bytes, &m)) {
			print_error("%s: %s\n", real_files[i], tenon_error_message());
			fail();
		}
		tenon_object_unref(m);
		file_map_close(&r.file);
	}
}

static void children_of_children_of_a_real_module_are_in_their_places(void **state)
{
	struct real_blob r = real_blob_open("tvm-0.18/byoc_dnnl_mlp/graph.so");
	struct tenon_module *m, *c;

	(void)state;
	assert_int_equal(read_blob(r.generation, r.bytes, &m), 0);
	assert_slice(m->kind, "GraphExecutorFactory");
	assert_int_equal(m->import_count, 1);
	c = m->imports[0];
	assert_slice(c->kind, "const_loader");
	assert_int_equal(c->import_count, 3);
	assert_list_field(c->imports[0], "functions", "tvmgen_default_dnnl_main_0");
	assert_list_field(c->imports[1], "functions", "tvmgen_default_dnnl_main_2");
	assert_slice(c->imports[2]->kind, "library");
	tenon_object_unref(m);
	assert_int_equal(
		tenon_module_inspect("tests/interop/data/tvm-0.18/byoc_dnnl_mlp/graph.so", &m), 0);
	assert_int_equal(number_field(m, "nodes"), 5);
	assert_int_equal(number_field(m, "parameters"), 1);
	assert_int_equal(number_field(m, "parameter_bytes"), 256);
	assert_text_field(m, "name", "default");
	tenon_object_unref(m);
	file_map_close(&r.file);
}
int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(the_imports_of_a_module_keep_their_order),
		CASE(a_payload_tells_what_and_where_it_is),
		CASE(calling_a_listed_function_says_which_loader_is_missing),
		CASE(the_last_of_a_thousand_modules_is_found),
		CASE(a_weak_reference_to_a_root_does_not_hold_the_file),
		CASE(without_a_tree_all_modules_are_imports_of_the_library),
		CASE(a_tree_without_rows_counts_as_none),
		CASE(a_blob_that_counts_no_module_may_still_hold_the_root),
		CASE(an_empty_legacy_blob_is_the_library_alone),
		CASE(longer_function_tables_of_0_20_are_recognised),
		CASE(a_module_may_be_imported_by_two),
		CASE(a_child_may_come_before_its_parent),
		CASE(an_unknown_kind_in_a_later_blob_is_listed),
		CASE(a_truncated_payload_fails_the_lookup_of_a_function_that_no_other_has),
		CASE(a_symbol_larger_than_the_size_is_no_harm),
		CASE(blobs_of_real_modules_are_read),
		CASE(children_of_children_of_a_real_module_are_in_their_places),
	};

	return cmocka_run_group_tests(tests, make_payloads, free_payloads);
}
