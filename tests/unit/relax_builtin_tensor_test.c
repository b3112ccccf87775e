/* SPDX-License-Identifier: MIT */
/* Relax builtins for tensors: shapes, views, copies, places. */
#include "tests/unit/one_builtin.h"

static void shape_of_and_tensor_to_shape_read_tensors(void **state)
{
	static const int32_t small[] = { 3, -4 };
	static const int64_t large[] = { 5, 6, 7 };
	struct tenon_tensor *a =
		vector(2, tenon_dtype(TENON_DTYPE_INT, 32, 1), small, sizeof(small));
	struct tenon_tensor *b =
		vector(3, tenon_dtype(TENON_DTYPE_INT, 64, 1), large, sizeof(large));
	struct tenon_tensor *c = vector(3, f32, NULL, 0);
	struct one o = begin("vm.builtin.shape_of"), p = begin("vm.builtin.tensor_to_shape");
	struct one q = begin("vm.builtin.tensor_to_shape"), r = begin("vm.builtin.tensor_to_shape");
	struct tenon_value ret;

	(void)state;
	CALL(&o, 1, REG(0));
	ret = given(end(&o), tenon_arg_object(b));
	assert_int_equal(((struct tenon_shape *)ret.as.object)->data[0], 3);
	tenon_value_release(&ret);
	CALL(&p, 1, REG(0));
	ret = given(end(&p), tenon_arg_object(a));
	assert_int_equal(((struct tenon_shape *)ret.as.object)->data[1], -4);
	tenon_value_release(&ret);
	CALL(&q, 1, REG(0));
	ret = given(end(&q), tenon_arg_object(b));
	assert_int_equal(((struct tenon_shape *)ret.as.object)->data[2], 7);
	tenon_value_release(&ret);
	CALL(&r, 1, REG(0));
	refused(end(&r), tenon_arg_object(c), -TENON_E_TYPE, "found 1 of float32");
	tenon_object_unref(a);
	tenon_object_unref(b);
	tenon_object_unref(c);
}

/* uint1 is a bool in a byte, and the machine makes room for that; other bits lie eight in a byte */
static void bits_that_are_packed_are_not_read_as_bytes(void **state)
{
	static const DLDataType packed = { TENON_DTYPE_INT, 1, 1 }, other = { 6, 1, 1 };
	struct one o = begin("vm.builtin.tensor_to_shape"), p = begin("vm.builtin.read_if_cond");
	struct tenon_tensor *t = vector(1 << 20, packed, NULL, 0);

	(void)state;
	CALL(&o, 1, REG(0));
	refused(end(&o), tenon_arg_object(t), -TENON_E_TYPE,
		"tensor_to_shape: a tensor of int1, integers are wanted");
	tenon_object_unref(t);
	/* only foreign code can make such a tensor */
	t = vector(1, packed, NULL, 0);
	t->dl.dtype = other;
	CALL(&p, 1, REG(0));
	refused(end(&p), tenon_arg_object(t), -TENON_E_TYPE, "read_if_cond: a tensor of ");
	tenon_object_unref(t);
}

static struct relax_vm *reshaper(int64_t a, int64_t b)
{
	struct one o = begin("vm.builtin.reshape");
	uint32_t s = CONSTANT_SHAPE(&o.a, a, b);

	CALL(&o, 1, REG(0), CONST(s));
	return end(&o);
}

static void reshape_is_another_view_of_the_data(void **state)
{
	struct tenon_tensor *t = vector(6, f32, NULL, 0);
	struct tenon_value ret = given(reshaper(2, 3), tenon_arg_object(t));
	const DLTensor *view = &((struct tenon_tensor *)ret.as.object)->dl;

	(void)state;
	assert_ptr_equal(view->data, t->dl.data);
	assert_int_equal(view->shape[1], 3);
	tenon_object_unref(t);
	assert_true(((float *)view->data)[5] == 0);
	tenon_value_release(&ret);
	t = vector(6, f32, NULL, 0);
	refused(reshaper(2, 4), tenon_arg_object(t), -TENON_E_VALUE,
		"reshape: 8 elements are wanted, the tensor has 6");
	refused(reshaper(-2, -3), tenon_arg_object(t), -TENON_E_VALUE, "extent -2");
	refused(reshaper(INT64_MAX, 4), tenon_arg_object(t), -TENON_E_OVERFLOW, "overflows");
	tenon_object_unref(t);
}

static struct relax_vm *viewer(int64_t extent, int64_t offset)
{
	struct one o = begin("runtime.TVMTensorCreateView");
	uint32_t s = CONSTANT_SHAPE(&o.a, extent);
	uint32_t d = constant_dtype(&o.a, tenon_dtype(TENON_DTYPE_INT, 16, 1));

	CALL(&o, 1, REG(0), CONST(s), CONST(d), IMM(offset));
	return end(&o);
}

static void a_view_has_a_shape_a_dtype_and_an_offset_of_its_own(void **state)
{
	struct tenon_tensor *t = vector(6, f32, NULL, 0);
	struct tenon_value ret = given(viewer(8, 8), tenon_arg_object(t));
	const DLTensor *view = &((struct tenon_tensor *)ret.as.object)->dl;

	(void)state;
	assert_ptr_equal((char *)view->data + view->byte_offset, (char *)t->dl.data + 8);
	assert_int_equal(view->shape[0], 8);
	assert_int_equal(view->dtype.bits, 16);
	tenon_object_unref(t);
	tenon_value_release(&ret);
	t = vector(6, f32, NULL, 0);
	refused(viewer(9, 8), tenon_arg_object(t), -TENON_E_VALUE,
		"bytes 8 <= i_byte < 26. However, the Tensor being viewed only contains 24 bytes");
	refused(viewer(0, 25), tenon_arg_object(t), -TENON_E_VALUE, "bytes 25 <= i_byte < 25");
	refused(viewer(1, -2), tenon_arg_object(t), -TENON_E_VALUE, "offset -2");
	refused(viewer(INT64_MAX, 0), tenon_arg_object(t), -TENON_E_OVERFLOW, "overflows");
	tenon_object_unref(t);
}

/* compiled code refuses an offset, and may fault on data that is not aligned */
static void a_view_of_aligned_elements_has_no_offset(void **state)
{
	struct tenon_tensor *t = vector(64, f32, NULL, 0);
	struct tenon_value ret = given(viewer(8, 64), tenon_arg_object(t));
	const DLTensor *view = &((struct tenon_tensor *)ret.as.object)->dl;

	(void)state;
	assert_int_equal(view->byte_offset, 0);
	assert_ptr_equal(view->data, (char *)t->dl.data + 64);
	tenon_value_release(&ret);
	ret = given(viewer(8, 68), tenon_arg_object(t));
	view = &((struct tenon_tensor *)ret.as.object)->dl;
	assert_int_equal(view->byte_offset, 68);
	tenon_value_release(&ret);
	tenon_object_unref(t);
}

static void to_device_stays_on_the_cpu(void **state)
{
	struct one o = begin("vm.builtin.to_device"), p = begin("vm.builtin.to_device");
	struct tenon_tensor *t = vector(6, f32, NULL, 0);
	struct tenon_value ret;

	(void)state;
	CALL(&o, 1, REG(0), IMM(1), IMM(0));
	ret = given(end(&o), tenon_arg_object(t));
	assert_ptr_equal(ret.as.object, t);
	tenon_value_release(&ret);
	CALL(&p, 1, REG(0), IMM(99), IMM(0));
	refused(end(&p), tenon_arg_object(t), NO_SUCH_DEVICE, "to_device: ");
	tenon_object_unref(t);
}

static void ensure_zero_offset_copies_what_has_one(void **state)
{
	static const float data[] = { 1, 2, 3 };
	struct tenon_tensor *t = vector(3, f32, data, sizeof(data));
	struct one o = begin("vm.builtin.ensure_zero_offset"),
		   p = begin("vm.builtin.ensure_zero_offset");
	struct tenon_value ret;

	(void)state;
	CALL(&o, 1, REG(0));
	ret = given(end(&o), tenon_arg_object(t));
	assert_ptr_equal(ret.as.object, t);
	tenon_value_release(&ret);
	t->dl.byte_offset = 4;
	t->dl.shape[0] = 2;
	CALL(&p, 1, REG(0));
	ret = given(end(&p), tenon_arg_object(t));
	assert_int_equal(((struct tenon_tensor *)ret.as.object)->dl.byte_offset, 0);
	assert_true(((float *)((struct tenon_tensor *)ret.as.object)->dl.data)[1] == 3);
	tenon_value_release(&ret);
	tenon_object_unref(t);
}

static bool condition_of(struct tenon_value v)
{
	struct one o = begin("vm.builtin.read_if_cond");

	CALL(&o, 1, REG(0));
	return given(end(&o), v).as.integer;
}

static void conditions_are_read_of_every_integer(void **state)
{
	static const DLDataType kinds[] = { { 6, 8, 1 },  { 1, 1, 1 },	{ 0, 8, 1 },
					    { 0, 16, 1 }, { 0, 32, 1 }, { 1, 64, 1 } };
	struct one o = begin("vm.builtin.read_if_cond");
	static const int64_t one = 1, zero = 0;
	struct tenon_tensor *t;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		t = vector(1, kinds[i], &one, (kinds[i].bits + 7u) / 8);
		assert_true(condition_of(tenon_arg_object(t)));
		memcpy(t->dl.data, &zero, (kinds[i].bits + 7u) / 8);
		assert_false(condition_of(tenon_arg_object(t)));
		tenon_object_unref(t);
	}
	assert_true(condition_of(tenon_arg_bool(true)));
	assert_false(condition_of(tenon_arg_int(0)));
	t = vector(2, f32, NULL, 0);
	CALL(&o, 1, REG(0));
	refused(end(&o), tenon_arg_object(t), -TENON_E_TYPE,
		"read_if_cond: one integer or bool is wanted, found 2 of float32");
	tenon_object_unref(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shape_of_and_tensor_to_shape_read_tensors),
		cmocka_unit_test(bits_that_are_packed_are_not_read_as_bytes),
		cmocka_unit_test(reshape_is_another_view_of_the_data),
		cmocka_unit_test(a_view_has_a_shape_a_dtype_and_an_offset_of_its_own),
		cmocka_unit_test(a_view_of_aligned_elements_has_no_offset),
		cmocka_unit_test(to_device_stays_on_the_cpu),
		cmocka_unit_test(ensure_zero_offset_copies_what_has_one),
		cmocka_unit_test(conditions_are_read_of_every_integer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
