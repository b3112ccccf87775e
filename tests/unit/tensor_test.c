/* SPDX-License-Identifier: MIT */
/* Tensors have the layout that compiled code expects; impossible types, extents and views are refused. */
#include "tests/unit/suite.h"

#include <stdlib.h>

static const DLDataType f32 = { TENON_DTYPE_FLOAT, 32, 1 };

static void a_new_tensor_is_zero_aligned_and_has_strides(void **state)
{
	int64_t shape[] = { 2, 3, 4 };
	struct tenon_tensor *t;
	size_t bytes, i;

	(void)state;
	assert_int_equal(tenon_tensor_create(shape, 3, f32, &t), 0);
	assert_int_equal((uintptr_t)t->dl.data % TENON_TENSOR_ALIGN, 0);
	assert_int_equal(t->dl.strides[0], 12);
	assert_int_equal(t->dl.strides[1], 4);
	assert_int_equal(t->dl.strides[2], 1);
	assert_int_equal(tenon_tensor_bytes(&t->dl, &bytes), 0);
	assert_int_equal(bytes, 96);
	for (i = 0; i < bytes; i++)
		assert_int_equal(((char *)t->dl.data)[i], 0);
	tenon_object_unref(t);
}

static void a_scalar_has_one_element_and_no_strides(void **state)
{
	struct tenon_tensor *t;
	uint64_t n;

	(void)state;
	assert_int_equal(tenon_tensor_create(NULL, 0, f32, &t), 0);
	assert_int_equal(tenon_tensor_elements(&t->dl, &n), 0);
	assert_int_equal(n, 1);
	assert_null(t->dl.strides);
	tenon_object_unref(t);
}

static void sub_byte_elements_are_packed_but_bools(void **state)
{
	int64_t shape[] = { 3 };
	DLTensor t = tenon_dltensor(NULL, shape, 1, tenon_dtype(TENON_DTYPE_INT, 4, 1));
	size_t bytes;

	(void)state;
	assert_int_equal(tenon_tensor_bytes(&t, &bytes), 0);
	assert_int_equal(bytes, 2);
	/* the bool of TVM up to 0.22 */
	t.dtype = tenon_dtype(TENON_DTYPE_UINT, 1, 1);
	assert_int_equal(tenon_tensor_bytes(&t, &bytes), 0);
	assert_int_equal(bytes, 3);
}

static int managed_deleted;

static void managed_delete(DLManagedTensor *self)
{
	(void)self;
	managed_deleted++;
}

static void a_dtype_that_no_tensor_has_is_refused(void **state)
{
	static const DLDataType wrong[] = {
		{ TENON_DTYPE_UINT, 248, 1 },
		{ TENON_DTYPE_INT, 0, 1 },
		{ TENON_DTYPE_INT, 24, 1 },
		{ TENON_DTYPE_INT, 128, 1 },
		{ TENON_DTYPE_FLOAT, 8, 1 },
		{ TENON_DTYPE_FLOAT, 32, 0 },
		{ TENON_DTYPE_FLOAT, 32, 0x8004 }, /* scalable, in TVM */
		{ TENON_DTYPE_HANDLE, 0, 0 },
		{ TENON_DTYPE_COMPLEX, 8, 1 },
		{ TENON_DTYPE_BOOL, 1, 1 },
		{ TENON_DTYPE_FLOAT8_E5M2, 16, 1 },
		{ TENON_DTYPE_FLOAT6_E2M3FN, 8, 1 },
		{ TENON_DTYPE_FLOAT4_E2M1FN + 1, 8, 1 },
		{ 200, 32, 1 },
	};
	static float data[4];
	int64_t shape[] = { 4 };
	struct tenon_tensor *t;
	size_t bytes, i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		DLManagedTensor m = { tenon_dltensor(data, shape, 1, wrong[i]), NULL,
				      managed_delete };

		assert_int_equal(tenon_tensor_bytes(&m.dl_tensor, &bytes), -TENON_E_VALUE);
		assert_int_equal(tenon_tensor_create(shape, 1, wrong[i], &t), -TENON_E_VALUE);
		assert_int_equal(tenon_tensor_view(&m.dl_tensor, NULL, &t), -TENON_E_VALUE);
		assert_int_equal(tenon_tensor_from_dlpack(&m, 0, false, &t), -TENON_E_VALUE);
		assert_null(t);
	}
	tenon_error_clear();
}

static void every_dtype_with_a_name_of_its_own_is_one_of_tensors(void **state)
{
	static const struct {
		const char *name;
		size_t bytes; /* of eight elements */
	} right[] = {
		{ "int1", 1 },		 { "int2", 2 },
		{ "uint4", 4 },		 { "uint8", 8 },
		{ "int16", 16 },	 { "uint32", 32 },
		{ "int64", 64 },	 { "float16", 16 },
		{ "float32", 32 },	 { "float64", 64 },
		{ "bfloat16", 16 },	 { "handle", 64 },
		{ "complex64", 64 },	 { "complex128", 128 },
		{ "bool", 8 },		 { "float8_e3m4", 8 },
		{ "float8_e4m3", 8 },	 { "float8_e4m3b11fnuz", 8 },
		{ "float8_e4m3fn", 8 },	 { "float8_e4m3fnuz", 8 },
		{ "float8_e5m2", 8 },	 { "float8_e5m2fnuz", 8 },
		{ "float8_e8m0fnu", 8 }, { "float6_e2m3fn", 6 },
		{ "float6_e3m2fn", 6 },	 { "float4_e2m1fn", 4 },
		{ "int8x1024", 8192 },	 { "float32x32767", 1048544 },
	};
	int64_t shape[] = { 8 };
	size_t bytes, i;

	(void)state;
	for (i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		DLTensor t = tenon_dltensor(NULL, shape, 1, f32);

		assert_int_equal(tenon_dtype_parse(tenon_slice_of(right[i].name), &t.dtype), 0);
		assert_int_equal(tenon_tensor_bytes(&t, &bytes), 0);
		assert_int_equal(bytes, right[i].bytes);
	}
}

static void a_product_of_extents_that_overflows_is_refused(void **state)
{
	int64_t shape[] = { INT64_C(1) << 33, INT64_C(1) << 33, 0 };
	DLTensor t = tenon_dltensor(NULL, shape, 2, f32);
	struct tenon_tensor *out;
	size_t bytes;

	(void)state;
	assert_int_equal(tenon_tensor_bytes(&t, &bytes), -TENON_E_OVERFLOW);
	assert_error("the product of 2 extents overflows");
	assert_int_equal(tenon_tensor_create(shape, 3, f32, &out), -TENON_E_OVERFLOW);
	tenon_error_clear();
	shape[0] = INT64_C(1) << 62;
	t.ndim = 1;
	assert_int_equal(tenon_tensor_bytes(&t, &bytes), -TENON_E_OVERFLOW);
	assert_error("the size of the tensor overflows");
}

static void a_negative_extent_is_refused(void **state)
{
	int64_t shape[] = { 4, -1 };
	struct tenon_tensor *t;

	(void)state;
	assert_int_equal(tenon_tensor_create(shape, 2, f32, &t), -TENON_E_VALUE);
	assert_error("extent -1 of dimension 1");
}

static void strides_with_gaps_are_not_compact(void **state)
{
	int64_t shape[] = { 2, 1, 4 }, strides[] = { 4, 99, 1 };
	DLTensor t = tenon_dltensor(NULL, shape, 3, f32);

	(void)state;
	assert_true(tenon_tensor_compact(&t));
	t.strides = strides;
	assert_true(tenon_tensor_compact(&t));
	strides[0] = 8;
	assert_false(tenon_tensor_compact(&t));
	shape[2] = 0;
	assert_true(tenon_tensor_compact(&t));
}

static void a_view_keeps_its_owner_alive(void **state)
{
	int64_t shape[] = { 8 };
	struct tenon_tensor *owner, *view;
	DLTensor dl;

	(void)state;
	tenon_tensor_create(shape, 1, f32, &owner);
	dl = owner->dl;
	dl.strides = NULL;
	assert_int_equal(tenon_tensor_view(&dl, &owner->object, &view), 0);
	assert_int_equal(strong_count(owner), 2);
	assert_ptr_equal(view->dl.data, owner->dl.data);
	assert_int_equal(view->dl.strides[0], 1);
	tenon_object_unref(view);
	assert_int_equal(strong_count(owner), 1);
	tenon_object_unref(owner);
}

static void a_dlpack_tensor_is_taken_over_and_let_go(void **state)
{
	static float data[4] __attribute__((aligned(64)));
	int64_t shape[] = { 4 };
	DLManagedTensor m = { tenon_dltensor(data, shape, 1, f32), NULL, managed_delete };
	struct tenon_tensor *t;

	(void)state;
	managed_deleted = 0;
	assert_int_equal(tenon_tensor_from_dlpack(&m, 64, true, &t), 0);
	assert_ptr_equal(t->dl.data, data);
	tenon_object_unref(t);
	assert_int_equal(managed_deleted, 1);
	m.dl_tensor.data = (char *)data + 4;
	assert_int_equal(tenon_tensor_from_dlpack(&m, 64, true, &t), -TENON_E_VALUE);
	assert_error("the data is not aligned to 64 bytes");
	assert_int_equal(managed_deleted, 1);
}

static void extents_of_imported_tensors_are_checked(void **state)
{
	static const struct {
		int64_t shape[3];
		int err;
	} tensors[] = {
		{ { 2, 3, 4 }, 0 },
		{ { 0, 3, 4 }, 0 },
		{ { 2, -1, 4 }, -TENON_E_VALUE },
		{ { INT64_MIN, 1, 1 }, -TENON_E_VALUE },
		{ { UINT32_MAX, UINT32_MAX, 1 }, -TENON_E_OVERFLOW },
		{ { INT64_C(1) << 31, INT64_C(1) << 31, 4 }, -TENON_E_OVERFLOW },
		{ { INT64_C(1) << 40, INT64_C(1) << 40, 0 }, -TENON_E_OVERFLOW },
	};
	struct tenon_tensor *t;
	size_t i;

	for (i = 0; i < sizeof(tensors) / sizeof(tensors[0]); i++) {
		DLManagedTensor m = { .dl_tensor = tenon_dltensor(NULL, (int64_t *)tensors[i].shape,
								  3, f32) };

		assert_int_equal(tenon_tensor_from_dlpack(&m, 0, false, &t), tensors[i].err);
		assert_int_equal(!t, !!tensors[i].err);
		if (!t)
			continue;
		assert_int_equal(t->dl.shape[1], 3);
		assert_int_equal(t->dl.strides[0], 12);
		assert_int_equal(t->dl.strides[1], 4);
		assert_int_equal(t->dl.strides[2], 1);
		tenon_object_unref(t);
	}
	tenon_error_clear();
}

static void a_tensor_goes_out_and_comes_back_through_dlpack(void **state)
{
	int64_t shape[] = { 2, 2 };
	DLManagedTensorVersioned *m;
	struct tenon_tensor *t, *back;

	(void)state;
	tenon_tensor_create(shape, 2, f32, &t);
	assert_int_equal(tenon_tensor_to_dlpack_versioned(t, &m), 0);
	assert_int_equal(m->version.major, 1);
	assert_int_equal(strong_count(t), 2);
	assert_int_equal(tenon_tensor_from_dlpack_versioned(m, 0, false, &back), 0);
	assert_ptr_equal(back->dl.data, t->dl.data);
	tenon_object_unref(back);
	assert_int_equal(strong_count(t), 1);
	tenon_object_unref(t);
}

static void a_dlpack_tensor_of_another_major_version_is_refused(void **state)
{
	DLManagedTensorVersioned m;
	struct tenon_tensor *t;

	(void)state;
	memset(&m, 0, sizeof(m));
	m.version.major = 2;
	assert_int_equal(tenon_tensor_from_dlpack_versioned(&m, 0, false, &t), -TENON_E_VALUE);
	assert_error("DLPack version 2.0; version 1 is read here");
}

static const struct {
	const char *text;
	DLDataType dtype;
} dtypes[] = {
	{ "float32", { 2, 32, 1 } },	   { "int8", { 0, 8, 1 } },
	{ "uint4x8", { 1, 4, 8 } },	   { "bfloat16", { 4, 16, 1 } },
	{ "bool", { 6, 8, 1 } },	   { "handle", { 3, 64, 1 } },
	{ "void", { 3, 0, 0 } },	   { "complex64", { 5, 64, 1 } },
	{ "float8_e4m3fn", { 10, 8, 1 } }, { "float8_e4m3", { 8, 8, 1 } },
	{ "float4_e2m1fn", { 17, 4, 1 } }, { "float8_e4m3b11fnuz", { 9, 8, 1 } },
	{ "float32x4", { 2, 32, 4 } },	   { "float8_e5m2x2", { 12, 8, 2 } },
};

static void dtypes_are_written_as_they_are_read(void **state)
{
	char name[TENON_DTYPE_NAME];
	DLDataType d;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
		assert_int_equal(tenon_dtype_parse(tenon_slice_of(dtypes[i].text), &d), 0);
		assert_true(tenon_dtype_equal(d, dtypes[i].dtype));
		assert_string_equal(tenon_dtype_name(d, name), dtypes[i].text);
	}
	assert_string_equal(tenon_dtype_name(tenon_dtype(1, 1, 1), name), "bool");
}

static void narrow_floats_have_short_names(void **state)
{
	static const char *const names[][2] = {
		{ "fp8_e4m3", "float8_e4m3" },
		{ "f8_e4m3fnx4", "float8_e4m3fnx4" },
		{ "fp6_e2m3fn", "float6_e2m3fn" },
		{ "f4_e2m1fn", "float4_e2m1fn" },
		{ "float4_e2m1fn_x2", "float4_e2m1fnx2" },
	};
	char name[TENON_DTYPE_NAME];
	DLDataType d;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(tenon_dtype_parse(tenon_slice_of(names[i][0]), &d), 0);
		assert_string_equal(tenon_dtype_name(d, name), names[i][1]);
	}
}

static void what_is_no_dtype_is_refused_by_name(void **state)
{
	static const char *const bad[] = { "float",	    "flot32",  "int8x0", "int8x",
					   "int0",	    "int999",  "bool8",	 "float32 ",
					   "int8x99999",    "fp_e4m3", "fp8_",	 "float4_e2m1fn_",
					   "float8_e4m3_x2" };
	DLDataType d;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(tenon_dtype_parse(tenon_slice_of(bad[i]), &d), -TENON_E_VALUE);
		assert_error_has(bad[i]);
	}
}

static void devices_have_names_and_numbers(void **state)
{
	DLDevice d;

	(void)state;
	assert_int_equal(tenon_device_parse(tenon_slice_of("cuda:3"), &d), 0);
	assert_int_equal(d.device_type, 2);
	assert_int_equal(d.device_id, 3);
	assert_int_equal(tenon_device_parse(tenon_slice_of("cuda_host"), &d), 0);
	assert_int_equal(d.device_type, 3);
	assert_string_equal(tenon_device_name(4), "opencl");
	assert_int_equal(tenon_device_parse(tenon_slice_of("cuda:"), &d), -TENON_E_VALUE);
	assert_int_equal(tenon_device_parse(tenon_slice_of("gpu"), &d), -TENON_E_VALUE);
	assert_error_has("\"gpu\" is no device");
}

static void padded_elements_are_refused(void **state)
{
	int64_t shape[] = { 16 };
	DLManagedTensorVersioned m = { .version = { 1, 1 } };
	struct tenon_tensor *t;
	char data[16];

	(void)state;
	m.dl_tensor = tenon_dltensor(data, shape, 1, tenon_dtype(TENON_DTYPE_UINT, 4, 1));
	m.flags = DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED;
	assert_int_equal(tenon_tensor_from_dlpack_versioned(&m, 0, false, &t), -TENON_E_VALUE);
	assert_error("elements of 4 bits padded to bytes; packed ones are read");
	assert_null(t);

	/* of whole bytes, the flag says nothing */
	m.dl_tensor.dtype = tenon_dtype(TENON_DTYPE_UINT, 8, 1);
	assert_int_equal(tenon_tensor_from_dlpack_versioned(&m, 0, false, &t), 0);
	tenon_object_unref(t);
}

static uint64_t flags_of(struct tenon_tensor *t)
{
	DLManagedTensorVersioned *m;
	uint64_t flags;

	assert_int_equal(tenon_tensor_to_dlpack_versioned(t, &m), 0);
	flags = m->flags;
	m->deleter(m);
	return flags;
}

static void what_came_read_only_goes_out_read_only(void **state)
{
	DLManagedTensorVersioned m = { .version = { 1, 1 },
				       .flags = DLPACK_FLAG_BITMASK_READ_ONLY };
	struct tenon_tensor *t, *view, *own;
	int64_t shape[] = { 4 };
	float data[4] = { 0 };

	(void)state;
	m.dl_tensor = tenon_dltensor(data, shape, 1, f32);
	assert_int_equal(tenon_tensor_from_dlpack_versioned(&m, 0, false, &t), 0);
	assert_int_equal(flags_of(t), DLPACK_FLAG_BITMASK_READ_ONLY);
	assert_int_equal(tenon_tensor_view(&t->dl, &t->object, &view), 0);
	assert_int_equal(flags_of(view), DLPACK_FLAG_BITMASK_READ_ONLY);
	tenon_object_unref(view);
	tenon_object_unref(t);

	m.flags = DLPACK_FLAG_BITMASK_IS_COPIED;
	assert_int_equal(tenon_tensor_from_dlpack_versioned(&m, 0, false, &t), 0);
	assert_int_equal(flags_of(t), 0);
	tenon_object_unref(t);
	assert_int_equal(tenon_tensor_create(shape, 1, f32, &own), 0);
	assert_int_equal(flags_of(own), 0);
	tenon_object_unref(own);
}

static void strides_of_extents_that_overflow_are_compared_all_the_same(void **state)
{
	int64_t shape[] = { INT64_C(1) << 40, INT64_C(1) << 40, 4 };
	int64_t strides[] = { INT64_C(1) << 42, 4, 1 };
	DLManagedTensor m = { .dl_tensor = tenon_dltensor(NULL, shape, 3, f32) };
	struct tenon_tensor *t;

	(void)state;
	m.dl_tensor.strides = strides;
	assert_int_equal(tenon_tensor_from_dlpack(&m, 0, true, &t), -TENON_E_OVERFLOW);
	assert_error("the product of 3 extents overflows");
	memmove(shape + 1, shape, 2 * sizeof(*shape));
	assert_false(tenon_tensor_compact(&m.dl_tensor));
}

/* each keeps the one it is a view of */
static void views_of_views_go_without_a_deep_stack(void **state)
{
	struct tenon_tensor *t, *view;
	int64_t shape[] = { 4 };
	int i;

	(void)state;
	assert_int_equal(tenon_tensor_create(shape, 1, f32, &t), 0);
	for (i = 0; i < 300000; i++) {
		assert_int_equal(tenon_tensor_view(&t->dl, &t->object, &view), 0);
		tenon_object_unref(t);
		t = view;
	}
	tenon_object_unref(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_tensor_is_zero_aligned_and_has_strides),
		cmocka_unit_test(a_scalar_has_one_element_and_no_strides),
		cmocka_unit_test(sub_byte_elements_are_packed_but_bools),
		cmocka_unit_test(a_dtype_that_no_tensor_has_is_refused),
		cmocka_unit_test(every_dtype_with_a_name_of_its_own_is_one_of_tensors),
		cmocka_unit_test(a_product_of_extents_that_overflows_is_refused),
		cmocka_unit_test(a_negative_extent_is_refused),
		cmocka_unit_test(strides_with_gaps_are_not_compact),
		cmocka_unit_test(a_view_keeps_its_owner_alive),
		cmocka_unit_test(a_dlpack_tensor_is_taken_over_and_let_go),
		cmocka_unit_test(extents_of_imported_tensors_are_checked),
		cmocka_unit_test(a_tensor_goes_out_and_comes_back_through_dlpack),
		cmocka_unit_test(a_dlpack_tensor_of_another_major_version_is_refused),
		cmocka_unit_test(padded_elements_are_refused),
		cmocka_unit_test(what_came_read_only_goes_out_read_only),
		cmocka_unit_test(strides_of_extents_that_overflow_are_compared_all_the_same),
		cmocka_unit_test(views_of_views_go_without_a_deep_stack),
		cmocka_unit_test(dtypes_are_written_as_they_are_read),
		cmocka_unit_test(narrow_floats_have_short_names),
		cmocka_unit_test(what_is_no_dtype_is_refused_by_name),
		cmocka_unit_test(devices_have_names_and_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
