/* SPDX-License-Identifier: MIT */
/* What a Relax program is said to take and give, without running it. */
#include "tests/unit/relax_assembler.h"

#include <tenon/model.h>
#include <unistd.h>

static struct tenon_model *described(struct assembly *a)
{
	struct tenon_model_options options = { .size = sizeof(options), .describe = true };
	struct tenon_module *x;
	struct tenon_model *model = NULL;

	if (load_assembly(a, &x) || tenon_model_open(x, &options, &model))
		fail_msg("%s", tenon_error_message());
	tenon_object_unref(x);
	return model;
}

/* main(): a tuple of @width empty tuples or numbers, in a tuple of @width such tuples, and so on */
static void assemble_nest(struct assembly *a, int64_t width, int64_t depth, bool empty)
{
	uint32_t make = assemble_packed(a, "vm.builtin.make_tuple");
	int64_t operands[ASSEMBLY_MOST], i, k;

	assemble_function(a, "main", 0, depth + 1);
	assemble_call(a, 0, make, (const int64_t[]){ IMM(7) }, !empty);
	for (i = 0; i < depth; i++) {
		for (k = 0; k < width; k++)
			operands[k] = REG(i);
		assemble_call(a, i + 1, make, operands, (size_t)width);
	}
	assemble_ret(a, depth);
}

static void outputs_in_nested_tuples_are_listed(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_model *model;

	(void)state;
	assemble_nest(&a, 3, 4, false);
	model = described(&a);
	assert_int_equal(tenon_model_output_count(model), 81);
	tenon_model_close(model);
}

static void tuples_of_tuples_of_nothing_are_described_in_time(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_model *model;

	(void)state;
	/* 40 to the power of 7 empty ones */
	assemble_nest(&a, 40, 7, true);
	alarm(60);
	model = described(&a);
	alarm(0);
	assert_int_equal(tenon_model_output_count(model), 0);
	tenon_model_close(model);
}

/* main(x) = x: nothing tells what x is, as of a compiled function */
static struct tenon_model *identity(bool legacy)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_model *model = NULL;
	struct tenon_module *x;

	a.legacy = legacy;
	a.version = 1;
	assemble_function(&a, "main", 1, 1);
	assemble_ret(&a, 0);
	if (load_assembly(&a, &x) || tenon_model_open(x, NULL, &model))
		fail_msg("%s", tenon_error_message());
	tenon_object_unref(x);
	return model;
}

/* The value in a tuple of its own; drops the caller's reference. */
static struct tenon_value tuple_of(struct tenon_value v)
{
	struct tenon_array *a;

	assert_int_equal(tenon_array_create(&v, 1, &a), 0);
	tenon_value_release(&v);
	return tenon_arg_object(a);
}

static struct tenon_tensor *bytes_of(DLDataType dtype, unsigned char first)
{
	struct tenon_tensor *t;
	int64_t shape[] = { 3 };

	assert_int_equal(tenon_tensor_create(shape, 1, dtype, &t), 0);
	*(unsigned char *)t->dl.data = first;
	return t;
}

static void a_tuple_is_copied_with_its_tensors(void **state)
{
	struct tenon_model *model = identity(false);
	struct tenon_tensor *t = bytes_of(tenon_dtype(TENON_DTYPE_UINT, 8, 1), 7), *out;
	struct tenon_value v;
	int i;

	(void)state;
	tenon_object_ref(t);
	v = tuple_of(tuple_of(tenon_arg_object(t)));
	assert_int_equal(tenon_model_set_input(model, 0, &v), 0);
	tenon_value_release(&v);
	assert_int_equal(strong_count(t), 1);
	*(unsigned char *)t->dl.data = 8;
	assert_int_equal(tenon_model_run(model), 0);
	assert_int_equal(tenon_model_output_count(model), 1);
	assert_int_equal(tenon_model_output_value(model, 0, &v), 0);
	assert_int_equal(v.type, TENON_TYPE_TENSOR);
	out = (struct tenon_tensor *)v.as.object;
	assert_int_equal(*(unsigned char *)out->dl.data, 7);
	assert_true(tenon_dtype_equal(out->dl.dtype, t->dl.dtype));
	tenon_value_release(&v);
	v = tenon_arg_object(t);
	for (i = 0; i < 20; i++)
		v = tuple_of(v);
	assert_int_equal(tenon_model_set_input(model, 0, &v), -TENON_E_OVERFLOW);
	assert_error_has("tuples nest more than 8 deep");
	tenon_value_release(&v);
	tenon_model_close(model);
}

/* Code of TVM 0.20 and older knows bool as uint of one bit. */
static void older_code_is_given_the_bool_it_knows(void **state)
{
	DLDataType today = tenon_dtype(TENON_DTYPE_BOOL, 8, 1),
		   older = tenon_dtype(TENON_DTYPE_UINT, 1, 1);
	struct tenon_tensor *t = bytes_of(today, 1);
	struct tenon_value v, in[3];
	struct tenon_model *model;
	int legacy, i;

	(void)state;
	for (legacy = 0; legacy < 2; legacy++) {
		model = identity(legacy);
		in[0] = tenon_arg_object(t);
		in[1] = tenon_arg_tensor(&t->dl);
		tenon_object_ref(t);
		in[2] = tuple_of(tenon_arg_object(t));
		for (i = 0; i < 4; i++) {
			assert_int_equal(i < 3 ? tenon_model_set_input(model, 0, &in[i])
					       : tenon_model_bind_input(model, 0, t),
					 0);
			assert_int_equal(tenon_model_run(model), 0);
			assert_int_equal(tenon_model_output_value(model, 0, &v), 0);
			assert_true(
				tenon_dtype_equal(((struct tenon_tensor *)v.as.object)->dl.dtype,
						  legacy ? older : today));
			tenon_value_release(&v);
		}
		tenon_value_release(&in[2]);
		tenon_model_close(model);
	}
	tenon_object_unref(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outputs_in_nested_tuples_are_listed),
		cmocka_unit_test(tuples_of_tuples_of_nothing_are_described_in_time),
		cmocka_unit_test(a_tuple_is_copied_with_its_tensors),
		cmocka_unit_test(older_code_is_given_the_bool_it_knows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
