/* SPDX-License-Identifier: MIT */
/* Relax builtins that match, store and make shapes. */
#include "tests/unit/one_builtin.h"

#include <stdlib.h>

/* main(shape): match it against codes, with a heap of two; then make a shape (heap[1], heap[0], 9) */
static struct relax_vm *matcher(const int64_t *codes, size_t count, const char *context)
{
	struct assembly a = ASSEMBLY_INIT;
	int64_t args[32] = { REG(0), REG(1), IMM(count) };
	uint32_t heap = assemble_packed(&a, "vm.builtin.alloc_shape_heap");
	uint32_t match = assemble_packed(&a, "vm.builtin.match_shape");
	uint32_t make = assemble_packed(&a, "vm.builtin.make_shape"),
		 text = constant_string(&a, context);
	size_t i;

	assemble_function(&a, "main", 1, 3);
	ASSEMBLE_CALL(&a, 1, heap, REG(MACHINE_REG), IMM(2));
	for (i = 0; i < 2 * count; i++)
		args[3 + i] = IMM(codes[i]);
	args[3 + 2 * count] = CONST(text);
	assemble_call(&a, VOID_REG, match, args, 4 + 2 * count);
	ASSEMBLE_CALL(&a, 2, make, REG(1), IMM(3), IMM(1), IMM(1), IMM(1), IMM(0), IMM(0), IMM(9));
	assemble_ret(&a, 2);
	return machine_of(&a);
}

static void shapes_are_matched_stored_and_made(void **state)
{
	static const int64_t codes[] = { 0, 4, 1, 0, 2, 0, 1, 1, 3, 0 };
	static const int64_t extents[] = { 4, 7, 11, 8, 7 };
	struct tenon_shape *s = shape_of(extents, 5);
	struct tenon_value ret = given(matcher(codes, 5, "context "), tenon_arg_object(s));
	const struct tenon_shape *made = (struct tenon_shape *)ret.as.object;

	(void)state;
	assert_int_equal(ret.type, TENON_TYPE_SHAPE);
	assert_int_equal(made->size, 3);
	assert_int_equal(made->data[0], 8);
	assert_int_equal(made->data[1], 7);
	assert_int_equal(made->data[2], 9);
	tenon_value_release(&ret);
	tenon_object_unref(s);
}

static void a_tensor_is_matched_by_its_shape(void **state)
{
	static const int64_t codes[] = { 0, 3 };
	struct tenon_tensor *t = vector(3, f32, NULL, 0);
	struct tenon_value ret = given(matcher(codes, 1, ""), tenon_arg_object(t));

	(void)state;
	tenon_value_release(&ret);
	tenon_object_unref(t);
}

static void shapes_that_do_not_match_are_refused_in_tvms_words(void **state)
{
	static const int64_t constant[] = { 2, 0, 0, 4 }, stored[] = { 1, 0, 3, 0 };
	static const int64_t extents[] = { 5, 6 };
	struct tenon_shape *s = shape_of(extents, 2);

	(void)state;
	refused(matcher(constant, 2, "Context(fn=main) "), tenon_arg_object(s), -TENON_E_VALUE,
		"Context(fn=main) match_cast error,  shape[1] mismatch to specified constant: "
		"expected 4, found 6");
	refused(matcher(stored, 2, "Context(fn=main) "), tenon_arg_object(s), -TENON_E_VALUE,
		"Context(fn=main) match_cast error,  shape[1] mismatch to a previous populated "
		"value: "
		"expected 5, found 6");
	refused(matcher(constant, 1, "Context(fn=main) "), tenon_arg_object(s), -TENON_E_VALUE,
		"Context(fn=main) match_cast shape size mismatch: expected 1 dimensions, "
		"found 2");
	tenon_object_unref(s);
}

static void a_shape_that_does_not_match_is_an_error_at_run_time(void **state)
{
	static const int64_t constant[] = { 2, 0, 0, 4 }, extents[] = { 5, 6 };
	struct tenon_shape *s = shape_of(extents, 2);
	struct relax_vm *vm = matcher(constant, 2, "");
	struct tenon_value ret;

	(void)state;
	assert_int_not_equal(RUN(vm, &ret, tenon_arg_object(s)), 0);
	assert_string_equal(tenon_error_kind(), "RuntimeError");
	tenon_error_clear();
	tenon_object_unref(vm);
	tenon_object_unref(s);
}

static int call(const char *name, const struct tenon_value *args, int32_t count,
		struct tenon_value *ret)
{
	struct tenon_function *f;
	int err;

	assert_int_equal(tenon_function_find(name, &f), 0);
	*ret = tenon_arg_none();
	err = tenon_function_call(f, args, count, ret);
	tenon_object_unref(f);
	return err;
}

/* as TVM's own tests call them */
static void a_program_can_have_a_heap_of_its_own(void **state)
{
	static const int64_t extents[] = { 5, 6 };
	struct tenon_shape *s = shape_of(extents, 2), *made;
	struct tenon_tensor *heap = vector(2, tenon_dtype(TENON_DTYPE_INT, 64, 1), NULL, 0);
	const struct tenon_value match[] = { tenon_arg_object(s), tenon_arg_object(heap),
					     tenon_arg_int(2),	  tenon_arg_int(1),
					     tenon_arg_int(1),	  tenon_arg_int(0),
					     tenon_arg_int(6),	  tenon_arg_string("") };
	const struct tenon_value make[] = { tenon_arg_object(heap), tenon_arg_int(1),
					    tenon_arg_int(1), tenon_arg_int(1) };
	struct tenon_value ret;

	(void)state;
	assert_int_equal(call("vm.builtin.match_shape", match, 8, &ret), 0);
	assert_int_equal(((int64_t *)heap->dl.data)[1], 5);
	assert_int_equal(call("vm.builtin.make_shape", make, 4, &ret), 0);
	made = (struct tenon_shape *)ret.as.object;
	assert_int_equal(made->size, 1);
	assert_int_equal(made->data[0], 5);
	tenon_value_release(&ret);
	tenon_object_unref(heap);
	tenon_object_unref(s);
}

static void places_outside_of_the_heap_are_refused(void **state)
{
	static const int64_t extents[] = { 5 };
	static const int64_t codes[][2] = { { 1, 2 }, { 1, -1 }, { 3, 2 }, { 1, INT64_MAX >> 8 } };
	static const int64_t odd[] = { 4, 0 };
	struct tenon_shape *s = shape_of(extents, 1);
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++)
		refused(matcher(codes[i], 1, ""), tenon_arg_object(s), -TENON_E_VALUE,
			"of a shape heap of 2");
	refused(matcher(odd, 1, ""), tenon_arg_object(s), -TENON_E_VALUE,
		"code 4; codes are 0 to 3");
	tenon_object_unref(s);
}

static void counts_of_codes_are_checked(void **state)
{
	static const int64_t counts[] = { -1, 3, INT32_MAX, INT64_MAX >> 8 };
	static const int64_t extents[] = { 5 };
	struct tenon_shape *s = shape_of(extents, 1);
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct one o = begin("vm.builtin.match_shape");

		CALL(&o, 1, REG(0), REG(VOID_REG), IMM(counts[i]), IMM(0), IMM(5), IMM(0), IMM(5),
		     REG(VOID_REG));
		refused(end(&o), tenon_arg_object(s), -TENON_E_VALUE,
			"codes promised, 5 arguments left");
	}
	tenon_object_unref(s);
}

/* The length of a tensor may be one on machines whose sizes are small. */
static void shapes_whose_size_wraps_are_refused(void **state)
{
	struct tenon_shape *s;
	int64_t *extents;

	(void)state;
	assert_int_equal(relax_shape_create(NULL, SIZE_MAX / 8 + 1, &extents, &s), -TENON_E_NOMEM);
	assert_null(s);
	assert_int_equal(relax_shape_create(NULL, SIZE_MAX, &extents, &s), -TENON_E_NOMEM);
	assert_error_has("no memory for a shape of ");
}

static void heaps_of_odd_sizes_are_refused(void **state)
{
	struct one o = begin("vm.builtin.alloc_shape_heap"),
		   p = begin("vm.builtin.alloc_shape_heap");
	struct one q = begin("vm.builtin.alloc_shape_heap");

	(void)state;
	CALL(&o, 1, REG(MACHINE_REG), IMM(-1));
	refused(end(&o), tenon_arg_int(0), -TENON_E_VALUE, "extent -1");
	CALL(&p, 1, REG(MACHINE_REG), IMM(TOO_MANY_BYTES / 8));
	refused(end(&p), tenon_arg_int(0), -TENON_E_NOMEM, "storage of");
	CALL(&q, 1, REG(0), IMM(1));
	refused(end(&q), tenon_arg_int(12345), -TENON_E_TYPE,
		"argument 0: expected the virtual machine that runs, found int");
}

/* main(number): store it in the machine's own heap, match it, or another, and make it again */
static struct relax_vm *number_keeper(int64_t code, int64_t wanted)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t heap = assemble_packed(&a, "vm.builtin.alloc_shape_heap");
	uint32_t match = assemble_packed(&a, "vm.builtin.match_prim_value");
	uint32_t make = assemble_packed(&a, "vm.builtin.make_prim_value");

	assemble_function(&a, "main", 1, 3);
	ASSEMBLE_CALL(&a, 1, heap, REG(MACHINE_REG), IMM(2));
	ASSEMBLE_CALL(&a, VOID_REG, match, REG(0), REG(1), IMM(1), IMM(1), REG(VOID_REG));
	ASSEMBLE_CALL(&a, VOID_REG, match, REG(0), REG(1), IMM(code), IMM(wanted), REG(VOID_REG));
	ASSEMBLE_CALL(&a, 2, make, REG(1), IMM(1), IMM(1));
	assemble_ret(&a, 2);
	return machine_of(&a);
}

static void numbers_are_matched_and_made(void **state)
{
	(void)state;
	assert_int_equal(given(number_keeper(3, 1), tenon_arg_int(33)).as.integer, 33);
	refused(number_keeper(0, 2), tenon_arg_int(1), -TENON_E_VALUE,
		"match_cast error,  PrimExpr mismatch to specified constant: expected 2, found 1");
}

static const DLDataType i64 = { TENON_DTYPE_INT, 64, 1 };

/* It would be written to, and its strides need not be those of a heap. */
static void tensors_of_others_are_no_heaps(void **state)
{
	struct one o = begin("vm.builtin.make_shape"), p = begin("vm.builtin.match_prim_value");
	int64_t *number = calloc(1, sizeof(*number)), n = 1 << 20, step = 0;
	DLTensor dl = tenon_dltensor(number, &n, 1, i64);
	struct tenon_tensor *t;

	(void)state;
	dl.strides = &step;
	assert_int_equal(tenon_tensor_view(&dl, NULL, &t), 0);
	CALL(&o, 1, REG(0), IMM(1), IMM(1), IMM(100));
	refused(end(&o), tenon_arg_object(t), -TENON_E_TYPE, "argument 0 is no shape heap");
	CALL(&p, 1, IMM(33), REG(0), IMM(1), IMM(100), REG(VOID_REG));
	refused(end(&p), tenon_arg_object(t), -TENON_E_TYPE, "argument 1 is no shape heap");
	tenon_object_unref(t);
	free(number);
}

/* main(number): store it in a constant, or in another view of it */
static struct relax_vm *constant_keeper(bool view)
{
	static const int64_t numbers[4] = { 1, 2, 3, 4 };
	struct assembly a = ASSEMBLY_INIT;
	uint32_t reshape = assemble_packed(&a, "vm.builtin.reshape");
	uint32_t match = assemble_packed(&a, "vm.builtin.match_prim_value");
	uint32_t c = constant_vector(&a, i64, numbers, 4, 8), s = CONSTANT_SHAPE(&a, 4);

	assemble_function(&a, "main", 1, 2);
	ASSEMBLE_CALL(&a, 1, reshape, CONST(c), CONST(s));
	ASSEMBLE_CALL(&a, VOID_REG, match, REG(0), view ? REG(1) : CONST(c), IMM(1), IMM(0),
		      REG(VOID_REG));
	assemble_ret(&a, 1);
	return machine_of(&a);
}

static void constants_are_no_heaps(void **state)
{
	(void)state;
	refused(constant_keeper(false), tenon_arg_int(5), -TENON_E_TYPE, "is no shape heap");
	refused(constant_keeper(true), tenon_arg_int(5), -TENON_E_TYPE, "is no shape heap");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes_are_matched_stored_and_made),
		cmocka_unit_test(a_tensor_is_matched_by_its_shape),
		cmocka_unit_test(shapes_that_do_not_match_are_refused_in_tvms_words),
		cmocka_unit_test(a_shape_that_does_not_match_is_an_error_at_run_time),
		cmocka_unit_test(a_program_can_have_a_heap_of_its_own),
		cmocka_unit_test(places_outside_of_the_heap_are_refused),
		cmocka_unit_test(counts_of_codes_are_checked),
		cmocka_unit_test(shapes_whose_size_wraps_are_refused),
		cmocka_unit_test(heaps_of_odd_sizes_are_refused),
		cmocka_unit_test(numbers_are_matched_and_made),
		cmocka_unit_test(tensors_of_others_are_no_heaps),
		cmocka_unit_test(constants_are_no_heaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
