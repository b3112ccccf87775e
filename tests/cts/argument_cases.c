/* SPDX-License-Identifier: MIT */
/* Cases about the arguments of kernels: scalars of each size, pointers, and their order. */
#include <stdio.h>

#include "tests/cts/cts.h"

/* Launch a kernel that writes its one scalar to memory, for both orders of its arguments. */
static void scalar(struct cts *cts, const char *type, const void *value, size_t size)
{
	char name[64];
	uint8_t back[16];
	uint64_t args[2];
	int first;

	for (first = 0; first < 2; first++) {
		struct tenon_memory *m;
		struct tenon_dispatch d;

		snprintf(name, sizeof(name), "scalar_%s%s", type, first ? "_first" : "");
		d = cts_dispatch(cts_kernel(cts, name), args);
		m = cts_memory(cts, 64, 0);
		args[!first] = 0;
		memcpy(&args[!first], value, size);
		args[first] = cts_argument(m);
		ok(tenon_queue_fill(cts->queue, m, 0, 64, 0xcc, 1, NULL));
		ok(tenon_queue_dispatch(cts->queue, &d, NULL));
		cts_get(cts, m, 0, back, sizeof(back));
		assert_memory_equal(back, value, size);
		assert_int_equal(back[size], 0xcc);
		tenon_object_unref(m);
	}
}

#define SCALAR_CASE(name, type, ...)                                                               \
	static void a_scalar_of_type_##name##_arrives(struct cts *cts)                             \
	{                                                                                          \
		static const type values[] = { __VA_ARGS__ };                                      \
		size_t i;                                                                          \
                                                                                                   \
		for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)                           \
			scalar(cts, #name, &values[i], sizeof(values[i]));                         \
	}

SCALAR_CASE(int8, int8_t, 0, 1, -1, INT8_MIN, INT8_MAX)
SCALAR_CASE(uint8, uint8_t, 0, 1, UINT8_MAX)
SCALAR_CASE(int16, int16_t, 0, -2, INT16_MIN, INT16_MAX)
SCALAR_CASE(uint16, uint16_t, 0, 258, UINT16_MAX)
SCALAR_CASE(int32, int32_t, 0, -3, INT32_MIN, INT32_MAX)
SCALAR_CASE(uint32, uint32_t, 0, 0x01020304, UINT32_MAX)
SCALAR_CASE(int64, int64_t, 0, -4, INT64_MIN, INT64_MAX)
SCALAR_CASE(uint64, uint64_t, 0, UINT64_C(0x0102030405060708), UINT64_MAX)
SCALAR_CASE(float16, uint16_t, 0x3c00, 0xc000, 0x7bff)
SCALAR_CASE(bfloat16, uint16_t, 0x3f80, 0xc000, 0x7f7f)
SCALAR_CASE(float32, float, 0, 1.5f, -3.25e30f)
SCALAR_CASE(float64, double, 0, 1.1, -3.25e300)
SCALAR_CASE(bool, uint8_t, 0, 1)

static void scalars_and_pointers_come_in_any_order(struct cts *cts)
{
	struct tenon_kernel *k = cts_kernel(cts, "order");
	struct tenon_memory *in = cts_memory(cts, 64, 0), *out = cts_memory(cts, 64, 0);
	const float b = 2.25f;
	uint64_t args[6] = { cts_int(-11, 32), cts_argument(out), 0,
			     cts_int(77, 32),  cts_argument(in),  cts_int(123456, 32) };
	struct tenon_dispatch d = cts_dispatch(k, args);
	int32_t seed = 4711, back[5];

	memcpy(&args[2], &b, sizeof(b));
	cts_set(cts, in, 0, &seed, 4);
	ok(tenon_queue_dispatch(cts->queue, &d, NULL));
	cts_get(cts, out, 0, back, sizeof(back));
	assert_int_equal(back[0], -11);
	assert_int_equal(back[1], 9);
	assert_int_equal(back[2], 77);
	assert_int_equal(back[3], 4711);
	assert_int_equal(back[4], 123456);
	tenon_object_unref(in);
	tenon_object_unref(out);
}

static void scalars_of_different_sizes_come_in_any_order(struct cts *cts)
{
	struct tenon_kernel *k = cts_kernel(cts, "order_wide");
	struct tenon_memory *in = cts_memory(cts, 64, 0), *out = cts_memory(cts, 64, 0);
	const double b = -1e9;
	uint64_t args[7] = { cts_int(-5, 8),
			     cts_argument(out),
			     0,
			     cts_int(-100000, 32),
			     cts_int(INT64_C(1) << 40, 64),
			     cts_argument(in),
			     cts_int(-300, 16) };
	struct tenon_dispatch d = cts_dispatch(k, args);
	int64_t seed = INT64_C(-99999999999), back[6];

	memcpy(&args[2], &b, sizeof(b));
	cts_set(cts, in, 0, &seed, 8);
	ok(tenon_queue_dispatch(cts->queue, &d, NULL));
	cts_get(cts, out, 0, back, sizeof(back));
	assert_true(back[0] == -5);
	assert_true(back[1] == INT64_C(-4000000000));
	assert_true(back[2] == -100000);
	assert_true(back[3] == INT64_C(1) << 40);
	assert_true(back[4] == seed);
	assert_true(back[5] == -300);
	tenon_object_unref(in);
	tenon_object_unref(out);
}

static void many_scalars_arrive_and_only_some_change(struct cts *cts)
{
	struct tenon_kernel *k = cts_kernel(cts, "many");
	struct tenon_memory *m = cts_memory(cts, 64, 0);
	uint64_t args[11];
	struct tenon_dispatch d = cts_dispatch(k, args);
	int32_t back[10];
	int i, round;

	args[0] = cts_argument(m);
	for (round = 0; round < 5; round++) {
		for (i = 0; i < 10; i++)
			if (!round || i == round)
				args[i + 1] = cts_int(100 * round + i, 32);
		ok(tenon_queue_dispatch(cts->queue, &d, NULL));
		cts_get(cts, m, 0, back, sizeof(back));
		for (i = 0; i < 10; i++)
			assert_int_equal(back[i], i && i <= round ? 100 * i + i : i);
	}
	tenon_object_unref(m);
}

const struct cts_case cts_argument_cases[] = {
	CTS_CASE(a_scalar_of_type_int8_arrives),
	CTS_CASE(a_scalar_of_type_uint8_arrives),
	CTS_CASE(a_scalar_of_type_int16_arrives),
	CTS_CASE(a_scalar_of_type_uint16_arrives),
	CTS_CASE(a_scalar_of_type_int32_arrives),
	CTS_CASE(a_scalar_of_type_uint32_arrives),
	CTS_CASE(a_scalar_of_type_int64_arrives),
	CTS_CASE(a_scalar_of_type_uint64_arrives),
	CTS_CASE(a_scalar_of_type_float16_arrives),
	CTS_CASE(a_scalar_of_type_bfloat16_arrives),
	CTS_CASE(a_scalar_of_type_float32_arrives),
	CTS_CASE(a_scalar_of_type_float64_arrives),
	CTS_CASE(a_scalar_of_type_bool_arrives),
	CTS_CASE(scalars_and_pointers_come_in_any_order),
	CTS_CASE(scalars_of_different_sizes_come_in_any_order),
	CTS_CASE(many_scalars_arrive_and_only_some_change),
	{ NULL, NULL },
};
