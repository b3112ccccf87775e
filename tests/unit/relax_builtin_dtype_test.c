/* SPDX-License-Identifier: MIT */
/* Dtypes of tensors that builtins read and write on the host: which are taken, which are refused, and what is in them then. */
#include "tests/unit/relax_builtin_call.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const DLDataType f32 = { TENON_DTYPE_FLOAT, 32, 1 };
static const DLDataType i32 = { TENON_DTYPE_INT, 32, 1 };
static const DLDataType u8 = { TENON_DTYPE_UINT, 8, 1 };

/* ---- sorting */

static void each_dtype_that_tvm_sorts_is_sorted(void **state)
{
	static const struct {
		DLDataType dtype;
		bool sorted, top;
	} cases[] = {
		{ { TENON_DTYPE_FLOAT, 16, 1 }, true, true },
		{ { TENON_DTYPE_FLOAT, 32, 1 }, true, true },
		{ { TENON_DTYPE_FLOAT, 64, 1 }, true, true },
		{ { TENON_DTYPE_INT, 32, 1 }, true, true },
		{ { TENON_DTYPE_INT, 64, 1 }, true, true },
		{ { TENON_DTYPE_INT, 8, 1 }, false, true },
		{ { TENON_DTYPE_UINT, 8, 1 }, false, true },
		{ { TENON_DTYPE_BOOL, 8, 1 }, false, false },
		{ { TENON_DTYPE_INT, 16, 1 }, false, false },
		{ { TENON_DTYPE_UINT, 32, 1 }, false, false },
		{ { TENON_DTYPE_FLOAT, 32, 2 }, false, false },
	};
	/* one and none: as floats, too, and in either order of bytes */
	unsigned char in[32], out[32];
	int64_t n = 2;
	struct tenon_value ret;
	DLTensor a, b;
	size_t i, width;
	int err;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		a = tenon_dltensor(in, &n, 1, cases[i].dtype);
		b = tenon_dltensor(out, &n, 1, cases[i].dtype);
		width = cases[i].dtype.bits / 8;
		memset(in, 0, sizeof(in));
		memset(in, 1, width);
		err = TRY(sort, &ret, tenon_arg_tensor(&a), tenon_arg_tensor(&b), tenon_arg_int(0),
			  tenon_arg_int(1));
		assert_int_equal(err, cases[i].sorted ? 0 : -TENON_E_TYPE);
		if (cases[i].sorted)
			assert_memory_equal(out + width, in, width);
		else
			assert_error_has("cannot be sorted here");
		err = TRY(topk, &ret, tenon_arg_tensor(&a), tenon_arg_tensor(&b), tenon_arg_int(0),
			  tenon_arg_int(-1), tenon_arg_string("values"), tenon_arg_int(1));
		assert_int_equal(err, cases[i].top ? 0 : -TENON_E_TYPE);
		if (cases[i].top)
			assert_memory_equal(out + width, in, width);
		tenon_error_clear();
	}
}

/* The index 1 in a tensor of a dtype. */
static double index_of(const void *at, DLDataType d)
{
	int32_t four;
	int64_t eight;
	float single;
	double both;

	memcpy(&four, at, 4);
	memcpy(&eight, at, 8);
	memcpy(&single, at, 4);
	memcpy(&both, at, 8);
	if (d.bits == 8)
		return *(const unsigned char *)at;
	if (d.code == TENON_DTYPE_FLOAT)
		return d.bits == 32 ? (double)single : both;
	return d.bits == 32 ? four : (double)eight;
}

static void indices_are_numbers_of_32_or_64_bits(void **state)
{
	static const struct {
		DLDataType dtype;
		bool of_floats, of_bytes;
	} cases[] = {
		{ { TENON_DTYPE_INT, 32, 1 }, true, true },
		{ { TENON_DTYPE_INT, 64, 1 }, true, true },
		{ { TENON_DTYPE_FLOAT, 32, 1 }, true, true },
		{ { TENON_DTYPE_FLOAT, 64, 1 }, true, true },
		{ { TENON_DTYPE_UINT, 8, 1 }, false, true },
		{ { TENON_DTYPE_INT, 8, 1 }, false, false },
		{ { TENON_DTYPE_UINT, 32, 1 }, false, false },
		{ { TENON_DTYPE_INT, 16, 1 }, false, false },
		{ { TENON_DTYPE_INT, 32, 2 }, false, false },
	};
	float floats[] = { 1, 2 };
	unsigned char bytes[] = { 1, 2 }, out[32];
	int64_t n = 2;
	DLTensor a = tenon_dltensor(floats, &n, 1, f32), b = tenon_dltensor(bytes, &n, 1, u8), o;
	struct tenon_value ret;
	size_t i;
	int err;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		o = tenon_dltensor(out, &n, 1, cases[i].dtype);
		err = TRY(argsort, &ret, tenon_arg_tensor(&a), tenon_arg_tensor(&o),
			  tenon_arg_int(0), tenon_arg_int(0));
		assert_int_equal(err, cases[i].of_floats ? 0 : -TENON_E_TYPE);
		if (cases[i].of_floats)
			assert_true(index_of(out, cases[i].dtype) == 1);
		err = TRY(topk, &ret, tenon_arg_tensor(&b), tenon_arg_tensor(&o), tenon_arg_int(1),
			  tenon_arg_int(0), tenon_arg_string("indices"), tenon_arg_int(0));
		/* one of two: the tensor is too large */
		assert_int_equal(err, -TENON_E_VALUE);
		err = TRY(topk, &ret, tenon_arg_tensor(&b), tenon_arg_tensor(&o), tenon_arg_int(2),
			  tenon_arg_int(0), tenon_arg_string("indices"), tenon_arg_int(0));
		assert_int_equal(err, cases[i].of_bytes ? 0 : -TENON_E_TYPE);
		if (cases[i].of_bytes)
			assert_true(index_of(out, cases[i].dtype) == 1);
		tenon_error_clear();
	}
}

static void topk_says_which_results_it_has(void **state)
{
	static const char *const words[] = { "values", "indices", "both", "all" };
	float in[] = { 1, 2 }, values[2];
	int32_t indices[2];
	int64_t n = 2;
	DLTensor a = tenon_dltensor(in, &n, 1, f32), v = tenon_dltensor(values, &n, 1, f32);
	DLTensor x = tenon_dltensor(indices, &n, 1, i32);
	struct tenon_value ret;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(words); i++) {
		if (i != 2)
			assert_int_equal(TRY(topk, &ret, tenon_arg_tensor(&a), tenon_arg_tensor(&v),
					     tenon_arg_tensor(&x), tenon_arg_int(2),
					     tenon_arg_int(0), tenon_arg_string(words[i]),
					     tenon_arg_int(0)),
					 -TENON_E_VALUE);
		if (i > 1)
			assert_int_equal(TRY(topk, &ret, tenon_arg_tensor(&a), tenon_arg_tensor(&v),
					     tenon_arg_int(2), tenon_arg_int(0),
					     tenon_arg_string(words[i]), tenon_arg_int(0)),
					 -TENON_E_VALUE);
		assert_error_has("want \"both\" with 7");
	}
	assert_int_equal(TRY(sort, &ret, tenon_arg_tensor(&a), tenon_arg_tensor(&v),
			     tenon_arg_int(-2), tenon_arg_int(0)),
			 -TENON_E_VALUE);
	assert_error_has("axis -2 of a tensor with 1 dimensions");
}

/* ---- random numbers */

/* Element @i of a tensor of integers of 8, 16 or 32 bits */
static int64_t integer_at(const unsigned char *data, size_t i, DLDataType d)
{
	const unsigned char *at = data + i * d.bits / 8;
	uint16_t two;
	uint32_t four;

	memcpy(&two, at, sizeof(two));
	memcpy(&four, at, sizeof(four));
	if (d.code == TENON_DTYPE_UINT)
		return d.bits == 8 ? *at : d.bits == 16 ? two : four;
	return d.bits == 8 ? (int8_t)*at : d.bits == 16 ? (int16_t)two : (int32_t)four;
}

static void random_integers_fit_their_dtype(void **state)
{
	static const struct {
		DLDataType dtype;
		int64_t least, most;
	} cases[] = {
		{ { TENON_DTYPE_INT, 8, 1 }, -128, 127 },
		{ { TENON_DTYPE_UINT, 8, 1 }, 0, 255 },
		{ { TENON_DTYPE_INT, 16, 1 }, -32768, 32767 },
		{ { TENON_DTYPE_UINT, 16, 1 }, 0, 65535 },
		{ { TENON_DTYPE_INT, 32, 1 }, INT32_MIN, INT32_MAX },
		{ { TENON_DTYPE_UINT, 32, 1 }, 0, UINT32_MAX },
	};
	static const DLDataType others[] = { { TENON_DTYPE_FLOAT, 32, 1 },
					     { TENON_DTYPE_INT, 64, 1 },
					     { TENON_DTYPE_UINT, 1, 1 },
					     { TENON_DTYPE_INT, 32, 2 } };
	unsigned char out[64];
	int64_t n = 4;
	struct tenon_value ret;
	DLTensor t;
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		t = tenon_dltensor(out, &n, 1, cases[i].dtype);
		memset(out, 0x55, sizeof(out));
		assert_int_equal(TRY(random_randint, &ret, tenon_arg_int(-(INT64_C(1) << 40)),
				     tenon_arg_int(INT64_C(1) << 40), tenon_arg_tensor(&t)),
				 0);
		/* of what the dtype holds the last number alone, and then none */
		assert_int_equal(TRY(random_randint, &ret, tenon_arg_int(cases[i].most),
				     tenon_arg_int(INT64_MAX), tenon_arg_tensor(&t)),
				 0);
		for (k = 0; k < 4; k++)
			assert_int_equal(integer_at(out, k, cases[i].dtype), cases[i].most);
		/* what comes behind is not the tensor's */
		assert_int_equal(out[4 * cases[i].dtype.bits / 8], 0x55);
		assert_int_equal(TRY(random_randint, &ret, tenon_arg_int(cases[i].most + 1),
				     tenon_arg_int(INT64_MAX), tenon_arg_tensor(&t)),
				 -TENON_E_VALUE);
		assert_int_equal(TRY(random_randint, &ret, tenon_arg_int(INT64_MIN),
				     tenon_arg_int(cases[i].least), tenon_arg_tensor(&t)),
				 -TENON_E_VALUE);
		assert_error_has("high must be bigger than low");
	}
	for (i = 0; i < COUNT(others); i++) {
		t = tenon_dltensor(out, &n, 1, others[i]);
		assert_int_equal(TRY(random_randint, &ret, tenon_arg_int(0), tenon_arg_int(9),
				     tenon_arg_tensor(&t)),
				 -TENON_E_TYPE);
		assert_error_has("expected int or uint of 8, 16 or 32 bits");
	}
}

static void elements_of_whole_bytes_are_filled(void **state)
{
	static const struct {
		DLDataType dtype;
		int status;
	} others[] = {
		{ { TENON_DTYPE_INT, 4, 1 }, -TENON_E_TYPE },
		{ { TENON_DTYPE_INT, 8, 2 }, -TENON_E_TYPE },
		{ { TENON_DTYPE_COMPLEX, 128, 1 }, -TENON_E_TYPE },
		{ { TENON_DTYPE_INT, 24, 1 }, -TENON_E_VALUE },
		{ { TENON_DTYPE_FLOAT, 128, 1 }, -TENON_E_VALUE },
	};
	int64_t n = 2, far[] = { INT64_MAX, 4 }, gaps[] = { 2 };
	unsigned char out[64];
	struct tenon_value ret;
	float second;
	DLTensor t;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(others); i++) {
		t = tenon_dltensor(out, &n, 1, others[i].dtype);
		assert_int_equal(TRY(random_fill, &ret, tenon_arg_tensor(&t)), others[i].status);
		assert_error_has("random.random_fill: argument 0");
	}
	t = tenon_dltensor(out, far, 2, f32);
	assert_int_equal(TRY(random_fill, &ret, tenon_arg_tensor(&t)), -TENON_E_OVERFLOW);
	t = tenon_dltensor(out, &n, 1, f32);
	t.strides = gaps;
	assert_int_equal(TRY(random_fill, &ret, tenon_arg_tensor(&t)), -TENON_E_VALUE);
	assert_error_has("gaps between its elements");
	t.strides = NULL;
	t.device.device_type = (DLDeviceType)99;
	assert_int_not_equal(TRY(random_fill, &ret, tenon_arg_tensor(&t)), 0);
	tenon_error_clear();
	/* one seed of two is enough */
	t.device.device_type = kDLCPU;
	assert_int_equal(TRY(random_uniform, &ret, tenon_arg_int(0), tenon_arg_int(3),
			     tenon_arg_float(2), tenon_arg_float(3), tenon_arg_tensor(&t)),
			 0);
	memcpy(&second, out + sizeof(second), sizeof(second));
	assert_true(second >= 2 && second < 3);
}

/* ---- unique and nonzero */

static int unique_along(const DLTensor *t, int64_t axis, struct tenon_value *ret)
{
	return TRY(unique, ret, tenon_arg_tensor((DLTensor *)(uintptr_t)t), tenon_arg_int(1),
		   tenon_arg_int(1), tenon_arg_int(1), tenon_arg_int(1), tenon_arg_int(axis));
}

static const DLTensor *result(const struct tenon_value *ret, int i)
{
	const struct tenon_array *a = (const struct tenon_array *)ret->as.object;

	return &((const struct tenon_tensor *)a->data[i].as.object)->dl;
}

static void rows_along_the_middle_axis_are_told_apart(void **state)
{
	/* [2, 3, 2]: rows 0 and 2 of the middle axis are the same */
	int32_t in[] = { 1, 2, 5, 6, 1, 2, 3, 4, 7, 8, 3, 4 };
	int64_t shape[] = { 2, 3, 2 };
	DLTensor t = tenon_dltensor(in, shape, 3, i32);
	static const int64_t axes[] = { 1, -2 };
	struct tenon_value ret;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(axes); i++) {
		assert_int_equal(unique_along(&t, axes[i], &ret), 0);
		assert_int_equal(result(&ret, 0)->shape[1], 2);
		assert_memory_equal(result(&ret, 0)->data, ((int32_t[]){ 1, 2, 5, 6, 3, 4, 7, 8 }),
				    32);
		assert_memory_equal(result(&ret, 2)->data, ((int64_t[]){ 0, 1, 0 }), 24);
		assert_memory_equal(result(&ret, 3)->data, ((int64_t[]){ 2, 1 }), 16);
		tenon_value_release(&ret);
	}
	assert_int_equal(unique_along(&t, 3, &ret), -TENON_E_VALUE);
	assert_error_has("3 is not between -3 and 2");
	assert_int_equal(unique_along(&t, -4, &ret), -TENON_E_VALUE);
	assert_error_has("-4 is not between");
}

static void tensors_of_nothing_have_nothing_unique(void **state)
{
	int64_t none[] = { 0, 2 }, empty[] = { 2, 0 };
	int32_t in[1];
	DLTensor t = tenon_dltensor(in, none, 2, i32);
	struct tenon_value ret;

	(void)state;
	assert_int_equal(unique_along(&t, 0, &ret), 0);
	assert_int_equal(result(&ret, 0)->shape[0], 0);
	assert_int_equal(result(&ret, 1)->shape[0], 0);
	tenon_value_release(&ret);
	t.shape = empty;
	assert_int_equal(unique_along(&t, 0, &ret), -TENON_E_VALUE);
	assert_error_has("rows without elements");
	assert_int_equal(TRY(unique, &ret, tenon_arg_tensor(&t), tenon_arg_int(0), tenon_arg_int(0),
			     tenon_arg_int(0), tenon_arg_int(0), tenon_arg_none()),
			 0);
	assert_int_equal(((struct tenon_tensor *)ret.as.object)->dl.shape[0], 0);
	tenon_value_release(&ret);
}

static void bools_and_numbers_without_dimensions_are_read(void **state)
{
	unsigned char bits[] = { 1, 0, 1 };
	int64_t n = 3, pairs = 1;
	DLTensor t = tenon_dltensor(bits, &n, 1, tenon_dtype(TENON_DTYPE_UINT, 1, 1));
	struct tenon_value ret;
	const DLTensor *found;

	(void)state;
	assert_int_equal(TRY(unique, &ret, tenon_arg_tensor(&t), tenon_arg_int(1), tenon_arg_int(0),
			     tenon_arg_int(0), tenon_arg_int(0)),
			 0);
	assert_int_equal(((struct tenon_tensor *)ret.as.object)->dl.shape[0], 2);
	tenon_value_release(&ret);
	t.ndim = 0;
	assert_int_equal(TRY(nonzero, &ret, tenon_arg_tensor(&t)), 0);
	found = &((struct tenon_tensor *)ret.as.object)->dl;
	assert_int_equal(found->shape[0], 1);
	assert_int_equal(found->shape[1], 1);
	assert_int_equal(*(int64_t *)found->data, 0);
	tenon_value_release(&ret);
	t = tenon_dltensor(bits, &pairs, 1, tenon_dtype(TENON_DTYPE_INT, 8, 2));
	assert_int_equal(TRY(nonzero, &ret, tenon_arg_tensor(&t)), -TENON_E_TYPE);
	assert_int_equal(unique_along(&t, 0, &ret), -TENON_E_TYPE);
	assert_error_has("dtype int8x2; integers, floats and bool are wanted");
}

/* ---- what all of them ask of a tensor */

static void tensors_that_the_host_cannot_read_are_refused(void **state)
{
	int64_t shape[] = { 2, 2 }, far[] = { INT64_MAX, 4 }, gaps[] = { 4, 1 };
	int32_t in[4] = { 0 };
	DLTensor t = tenon_dltensor(in, shape, 2, i32);
	struct tenon_value ret;

	(void)state;
	t.strides = gaps;
	assert_int_equal(TRY(nonzero, &ret, tenon_arg_tensor(&t)), -TENON_E_VALUE);
	assert_error_has("nonzero: argument 0: the tensor has gaps between its elements");
	t.strides = NULL;
	t.shape = far;
	assert_int_equal(TRY(nonzero, &ret, tenon_arg_tensor(&t)), -TENON_E_OVERFLOW);
	assert_error_has("nonzero: argument 0");
	t.device.device_type = (DLDeviceType)4;
	assert_int_equal(TRY(nonzero, &ret, tenon_arg_tensor(&t)), -TENON_E_UNSUPPORTED);
	assert_error_has("the tensor is on a device of type 4");
}

static void numbers_are_of_a_dtype_or_not(void **state)
{
	const struct {
		struct tenon_value value;
		const char *dtype;
		bool fits;
	} cases[] = {
		{ tenon_arg_bool(true), "bool", true },
		{ tenon_arg_bool(true), "uint1", true },
		{ tenon_arg_bool(true), "uint8", false },
		{ tenon_arg_bool(true), "float32", false },
		{ tenon_arg_int(1), "int64", true },
		{ tenon_arg_int(1), "uint8", true },
		{ tenon_arg_int(1), "float32", false },
		{ tenon_arg_float(1), "float16", true },
		{ tenon_arg_float(1), "bfloat16", true },
		{ tenon_arg_float(1), "int32", false },
		{ tenon_arg_none(), "handle", true },
		{ tenon_arg_pointer(NULL), "handle", true },
		{ tenon_arg_none(), "int32", false },
		{ tenon_arg_string("1"), "int32", false },
	};
	struct tenon_value ret;
	size_t i;
	int err;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		err = TRY(check_prim_value_info, &ret, cases[i].value,
			  tenon_arg_string(cases[i].dtype), tenon_arg_string("f "));
		if (err != (cases[i].fits ? 0 : -TENON_E_TYPE))
			fail_msg("case %zu, %s: %d, %s", i, cases[i].dtype, err,
				 tenon_error_message());
		tenon_error_clear();
	}
	assert_int_not_equal(TRY(check_prim_value_info, &ret, tenon_arg_int(1),
				 tenon_arg_string("int33x"), tenon_arg_string("")),
			     0);
	assert_error_has("check_prim_value_info: argument 1: \"int33x\" is no dtype");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_dtype_that_tvm_sorts_is_sorted),
		cmocka_unit_test(indices_are_numbers_of_32_or_64_bits),
		cmocka_unit_test(topk_says_which_results_it_has),
		cmocka_unit_test(random_integers_fit_their_dtype),
		cmocka_unit_test(elements_of_whole_bytes_are_filled),
		cmocka_unit_test(rows_along_the_middle_axis_are_told_apart),
		cmocka_unit_test(tensors_of_nothing_have_nothing_unique),
		cmocka_unit_test(bools_and_numbers_without_dimensions_are_read),
		cmocka_unit_test(tensors_that_the_host_cannot_read_are_refused),
		cmocka_unit_test(numbers_are_of_a_dtype_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
