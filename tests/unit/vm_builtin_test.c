/* SPDX-License-Identifier: MIT */
#include "tests/unit/vm_assembler.h"

#include "runtime/executor/vm_builtin.h"
#include "runtime/executor/vm_closure.h"

static const DLDataType f32 = { TENON_DTYPE_FLOAT, 32, 1 };

/* A machine with one function, which takes one argument and gives what one builtin makes of operands. */
struct one {
	struct assembly a;
	uint32_t f;
};

static struct one begin(const char *builtin)
{
	struct one o = { .a = ASSEMBLY_INIT };

	o.f = assemble_packed(&o.a, builtin);
	assemble_function(&o.a, "main", 1, 4);
	return o;
}

static struct vm *end(struct one *o)
{
	assemble_ret(&o->a, 1);
	return machine_of(&o->a);
}

#define CALL(o, dst, ...) ASSEMBLE_CALL(&(o)->a, dst, (o)->f, ##__VA_ARGS__)

static struct tenon_value given(struct vm *vm, struct tenon_value argument)
{
	struct tenon_value ret;

	if (RUN(vm, &ret, argument))
		fail_msg("%s", tenon_error_message());
	tenon_object_unref(vm);
	return ret;
}

static void refused(struct vm *vm, struct tenon_value argument, int status, const char *words)
{
	struct tenon_value ret;

	assert_int_equal(RUN(vm, &ret, argument), status);
	assert_error_has(words);
	tenon_object_unref(vm);
}

/* A size_t holds it, memory does not. */
#define TOO_MANY_BYTES ((int64_t)1 << (sizeof(size_t) == 8 ? 57 : 30) | 8)

static struct tenon_tensor *vector(int64_t n, DLDataType dtype, const void *data, size_t bytes)
{
	struct tenon_tensor *t;

	assert_int_equal(tenon_tensor_create(&n, 1, dtype, &t), 0);
	if (bytes)
		memcpy(t->dl.data, data, bytes);
	return t;
}

static struct tenon_shape *shape_of(const int64_t *extents, size_t count)
{
	struct tenon_shape *s;

	assert_int_equal(tenon_shape_create(extents, count, &s), 0);
	return s;
}

/* main(shape): match it against codes, with a heap of two; then make a shape (heap[1], heap[0], 9) */
static struct vm *matcher(const int64_t *codes, size_t count, const char *context)
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
		"Context(fn=main) match_cast error, shape[1] mismatch to specified constant: "
		"expected 4, found 6");
	refused(matcher(stored, 2, "Context(fn=main) "), tenon_arg_object(s), -TENON_E_VALUE,
		"Context(fn=main) match_cast error, shape[1] mismatch to previous populated value: "
		"expected 5, found 6");
	refused(matcher(constant, 1, "Context(fn=main) "), tenon_arg_object(s), -TENON_E_VALUE,
		"Context(fn=main) match_cast error, shape size mismatch: expected 1 dimensions, "
		"found 2");
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

static void numbers_are_matched_and_made(void **state)
{
	struct one o = begin("vm.builtin.match_prim_value"),
		   p = begin("vm.builtin.make_prim_value");
	struct one q = begin("vm.builtin.match_prim_value");
	struct tenon_value ret;
	int64_t heap[] = { 5, 6 };
	struct tenon_tensor *t = vector(2, tenon_dtype(TENON_DTYPE_INT, 64, 1), heap, sizeof(heap));

	(void)state;
	CALL(&o, 1, IMM(33), REG(0), IMM(1), IMM(1), REG(VOID_REG));
	CALL(&o, 1, IMM(33), REG(0), IMM(3), IMM(1), REG(VOID_REG));
	ret = given(end(&o), tenon_arg_object(t));
	assert_int_equal(ret.type, TENON_TYPE_NONE);
	assert_int_equal(((int64_t *)t->dl.data)[1], 33);
	CALL(&p, 1, REG(0), IMM(1), IMM(1));
	ret = given(end(&p), tenon_arg_object(t));
	assert_int_equal(ret.as.integer, 33);
	CALL(&q, 1, IMM(1), REG(0), IMM(0), IMM(2), REG(VOID_REG));
	refused(end(&q), tenon_arg_object(t), -TENON_E_VALUE,
		"match_cast error, PrimValue mismatch to specified constant: expected 2, found 1");
	tenon_object_unref(t);
}

/* main(x): check_tensor_info(x, ndim, dtype, context) */
static struct vm *tensor_check(int64_t ndim)
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
		"In(main) expect Tensor with ndim 2 but get 1");
	refused(tensor_check(1), tenon_arg_object(i), -TENON_E_VALUE,
		"In(main) expect Tensor with dtype float32 but get int32");
	refused(tensor_check(1), tenon_arg_int(1), -TENON_E_TYPE,
		"In(main) expect a Tensor but get int");
	tenon_object_unref(t);
	tenon_object_unref(i);
}

static struct vm *check(const char *builtin, int64_t number)
{
	struct one o = begin(builtin);

	CALL(&o, 1, REG(0), IMM(number), REG(VOID_REG));
	return end(&o);
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

/* main(x): a storage of bytes, and a tensor in it */
static struct vm *allocation(int64_t bytes, int64_t offset, int64_t extent)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t storage = assemble_packed(&a, "vm.builtin.alloc_storage");
	uint32_t tensor = assemble_packed(&a, "vm.builtin.alloc_tensor");
	uint32_t size = CONSTANT_SHAPE(&a, bytes), shape = CONSTANT_SHAPE(&a, extent, 2);
	uint32_t u8 = constant_dtype(&a, tenon_dtype(TENON_DTYPE_UINT, 8, 1)), f = constant_f32(&a);
	uint32_t scope = constant_string(&a, "global");

	assemble_function(&a, "main", 1, 2);
	ASSEMBLE_CALL(&a, 1, storage, REG(MACHINE_REG), CONST(size), IMM(0), CONST(u8),
		      CONST(scope));
	ASSEMBLE_CALL(&a, 1, tensor, REG(1), IMM(offset), CONST(shape), CONST(f));
	assemble_ret(&a, 1);
	return machine_of(&a);
}

static void tensors_lie_in_storages(void **state)
{
	struct tenon_value ret = given(allocation(64, 16, 6), tenon_arg_int(0));
	const DLTensor *t = &((struct tenon_tensor *)ret.as.object)->dl;

	(void)state;
	assert_int_equal(ret.type, TENON_TYPE_TENSOR);
	assert_int_equal(t->ndim, 2);
	assert_int_equal(t->shape[0], 6);
	assert_int_equal(t->strides[0], 2);
	assert_int_equal(t->strides[1], 1);
	assert_int_equal(t->byte_offset, 0);
	assert_int_equal((uintptr_t)t->data % TENON_TENSOR_ALIGN, 16);
	/* the machine is gone, its memory is not */
	memset(t->data, 1, 48);
	tenon_value_release(&ret);
}

static void tensors_that_do_not_fit_their_storage_are_refused(void **state)
{
	(void)state;
	refused(allocation(64, 17, 6), tenon_arg_int(0), -TENON_E_VALUE,
		"storage allocation failure, attempted to allocate 48 bytes at offset 17 in a "
		"region of "
		"64 bytes");
	refused(allocation(64, -1, 1), tenon_arg_int(0), -TENON_E_VALUE, "at offset -1");
	refused(allocation(64, 0, 9), tenon_arg_int(0), -TENON_E_VALUE, "72 bytes");
	refused(allocation(64, 0, INT64_MAX / 2), tenon_arg_int(0), -TENON_E_OVERFLOW, "overflows");
	refused(allocation(64, 0, -1), tenon_arg_int(0), -TENON_E_VALUE, "extent -1");
	refused(allocation(TOO_MANY_BYTES, 0, 1), tenon_arg_int(0), -TENON_E_NOMEM, "storage of");
}

static void a_storage_is_told_from_other_objects(void **state)
{
	struct one o = begin("vm.builtin.alloc_tensor");
	uint32_t s = CONSTANT_SHAPE(&o.a, 1), f = constant_f32(&o.a);

	(void)state;
	CALL(&o, 1, CONST(s), IMM(0), CONST(s), CONST(f));
	refused(end(&o), tenon_arg_int(0), -TENON_E_TYPE,
		"argument 0: expected a storage, found ffi.Shape");
}

static void a_warm_machine_allocates_nothing(void **state)
{
	struct vm *vm = allocation(100000, 0, 100);
	struct vm_pool_figures cold, warm;
	struct tenon_value ret;
	int i;

	(void)state;
	for (i = 0; i < 100; i++) {
		assert_int_equal(RUN(vm, &ret, tenon_arg_int(0)), 0);
		tenon_value_release(&ret);
		if (!i)
			vm_pool_figures(vm->pool, &cold);
	}
	vm_pool_figures(vm->pool, &warm);
	assert_int_equal(warm.allocations, cold.allocations);
	assert_int_equal(cold.allocations, 2);
	assert_int_equal(warm.storages, 0);
	assert_int_equal(warm.used, 0);
	tenon_object_unref(vm);
}

static void null_value_lets_go_and_copy_shares(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_tensor *t = vector(3, f32, NULL, 0);
	struct tenon_value ret;
	uint32_t none, copy;
	struct vm *vm;

	(void)state;
	none = assemble_packed(&a, "vm.builtin.null_value");
	copy = assemble_packed(&a, "vm.builtin.copy");
	assemble_function(&a, "main", 1, 2);
	ASSEMBLE_CALL(&a, 1, copy, REG(0));
	ASSEMBLE_CALL(&a, 0, none);
	assemble_ret(&a, 1);
	vm = machine_of(&a);
	assert_int_equal(RUN(vm, &ret, tenon_arg_object(t)), 0);
	assert_ptr_equal(ret.as.object, t);
	assert_int_equal(strong_count(t), 2);
	tenon_value_release(&ret);
	tenon_object_unref(vm);
	tenon_object_unref(t);
}

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

static struct vm *reshaper(int64_t a, int64_t b)
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

/* main(x): a tuple (x, 5, (x,)), its item, and the tuple with the item reset */
static void tuples_are_made_read_and_reset(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_tensor *t = vector(3, f32, NULL, 0);
	struct tenon_value ret;
	struct tenon_array *tuple;
	uint32_t make, get, reset;
	struct vm *vm;

	(void)state;
	make = assemble_packed(&a, "vm.builtin.make_tuple");
	get = assemble_packed(&a, "vm.builtin.tuple_getitem");
	reset = assemble_packed(&a, "vm.builtin.tuple_reset_item");
	assemble_function(&a, "main", 1, 5);
	ASSEMBLE_CALL(&a, 1, make, REG(0));
	ASSEMBLE_CALL(&a, 2, make, REG(0), IMM(5), REG(1));
	ASSEMBLE_CALL(&a, 3, get, REG(2), IMM(2));
	ASSEMBLE_CALL(&a, 4, get, REG(3), IMM(0));
	ASSEMBLE_CALL(&a, VOID_REG, reset, REG(2), IMM(0));
	ASSEMBLE_CALL(&a, 2, make, REG(2), REG(4));
	assemble_ret(&a, 2);
	vm = machine_of(&a);
	assert_int_equal(RUN(vm, &ret, tenon_arg_object(t)), 0);
	tuple = (struct tenon_array *)ret.as.object;
	assert_int_equal(tuple->size, 2);
	assert_ptr_equal(tuple->data[1].as.object, t);
	tuple = (struct tenon_array *)tuple->data[0].as.object;
	assert_int_equal(tuple->size, 3);
	assert_int_equal(tuple->data[0].type, TENON_TYPE_NONE);
	assert_int_equal(tuple->data[1].as.integer, 5);
	tenon_object_unref(vm);
	tenon_value_release(&ret);
	assert_int_equal(strong_count(t), 1);
	tenon_object_unref(t);
}

static void items_outside_of_a_tuple_are_refused(void **state)
{
	static const int64_t indices[] = { 2, -1, INT64_MAX >> 8 };
	struct tenon_value items[] = { tenon_arg_int(1), tenon_arg_int(2) };
	struct tenon_array *t;
	size_t i;

	(void)state;
	assert_int_equal(tenon_array_create(items, 2, &t), 0);
	for (i = 0; i < 3; i++) {
		struct one o = begin("vm.builtin.tuple_getitem");

		CALL(&o, 1, REG(0), IMM(indices[i]));
		refused(end(&o), tenon_arg_object(t), -TENON_E_VALUE, "of a tuple of 2");
	}
	tenon_object_unref(t);
}

/* while n: t = (t,); n = n - 1: a program nests tuples as deep as it likes */
static void deep_tuples_die_without_a_deep_stack(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	struct tenon_value ret;
	uint32_t make, sub, heap;
	struct vm *vm;

	(void)state;
	make = assemble_packed(&a, "vm.builtin.make_tuple");
	sub = assemble_packed(&a, "vm.builtin.make_prim_value");
	heap = assemble_packed(&a, "vm.builtin.alloc_shape_heap");
	assemble_function(&a, "main", 1, 3);
	ASSEMBLE_CALL(&a, 1, heap, REG(MACHINE_REG), IMM(1));
	ASSEMBLE_CALL(&a, 2, sub, REG(1), IMM(0), IMM(1));
	ASSEMBLE_CALL(&a, 0, make, REG(0));
	assemble_if(&a, 2, 2);
	assemble_goto(&a, -2);
	assemble_ret(&a, 0);
	vm = machine_of(&a);
	vm->budget = 1000000;
	assert_int_equal(RUN(vm, &ret, tenon_arg_int(0)), -TENON_E_TIMEOUT);
	tenon_error_clear();
	tenon_object_unref(vm);
}

static int subtract(void *self, const struct tenon_value *args, int32_t count,
		    struct tenon_value *ret)
{
	(void)self;
	if (count != 3)
		return tenon_error(-TENON_E_TYPE, "three arguments are wanted, %d given", count);
	*ret = tenon_arg_int(args[0].as.integer * 100 - args[1].as.integer * 10 -
			     args[2].as.integer);
	return 0;
}

/* inner(a, b, c) = 100 a - 10 b - c; main(x) = ((inner bound to 3) bound to 2)(x) */
static void closures_bind_their_last_arguments(void **state)
{
	struct assembly a = ASSEMBLY_INIT;
	uint32_t make, invoke, f, inner;
	struct tenon_value ret;
	struct vm *vm;

	(void)state;
	tenon_function_register_c("test.subtract", subtract, true);
	make = assemble_packed(&a, "vm.builtin.make_closure");
	invoke = assemble_packed(&a, "vm.builtin.invoke_closure");
	f = assemble_packed(&a, "test.subtract");
	inner = assemble_function(&a, "inner", 3, 4);
	ASSEMBLE_CALL(&a, 3, f, REG(0), REG(1), REG(2));
	assemble_ret(&a, 3);
	assemble_function(&a, "main", 1, 3);
	ASSEMBLE_CALL(&a, 1, make, FUNC(inner), IMM(3));
	ASSEMBLE_CALL(&a, 1, make, REG(1), IMM(2));
	ASSEMBLE_CALL(&a, 2, invoke, REG(MACHINE_REG), REG(1), REG(0));
	assemble_ret(&a, 2);
	vm = machine_of(&a);
	assert_int_equal(RUN(vm, &ret, tenon_arg_int(7)), 0);
	assert_int_equal(ret.as.integer, 677);
	/* a function that is no closure is called as it is */
	tenon_object_unref(vm);
}

static void a_function_object_can_be_invoked_too(void **state)
{
	struct one o = begin("vm.builtin.invoke_closure"), p = begin("vm.builtin.invoke_closure");
	uint32_t f = assemble_packed(&o.a, "test.subtract");

	(void)state;
	CALL(&o, 1, REG(MACHINE_REG), FUNC(f), REG(0), IMM(0), IMM(1));
	assert_int_equal(given(end(&o), tenon_arg_int(2)).as.integer, 199);
	CALL(&p, 1, REG(MACHINE_REG), REG(0));
	refused(end(&p), tenon_arg_int(1), -TENON_E_TYPE,
		"a closure or function is called: expected");
}

static void call_tir_dyn_appends_extents(void **state)
{
	struct one o = begin("vm.builtin.call_tir_dyn"), p = begin("vm.builtin.call_tir_dyn");
	uint32_t f = assemble_packed(&o.a, "test.subtract"), s = CONSTANT_SHAPE(&o.a, 4, 5);

	(void)state;
	CALL(&o, 1, FUNC(f), REG(0), CONST(s));
	assert_int_equal(given(end(&o), tenon_arg_int(3)).as.integer, 255);
	CALL(&p, 1, FUNC(0), REG(0));
	refused(end(&p), tenon_arg_int(3), -TENON_E_TYPE,
		"call_tir_dyn: argument 1: expected a shape");
}

static int64_t debugged;

static int debug(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	(void)self;
	(void)ret;
	debugged = count == 2 ? args[1].as.integer : -1;
	return 0;
}

static void a_debug_function_is_called_by_its_name(void **state)
{
	struct one o = begin("vm.builtin.invoke_debug_func"),
		   p = begin("vm.builtin.invoke_debug_func");
	uint32_t name = constant_string(&o.a, "test.debug"), line = constant_string(&o.a, "m.py:1");

	(void)state;
	tenon_function_register_c("test.debug", debug, true);
	CALL(&o, 1, REG(VOID_REG), CONST(name), CONST(line), REG(0));
	assert_int_equal(given(end(&o), tenon_arg_int(42)).type, TENON_TYPE_NONE);
	assert_int_equal(debugged, 42);
	name = constant_string(&p.a, "test.no_such");
	CALL(&p, 1, REG(VOID_REG), CONST(name), REG(0));
	refused(end(&p), tenon_arg_int(1), -TENON_E_NOT_FOUND,
		"no global function \"test.no_such\"");
}

/* Every builtin with every number of arguments of every type: refused or not, nothing breaks. */
static void no_arguments_break_a_builtin(void **state)
{
	static const int64_t extents[] = { 2, 3 };
	struct tenon_value kinds[8], args[6], ret;
	const struct vm_builtin *b;
	struct assembly a = ASSEMBLY_INIT;
	struct vm *vm, *outer;
	size_t i, n, tried = 0;

	(void)state;
	assemble_function(&a, "main", 1, 1);
	assemble_ret(&a, 0);
	vm = machine_of(&a);
	vm_pool_limit(vm->pool, 1 << 24);
	kinds[0] = tenon_arg_none();
	kinds[1] = tenon_arg_int(1);
	kinds[2] = tenon_arg_object(shape_of(extents, 2));
	kinds[3] = tenon_arg_object(vector(3, tenon_dtype(TENON_DTYPE_INT, 64, 1), NULL, 0));
	kinds[4] = tenon_arg_pointer(vm);
	kinds[5] = tenon_arg_dtype(f32);
	kinds[6] = vm->values[0];
	kinds[7] = tenon_arg_string("test.debug");
	assert_int_equal(vm_enter(vm, &outer), 0);
	for (b = vm_builtins; b->name; b++) {
		for (n = 0; n <= 5; n++) {
			for (i = 0; i<(size_t)1 << (3 * n); i += n> 4 ? 61 : 1) {
				size_t k;

				for (k = 0; k < n; k++)
					args[k] = kinds[i >> (3 * k) & 7];
				ret = tenon_arg_none();
				if (b->call(NULL, args, (int32_t)n, &ret))
					tenon_error_clear();
				else
					tenon_value_release(&ret);
				tried++;
			}
		}
	}
	vm_leave(vm, outer);
	assert_true(tried > 50000);
	tenon_value_release(&kinds[2]);
	tenon_value_release(&kinds[3]);
	tenon_object_unref(vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes_are_matched_stored_and_made),
		cmocka_unit_test(a_tensor_is_matched_by_its_shape),
		cmocka_unit_test(shapes_that_do_not_match_are_refused_in_tvms_words),
		cmocka_unit_test(places_outside_of_the_heap_are_refused),
		cmocka_unit_test(counts_of_codes_are_checked),
		cmocka_unit_test(heaps_of_odd_sizes_are_refused),
		cmocka_unit_test(numbers_are_matched_and_made),
		cmocka_unit_test(tensors_are_checked),
		cmocka_unit_test(shapes_tuples_numbers_and_functions_are_checked),
		cmocka_unit_test(tensors_lie_in_storages),
		cmocka_unit_test(tensors_that_do_not_fit_their_storage_are_refused),
		cmocka_unit_test(a_storage_is_told_from_other_objects),
		cmocka_unit_test(a_warm_machine_allocates_nothing),
		cmocka_unit_test(null_value_lets_go_and_copy_shares),
		cmocka_unit_test(shape_of_and_tensor_to_shape_read_tensors),
		cmocka_unit_test(reshape_is_another_view_of_the_data),
		cmocka_unit_test(to_device_stays_on_the_cpu),
		cmocka_unit_test(ensure_zero_offset_copies_what_has_one),
		cmocka_unit_test(conditions_are_read_of_every_integer),
		cmocka_unit_test(tuples_are_made_read_and_reset),
		cmocka_unit_test(items_outside_of_a_tuple_are_refused),
		cmocka_unit_test(deep_tuples_die_without_a_deep_stack),
		cmocka_unit_test(closures_bind_their_last_arguments),
		cmocka_unit_test(a_function_object_can_be_invoked_too),
		cmocka_unit_test(call_tir_dyn_appends_extents),
		cmocka_unit_test(a_debug_function_is_called_by_its_name),
		cmocka_unit_test(no_arguments_break_a_builtin),
	};

	return cmocka_run_group_tests_name("vm builtins", tests, NULL, NULL);
}
