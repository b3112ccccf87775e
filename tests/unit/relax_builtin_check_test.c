/* SPDX-License-Identifier: MIT */
/* Relax builtins that check tensors, strings, shapes, tuples and numbers. */
#include "tests/unit/one_builtin.h"

/* main(x): check_tensor_info(x, ndim, dtype, context) */
static struct relax_vm *tensor_check(int64_t ndim)
{
	struct one o = begin("vm.builtin.check_tensor_info");
	uint32_t dtype = constant_f32(&o.a), text = constant_string(&o.a, "In(main) ");

	CALL(&o, 1, REG(0), IMM(ndim), CONST(dtype), CONST(text));
	return end(&o);
}

static void tensors_are_checked(void **state)
{
	struct tenon_tensor *t = vector(3, f32, NULL, 0);
	struct tenon_tensor *i = vector(3, tenon_dtype(TENON_DTYPE_INT, 32, 1), NULL, 0);
	struct tenon_value ret = given(tensor_check(1), tenon_arg_object(t));

	(void)state;
	tenon_value_release(&ret);
	ret = given(tensor_check(-1), tenon_arg_object(t));
	refused(tensor_check(2), tenon_arg_object(t), -TENON_E_VALUE,
		"Check failed: In(main) expect Tensor with ndim 2 but get 1");
	refused(tensor_check(1), tenon_arg_object(i), -TENON_E_VALUE,
		"In(main) expect Tensor with dtype float32 but get int32");
	refused(tensor_check(1), tenon_arg_int(1), -TENON_E_TYPE,
		"In(main) expect a Tensor but get int");
	tenon_object_unref(t);
	tenon_object_unref(i);
}

static struct relax_vm *check(const char *builtin, int64_t number)
{
	struct one o = begin(builtin);

	CALL(&o, 1, REG(0), IMM(number), REG(VOID_REG));
	return end(&o);
}

static void strings_are_checked(void **state)
{
	static const char *const texts[] = { "", "short", "a text that is longer than a word" };
	struct one o;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		o = begin("vm.builtin.check_string_info");
		CALL(&o, 1, REG(0), REG(VOID_REG));
		given(end(&o), tenon_arg_string(texts[i]));
	}
	o = begin("vm.builtin.check_string_info");
	CALL(&o, 1, REG(0), REG(VOID_REG));
	refused(end(&o), tenon_arg_int(3), -TENON_E_TYPE, "expect a string but get int");
}

static void shapes_tuples_numbers_and_functions_are_checked(void **state)
{
	static const int64_t extents[] = { 5, 6 };
	struct tenon_shape *s = shape_of(extents, 2);
	struct tenon_value items[] = { tenon_arg_int(1), tenon_arg_int(2) };
	struct tenon_array *t;
	struct one o = begin("vm.builtin.check_prim_value_info"),
		   p = begin("vm.builtin.check_func_info");
	struct one q = begin("vm.builtin.check_prim_value_info"),
		   r = begin("vm.builtin.check_func_info");
	uint32_t dtype;

	(void)state;
	assert_int_equal(tenon_array_create(items, 2, &t), 0);
	given(check("vm.builtin.check_shape_info", 2), tenon_arg_object(s));
	given(check("vm.builtin.check_shape_info", -1), tenon_arg_object(s));
	refused(check("vm.builtin.check_shape_info", 3), tenon_arg_object(s), -TENON_E_VALUE,
		"expect Shape with ndim 3 but get 2");
	refused(check("vm.builtin.check_shape_info", 3), tenon_arg_object(t), -TENON_E_TYPE,
		"expect a Shape but get ffi.Array");
	given(check("vm.builtin.check_tuple_info", 2), tenon_arg_object(t));
	refused(check("vm.builtin.check_tuple_info", 1), tenon_arg_object(t), -TENON_E_VALUE,
		"expect a Tuple with 1 elements, but get a Tuple with 2 elements");
	refused(check("vm.builtin.check_tuple_info", 1), tenon_arg_object(s), -TENON_E_TYPE,
		"expect a Tuple but get ffi.Shape");
	dtype = constant_f32(&o.a);
	CALL(&o, 1, REG(0), CONST(dtype), REG(VOID_REG));
	given(end(&o), tenon_arg_float(1.5));
	dtype = constant_f32(&q.a);
	CALL(&q, 1, REG(0), CONST(dtype), REG(VOID_REG));
	refused(end(&q), tenon_arg_int(1), -TENON_E_TYPE, "expect float32 but get int");
	CALL(&p, 1, FUNC(0), REG(VOID_REG));
	CALL(&p, 1, FUNC(1), REG(VOID_REG));
	given(end(&p), tenon_arg_int(1));
	CALL(&r, 1, REG(0), REG(VOID_REG));
	refused(end(&r), tenon_arg_int(1), -TENON_E_TYPE, "expect a Function but get int");
	tenon_object_unref(s);
	tenon_object_unref(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tensors_are_checked),
		cmocka_unit_test(strings_are_checked),
		cmocka_unit_test(shapes_tuples_numbers_and_functions_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
