/* SPDX-License-Identifier: MIT */
/* Operators that run on the host: sorting, random numbers, unique, nonzero, printing. */
#include <math.h>

#include "tests/unit/relax_builtin_call.h"

static const DLDataType f32 = { TENON_DTYPE_FLOAT, 32, 1 };
static const DLDataType i32 = { TENON_DTYPE_INT, 32, 1 };

static DLTensor of(void *data, int64_t *shape, int32_t ndim, DLDataType dtype)
{
	return tenon_dltensor(data, shape, ndim, dtype);
}

static void sorting_is_stable_and_puts_nan_last(void **state)
{
	float in[] = { 3, 1, NAN, 2, 1, -0.0f, 0, INFINITY, -INFINITY, NAN };
	static const int32_t up[] = { 8, 5, 6, 1, 4, 3, 0, 7, 2, 9 };
	static const int32_t down[] = { 7, 0, 3, 1, 4, 5, 6, 8, 2, 9 };
	int64_t n = 10;
	int32_t out[10];
	DLTensor a = of(in, &n, 1, f32), b = of(out, &n, 1, i32);
	struct tenon_value ret;

	(void)state;
	assert_int_equal(TRY(argsort, &ret, tenon_arg_tensor(&a), tenon_arg_tensor(&b),
			     tenon_arg_int(-1), tenon_arg_bool(true)),
			 0);
	assert_memory_equal(out, up, sizeof(up));
	assert_int_equal(TRY(argsort, &ret, tenon_arg_tensor(&a), tenon_arg_tensor(&b),
			     tenon_arg_int(0), tenon_arg_bool(false)),
			 0);
	assert_memory_equal(out, down, sizeof(down));
}

static void long_lines_are_sorted_along_any_axis(void **state)
{
	static int32_t in[300 * 3], out[300 * 3];
	int64_t shape[] = { 300, 3 };
	DLTensor a = of(in, shape, 2, i32), b = of(out, shape, 2, i32);
	struct tenon_value ret;
	int i;

	(void)state;
	for (i = 0; i < 900; i++)
		in[i] = (int32_t)((uint32_t)i * 2654435761u >> 8) - 5000000;
	assert_int_equal(TRY(sort, &ret, tenon_arg_tensor(&a), tenon_arg_tensor(&b),
			     tenon_arg_int(-2), tenon_arg_int(0)),
			 0);
	for (i = 3; i < 900; i++)
		assert_true(out[i] <= out[i - 3]);
	assert_int_equal(TRY(sort, &ret, tenon_arg_tensor(&a), tenon_arg_tensor(&b),
			     tenon_arg_int(1), tenon_arg_int(1)),
			 0);
	assert_true(out[0] <= out[1] && out[1] <= out[2]);
	assert_int_equal(TRY(sort, &ret, tenon_arg_tensor(&a), tenon_arg_tensor(&b),
			     tenon_arg_int(2), tenon_arg_int(1)),
			 -TENON_E_VALUE);
	assert_error_has("sort: argument 2: axis 2 of a tensor with 2 dimensions");
	a.dtype.bits = 16;
	assert_int_equal(TRY(sort, &ret, tenon_arg_tensor(&a), tenon_arg_tensor(&b),
			     tenon_arg_int(1), tenon_arg_int(1)),
			 -TENON_E_TYPE);
	shape[0] = 0;
	a.dtype.bits = 32;
	assert_int_equal(TRY(sort, &ret, tenon_arg_tensor(&a), tenon_arg_tensor(&b),
			     tenon_arg_int(0), tenon_arg_int(1)),
			 0);
	tenon_error_clear();
}

static void topk_writes_values_and_indices(void **state)
{
	uint8_t in[] = { 5, 9, 1, 9, 0, 7 }, values[8], indices[8] = { 0 };
	int64_t shape[] = { 2, 3 }, two[] = { 2, 2 }, four[] = { 2, 4 };
	DLTensor a = of(in, shape, 2, tenon_dtype(TENON_DTYPE_UINT, 8, 1)),
		 v = of(values, two, 2, a.dtype);
	DLTensor i = of(indices, two, 2, a.dtype);
	struct tenon_value ret;

	(void)state;
	assert_int_equal(TRY(topk, &ret, tenon_arg_tensor(&a), tenon_arg_tensor(&v),
			     tenon_arg_tensor(&i), tenon_arg_int(2), tenon_arg_int(-1),
			     tenon_arg_string("both"), tenon_arg_bool(false)),
			 0);
	assert_memory_equal(values, ((uint8_t[]){ 9, 5, 9, 7 }), 4);
	assert_memory_equal(indices, ((uint8_t[]){ 1, 0, 0, 2 }), 4);
	/* more than there are: the others keep their places */
	memset(values, 77, sizeof(values));
	v.shape = four;
	assert_int_equal(TRY(topk, &ret, tenon_arg_tensor(&a), tenon_arg_tensor(&v),
			     tenon_arg_int(4), tenon_arg_int(1), tenon_arg_string("values"),
			     tenon_arg_bool(true)),
			 0);
	assert_memory_equal(values, ((uint8_t[]){ 1, 5, 9, 77, 0, 7, 9, 77 }), 8);
	v.shape = two;
	assert_int_equal(TRY(topk, &ret, tenon_arg_tensor(&a), tenon_arg_tensor(&v),
			     tenon_arg_int(4), tenon_arg_int(1), tenon_arg_string("values"),
			     tenon_arg_bool(true)),
			 -TENON_E_VALUE);
	assert_int_equal(TRY(topk, &ret, tenon_arg_tensor(&a), tenon_arg_tensor(&v),
			     tenon_arg_int(2), tenon_arg_int(1), tenon_arg_string("both"),
			     tenon_arg_bool(true)),
			 -TENON_E_VALUE);
	tenon_error_clear();
}

static void argsort_nms_sorts_the_first_of_each_line(void **state)
{
	float in[] = { 1, 3, 2, 9, 4, 5, 6, 7 };
	int64_t shape[] = { 2, 4 }, lines = 2;
	int32_t counts[] = { 3, -5 }, out[8];
	DLTensor a = of(in, shape, 2, f32), c = of(counts, &lines, 1, i32),
		 o = of(out, shape, 2, i32);
	struct tenon_value ret;

	(void)state;
	assert_int_equal(TRY(argsort_nms, &ret, tenon_arg_tensor(&a), tenon_arg_tensor(&c),
			     tenon_arg_tensor(&o), tenon_arg_int(1), tenon_arg_bool(false)),
			 0);
	assert_memory_equal(out, ((int32_t[]){ 1, 2, 0, 3, 0, 1, 2, 3 }), sizeof(out));
}

static void uniform_numbers_are_those_of_the_seeds(void **state)
{
	static const float want[] = { 2.852569f, 2.1476033f, 2.6094441f, 2.4668732f };
	float out[4];
	int64_t n = 4;
	DLTensor t = of(out, &n, 1, f32);
	struct tenon_value ret;
	int i;

	(void)state;
	assert_int_equal(TRY(random_uniform, &ret, tenon_arg_int(5), tenon_arg_int(9),
			     tenon_arg_int(2), tenon_arg_float(3), tenon_arg_tensor(&t)),
			 0);
	for (i = 0; i < 4; i++)
		assert_true(fabsf(out[i] - want[i]) < 1e-6);
	assert_int_equal(TRY(random_uniform, &ret, tenon_arg_float(-1), tenon_arg_float(1),
			     tenon_arg_tensor(&t)),
			 0);
	for (i = 0; i < 4; i++)
		assert_true(out[i] >= -1 && out[i] <= 1);
}

/* what TVM 0.27 gives; beside glibc's logarithm to the last bit */
static void normal_numbers_are_those_of_the_seeds(void **state)
{
	static const float want[] = { 0x1.5822dap+0f, 0x1.a7e224p+0f, 0x1.7ab2p-4f,
				      0x1.899d56p+2f, 0x1.7d0cp-9f,   0x1.dfaf9cp+1f };
	/* the last ones come after points that were outside the circle */
	static const int at[] = { 0, 1, 2, 3, 63, 64 };
	float out[65];
	int64_t n = 65;
	DLTensor t = of(out, &n, 1, f32);
	struct tenon_value ret;
	int i;

	(void)state;
	assert_int_equal(TRY(random_normal, &ret, tenon_arg_int(5), tenon_arg_int(9),
			     tenon_arg_float(1.5), tenon_arg_int(2), tenon_arg_tensor(&t)),
			 0);
	for (i = 0; i < 6; i++)
		assert_true(fabsf(out[at[i]] - want[i]) < 2e-6f);
	assert_int_equal(TRY(random_normal, &ret, tenon_arg_float(100), tenon_arg_float(1),
			     tenon_arg_tensor(&t)),
			 0);
	for (i = 0; i < 65; i++)
		assert_true(out[i] > 80 && out[i] < 120);
	assert_int_equal(TRY(random_normal, &ret, tenon_arg_float(1), tenon_arg_float(0),
			     tenon_arg_tensor(&t)),
			 -TENON_E_VALUE);
	assert_error_has("the standard deviation is 0");
	assert_int_equal(TRY(random_normal, &ret, tenon_arg_tensor(&t)), -TENON_E_TYPE);
	assert_error_has("random.normal takes 3 arguments");
}

static const int64_t *numbers(const struct tenon_value *v)
{
	return ((struct tenon_tensor *)v->as.object)->dl.data;
}

static void unique_gives_values_places_and_counts(void **state)
{
	int32_t in[] = { 4, 2, 4, 7, 2, 4 };
	int64_t shape[] = { 2, 3 };
	DLTensor a = of(in, shape, 2, i32);
	struct tenon_value ret;
	struct tenon_array *r;
	const int32_t *values;

	(void)state;
	assert_int_equal(TRY(unique, &ret, tenon_arg_tensor(&a), tenon_arg_bool(true),
			     tenon_arg_bool(true), tenon_arg_bool(true), tenon_arg_bool(true)),
			 0);
	r = (struct tenon_array *)ret.as.object;
	assert_int_equal(r->size, 4);
	values = ((struct tenon_tensor *)r->data[0].as.object)->dl.data;
	assert_memory_equal(values, ((int32_t[]){ 2, 4, 7 }), 12);
	assert_memory_equal(numbers(&r->data[1]), ((int64_t[]){ 1, 0, 3 }), 24);
	assert_memory_equal(numbers(&r->data[2]), ((int64_t[]){ 1, 0, 1, 2, 0, 1 }), 48);
	assert_int_equal(((struct tenon_tensor *)r->data[2].as.object)->dl.ndim, 2);
	assert_memory_equal(numbers(&r->data[3]), ((int64_t[]){ 2, 3, 1 }), 24);
	tenon_value_release(&ret);
	assert_int_equal(TRY(unique, &ret, tenon_arg_tensor(&a), tenon_arg_bool(false),
			     tenon_arg_bool(false), tenon_arg_bool(false), tenon_arg_bool(false)),
			 0);
	values = ((struct tenon_tensor *)ret.as.object)->dl.data;
	assert_memory_equal(values, ((int32_t[]){ 4, 2, 7 }), 12);
	tenon_value_release(&ret);
	shape[0] = 3;
	shape[1] = 2;
	assert_int_equal(TRY(unique, &ret, tenon_arg_tensor(&a), tenon_arg_bool(true),
			     tenon_arg_bool(false), tenon_arg_bool(false), tenon_arg_bool(false),
			     tenon_arg_int(-2)),
			 0);
	values = ((struct tenon_tensor *)ret.as.object)->dl.data;
	assert_memory_equal(values, ((int32_t[]){ 2, 4, 4, 2, 4, 7 }), 24);
	tenon_value_release(&ret);
}

static void nonzero_lists_places(void **state)
{
	float in[] = { 0, 5, -0.0f, NAN };
	int64_t shape[] = { 2, 2 };
	DLTensor a = of(in, shape, 2, f32);
	struct tenon_value ret;

	(void)state;
	assert_int_equal(TRY(nonzero, &ret, tenon_arg_tensor(&a)), 0);
	assert_memory_equal(numbers(&ret), ((int64_t[]){ 0, 1, 1, 1 }), 32);
	assert_int_equal(((struct tenon_tensor *)ret.as.object)->dl.shape[1], 2);
	tenon_value_release(&ret);
}

static void assertions_carry_their_text(void **state)
{
	struct tenon_value ret;

	(void)state;
	assert_int_equal(TRY(assert_op, &ret, tenon_arg_bool(true), tenon_arg_string("x")), 0);
	assert_true(TRY(assert_op, &ret, tenon_arg_int(0), tenon_arg_string("{1} {} {{}}"),
			tenon_arg_int(3), tenon_arg_float(2.5)) != 0);
	assert_string_equal(tenon_error_kind(), "AssertionError");
	assert_error_has("2.5 3 {}");
	assert_true(TRY(assert_op, &ret, tenon_arg_int(0), tenon_arg_string(""), tenon_arg_int(3),
			tenon_arg_float(2.5)) != 0);
	assert_error_has("3, 2.5");
	assert_int_equal(TRY(print, &ret, tenon_arg_string("{"), tenon_arg_int(0)), -TENON_E_VALUE);
	assert_int_equal(TRY(print, &ret, tenon_arg_string("{7}"), tenon_arg_int(0)),
			 -TENON_E_VALUE);
	tenon_error_clear();
}

/* What an assertion says that has this value alone. */
static void assert_printed(struct tenon_value value, const char *text)
{
	struct tenon_value ret;

	assert_int_equal(TRY(assert_op, &ret, tenon_arg_int(0), tenon_arg_string("{}"), value),
			 -TENON_E_CALL);
	assert_error(text);
}

static void tensors_are_printed_as_python_does(void **state)
{
	const struct {
		DLDataType dtype;
		int32_t ndim;
		int64_t shape[2], stride;
		int device;
		const char *text;
		const void *data;
	} cases[] = {
		{ { 2, 64, 1 },
		  1,
		  { 4 },
		  1,
		  1,
		  "[1.5 nan inf -inf]",
		  (const double[]){ 1.5, NAN, INFINITY, -INFINITY } },
		{ { 2, 32, 1 }, 1, { 2 }, 1, 1, "[0.1 3.]", (const float[]){ 0.1f, 3 } },
		{ { 6, 8, 1 }, 1, { 2 }, 1, 1, "[True False]", (const uint8_t[]){ 1, 0 } },
		{ { 0, 8, 1 }, 1, { 2 }, 1, 1, "[-1 127]", (const int8_t[]){ -1, 127 } },
		{ { 1, 16, 1 }, 1, { 2 }, 1, 1, "[65535 0]", (const uint16_t[]){ 65535, 0 } },
		{ { 0, 64, 1 },
		  1,
		  { 1 },
		  1,
		  1,
		  "[-9223372036854775808]",
		  (const int64_t[]){ INT64_MIN } },
		{ { 0, 32, 1 }, 0, { 0 }, 1, 1, "7", (const int32_t[]){ 7 } },
		{ { 0, 32, 1 },
		  2,
		  { 2, 2 },
		  0,
		  1,
		  "[[1 2] [3 4]]",
		  (const int32_t[]){ 1, 2, 3, 4 } },
		/* what is not printed whole */
		{ { 2, 16, 1 }, 1, { 2 }, 1, 1, "Tensor(float16, [2])", NULL },
		{ { 4, 16, 1 }, 1, { 2 }, 1, 1, "Tensor(bfloat16, [2])", NULL },
		{ { 0, 32, 2 }, 1, { 2 }, 1, 1, "Tensor(int32x2, [2])", NULL },
		{ { 0, 4, 1 }, 1, { 2 }, 1, 1, "Tensor(int4, [2])", NULL },
		{ { 0, 12, 1 }, 1, { 2 }, 1, 1, "Tensor(int12, [2])", (const int32_t[]){ 5 } },
		{ { 2, 40, 1 }, 1, { 2 }, 1, 1, "Tensor(float40, [2])", (const double[]){ 5, 5 } },
		{ { 0, 32, 1 }, 1, { 0 }, 1, 1, "Tensor(int32, [0])", NULL },
		{ { 0, 8, 1 }, 2, { 7, 143 }, 0, 1, "Tensor(int8, [7, 143])", NULL },
		{ { 0, 32, 1 }, 1, { 2 }, 2, 1, "Tensor(int32, [2])", NULL },
		{ { 0, 32, 1 }, 1, { 2 }, 1, 2, "Tensor(int32, [2])", NULL },
		{ { 0, 32, 1 },
		  2,
		  { INT64_MAX, 3 },
		  0,
		  1,
		  "Tensor(int32, [9223372036854775807, 3])",
		  NULL },
	};
	DLTensor t;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		t = of((void *)(uintptr_t)cases[i].data, (int64_t *)(uintptr_t)cases[i].shape,
		       cases[i].ndim, cases[i].dtype);
		t.device.device_type = (DLDeviceType)cases[i].device;
		if (cases[i].stride)
			t.strides = (int64_t *)(uintptr_t)&cases[i].stride;
		assert_printed(tenon_arg_tensor(&t), cases[i].text);
	}
}

static void values_are_printed_as_python_does(void **state)
{
	struct tenon_shape *shape;
	struct tenon_array *array;

	(void)state;
	assert_int_equal(tenon_shape_create((const int64_t[]){ 5, 6 }, 2, &shape), 0);
	assert_int_equal(tenon_array_create(NULL, 0, &array), 0);
	assert_printed(tenon_arg_bool(true), "True");
	assert_printed(tenon_arg_bool(false), "False");
	assert_printed(tenon_arg_none(), "None");
	assert_printed(tenon_arg_float(-0.5), "-0.5");
	assert_printed(tenon_arg_string("text"), "text");
	assert_printed(tenon_arg_object(shape), "(5, 6)");
	assert_printed(tenon_arg_object(array), "<ffi.Array>");
	tenon_object_unref(shape);
	tenon_object_unref(array);
}

static void a_condition_is_one_bool(void **state)
{
	static const struct {
		DLDataType dtype;
		int32_t ndim;
		int status;
	} cases[] = {
		{ { 6, 8, 1 }, 0, 0 },
		{ { 1, 1, 1 }, 0, 0 },
		{ { 6, 8, 1 }, 1, -TENON_E_TYPE },
		{ { 6, 8, 2 }, 0, -TENON_E_TYPE },
		{ { 1, 8, 1 }, 0, -TENON_E_TYPE },
		{ { 0, 32, 1 }, 0, -TENON_E_TYPE },
	};
	int64_t one = 1;
	uint32_t data = 1;
	struct tenon_value ret;
	DLTensor t;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		t = of(&data, &one, cases[i].ndim, cases[i].dtype);
		assert_int_equal(TRY(assert_op, &ret, tenon_arg_tensor(&t)), cases[i].status);
		assert_int_equal(*tenon_error_message() == 0, !cases[i].status);
		tenon_error_clear();
	}
	data = 0;
	t = of(&data, NULL, 0, cases[0].dtype);
	assert_int_equal(TRY(assert_op, &ret, tenon_arg_tensor(&t)), -TENON_E_CALL);
	assert_error_has("Assertion Failed");
	assert_int_equal(TRY(assert_op, &ret, tenon_arg_string("true")), -TENON_E_TYPE);
	tenon_error_clear();
}

/* Undo the last step of the engine: the word of its state behind a number that it gave. */
static uint32_t untempered(uint32_t y)
{
	uint32_t v;
	int i;

	y ^= y >> 18;
	y ^= y << 15 & UINT32_C(0xefc60000);
	for (v = y, i = 0; i < 4; i++)
		v = y ^ (v << 7 & UINT32_C(0x9d2c5680));
	for (y = v, i = 0; i < 2; i++)
		y = v ^ y >> 11;
	return y;
}

static uint32_t tempered(uint32_t y)
{
	y ^= y >> 11;
	y ^= y << 7 & UINT32_C(0x9d2c5680);
	y ^= y << 15 & UINT32_C(0xefc60000);
	return y ^ y >> 18;
}

/* What std::mt19937 gives after the 624 words @state. */
static uint32_t word_after(const uint32_t *state, int i)
{
	uint32_t y = (state[i] & UINT32_C(0x80000000)) | (state[i + 1] & UINT32_C(0x7fffffff));

	return tempered(state[i + 397] ^ y >> 1 ^ (y & 1 ? UINT32_C(0x9908b0df) : 0));
}

/* what std::uniform_real_distribution<double>(1, 10) makes of two words */
static double real_after(const uint32_t *state, int i)
{
	/* volatile: two roundings, also where a processor multiplies and adds in one step */
	const volatile double product =
		(word_after(state, i) + word_after(state, i + 1) * 0x1p32) / 0x1p64 * 9;

	return product + 1;
}

/*
 * Without a seed the numbers cannot be known before; but numbers of the whole range show the state
 * of the engine, and with it those that follow.
 */
static void numbers_without_a_seed_are_those_of_the_engine(void **state)
{
	static uint32_t words[624];
	int64_t n = 624, four = 4;
	double doubles[4];
	float floats[4];
	uint8_t bytes[4];
	DLTensor t = of(words, &n, 1, i32);
	struct tenon_value ret;
	int i;

	(void)state;
	assert_int_equal(TRY(random_randint, &ret, tenon_arg_int(INT64_MIN),
			     tenon_arg_int(INT64_MAX), tenon_arg_tensor(&t)),
			 0);
	for (i = 0; i < 624; i++)
		words[i] = untempered(words[i] - UINT32_C(0x80000000));
	t = of(doubles, &four, 1, tenon_dtype(TENON_DTYPE_FLOAT, 64, 1));
	assert_int_equal(TRY(random_fill, &ret, tenon_arg_tensor(&t)), 0);
	for (i = 0; i < 4; i++)
		assert_true(doubles[i] == real_after(words, 2 * i));
	t = of(floats, &four, 1, f32);
	assert_int_equal(TRY(random_fill_for_measure, &ret, tenon_arg_tensor(&t)), 0);
	for (i = 0; i < 4; i++)
		assert_true(floats[i] == (float)real_after(words, 8 + 2 * i));
	t = of(bytes, &four, 1, tenon_dtype(TENON_DTYPE_UINT, 8, 1));
	assert_int_equal(TRY(random_fill, &ret, tenon_arg_tensor(&t)), 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(bytes[i], (int)real_after(words, 16 + 2 * i));
}

static void randint_stays_in_its_range(void **state)
{
	int8_t bytes[1000];
	int64_t n = 1000;
	DLTensor t = of(bytes, &n, 1, tenon_dtype(TENON_DTYPE_INT, 8, 1));
	struct tenon_value ret;
	int i, least = 127, most = -128;

	(void)state;
	assert_int_equal(TRY(random_randint, &ret, tenon_arg_int(-3), tenon_arg_int(4),
			     tenon_arg_tensor(&t)),
			 0);
	for (i = 0; i < n; i++) {
		least = bytes[i] < least ? bytes[i] : least;
		most = bytes[i] > most ? bytes[i] : most;
	}
	assert_int_equal(least, -3);
	assert_int_equal(most, 3);
	/* no number of the dtype is in the range */
	assert_int_not_equal(TRY(random_randint, &ret, tenon_arg_int(128), tenon_arg_int(900),
				 tenon_arg_tensor(&t)),
			     0);
	assert_int_not_equal(
		TRY(random_randint, &ret, tenon_arg_int(4), tenon_arg_int(4), tenon_arg_tensor(&t)),
		0);
	assert_string_equal(tenon_error_kind(), "InternalError");
	t.dtype = f32;
	assert_int_not_equal(
		TRY(random_randint, &ret, tenon_arg_int(0), tenon_arg_int(4), tenon_arg_tensor(&t)),
		0);
	t.dtype = tenon_dtype(TENON_DTYPE_UINT, 1, 1);
	assert_int_not_equal(TRY(random_fill, &ret, tenon_arg_tensor(&t)), 0);
	tenon_error_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_without_a_seed_are_those_of_the_engine),
		cmocka_unit_test(randint_stays_in_its_range),
		cmocka_unit_test(sorting_is_stable_and_puts_nan_last),
		cmocka_unit_test(long_lines_are_sorted_along_any_axis),
		cmocka_unit_test(topk_writes_values_and_indices),
		cmocka_unit_test(argsort_nms_sorts_the_first_of_each_line),
		cmocka_unit_test(uniform_numbers_are_those_of_the_seeds),
		cmocka_unit_test(normal_numbers_are_those_of_the_seeds),
		cmocka_unit_test(unique_gives_values_places_and_counts),
		cmocka_unit_test(nonzero_lists_places),
		cmocka_unit_test(assertions_carry_their_text),
		cmocka_unit_test(tensors_are_printed_as_python_does),
		cmocka_unit_test(values_are_printed_as_python_does),
		cmocka_unit_test(a_condition_is_one_bool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
