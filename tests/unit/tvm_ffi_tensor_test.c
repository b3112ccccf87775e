/* SPDX-License-Identifier: MIT */
/* Tensors and types as tvm-ffi's C interface gives and takes them. */
#include "ffi_suite.h"

#include <stdlib.h>

static int managed_deleted;

static void delete_managed(DLManagedTensor *self)
{
	(void)self;
	managed_deleted++;
}

static void delete_versioned(DLManagedTensorVersioned *self)
{
	managed_deleted++;
	free(self->dl_tensor.data);
	free(self);
}

static void a_tensor_comes_from_dlpack_and_goes_back(void **state)
{
	_Alignas(64) float data[6] = { 1, 2, 3, 4, 5, 6 };
	int64_t shape[2] = { 2, 3 };
	DLManagedTensor managed = { .deleter = delete_managed }, *back;
	DLManagedTensorVersioned *versioned;
	struct tenon_tensor *t;
	void *out;

	(void)state;
	managed_deleted = 0;
	managed.dl_tensor = tenon_dltensor(data, shape, 2, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	assert_int_equal(abi_ffi_tensor_from_dlpack(&managed, 64, 1, &out), 0);
	t = out;
	assert_int_equal(t->object.type, TENON_TYPE_TENSOR);
	assert_int_equal(t->dl.strides[0], 3);
	assert_int_equal(abi_ffi_tensor_to_dlpack(t, &back), 0);
	assert_ptr_equal(back->dl_tensor.data, data);
	assert_int_equal(abi_ffi_tensor_to_dlpack_versioned(t, &versioned), 0);
	assert_int_equal(versioned->version.major, 1);
	abi_ffi_object_unref(t);
	back->deleter(back);
	assert_int_equal(managed_deleted, 0);
	versioned->deleter(versioned);
	assert_int_equal(managed_deleted, 1);
	managed.dl_tensor.byte_offset = 4;
	assert_int_equal(abi_ffi_tensor_from_dlpack(&managed, 64, 1, &out), -1);
	assert_null(out);
	tenon_error_clear();
	assert_int_equal(managed_deleted, 1);
}

static void a_view_keeps_its_source_alive(void **state)
{
	int64_t shape[1] = { 8 }, part[1] = { 4 }, strides[1] = { 2 };
	struct tenon_tensor *t;
	struct tenon_tensor *view;
	DLTensor prototype;
	void *out;

	(void)state;
	assert_int_equal(tenon_tensor_create(shape, 1, tenon_dtype(TENON_DTYPE_INT, 32, 1), &t), 0);
	prototype = t->dl;
	prototype.shape = part;
	prototype.strides = strides;
	assert_int_equal(abi_ffi_tensor_view(t, &prototype, &out), 0);
	view = out;
	part[0] = 0;
	assert_int_equal(view->dl.shape[0], 4);
	assert_int_equal(view->dl.strides[0], 2);
	assert_int_equal(strong_count(t), 2);
	tenon_object_unref(t);
	((int *)view->dl.data)[6] = 1;
	tenon_object_unref(view);
	prototype.strides = NULL;
	assert_int_equal(abi_ffi_tensor_view(NULL, &prototype, &out), -1);
	assert_error("a view of a tensor needs strides, found none");
}

static void texts_and_dtypes_are_converted(void **state)
{
	const struct tenon_slice text = s("float16x4"), bad = s("floaty");
	struct tenon_value v;
	struct tenon_slice out;
	DLDataType d;

	(void)state;
	assert_int_equal(abi_ffi_dtype_parse(&text, &d), 0);
	assert_true(d.code == 2 && d.bits == 16 && d.lanes == 4);
	assert_int_equal(abi_ffi_dtype_name(&d, &v), 0);
	assert_int_equal(v.type, TENON_TYPE_STRING);
	assert_int_equal(tenon_value_text(&v, &out), 0);
	assert_slice(out, "float16x4");
	tenon_value_release(&v);
	assert_int_equal(abi_ffi_dtype_parse(&bad, &d), -1);
	tenon_error_clear();
	assert_int_equal(abi_ffi_bytes(&text, &v), 0);
	assert_int_equal(v.type, TENON_TYPE_BYTES);
	tenon_value_release(&v);
}

/* as the short forms of tvm-ffi 0.1.15, its defaults, vectors without a fixed length, and its two words for no type */
static void dtypes_are_read_and_written_as_tvm_ffi_does(void **state)
{
	static const struct {
		const char *text;
		DLDataType dtype;
		const char *written;
	} cases[] = {
		{ "i32", { 0, 32, 1 }, "int32" },
		{ "u8", { 1, 8, 1 }, "uint8" },
		{ "f16", { 2, 16, 1 }, "float16" },
		{ "f32x2", { 2, 32, 2 }, "float32x2" },
		{ "bf16", { 4, 16, 1 }, "bfloat16" },
		{ "void", { 3, 0, 0 }, "" },
		{ "", { 3, 0, 0 }, "" },
		{ "int", { 0, 32, 1 }, "int32" },
		{ "uint", { 1, 32, 1 }, "uint32" },
		{ "float", { 2, 32, 1 }, "float32" },
		{ "bfloat", { 4, 16, 1 }, "bfloat16" },
		{ "handle64", { 3, 64, 1 }, "handle" },
		{ "int32xvscalex4", { 0, 32, 65532 }, "int32xvscalex4" },
		{ "bf16xvscalex32767", { 4, 16, 32769 }, "bfloat16xvscalex32767" },
	};
	static const char *const bad[] = { "int32xvscalex",	 "int32xvscalex0",
					   "int32xvscalex32768", "int32x2xvscalex4",
					   "xvscalex4",		 "int32xvscalex4x" };
	struct tenon_value v;
	struct tenon_slice out;
	DLDataType d;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct tenon_slice text = s(cases[i].text);

		assert_int_equal(abi_ffi_dtype_parse(&text, &d), 0);
		assert_memory_equal(&d, &cases[i].dtype, sizeof(d));
		assert_int_equal(abi_ffi_dtype_name(&d, &v), 0);
		assert_int_equal(tenon_value_text(&v, &out), 0);
		assert_true(tenon_slice_equal(out, s(cases[i].written)));
		tenon_value_release(&v);
	}
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const struct tenon_slice text = s(bad[i]);

		assert_int_equal(abi_ffi_dtype_parse(&text, &d), -1);
		tenon_error_clear();
	}
}

static int failing_allocator(DLTensor *prototype, DLManagedTensorVersioned **out, void *context,
			     void (*set_error)(void *, const char *, const char *))
{
	(void)prototype;
	(void)out;
	set_error(context, "MemoryError", "the pool is dry");
	return -1;
}

static int malloc_allocator(DLTensor *prototype, DLManagedTensorVersioned **out, void *context,
			    void (*set_error)(void *, const char *, const char *))
{
	DLManagedTensorVersioned *m = calloc(1, sizeof(*m));

	(void)context;
	(void)set_error;
	m->version.major = 1;
	m->deleter = delete_versioned;
	m->dl_tensor = *prototype;
	m->dl_tensor.data = malloc(256);
	*out = m;
	return 0;
}

static void tensors_come_from_the_allocator_that_was_set(void **state)
{
	int64_t shape[1] = { 10 };
	DLTensor prototype = tenon_dltensor(NULL, shape, 1, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	ffi_tensor_allocator old;
	struct tenon_tensor *t;
	void *out;

	(void)state;
	assert_int_equal(abi_ffi_env_tensor_alloc(&prototype, &out), 0);
	t = out;
	assert_int_equal((uintptr_t)t->dl.data % TENON_TENSOR_ALIGN, 0);
	tenon_object_unref(t);
	assert_int_equal(abi_ffi_env_set_tensor_allocator(malloc_allocator, 0, &old), 0);
	assert_null(old);
	managed_deleted = 0;
	assert_int_equal(abi_ffi_env_tensor_alloc(&prototype, &out), 0);
	tenon_object_unref(out);
	assert_int_equal(managed_deleted, 1);
	assert_int_equal(abi_ffi_env_set_tensor_allocator(failing_allocator, 1, &old), 0);
	assert_ptr_equal(old, malloc_allocator);
	assert_int_equal(abi_ffi_env_tensor_alloc(&prototype, &out), -1);
	assert_string_equal(tenon_error_kind(), "MemoryError");
	assert_error("the pool is dry");
	assert_int_equal(abi_ffi_env_set_tensor_allocator(NULL, 1, NULL), 0);
	assert_null(abi_ffi_env_get_tensor_allocator());
	prototype.device.device_type = kDLMetal;
	assert_int_equal(abi_ffi_env_tensor_alloc(&prototype, &out), -1);
	assert_error_has("metal");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_tensor_comes_from_dlpack_and_goes_back, afresh),
		cmocka_unit_test_setup(a_view_keeps_its_source_alive, afresh),
		cmocka_unit_test_setup(texts_and_dtypes_are_converted, afresh),
		cmocka_unit_test_setup(dtypes_are_read_and_written_as_tvm_ffi_does, afresh),
		cmocka_unit_test_setup(tensors_come_from_the_allocator_that_was_set, afresh),
	};

	return cmocka_run_group_tests_name("tvm_ffi_tensor", tests, NULL, NULL);
}
