/* SPDX-License-Identifier: MIT */
/* Relax executables that are read: both formats, constants, registers. */
#include "tests/unit/relax_assembler.h"

#include <tenon/backend/buffer.h>

/* main(x) returns x; @a stays open for more */
static struct assembly identity(void)
{
	struct assembly a = ASSEMBLY_INIT;

	assemble_function(&a, "main", 1, 2);
	assemble_ret(&a, 0);
	return a;
}

/* main(x) of two registers, which may call f; its instructions follow */
static struct assembly caller(void)
{
	struct assembly a = ASSEMBLY_INIT;

	assemble_packed(&a, "f");
	assemble_function(&a, "main", 1, 2);
	return a;
}

static void refuses(struct assembly *a, int status, const char *words)
{
	struct tenon_module *m = NULL;

	assert_int_equal(load_assembly(a, &m), status);
	assert_null(m);
	assert_error_has(words);
}

static void both_formats_and_all_kinds_of_constants_are_read(void **state)
{
	static const float values[] = { 1.5f, -2 };
	struct tenon_module *m;
	struct relax_executable *x;
	struct tenon_slice text;
	int version;

	(void)state;
	for (version = 1; version <= 2; version++) {
		struct assembly a = identity();

		a.version = version;
		constant_int(&a, -7);
		constant_float(&a, 2.25);
		constant_string(&a, "a longer string");
		CONSTANT_SHAPE(&a, 3, 4);
		constant_f32(&a);
		constant_tensor(&a, values, 2);
		if (version == 2)
			assemble_scope(&a, 5, "global");
		assert_int_equal(load_assembly(&a, &m), 0);
		x = relax_executable_of(m);
		assert_int_equal(x->constant_count, 6);
		assert_int_equal(x->constants[0].as.integer, -7);
		assert_true(x->constants[1].as.real == 2.25);
		assert_int_equal(tenon_value_text(&x->constants[2], &text), 0);
		assert_slice(text, "a longer string");
		assert_int_equal(((struct tenon_shape *)x->constants[3].as.object)->size, 2);
		assert_int_equal(((struct tenon_shape *)x->constants[3].as.object)->data[1], 4);
		assert_int_equal(x->constants[4].as.dtype.bits, 32);
		assert_memory_equal(((struct tenon_tensor *)x->constants[5].as.object)->dl.data,
				    values, 8);
		assert_int_equal(x->constant_bytes, 8);
		tenon_object_unref(m);
	}
}

/* A tensor that outlives the module keeps its contents. */
static void tensors_of_any_size_are_aligned_and_last(void **state)
{
	static const size_t sizes[] = { 1, 33, 0, 7, 64, 5000 };
	struct tenon_tensor *t[sizeof(sizes) / sizeof(sizes[0])];
	struct assembly a = identity();
	struct relax_executable *x;
	struct tenon_module *m;
	float values[5000];
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (k = 0; k < sizes[i]; k++)
			values[k] = (float)(i + 1) + (float)k * 0.5f;
		constant_tensor(&a, values, sizes[i]);
	}
	assert_int_equal(load_assembly(&a, &m), 0);
	x = relax_executable_of(m);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		t[i] = (struct tenon_tensor *)x->constants[i].as.object;
		tenon_object_ref(t[i]);
	}
	tenon_object_unref(m);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal((uintptr_t)t[i]->dl.data % TENON_TENSOR_ALIGN, 0);
		assert_int_equal(t[i]->dl.shape[0], sizes[i]);
		for (k = 0; k < sizes[i]; k++)
			assert_true(((float *)t[i]->dl.data)[k] ==
				    (float)(i + 1) + (float)k * 0.5f);
		tenon_object_unref(t[i]);
	}
}

static void constants_of_older_tvm_have_other_numbers(void **state)
{
	static const float values[] = { 4 };
	struct assembly a = identity();
	struct tenon_module *m;
	struct relax_executable *x;

	(void)state;
	a.version = 1;
	a.legacy = true;
	constant_tensor(&a, values, 1);
	constant_f32(&a);
	CONSTANT_SHAPE(&a, 9);
	constant_string(&a, "s");
	constant_int(&a, 3);
	constant_float(&a, 0.5);
	assert_int_equal(load_assembly(&a, &m), 0);
	x = relax_executable_of(m);
	assert_true(x->legacy);
	assert_int_equal(x->constants[0].type, TENON_TYPE_TENSOR);
	assert_int_equal(x->constants[1].type, TENON_TYPE_DTYPE);
	assert_int_equal(x->constants[2].type, TENON_TYPE_SHAPE);
	assert_int_equal(x->constants[3].type, TENON_TYPE_SMALL_STRING);
	assert_int_equal(x->constants[4].as.integer, 3);
	assert_true(x->constants[5].as.real == 0.5);
	tenon_object_unref(m);
}

static void an_image_within_a_string_is_unwrapped(void **state)
{
	struct tenon_buffer image = TENON_BUFFER_INIT, wrapped = TENON_BUFFER_INIT,
			    saved = TENON_BUFFER_INIT;
	struct assembly a = identity();
	struct tenon_module *m;

	(void)state;
	assemble(&a, &image);
	tenon_buffer_string(&wrapped, image_bytes(&image));
	assert_int_equal(load_image(image_bytes(&wrapped), false, &m), 0);
	/* what is saved is what was loaded */
	assert_int_equal(tenon_module_save(m, &saved), 0);
	assert_int_equal(saved.size, wrapped.size);
	assert_memory_equal(saved.data, wrapped.data, saved.size);
	tenon_object_unref(m);
	tenon_buffer_fini(&image);
	tenon_buffer_fini(&wrapped);
	tenon_buffer_fini(&saved);
}

static void another_version_or_magic_number_is_refused(void **state)
{
	struct tenon_buffer image = TENON_BUFFER_INIT;
	struct assembly a = identity();
	struct tenon_module *m;

	(void)state;
	assemble(&a, &image);
	image.data[19] = '5';
	assert_int_equal(load_image(image_bytes(&image), false, &m), -TENON_E_FORMAT);
	assert_error_has("version \"0.15\"; \"0.14\" can be read");
	image.data[0] = 0x55;
	assert_int_equal(load_image(image_bytes(&image), false, &m), -TENON_E_TRUNCATED);
	assert_error_has("neither the magic number");
	tenon_buffer_fini(&image);
}

static void bytes_behind_the_end_are_refused(void **state)
{
	struct tenon_buffer image = TENON_BUFFER_INIT;
	struct assembly a = identity();
	struct tenon_module *m;

	(void)state;
	assemble(&a, &image);
	tenon_buffer_u8(&image, 0);
	assert_int_equal(load_image(image_bytes(&image), false, &m), -TENON_E_FORMAT);
	assert_error_has("1 bytes behind the instructions");
	tenon_buffer_fini(&image);
}

static void registers_out_of_range_are_refused(void **state)
{
	struct assembly a = caller(), b = caller(), c = ASSEMBLY_INIT, d = ASSEMBLY_INIT;

	(void)state;
	ASSEMBLE_CALL(&a, 2, 0, REG(0));
	assemble_ret(&a, 0);
	refuses(&a, -TENON_E_FORMAT,
		"function \"main\": instruction 0: the destination is register 2, the function has "
		"2");

	ASSEMBLE_CALL(&b, 1, 0, REG(0), REG(-1));
	assemble_ret(&b, 0);
	refuses(&b, -TENON_E_FORMAT, "instruction 0: operand 1 is register -1, the function has 2");

	assemble_function(&c, "main", 1, 2);
	assemble_ret(&c, 2);
	refuses(&c, -TENON_E_FORMAT, "instruction 0: the result is register 2");

	assemble_function(&d, "main", 1, 2);
	assemble_ret(&d, MACHINE_REG);
	refuses(&d, -TENON_E_FORMAT, "the result is the machine itself");
}

static void indices_out_of_range_are_refused(void **state)
{
	struct assembly a = caller(), b = caller(), c = caller(), d = caller();

	(void)state;
	ASSEMBLE_CALL(&a, 1, 2, REG(0));
	assemble_ret(&a, 0);
	refuses(&a, -TENON_E_FORMAT, "instruction 0: function 2 is called, there are 2");

	constant_int(&b, 1);
	ASSEMBLE_CALL(&b, 1, 0, CONST(0), CONST(1));
	assemble_ret(&b, 0);
	refuses(&b, -TENON_E_FORMAT, "instruction 0: operand 1 is constant 1, there are 1");

	ASSEMBLE_CALL(&c, 1, 0, FUNC(7));
	assemble_ret(&c, 0);
	refuses(&c, -TENON_E_FORMAT, "operand 0 is function 7, there are 2");

	ASSEMBLE_CALL(&d, 1, 0, WORD(4, 0));
	assemble_ret(&d, 0);
	refuses(&d, -TENON_E_FORMAT,
		"operand 0 is of kind 4; kinds are 0 (register) to 3 (function)");
}

static void jumps_out_of_the_function_are_refused(void **state)
{
	static const int64_t offsets[] = { 0, -1, 2, INT64_MAX, INT64_MIN };
	static const int64_t branches[] = { 1, 0, -1, 2, INT64_MAX };
	size_t i;

	(void)state;
	for (i = 0; i < 5; i++) {
		struct assembly a = ASSEMBLY_INIT;

		assemble_function(&a, "main", 1, 1);
		assemble_goto(&a, offsets[i]);
		assemble_ret(&a, 0);
		refuses(&a, -TENON_E_FORMAT,
			i ? "leaves the function (instructions 0 to 1)" : "a jump to itself");
	}
	for (i = 0; i < 5; i++) {
		struct assembly a = ASSEMBLY_INIT;

		assemble_function(&a, "main", 1, 1);
		assemble_if(&a, 0, branches[i]);
		assemble_ret(&a, 0);
		refuses(&a, -TENON_E_FORMAT,
			i < 3 ? "the false side is at least 2 ahead" : "leaves the function");
	}
}

static void a_branch_on_no_register_is_refused(void **state)
{
	struct assembly a = ASSEMBLY_INIT;

	(void)state;
	assemble_function(&a, "main", 1, 1);
	assemble_if(&a, VOID_REG, 2);
	assemble_ret(&a, 0);
	assemble_ret(&a, 0);
	refuses(&a, -TENON_E_FORMAT, "instruction 0: the condition is register");
}

static void an_unknown_opcode_is_refused(void **state)
{
	struct assembly a = ASSEMBLY_INIT;

	(void)state;
	assemble_function(&a, "main", 1, 1);
	assemble_words(&a, (const int64_t[]){ 5, 0 }, 2);
	assemble_ret(&a, 0);
	refuses(&a, -TENON_E_FORMAT, "instruction 0: opcode 5; opcodes are 1 (call) to 4 (if)");
}

static void a_function_that_runs_off_its_end_is_refused(void **state)
{
	struct assembly a = ASSEMBLY_INIT;

	(void)state;
	assemble_packed(&a, "f");
	assemble_function(&a, "main", 1, 1);
	ASSEMBLE_CALL(&a, VOID_REG, 0, REG(0));
	refuses(&a, -TENON_E_FORMAT, "the function ends without a return");
}

static void instructions_that_overlap_or_are_cut_are_refused(void **state)
{
	struct assembly a = ASSEMBLY_INIT, b = ASSEMBLY_INIT, c = ASSEMBLY_INIT;

	(void)state;
	/* a call that promises more operands than there are words */
	assemble_packed(&a, "f");
	assemble_function(&a, "main", 1, 1);
	assemble_words(&a, (const int64_t[]){ RELAX_CALL, VOID_REG, 0, 1 }, 4);
	assemble_ret(&a, 0);
	refuses(&a, -TENON_E_FORMAT, "1 operands promised, 0 words left");

	assemble_packed(&b, "f");
	assemble_function(&b, "main", 1, 1);
	assemble_words(&b, (const int64_t[]){ RELAX_CALL, VOID_REG, 0, -1 }, 4);
	assemble_ret(&b, 0);
	refuses(&b, -TENON_E_FORMAT, "-1 operands promised");

	assemble_function(&c, "main", 1, 1);
	assemble_words(&c, (const int64_t[]){ RELAX_RET }, 1);
	refuses(&c, -TENON_E_FORMAT, "stands at word 0 of 1");
}

static void ranges_of_functions_are_checked(void **state)
{
	struct assembly a = identity(), b = identity(), c = identity(), d = identity();

	(void)state;
	a.functions[0].end = 5;
	refuses(&a, -TENON_E_FORMAT, "function \"main\" holds instructions 0 to 4, there are 1");
	b.functions[0].end = 0;
	refuses(&b, -TENON_E_FORMAT, "function \"main\": end of its instructions 0");
	c.functions[0].first = -1;
	refuses(&c, -TENON_E_FORMAT, "function \"main\": first instruction -1");
	assemble_entry(&d, "other", RELAX_FUNCTION_BYTECODE, 0, 1);
	d.functions[1].end = 1;
	refuses(&d, -TENON_E_FORMAT, "share instruction 0");
}

static void numbers_of_registers_are_checked(void **state)
{
	struct assembly a = identity(), b = identity(), c = identity(), d = identity();

	(void)state;
	a.functions[0].registers = 0;
	refuses(&a, -TENON_E_FORMAT, "a register for each parameter");
	b.functions[0].registers = (1 << 20) + 1;
	refuses(&b, -TENON_E_FORMAT, "at most 1048576, expected, found 1048577");
	c.functions[0].args = -1;
	refuses(&c, -TENON_E_FORMAT, "number of parameters -1");
	assemble_entry(&d, "native", RELAX_FUNCTION_NATIVE, 1, 1);
	refuses(&d, -TENON_E_FORMAT, "a register for the result expected");
}

static void names_of_functions_are_checked(void **state)
{
	struct assembly a = identity(), b = identity(), c = identity(), d = identity();

	(void)state;
	assemble_packed(&a, "main");
	refuses(&a, -TENON_E_FORMAT, "function \"main\" is there twice");
	assemble_packed(&b, "");
	refuses(&b, -TENON_E_FORMAT, "a function without a name");
	assemble_entry(&c, "odd", 3, 0, 0);
	refuses(&c, -TENON_E_FORMAT, "found 3");
	d.functions[0].param_count = 2;
	d.functions[0].params[0] = "x";
	d.functions[0].params[1] = "y";
	refuses(&d, -TENON_E_FORMAT, "has 1 parameters and names 2");
}

static void a_call_with_the_wrong_number_of_arguments_is_refused(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t other;

	(void)state;
	other = assemble_function(&a, "other", 2, 2);
	assemble_ret(&a, 0);
	assemble_function(&a, "main", 1, 2);
	ASSEMBLE_CALL(&a, 1, other, REG(0));
	assemble_ret(&a, 1);
	refuses(&a, -TENON_E_FORMAT, "function \"other\" takes 2 arguments, 1 are given");
}

static void a_scope_of_no_constant_is_refused(void **state)
{
	struct assembly a = identity();

	(void)state;
	constant_int(&a, 1);
	assemble_scope(&a, 1, "global");
	refuses(&a, -TENON_E_FORMAT, "a memory scope is given for constant 1 of 1");
}

static void an_unknown_constant_is_refused(void **state)
{
	struct assembly a = identity();

	(void)state;
	assemble_tag(&a, 99, 99);
	tenon_buffer_u64(&a.constants, 0);
	refuses(&a, -TENON_E_FORMAT, "99 is no kind of constant of TVM 0.21 and later");
}

static void a_constant_dtype_that_no_tensor_has_is_refused(void **state)
{
	static const DLDataType any = { TENON_DTYPE_HANDLE, 0, 0 };
	struct assembly a = identity();
	struct tenon_module *m;
	uint8_t byte = 0x41;

	(void)state;
	constant_dtype(&a, tenon_dtype(TENON_DTYPE_UINT, 248, 1));
	refuses(&a, -TENON_E_FORMAT, "the constant uint248, a dtype that no tensor has");
	a = identity();
	constant_dtype(&a, tenon_dtype(TENON_DTYPE_FLOAT, 32, 0));
	refuses(&a, -TENON_E_FORMAT, "float32x0");
	a = identity();
	constant_vector(&a, tenon_dtype(TENON_DTYPE_UINT, 0, 1), &byte, 1, 1);
	refuses(&a, -TENON_E_FORMAT, "a tensor of dtype uint0");
	/* what a check takes for "of any dtype" */
	a = identity();
	constant_dtype(&a, any);
	assert_int_equal(load_assembly(&a, &m), 0);
	tenon_object_unref(m);
}

static int nothing(void *self, const struct tenon_value *args, int32_t count,
		   struct tenon_value *ret)
{
	(void)self;
	(void)args;
	(void)count;
	*ret = tenon_arg_none();
	return 0;
}

static void a_builtin_that_somebody_registered_is_taken(void **state)
{
	struct assembly a = identity();

	(void)state;
	assert_int_equal(tenon_function_register_c("vm.builtin.mine", nothing, true), 0);
	assemble_packed(&a, "vm.builtin.mine");
	tenon_object_unref(machine_of(&a));
	tenon_function_remove("vm.builtin.mine");
}

static void an_executable_answers_what_it_holds(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *f;
	struct tenon_slice text;
	struct tenon_module *m;

	(void)state;
	constant_string(&a, "hello");
	CONSTANT_SHAPE(&a, 2, 3);
	assemble_packed(&a, "add");
	assemble_function(&a, "main", 1, 2);
	assemble_if(&a, 0, 2);
	ASSEMBLE_CALL(&a, 1, 0, REG(0), IMM(-5), CONST(0), FUNC(1), REG(VOID_REG),
		      REG(MACHINE_REG));
	assemble_goto(&a, -2);
	assemble_ret(&a, 1);
	assert_int_equal(load_assembly(&a, &m), 0);

	assert_int_equal(tenon_module_get_function(m, "as_text", &f), 0);
	assert_int_equal(tenon_call(f, &ret), 0);
	tenon_value_text(&ret, &text);
	assert_slice(text,
		     "@add packed_func;\n\n"
		     "@main:\n"
		     "  If    %0, 2\n"
		     "  call  add              in: %0, i-5, c[0], f[main], %void, %vm dst: %1\n"
		     "  goto  -2\n"
		     "  ret   %1\n\n");
	tenon_value_release(&ret);
	tenon_object_unref(f);
	assert_int_equal(tenon_module_get_function(m, "stats", &f), 0);
	assert_int_equal(tenon_call(f, &ret), 0);
	tenon_value_text(&ret, &text);
	assert_slice(text, "Relax VM executable statistics:\n"
			   "  Constant pool (# 2): [\"hello\", shapetuple[2, 3]]\n"
			   "  Globals (#2): [add, main]\n");
	tenon_value_release(&ret);
	tenon_object_unref(f);
	assert_int_equal(tenon_module_get_function(m, "has_function", &f), 0);
	assert_int_equal(tenon_call(f, &ret, tenon_arg_string("main")), 0);
	assert_int_equal(ret.as.integer, 1);
	assert_int_equal(tenon_call(f, &ret, tenon_arg_string("nobody")), 0);
	assert_int_equal(ret.as.integer, 0);
	tenon_object_unref(f);
	tenon_object_unref(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_formats_and_all_kinds_of_constants_are_read),
		cmocka_unit_test(tensors_of_any_size_are_aligned_and_last),
		cmocka_unit_test(constants_of_older_tvm_have_other_numbers),
		cmocka_unit_test(an_image_within_a_string_is_unwrapped),
		cmocka_unit_test(another_version_or_magic_number_is_refused),
		cmocka_unit_test(bytes_behind_the_end_are_refused),
		cmocka_unit_test(registers_out_of_range_are_refused),
		cmocka_unit_test(indices_out_of_range_are_refused),
		cmocka_unit_test(jumps_out_of_the_function_are_refused),
		cmocka_unit_test(a_branch_on_no_register_is_refused),
		cmocka_unit_test(an_unknown_opcode_is_refused),
		cmocka_unit_test(a_function_that_runs_off_its_end_is_refused),
		cmocka_unit_test(instructions_that_overlap_or_are_cut_are_refused),
		cmocka_unit_test(ranges_of_functions_are_checked),
		cmocka_unit_test(numbers_of_registers_are_checked),
		cmocka_unit_test(names_of_functions_are_checked),
		cmocka_unit_test(a_call_with_the_wrong_number_of_arguments_is_refused),
		cmocka_unit_test(a_scope_of_no_constant_is_refused),
		cmocka_unit_test(an_unknown_constant_is_refused),
		cmocka_unit_test(a_constant_dtype_that_no_tensor_has_is_refused),
		cmocka_unit_test(a_builtin_that_somebody_registered_is_taken),
		cmocka_unit_test(an_executable_answers_what_it_holds),
	};

	return cmocka_run_group_tests_name("vm executable", tests, NULL, NULL);
}
