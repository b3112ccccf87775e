/* SPDX-License-Identifier: MIT */
/* Blobs that are written: order, numbers and rows of the modules of a tree. */
#include "tests/unit/blob.h"

#include <tenon/backend/buffer.h>

#define LEGACY TENON_GENERATION_LEGACY
#define FFI    TENON_GENERATION_FFI

/* a module that is saved as the bytes it was given */
struct fake {
	struct tenon_module base;
	const char *payload;
};

static int fake_save(struct tenon_module *m, struct tenon_buffer *out)
{
	return tenon_buffer_slice(out, tenon_slice_of(((struct fake *)m)->payload));
}

static const struct tenon_module_ops fake_ops = { .save = fake_save };

static struct tenon_module *fake(const char *kind, const char *payload, uint32_t properties)
{
	struct fake *f = calloc(1, sizeof(*f));

	tenon_module_init(&f->base, &fake_ops, tenon_slice_of(kind), properties);
	f->payload = payload;
	return &f->base;
}

#define HOST(kind)   fake(kind, NULL, TENON_MODULE_EXPORTABLE)
#define DEVICE(kind) fake(kind, "<" kind ">", TENON_MODULE_SERIALIZABLE)

/* a parent takes its children over */
static struct tenon_module *with(struct tenon_module *parent, struct tenon_module *a,
				 struct tenon_module *b)
{
	assert_int_equal(tenon_module_import(parent, a), 0);
	tenon_object_unref(a);
	if (b) {
		assert_int_equal(tenon_module_import(parent, b), 0);
		tenon_object_unref(b);
	}
	return parent;
}

static void assert_writes_at(struct tenon_module *root, enum tenon_generation g,
			     const struct part *parts, size_t count, const uint64_t *rows,
			     const uint64_t *children, const char *file, int line)
{
	struct tenon_buffer want = blob_of(g, parts, count, rows, children);
	struct tenon_buffer got = TENON_BUFFER_INIT;
	int err = tenon_module_write_blob(root, g, &got);

	if (err)
		print_error("%s\n", tenon_error_message());
	_assert_int_equal((unsigned int)err, 0, file, line);
	_assert_int_equal(got.size, want.size, file, line);
	_assert_memory_equal(got.data, want.data, want.size, file, line);
	tenon_buffer_fini(&want);
	tenon_buffer_fini(&got);
}

#define ASSERT_WRITES(root, g, parts, rows, children)                                              \
	assert_writes_at(root, g, parts, sizeof(parts) / sizeof(parts[0]), rows, children,         \
			 __FILE__, __LINE__)

#define PART(kind)                                                                                 \
	{                                                                                          \
		kind,                                                                              \
		{                                                                                  \
			"<" kind ">", sizeof("<" kind ">") - 1                                     \
		}                                                                                  \
	}
#define LIB                                                                                        \
	{                                                                                          \
		"_lib",                                                                            \
		{                                                                                  \
			NULL, 0                                                                    \
		}                                                                                  \
	}

static const enum tenon_generation both[] = { LEGACY, FFI };

#define EACH_GENERATION(g) for (const enum tenon_generation *g = both; g < both + 2; g++)

static void a_library_and_its_device_module(void **state)
{
	struct tenon_module *m = with(HOST("llvm"), DEVICE("cuda"), NULL);
	const struct part parts[] = { LIB, PART("cuda") };

	(void)state;
	EACH_GENERATION(g)
	ASSERT_WRITES(m, *g, parts, ROWS(0, 1, 1), ROWS(1));
	tenon_object_unref(m);
}

static void an_executor_above_the_library(void **state)
{
	struct tenon_module *m = with(DEVICE("GraphExecutorFactory"),
				      with(HOST("llvm"), DEVICE("opencl"), NULL), NULL);
	const struct part parts[] = { PART("GraphExecutorFactory"), LIB, PART("opencl") };

	(void)state;
	EACH_GENERATION(g)
	ASSERT_WRITES(m, *g, parts, ROWS(0, 1, 2, 2), ROWS(1, 2));
	tenon_object_unref(m);
}

static void the_library_comes_behind_all_its_parents(void **state)
{
	struct tenon_module *m =
		with(DEVICE("GraphExecutorFactory"),
		     with(DEVICE("const_loader"), HOST("llvm"), DEVICE("dnnl_json")), NULL);
	const struct part parts[] = { PART("GraphExecutorFactory"), PART("const_loader"),
				      PART("dnnl_json"), LIB };

	(void)state;
	EACH_GENERATION(g)
	ASSERT_WRITES(m, *g, parts, ROWS(0, 1, 3, 3, 3), ROWS(1, 2, 3));
	tenon_object_unref(m);
}

static void modules_of_the_library_become_one(void **state)
{
	struct tenon_module *m = with(
		DEVICE("AotExecutorFactory"),
		with(DEVICE("metadata_module"), with(HOST("llvm"), HOST("c"), NULL), HOST("llvm")),
		NULL);
	const struct part parts[] = { PART("AotExecutorFactory"), PART("metadata_module"), LIB };

	(void)state;
	EACH_GENERATION(g)
	ASSERT_WRITES(m, *g, parts, ROWS(0, 1, 2, 2), ROWS(1, 2));
	tenon_object_unref(m);
}

static void the_last_import_is_numbered_first(void **state)
{
	struct tenon_module *m = with(HOST("llvm"), DEVICE("opencl"), DEVICE("cuda"));
	const struct part parts[] = { LIB, PART("cuda"), PART("opencl") };

	(void)state;
	EACH_GENERATION(g)
	ASSERT_WRITES(m, *g, parts, ROWS(0, 2, 2, 2), ROWS(1, 2));
	tenon_object_unref(m);
}

static void a_module_imported_twice_is_written_once(void **state)
{
	struct tenon_module *shared = DEVICE("cuda");
	struct tenon_module *m;
	const struct part parts[] = { LIB, PART("b"), PART("a"), PART("cuda") };

	(void)state;
	m = with(HOST("llvm"), DEVICE("a"), DEVICE("b"));
	assert_int_equal(tenon_module_import(m->imports[0], shared), 0);
	assert_int_equal(tenon_module_import(m->imports[1], shared), 0);
	tenon_object_unref(shared);
	/* TVM would number cuda before a, and refuse */
	EACH_GENERATION(g)
	ASSERT_WRITES(m, *g, parts, ROWS(0, 2, 3, 4, 4), ROWS(1, 2, 3, 3));
	tenon_object_unref(m);
}

static void a_library_that_imports_itself_through_a_device_is_refused(void **state)
{
	struct tenon_module *m =
		with(HOST("llvm"), with(DEVICE("cuda"), HOST("c"), NULL), DEVICE("opencl"));
	struct tenon_buffer out = TENON_BUFFER_INIT;

	(void)state;
	tenon_buffer_u8(&out, 'x');
	EACH_GENERATION(g)
	{
		assert_int_equal(tenon_module_write_blob(m, *g, &out), -TENON_E_CYCLE);
		assert_error("modules that are compiled into the shared object become one library, "
			     "and that library would be among its own imports, by way of \"cuda\"");
		assert_int_equal(out.size, 1);
	}
	tenon_object_unref(m);
	/* what stands above the circle is not named */
	m = with(DEVICE("GraphExecutorFactory"),
		 with(HOST("llvm"), with(DEVICE("cuda"), HOST("c"), NULL), NULL), DEVICE("opencl"));
	assert_int_equal(tenon_module_write_blob(m, FFI, &out), -TENON_E_CYCLE);
	assert_error_has("by way of \"cuda\"");
	tenon_buffer_fini(&out);
	tenon_object_unref(m);
}

static void a_module_that_cannot_be_saved_is_named(void **state)
{
	struct tenon_module *m = with(HOST("llvm"), fake("rpc", "", 0), NULL);
	struct tenon_buffer out = TENON_BUFFER_INIT;

	(void)state;
	EACH_GENERATION(g)
	{
		assert_int_equal(tenon_module_write_blob(m, *g, &out), -TENON_E_UNSUPPORTED);
		assert_error_has(
			"a \"rpc\" module cannot be saved, and is not compiled into the shared "
			"object");
	}
	tenon_buffer_fini(&out);
	tenon_object_unref(m);
}

static void a_module_that_cannot_be_saved_though_it_says_so_is_named(void **state)
{
	static const struct tenon_module_ops no_ops = { .save = NULL };
	struct tenon_module *m = DEVICE("cuda");
	struct tenon_buffer out = TENON_BUFFER_INIT;

	(void)state;
	m->ops = &no_ops;
	assert_int_equal(tenon_module_write_blob(m, FFI, &out), -TENON_E_UNSUPPORTED);
	assert_error_has("module 0 of 1 (kind \"cuda\"): a \"cuda\" module cannot be saved");
	tenon_buffer_fini(&out);
	tenon_object_unref(m);
}

static void a_tree_may_have_no_library(void **state)
{
	struct tenon_module *m = with(DEVICE("a"), DEVICE("b"), NULL), *alone = DEVICE("a");
	const struct part parts[] = { PART("a"), PART("b") }, one[] = { PART("a") };

	(void)state;
	EACH_GENERATION(g)
	{
		ASSERT_WRITES(m, *g, parts, ROWS(0, 1, 1), ROWS(1));
		ASSERT_WRITES(alone, *g, one, ROWS(0, 0), NO_ROWS);
	}
	tenon_object_unref(m);
	tenon_object_unref(alone);
}

static void importers_of_each_other_s_imports_need_no_library(void **state)
{
	struct tenon_module *last = DEVICE("last"), *m = with(DEVICE("a"), DEVICE("b"), last);
	const struct part parts[] = { PART("a"), PART("b"), PART("last") };

	(void)state;
	assert_int_equal(tenon_module_import(m->imports[0], last), 0);
	EACH_GENERATION(g)
	ASSERT_WRITES(m, *g, parts, ROWS(0, 2, 3, 3), ROWS(1, 2, 2));
	tenon_object_unref(m);
}

static void a_library_alone_has_no_legacy_tree(void **state)
{
	struct tenon_module *m = HOST("llvm");
	struct tenon_buffer out = TENON_BUFFER_INIT;
	const struct part parts[] = { LIB };

	(void)state;
	assert_int_equal(tenon_module_write_blob(m, LEGACY, &out), 0);
	assert_int_equal(out.size, 16);
	assert_memory_equal(out.data, "\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	tenon_buffer_fini(&out);
	ASSERT_WRITES(m, FFI, parts, ROWS(0, 0), NO_ROWS);
	tenon_object_unref(m);
}

static struct tenon_module *read_slice(enum tenon_generation g, struct tenon_slice blob)
{
	const struct blob_source src = { .file = "x.so", .generation = g, .inspect = true };
	struct tenon_module *m;

	if (import_tree_read(blob, &src, NULL, &m)) {
		print_error("%s\n", tenon_error_message());
		fail();
	}
	return m;
}

/* those whose modules have one import each: TVM's numbering keeps their order */
static const char *const same_files[] = {
	"tvm-0.18/opencl_multi/lib.so",
	"tvm-0.18/opencl_vecadd/lib.so",
	"tvm-0.18/vulkan_multi/lib.so",
	"tvm-0.18/vulkan_scalars20/lib.so",
	"tvm-0.18/cuda_vecadd/lib.so",
	"tvm-0.18/cuda_ptx/matmul.so",
	"tvm-0.18/dev_source_only/metal.so",
	"tvm-0.18/dev_source_only/webgpu.so",
	"tvm-0.18/graph_mlp_opencl/graph.so",
	"tvm-0.18/aot_mlp/aot_packed.so",
	"tvm-0.18/relax_mlp/vm.so",
	"tvm-0.8/graph_mlp/graph.so",
	"tvm-0.8/relay_vm_mlp/vm.so",
	"tvm-0.8/vulkan_vecadd/lib.so",
	"tvm-0.8/opencl_vecadd/lib.so",
	"tvm-0.25.0.post1/relax_mlp/vm.so",
	"tvm-0.25.0.post1/cuda_vecadd/lib.so",
	"tvm-0.25.0.post1/metal_vecadd/lib.so",
	"tvm-0.27.0.post1/tree_nested/lib.so",
	"tvm-0.27.0.post1/webgpu_vecadd/lib.so",
	"tvm-0.27.0.post1/opencl_multi/lib.so",
	"tvm-0.27.0.post1/nvptx_vecadd/lib.so",
};

static void real_blobs_are_written_back_byte_by_byte(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(same_files) / sizeof(same_files[0]); i++) {
		struct real_blob r = real_blob_open(same_files[i]);
		struct tenon_module *m = read_slice(r.generation, r.bytes);
		struct tenon_buffer out = TENON_BUFFER_INIT;

		assert_int_equal(tenon_module_write_blob(m, r.generation, &out), 0);
		if (out.size != r.bytes.size || memcmp(out.data, r.bytes.data, out.size)) {
			print_error("%s is written in another way\n", same_files[i]);
			fail();
		}
		tenon_buffer_fini(&out);
		tenon_object_unref(m);
		file_map_close(&r.file);
	}
}

static void assert_same_tree(struct tenon_module *a, struct tenon_module *b)
{
	struct tenon_buffer x = TENON_BUFFER_INIT, y = TENON_BUFFER_INIT;
	size_t i;

	assert_true(tenon_slice_equal(a->kind, b->kind));
	assert_int_equal(a->import_count, b->import_count);
	if (a->properties & TENON_MODULE_SERIALIZABLE) {
		assert_int_equal(tenon_module_save(a, &x), 0);
		assert_int_equal(tenon_module_save(b, &y), 0);
		assert_int_equal(x.size, y.size);
		assert_memory_equal(x.data, y.data, x.size);
	}
	tenon_buffer_fini(&x);
	tenon_buffer_fini(&y);
	for (i = 0; i < a->import_count; i++)
		assert_same_tree(a->imports[i], b->imports[i]);
}

/* several imports come back in the other order, and twice in the first */
static void what_was_written_twice_is_what_was_read(void **state)
{
	static const char *const files[] = { "tvm-0.18/dev_opencl_cuda/lib.so",
					     "tvm-0.18/byoc_dnnl_mlp/graph.so",
					     "tvm-0.18/byoc_dnnl_mlp/lib.so",
					     "tvm-0.27.0.post1/tree_children/lib.so",
					     "tvm-0.25.0.post1/tree_children/lib.so" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct real_blob r = real_blob_open(files[i]);
		struct tenon_module *m = read_slice(r.generation, r.bytes), *once, *twice;
		struct tenon_buffer first = TENON_BUFFER_INIT, second = TENON_BUFFER_INIT;

		assert_int_equal(tenon_module_write_blob(m, r.generation, &first), 0);
		assert_int_equal(first.size, r.bytes.size);
		once = read_slice(r.generation, slice_of(&first));
		assert_int_equal(tenon_module_write_blob(once, r.generation, &second), 0);
		twice = read_slice(r.generation, slice_of(&second));
		if (strstr(files[i], "byoc"))
			assert_int_equal(second.size, first.size);
		else
			assert_same_tree(m, twice);
		tenon_object_unref(m);
		tenon_object_unref(once);
		tenon_object_unref(twice);
		tenon_buffer_fini(&first);
		tenon_buffer_fini(&second);
		file_map_close(&r.file);
	}
}

static void what_is_read_from_what_was_written_is_the_same_tree(void **state)
{
	(void)state;
	EACH_GENERATION(g)
	{
		struct tenon_buffer payload = TENON_BUFFER_INIT, first, second = TENON_BUFFER_INIT;
		struct tenon_module *m, *back;

		put_device(&payload, "cl", "kernel", "code", *g == FFI);
		const struct part parts[] = { LIB, { "opencl", slice_of(&payload) } };

		first = blob_of(*g, parts, 2, ROWS(0, 1, 1), ROWS(1));
		m = read_slice(*g, slice_of(&first));
		assert_int_equal(tenon_module_write_blob(m, *g, &second), 0);
		assert_int_equal(second.size, first.size);
		assert_memory_equal(second.data, first.data, first.size);
		back = read_slice(*g, slice_of(&second));
		assert_same_tree(m, back);
		tenon_object_unref(back);
		tenon_object_unref(m);
		tenon_buffer_fini(&payload);
		tenon_buffer_fini(&first);
		tenon_buffer_fini(&second);
	}
}

static void function_tables_are_not_carried_to_the_other_generation(void **state)
{
	struct real_blob old = real_blob_open("tvm-0.18/opencl_vecadd/lib.so");
	struct real_blob new = real_blob_open("tvm-0.27.0.post1/opencl_vecadd/lib.so");
	struct tenon_module *a = read_slice(old.generation, old.bytes);
	struct tenon_module *b = read_slice(new.generation, new.bytes);
	struct tenon_buffer out = TENON_BUFFER_INIT;

	(void)state;
	assert_int_equal(tenon_module_write_blob(a, FFI, &out), -TENON_E_UNSUPPORTED);
	assert_error_has(
		"a \"opencl\" payload of a blob of TVM 0.8 to 0.21 cannot be written to a blob of "
		"TVM 0.22 and later: its form differs there");
	assert_int_equal(tenon_module_write_blob(b, LEGACY, &out), -TENON_E_UNSUPPORTED);
	tenon_error_clear();
	assert_int_equal(out.size, 0);
	tenon_object_unref(a);
	tenon_object_unref(b);
	/* nor is what is not known here */
	struct tenon_buffer payload = TENON_BUFFER_INIT, blob;

	put_device(&payload, "cl", "kernel", "code", true);
	const struct part parts[] = { LIB, { "acme_npu", slice_of(&payload) } };

	blob = blob_of(FFI, parts, 2, ROWS(0, 1, 1), ROWS(1));
	a = read_slice(FFI, slice_of(&blob));
	assert_int_equal(tenon_module_write_blob(a, LEGACY, &out), -TENON_E_UNSUPPORTED);
	assert_error_has("a \"acme_npu\" payload of a blob");
	tenon_object_unref(a);
	tenon_buffer_fini(&blob);
	tenon_buffer_fini(&payload);
	tenon_buffer_fini(&out);
	file_map_close(&old.file);
	file_map_close(&new.file);
}

static void a_form_that_never_changed_is_carried_over(void **state)
{
	struct real_blob r = real_blob_open("tvm-0.18/byoc_dnnl_mlp/lib.so");
	struct tenon_module *m = read_slice(r.generation, r.bytes), *back;
	struct tenon_buffer out = TENON_BUFFER_INIT;

	(void)state;
	assert_int_equal(tenon_module_write_blob(m, FFI, &out), 0);
	back = read_slice(FFI, slice_of(&out));
	assert_slice(back->kind, "const_loader");
	assert_int_equal(number_field(back, "parameters"), 3);
	assert_int_equal(back->import_count, 3);
	tenon_object_unref(back);
	tenon_object_unref(m);
	tenon_buffer_fini(&out);
	file_map_close(&r.file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_library_and_its_device_module),
		cmocka_unit_test(an_executor_above_the_library),
		cmocka_unit_test(the_library_comes_behind_all_its_parents),
		cmocka_unit_test(modules_of_the_library_become_one),
		cmocka_unit_test(the_last_import_is_numbered_first),
		cmocka_unit_test(a_module_imported_twice_is_written_once),
		cmocka_unit_test(a_library_that_imports_itself_through_a_device_is_refused),
		cmocka_unit_test(a_module_that_cannot_be_saved_is_named),
		cmocka_unit_test(a_module_that_cannot_be_saved_though_it_says_so_is_named),
		cmocka_unit_test(a_tree_may_have_no_library),
		cmocka_unit_test(importers_of_each_other_s_imports_need_no_library),
		cmocka_unit_test(a_library_alone_has_no_legacy_tree),
		cmocka_unit_test(real_blobs_are_written_back_byte_by_byte),
		cmocka_unit_test(what_was_written_twice_is_what_was_read),
		cmocka_unit_test(what_is_read_from_what_was_written_is_the_same_tree),
		cmocka_unit_test(function_tables_are_not_carried_to_the_other_generation),
		cmocka_unit_test(a_form_that_never_changed_is_carried_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
