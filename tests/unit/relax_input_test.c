/* SPDX-License-Identifier: MIT */
/* Inputs of a model that is a Relax program: what its checks say of them, and what is refused then. */
#include "tests/unit/relax_assembler.h"

#include <tenon/model.h>

static const DLDataType f32 = { TENON_DTYPE_FLOAT, 32, 1 };
static const DLDataType older_bool = { TENON_DTYPE_UINT, 1, 1 };

/*
 * main(x, pair, any) gives (x, pair, any): x is float32[2, 3], pair a tuple of a bool[?] and of a tuple of one tensor,
 * and nothing tells what the last one is.
 */
static struct tenon_model *open_program(bool describe)
{
	struct tenon_model_options o = { .size = sizeof(o), .describe = describe };
	struct assembly a = ASSEMBLY_INIT;
	uint32_t tensor = assemble_packed(&a, "vm.builtin.check_tensor_info");
	uint32_t tuple = assemble_packed(&a, "vm.builtin.check_tuple_info");
	uint32_t item = assemble_packed(&a, "vm.builtin.tuple_getitem");
	uint32_t match = assemble_packed(&a, "vm.builtin.match_shape");
	uint32_t make = assemble_packed(&a, "vm.builtin.make_tuple");
	uint32_t f = constant_f32(&a), b = constant_dtype(&a, older_bool);
	uint32_t text = constant_string(&a, "main");
	struct tenon_model *model = NULL;
	struct tenon_module *x;

	assemble_function(&a, "main", 3, 8);
	ASSEMBLE_CALL(&a, VOID_REG, tensor, REG(0), IMM(2), CONST(f), CONST(text));
	ASSEMBLE_CALL(&a, VOID_REG, match, REG(0), REG(VOID_REG), IMM(2), IMM(0), IMM(2), IMM(0),
		      IMM(3), CONST(text));
	ASSEMBLE_CALL(&a, VOID_REG, tuple, REG(1), IMM(2), CONST(text));
	ASSEMBLE_CALL(&a, 3, item, REG(1), IMM(0));
	ASSEMBLE_CALL(&a, VOID_REG, tensor, REG(3), IMM(1), CONST(b), CONST(text));
	ASSEMBLE_CALL(&a, 4, item, REG(1), IMM(1));
	ASSEMBLE_CALL(&a, VOID_REG, tuple, REG(4), IMM(1), CONST(text));
	ASSEMBLE_CALL(&a, 5, item, REG(4), IMM(0));
	ASSEMBLE_CALL(&a, VOID_REG, tensor, REG(5), IMM(1), CONST(f), CONST(text));
	ASSEMBLE_CALL(&a, 6, make, REG(0), REG(1), REG(2));
	assemble_ret(&a, 6);
	a.functions[a.function_count - 1].param_count = 3;
	a.functions[a.function_count - 1].params[0] = "x";
	a.functions[a.function_count - 1].params[1] = "pair";
	a.functions[a.function_count - 1].params[2] = "";
	if (load_assembly(&a, &x) || tenon_model_open(x, &o, &model))
		fail_msg("%s", tenon_error_message());
	tenon_object_unref(x);
	return model;
}

static float memory[40] __attribute__((aligned(
	128))) = { [32] = 1, [33] = 2, [34] = 3, [35] = 4, [36] = 5, [37] = 6, [38] = 7, [39] = 8 };
static float *const numbers = memory + 32;
static unsigned char bits[4] __attribute__((aligned(128))) = { 1, 0, 1, 1 };
static int64_t two_three[] = { 2, 3 }, three = 3, two = 2;

static int set(struct tenon_model *model, const char *name, struct tenon_value v)
{
	size_t i;

	if (tenon_model_find_input(model, tenon_slice_of(name), &i))
		fail_msg("%s", tenon_error_message());
	return tenon_model_set_input(model, i, &v);
}

static int set_tensor(struct tenon_model *model, const char *name, void *data, int64_t *shape,
		      int32_t ndim, DLDataType dtype)
{
	DLTensor t = tenon_dltensor(data, shape, ndim, dtype);

	return set(model, name, tenon_arg_tensor(&t));
}

static void set_all(struct tenon_model *model)
{
	assert_int_equal(set_tensor(model, "x", numbers, two_three, 2, f32), 0);
	assert_int_equal(
		set_tensor(model, "pair.0", bits, &three, 1, tenon_dtype(TENON_DTYPE_BOOL, 8, 1)),
		0);
	assert_int_equal(set_tensor(model, "pair.1.0", numbers, &three, 1, f32), 0);
	assert_int_equal(set(model, "arg2", tenon_arg_int(5)), 0);
}

static void inputs_in_tuples_have_names_of_their_own(void **state)
{
	struct tenon_model *model = open_program(false);
	struct tenon_value v;
	DLTensor *t;

	(void)state;
	assert_int_equal(tenon_model_input_count(model), 4);
	assert_int_equal(tenon_model_run(model), -TENON_E_USAGE);
	assert_error_has("input \"x\" was never set");
	set_all(model);
	assert_int_equal(tenon_model_run(model), 0);
	assert_int_equal(tenon_model_output_value(model, 0, &v), 0);
	assert_int_equal(tenon_value_tensor(&v, &t), 0);
	assert_memory_equal(t->data, numbers, 24);
	tenon_value_release(&v);
	/* the bool that the program knows */
	assert_int_equal(tenon_model_output_value(model, 1, &v), 0);
	assert_int_equal(tenon_value_tensor(&v, &t), 0);
	assert_true(tenon_dtype_equal(t->dtype, older_bool));
	assert_memory_equal(t->data, bits, 3);
	tenon_value_release(&v);
	tenon_model_close(model);
}

static void inputs_that_do_not_fit_are_refused(void **state)
{
	int64_t gaps[] = { 4, 1 }, three_two[] = { 3, 2 };
	struct tenon_model *model = open_program(false);
	DLTensor t = tenon_dltensor(numbers, two_three, 2, f32);

	(void)state;
	assert_int_equal(
		set_tensor(model, "x", numbers, two_three, 2, tenon_dtype(TENON_DTYPE_INT, 32, 1)),
		-TENON_E_TYPE);
	assert_error_has("dtype float32 expected, found int32");
	assert_int_equal(set_tensor(model, "x", numbers, three_two, 2, f32), -TENON_E_VALUE);
	assert_error_has("shape [2, 3] expected, found [3, 2]");
	assert_int_equal(set_tensor(model, "x", numbers, &three, 1, f32), -TENON_E_VALUE);
	assert_error_has("found [3]");
	t.strides = gaps;
	assert_int_equal(set(model, "x", tenon_arg_tensor(&t)), -TENON_E_VALUE);
	assert_error_has("gaps between its elements");
	assert_int_equal(set(model, "x", tenon_arg_int(1)), -TENON_E_TYPE);
	assert_error_has("a tensor expected, found int");
	assert_int_equal(
		set_tensor(model, "pair.0", bits, &three, 1, tenon_dtype(TENON_DTYPE_UINT, 8, 1)),
		-TENON_E_TYPE);
	assert_error_has("dtype bool expected, found uint8");
	assert_int_equal(set_tensor(model, "pair.0", bits, two_three, 2, older_bool),
			 -TENON_E_VALUE);
	assert_error_has("shape [?] expected, found [2, 3]");
	assert_int_equal(set_tensor(model, "pair.0", bits, &two, 1, older_bool), 0);
	tenon_model_close(model);
}

/* Of the last parameter nothing is known: any value, and tensors in tuples. */
static void tensors_that_cannot_be_copied_are_refused_in_tuples_too(void **state)
{
	int64_t gaps[] = { 4, 1 }, far[] = { INT64_MAX, 4 };
	struct tenon_model *model = open_program(false);
	DLTensor t = tenon_dltensor(numbers, two_three, 2, f32);
	struct tenon_tensor *view;
	struct tenon_value item;
	struct tenon_array *tuple;

	(void)state;
	t.strides = gaps;
	assert_int_equal(set(model, "arg2", tenon_arg_tensor(&t)), -TENON_E_VALUE);
	assert_int_equal(tenon_tensor_view(&t, NULL, &view), 0);
	item = tenon_arg_object(view);
	assert_int_equal(tenon_array_create(&item, 1, &tuple), 0);
	assert_int_equal(set(model, "arg2", tenon_arg_object(tuple)), -TENON_E_VALUE);
	assert_error_has("item 0: the tensor has gaps between its elements");
	tenon_object_unref(tuple);
	tenon_object_unref(view);
	t.strides = NULL;
	t.shape = far;
	assert_int_equal(set(model, "arg2", tenon_arg_tensor(&t)), -TENON_E_OVERFLOW);
	tenon_error_clear();
	tenon_model_close(model);
}

/* The copy is written over where nobody else has it and its form is the same. */
static void a_copy_is_used_again_where_its_form_is_the_same(void **state)
{
	static const DLDataType i32 = { TENON_DTYPE_INT, 32, 1 };
	struct tenon_model *model = open_program(false);
	int64_t one_six[] = { 1, 6 }, six = 6, none = 0;
	struct tenon_value kept, v;
	DLTensor *t;

	(void)state;
	set_all(model);
	assert_int_equal(set_tensor(model, "arg2", numbers, two_three, 2, f32), 0);
	assert_int_equal(tenon_model_run(model), 0);
	assert_int_equal(tenon_model_output_value(model, 3, &kept), 0);
	numbers[0] = 9;
	assert_int_equal(set_tensor(model, "arg2", numbers, two_three, 2, f32), 0);
	assert_int_equal(tenon_value_tensor(&kept, &t), 0);
	assert_true(((float *)t->data)[0] == 1);
	tenon_value_release(&kept);
	assert_int_equal(set_tensor(model, "arg2", numbers, one_six, 2, f32), 0);
	assert_int_equal(set_tensor(model, "arg2", numbers, &six, 1, f32), 0);
	assert_int_equal(set_tensor(model, "arg2", numbers, &six, 1, i32), 0);
	assert_int_equal(set_tensor(model, "arg2", numbers, &three, 1, i32), 0);
	assert_int_equal(set_tensor(model, "arg2", numbers, NULL, 0, f32), 0);
	assert_int_equal(set_tensor(model, "arg2", numbers, NULL, 0, f32), 0);
	assert_int_equal(set_tensor(model, "arg2", numbers, &none, 1, f32), 0);
	assert_int_equal(set_tensor(model, "arg2", numbers, &six, 1, f32), 0);
	assert_int_equal(set_tensor(model, "arg2", numbers, &six, 1, f32), 0);
	assert_int_equal(tenon_model_run(model), 0);
	assert_int_equal(tenon_model_output_value(model, 3, &v), 0);
	assert_int_equal(tenon_value_tensor(&v, &t), 0);
	assert_memory_equal(t->data, numbers, 24);
	tenon_value_release(&v);
	numbers[0] = 1;
	tenon_model_close(model);
}

static void a_bound_tensor_lies_where_code_can_use_it(void **state)
{
	struct tenon_model *model = open_program(false);
	DLTensor t = tenon_dltensor(numbers, two_three, 2, f32);
	struct tenon_tensor *view;
	struct tenon_value v;
	DLTensor *out;

	(void)state;
	set_all(model);
	assert_int_equal(tenon_tensor_view(&t, NULL, &view), 0);
	assert_int_equal(tenon_model_bind_input(model, 0, view), 0);
	view->dl.byte_offset = 4;
	assert_int_equal(tenon_model_bind_input(model, 0, view), -TENON_E_VALUE);
	assert_error_has("the data is aligned to 4 bytes");
	view->dl.data = memory;
	view->dl.byte_offset = 128;
	assert_int_equal(tenon_model_bind_input(model, 0, view), 0);
	view->dl.device.device_type = (DLDeviceType)99;
	assert_int_equal(tenon_model_bind_input(model, 0, view), -TENON_E_DEVICE);
	assert_error_has("the model runs on cpu:0");
	view->dl.device.device_type = kDLCPU;
	view->dl.dtype.bits = 64;
	assert_int_equal(tenon_model_bind_input(model, 0, view), -TENON_E_TYPE);
	tenon_error_clear();
	tenon_object_unref(view);
	assert_int_equal(tenon_model_run(model), 0);
	assert_int_equal(tenon_model_output_value(model, 0, &v), 0);
	assert_int_equal(tenon_value_tensor(&v, &out), 0);
	assert_ptr_equal(out->data, numbers);
	tenon_value_release(&v);
	tenon_model_close(model);
}

static void a_model_that_is_looked_at_takes_no_inputs(void **state)
{
	struct tenon_model *model = open_program(true);
	struct tenon_port port;

	(void)state;
	assert_int_equal(set_tensor(model, "x", numbers, two_three, 2, f32), -TENON_E_USAGE);
	assert_error_has("opened to be looked at only");
	assert_int_equal(tenon_model_input(model, 0, &port), 0);
	assert_int_equal(port.ndim, 2);
	assert_int_equal(port.shape[1], 3);
	tenon_model_close(model);
}

/* More items than the machine has room for on the stack. */
static void wide_tuples_are_inputs_too(void **state)
{
	enum { WIDE = 100 };
	struct assembly a = ASSEMBLY_INIT;
	uint32_t tuple = assemble_packed(&a, "vm.builtin.check_tuple_info");
	uint32_t text = constant_string(&a, "main");
	struct tenon_model *model = NULL;
	struct tenon_module *x;
	struct tenon_value v;
	size_t i;

	(void)state;
	assemble_function(&a, "main", 1, 1);
	ASSEMBLE_CALL(&a, VOID_REG, tuple, REG(0), IMM(WIDE), CONST(text));
	assemble_ret(&a, 0);
	if (load_assembly(&a, &x) || tenon_model_open(x, NULL, &model))
		fail_msg("%s", tenon_error_message());
	tenon_object_unref(x);
	assert_int_equal(tenon_model_input_count(model), WIDE);
	for (i = 0; i < WIDE; i++) {
		v = tenon_arg_int((int64_t)i);
		assert_int_equal(tenon_model_set_input(model, i, &v), 0);
	}
	assert_int_equal(tenon_model_run(model), 0);
	assert_int_equal(tenon_model_output_value(model, WIDE - 1, &v), 0);
	assert_int_equal(v.as.integer, WIDE - 1);
	tenon_model_close(model);
}

/* main(x) gives one of two tensors: what both have in common is told. */
static struct tenon_model *two_results(DLDataType second, int64_t rows, int64_t columns, bool tuple)
{
	struct tenon_model_options o = { .size = sizeof(o), .describe = true };
	struct assembly a = ASSEMBLY_INIT;
	uint32_t storage = assemble_packed(&a, "vm.builtin.alloc_storage");
	uint32_t tensor = assemble_packed(&a, "vm.builtin.alloc_tensor");
	uint32_t make = assemble_packed(&a, "vm.builtin.make_tuple");
	uint32_t size = CONSTANT_SHAPE(&a, 256), one = CONSTANT_SHAPE(&a, 2, 3), other;
	uint32_t u8 = constant_dtype(&a, tenon_dtype(TENON_DTYPE_UINT, 8, 1)), f = constant_f32(&a);
	uint32_t d = constant_dtype(&a, second), scope = constant_string(&a, "global");
	struct tenon_model *model = NULL;
	struct tenon_module *x;

	other = columns ? CONSTANT_SHAPE(&a, rows, columns) : CONSTANT_SHAPE(&a, rows);
	assemble_function(&a, "main", 1, 4);
	ASSEMBLE_CALL(&a, 1, storage, REG(MACHINE_REG), CONST(size), IMM(0), CONST(u8),
		      CONST(scope));
	assemble_if(&a, 0, 3);
	ASSEMBLE_CALL(&a, 2, tensor, REG(1), IMM(0), CONST(one), CONST(f));
	assemble_ret(&a, 2);
	if (tuple)
		ASSEMBLE_CALL(&a, 3, make, REG(1));
	else
		ASSEMBLE_CALL(&a, 3, tensor, REG(1), IMM(0), CONST(other), CONST(d));
	assemble_ret(&a, 3);
	if (load_assembly(&a, &x) || tenon_model_open(x, &o, &model))
		fail_msg("%s", tenon_error_message());
	tenon_object_unref(x);
	return model;
}

static void what_two_results_have_in_common_is_told(void **state)
{
	static const struct {
		DLDataType second;
		int64_t rows, columns;
		bool tuple;
		int32_t ndim; /* -1: nothing is known */
		int64_t extents[2];
		int bits;
	} cases[] = {
		{ { TENON_DTYPE_FLOAT, 32, 1 }, 2, 3, false, 2, { 2, 3 }, 32 },
		{ { TENON_DTYPE_FLOAT, 32, 1 }, 2, 4, false, 2, { 2, -1 }, 32 },
		{ { TENON_DTYPE_INT, 8, 1 }, 2, 3, false, 2, { 2, 3 }, 0 },
		{ { TENON_DTYPE_FLOAT, 32, 1 }, 6, 0, false, -1, { 0, 0 }, 0 },
		{ { TENON_DTYPE_FLOAT, 32, 1 }, 2, 3, true, -1, { 0, 0 }, 0 },
	};
	struct tenon_model *model;
	struct tenon_port port;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		model = two_results(cases[i].second, cases[i].rows, cases[i].columns,
				    cases[i].tuple);
		assert_int_equal(tenon_model_output_count(model), 1);
		assert_int_equal(tenon_model_output(model, 0, &port), 0);
		assert_int_equal(port.ndim, cases[i].ndim);
		assert_int_equal(port.dtype.bits, cases[i].bits);
		if (port.ndim == 2)
			assert_memory_equal(port.shape, cases[i].extents, 16);
		tenon_model_close(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inputs_in_tuples_have_names_of_their_own),
		cmocka_unit_test(inputs_that_do_not_fit_are_refused),
		cmocka_unit_test(tensors_that_cannot_be_copied_are_refused_in_tuples_too),
		cmocka_unit_test(a_copy_is_used_again_where_its_form_is_the_same),
		cmocka_unit_test(a_bound_tensor_lies_where_code_can_use_it),
		cmocka_unit_test(a_model_that_is_looked_at_takes_no_inputs),
		cmocka_unit_test(wide_tuples_are_inputs_too),
		cmocka_unit_test(what_two_results_have_in_common_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
