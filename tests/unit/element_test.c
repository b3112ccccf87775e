/* SPDX-License-Identifier: MIT */
/*
 * Elements of every dtype, against numpy 2.4 and ml_dtypes 0.6: each sum below is FNV-1a of what
 * those give for all codes (as float64) and for the three float32 around every midpoint.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tools/tensor/element.h"
#include "tools/tensor/minifloat.h"

static const struct sums {
	uint8_t code, bits;
	uint32_t largest; /* code of the largest finite number */
	uint64_t decoded, rounded;
} sums[] = {
	{ TENON_DTYPE_FLOAT, 16, 31743, 0xfe87bb782adb2fc5, 0xc290574e3917f399 },
	{ TENON_DTYPE_BFLOAT, 16, 32639, 0x5e93c8468f9404d5, 0x825bed54cdad6af9 },
	{ TENON_DTYPE_FLOAT8_E3M4, 8, 111, 0x2a81af47984dcd75, 0x97baea91d440eedd },
	{ TENON_DTYPE_FLOAT8_E4M3, 8, 119, 0xb7664143e13247d5, 0x57bb01a5d913ecfd },
	{ TENON_DTYPE_FLOAT8_E4M3B11FNUZ, 8, 127, 0xc834859f7070cbf0, 0x76102196d0c54d3d },
	{ TENON_DTYPE_FLOAT8_E4M3FN, 8, 126, 0x4d4ded90c4f5d9b5, 0x558f63ec0f5206a5 },
	{ TENON_DTYPE_FLOAT8_E4M3FNUZ, 8, 127, 0x33a06c4d119992b0, 0x76102196d0c54d3d },
	{ TENON_DTYPE_FLOAT8_E5M2, 8, 123, 0x61a099e723174195, 0xe53cc79c16d3133d },
	{ TENON_DTYPE_FLOAT8_E5M2FNUZ, 8, 127, 0x08d9906cc5ea2650, 0x76102196d0c54d3d },
	{ TENON_DTYPE_FLOAT8_E8M0FNU, 8, 254, 0x04b7d9d85633d505, 0xc44472dfc5646b9d },
	{ TENON_DTYPE_FLOAT6_E2M3FN, 6, 31, 0xec0cc051702db885, 0xa9ca1cb4533c865d },
	{ TENON_DTYPE_FLOAT6_E3M2FN, 6, 31, 0xa1716230c365c5f5, 0xa9ca1cb4533c865d },
	{ TENON_DTYPE_FLOAT4_E2M1FN, 4, 7, 0xb7a536e39150e235, 0x6a44e9c06ce01a05 },
};

#define FORMATS (sizeof(sums) / sizeof(sums[0]))

static uint64_t fnv(uint64_t sum, uint64_t value, int bytes)
{
	for (; bytes--; value >>= 8)
		sum = (sum ^ (value & 0xff)) * UINT64_C(0x100000001b3);
	return sum;
}

static uint64_t bits_of(double value)
{
	uint64_t bits;

	if (isnan(value))
		return UINT64_C(0x7ff8000000000000);
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static const struct minifloat *format_of(const struct sums *s)
{
	const struct minifloat *f = minifloat_of(tenon_dtype(s->code, s->bits, 1));

	assert_non_null(f);
	return f;
}

static void every_code_of_every_format_is_the_number_numpy_reads(void **state)
{
	(void)state;
	for (size_t i = 0; i < FORMATS; i++) {
		const struct minifloat *f = format_of(&sums[i]);
		uint64_t sum = UINT64_C(0xcbf29ce484222325);

		for (uint32_t code = 0; code < 1u << sums[i].bits; code++)
			sum = fnv(sum, bits_of(minifloat_decode(f, code)), 8);
		assert_int_equal(sum, sums[i].decoded);
	}
}

static void every_midpoint_and_its_neighbours_round_as_in_numpy(void **state)
{
	(void)state;
	for (size_t i = 0; i < FORMATS; i++) {
		const struct minifloat *f = format_of(&sums[i]);
		uint64_t sum = UINT64_C(0xcbf29ce484222325);

		for (uint32_t code = 0; code < sums[i].largest; code++) {
			float m = (float)((minifloat_decode(f, code) +
					   minifloat_decode(f, code + 1)) /
					  2);
			float down = nextafterf(m, -INFINITY), up = nextafterf(m, INFINITY);
			const float around[6] = { down, m, up, -down, -m, -up };
			/* the exponent-only format has no sign, and a bound of its own below 1 */
			bool power = sums[i].code == TENON_DTYPE_FLOAT8_E8M0FNU;

			for (int k = power; k < (power ? 3 : 6); k++)
				sum = fnv(sum, minifloat_encode(f, around[k]), 2);
		}
		assert_int_equal(sum, sums[i].rounded);
	}
}

static void a_double_is_rounded_once(void **state)
{
	DLDataType half = tenon_dtype(TENON_DTYPE_FLOAT, 16, 1);
	const struct minifloat *f = minifloat_of(half);

	(void)state;
	/* just above the middle of 1 and the next half: by way of float32 it would fall on the middle */
	assert_int_equal(minifloat_encode(f, 1 + 0x1p-11 + 0x1p-40), 0x3c01);
	assert_int_equal(minifloat_encode(f, 1 + 0x1p-11), 0x3c00);
	assert_int_equal(minifloat_encode(f, 1 + 3 * 0x1p-11), 0x3c02);
	assert_int_equal(minifloat_encode(f, 65519.99), 0x7bff);
	assert_int_equal(minifloat_encode(f, 65520), 0x7c00);
	assert_int_equal(minifloat_encode(f, 0x1p-25), 0);
	assert_int_equal(minifloat_encode(f, 0x1.8p-25), 1);
	assert_int_equal(minifloat_encode(f, -0x1p-26), 0x8000);
	assert_int_equal(minifloat_encode(f, 5e-324), 0);
}

static void get_and_put(DLDataType dtype, const char *text, const void *bytes, size_t size)
{
	uint8_t room[16] = { 0 };
	char shown[ELEMENT_TEXT];
	struct element e;

	assert_int_equal(element_parse(text, strlen(text), dtype, &e), 0);
	element_put(room, 0, dtype, &e);
	assert_memory_equal(room, bytes, size);
	memset(&e, 0, sizeof(e));
	element_get(room, 0, dtype, &e);
	assert_string_equal(element_text(&e, dtype, 0, shown), text);
}

#define CHECK(code, bits, text, ...)                                                               \
	get_and_put(tenon_dtype(TENON_DTYPE_##code, bits, 1), text,                                \
		    (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void numbers_of_whole_bytes_are_parsed_stored_and_printed(void **state)
{
	(void)state;
	CHECK(INT, 8, "-128", 0x80);
	CHECK(INT, 16, "-2", 0xfe, 0xff);
	CHECK(INT, 32, "305419896", 0x78, 0x56, 0x34, 0x12);
	CHECK(INT, 64, "-9223372036854775808", 0, 0, 0, 0, 0, 0, 0, 0x80);
	CHECK(UINT, 64, "18446744073709551615", 255, 255, 255, 255, 255, 255, 255, 255);
	CHECK(UINT, 8, "255", 0xff);
	CHECK(BOOL, 8, "true", 1);
	CHECK(BOOL, 8, "false", 0);
	CHECK(FLOAT, 16, "1.5", 0x00, 0x3e);
	CHECK(FLOAT, 16, "65504", 0xff, 0x7b);
	CHECK(FLOAT, 16, "-inf", 0x00, 0xfc);
	CHECK(FLOAT, 16, "6e-08", 0x01, 0x00);
	CHECK(BFLOAT, 16, "3.14", 0x49, 0x40);
	CHECK(FLOAT, 32, "0.1", 0xcd, 0xcc, 0xcc, 0x3d);
	CHECK(FLOAT, 32, "16777216", 0, 0, 0x80, 0x4b);
	CHECK(FLOAT, 32, "nan", 0, 0, 0xc0, 0x7f);
	CHECK(FLOAT, 32, "-0", 0, 0, 0, 0x80);
	CHECK(FLOAT, 64, "0.1", 0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f);
	CHECK(FLOAT, 64, "1e+100", 0x7d, 0xc3, 0x94, 0x25, 0xad, 0x49, 0xb2, 0x54);
	CHECK(FLOAT8_E4M3FN, 8, "448", 0x7e);
	CHECK(FLOAT8_E5M2, 8, "-0.75", 0xba);
	CHECK(COMPLEX, 64, "1+2j", 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40);
	CHECK(COMPLEX, 128, "-0.5-1j", 0, 0, 0, 0, 0, 0, 0xe0, 0xbf, 0, 0, 0, 0, 0, 0, 0xf0, 0xbf);
}

/* @count elements of @dtype are stored as @bytes, over what was there, and read back */
static void assert_packed(DLDataType dtype, const char *const *texts, int count,
			  const uint8_t bytes[3])
{
	uint8_t data[3] = { 0xff, 0xff, 0x00 };
	char text[ELEMENT_TEXT];
	struct element e;

	for (int i = 0; i < count; i++) {
		assert_int_equal(element_parse(texts[i], strlen(texts[i]), dtype, &e), 0);
		element_put(data, (uint64_t)i, dtype, &e);
	}
	assert_memory_equal(data, bytes, 3);
	for (int i = 0; i < count; i++) {
		element_get(data, (uint64_t)i, dtype, &e);
		assert_string_equal(element_text(&e, dtype, 0, text), texts[i]);
	}
}

static void small_elements_lie_packed_the_first_in_the_low_bits(void **state)
{
	static const char *const four[] = { "-8", "7", "-1", "3", "0" };
	static const char *const six[] = { "7.5", "-0.125", "1", "-2" };
	const uint8_t packed_four[3] = { 0x78, 0x3f, 0x00 };
	/* codes 0x1f, 0x21, 0x08, 0x30 in 24 bits, lowest first */
	const uint8_t packed_six[3] = { 0x5f, 0x88, 0xc0 };

	(void)state;
	assert_packed(tenon_dtype(TENON_DTYPE_INT, 4, 1), four, 5, packed_four);
	assert_packed(tenon_dtype(TENON_DTYPE_FLOAT6_E2M3FN, 6, 1), six, 4, packed_six);
}

static void sizes_count_packed_bits_and_refuse_to_overflow(void **state)
{
	size_t bytes;

	(void)state;
	assert_int_equal(element_bytes(5, tenon_dtype(TENON_DTYPE_INT, 4, 1), &bytes), 0);
	assert_int_equal(bytes, 3);
	assert_int_equal(element_bytes(5, tenon_dtype(TENON_DTYPE_FLOAT6_E3M2FN, 6, 1), &bytes), 0);
	assert_int_equal(bytes, 4);
	assert_int_equal(element_bytes(3, tenon_dtype(TENON_DTYPE_FLOAT, 32, 4), &bytes), 0);
	assert_int_equal(bytes, 48);
	/* a bool of the older spelling takes a byte */
	assert_int_equal(element_bytes(9, tenon_dtype(TENON_DTYPE_UINT, 1, 1), &bytes), 0);
	assert_int_equal(bytes, 9);
	assert_int_equal(
		element_bytes(UINT64_MAX / 8, tenon_dtype(TENON_DTYPE_FLOAT, 64, 1), &bytes),
		-TENON_E_OVERFLOW);
	tenon_error_clear();
}

static void refused(DLDataType dtype, const char *text, const char *message)
{
	struct element e;

	assert_int_equal(element_parse(text, strlen(text), dtype, &e), -TENON_E_USAGE);
	assert_string_equal(tenon_error_message(), message);
	tenon_error_clear();
}

static void what_does_not_fit_is_refused_with_the_range(void **state)
{
	(void)state;
	refused(tenon_dtype(TENON_DTYPE_INT, 8, 1), "128",
		"128 does not fit int8, which holds -128 to 127");
	refused(tenon_dtype(TENON_DTYPE_INT, 4, 1), "-9",
		"-9 does not fit int4, which holds -8 to 7");
	refused(tenon_dtype(TENON_DTYPE_UINT, 8, 1), "-1",
		"-1 does not fit uint8, which holds 0 to 255");
	refused(tenon_dtype(TENON_DTYPE_INT, 64, 1), "9223372036854775808",
		"9223372036854775808 does not fit int64, which holds -9223372036854775808 to "
		"9223372036854775807");
	refused(tenon_dtype(TENON_DTYPE_FLOAT, 16, 1), "65520",
		"65520 does not fit float16, which holds numbers up to 65504");
	refused(tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), "1e39",
		"1e39 does not fit float32, which holds numbers up to 3.40282347e+38");
	refused(tenon_dtype(TENON_DTYPE_FLOAT4_E2M1FN, 4, 1), "7",
		"7 does not fit float4_e2m1fn, which holds numbers up to 6");
	refused(tenon_dtype(TENON_DTYPE_FLOAT8_E4M3FN, 8, 1), "inf",
		"inf does not fit float8_e4m3fn, which holds no infinity");
	refused(tenon_dtype(TENON_DTYPE_FLOAT6_E2M3FN, 6, 1), "nan",
		"nan does not fit float6_e2m3fn, which holds no NaN");
}

static void what_is_no_number_is_refused(void **state)
{
	DLDataType int32 = tenon_dtype(TENON_DTYPE_INT, 32, 1);
	DLDataType float32 = tenon_dtype(TENON_DTYPE_FLOAT, 32, 1);

	(void)state;
	refused(int32, "1.5", "\"1.5\" is not a number of type int32");
	refused(int32, "", "\"\" is not a number of type int32");
	refused(int32, "--1", "\"--1\" is not a number of type int32");
	refused(int32, " 1", "\" 1\" is not a number of type int32");
	refused(int32, "0x", "\"0x\" is not a number of type int32");
	refused(float32, "1.5x", "\"1.5x\" is not a number of type float32");
	refused(float32, "", "\"\" is not a number of type float32");
	refused(tenon_dtype(TENON_DTYPE_BOOL, 8, 1), "2", "\"2\" is not a number of type bool");
	refused(tenon_dtype(TENON_DTYPE_COMPLEX, 64, 1), "1+2",
		"\"1+2\" is not a number of type "
		"complex64");
}

static void hexadecimal_numbers_are_read(void **state)
{
	struct element e;

	(void)state;
	assert_int_equal(element_parse("-0x80", 5, tenon_dtype(TENON_DTYPE_INT, 8, 1), &e), 0);
	assert_int_equal(e.integer, -128);
	assert_int_equal(
		element_parse("0xFFFFFFFFFFFFFFFF", 18, tenon_dtype(TENON_DTYPE_UINT, 64, 1), &e),
		0);
	assert_true(e.natural == UINT64_MAX);
	assert_int_equal(element_parse("0x1p-3", 6, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1), &e), 0);
	assert_true(e.real == 0.125);
}

static void elements_are_found_through_strides(void **state)
{
	float data[6] = { 0, 1, 2, 3, 4, 5 };
	int64_t shape[2] = { 3, 2 }, strides[2] = { 1, 3 }, back[2] = { 2, -1 };
	DLTensor t = tenon_dltensor(data, shape, 2, tenon_dtype(TENON_DTYPE_FLOAT, 32, 1));
	const double transposed[6] = { 0, 3, 1, 4, 2, 5 }, mirrored[6] = { 1, 0, 3, 2, 5, 4 };
	struct element e;

	(void)state;
	t.strides = strides;
	for (uint64_t i = 0; i < 6; i++) {
		tensor_element(&t, i, &e);
		assert_true(e.real == transposed[i]);
	}
	t.strides = back;
	t.byte_offset = 4;
	for (uint64_t i = 0; i < 6; i++) {
		tensor_element(&t, i, &e);
		assert_true(e.real == mirrored[i]);
	}
}

/* one of the size that its dtype claims would end the stack, or never end */
static void an_element_of_no_known_dtype_is_zero_and_nothing_is_moved(void **state)
{
	static const DLDataType unknown[] = {
		{ TENON_DTYPE_UINT, 248, 1 },
		{ TENON_DTYPE_UINT, 8, 0 },
		{ TENON_DTYPE_INT, 0, 1 },
		{ TENON_DTYPE_INT, 5, 1 },
		{ TENON_DTYPE_INT, 64, 0 },
		{ TENON_DTYPE_FLOAT, 128, 1 },
		{ TENON_DTYPE_FLOAT, 8, 1 },
		{ TENON_DTYPE_COMPLEX, 248, 1 },
		{ TENON_DTYPE_BOOL, 0, 1 },
		{ TENON_DTYPE_FLOAT, 32, 0x8004 },
		{ 200, 32, 1 },
	};
	static uint8_t data[512], before[512];
	int64_t shape[] = { 4 };
	struct element e, one = { .class = ELEMENT_UNSIGNED, .natural = 1 };
	size_t bytes;

	(void)state;
	memset(data, 0x41, sizeof(data));
	memcpy(before, data, sizeof(data));
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		DLTensor t = tenon_dltensor(data, shape, 1, unknown[i]);

		assert_int_equal(element_class_of(unknown[i]), -1);
		element_get(data, 1, unknown[i], &e);
		assert_int_equal(e.natural, 0);
		tensor_element(&t, 3, &e);
		assert_int_equal(e.natural, 0);
		element_put(data, 1, unknown[i], &one);
		assert_memory_equal(data, before, sizeof(data));
		assert_int_equal(element_parse("1", 1, unknown[i], &e), -TENON_E_USAGE);
		assert_int_equal(element_bytes(4, unknown[i], &bytes), -TENON_E_VALUE);
		tenon_error_clear();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_code_of_every_format_is_the_number_numpy_reads),
		cmocka_unit_test(every_midpoint_and_its_neighbours_round_as_in_numpy),
		cmocka_unit_test(a_double_is_rounded_once),
		cmocka_unit_test(numbers_of_whole_bytes_are_parsed_stored_and_printed),
		cmocka_unit_test(small_elements_lie_packed_the_first_in_the_low_bits),
		cmocka_unit_test(sizes_count_packed_bits_and_refuse_to_overflow),
		cmocka_unit_test(what_does_not_fit_is_refused_with_the_range),
		cmocka_unit_test(what_is_no_number_is_refused),
		cmocka_unit_test(hexadecimal_numbers_are_read),
		cmocka_unit_test(elements_are_found_through_strides),
		cmocka_unit_test(an_element_of_no_known_dtype_is_zero_and_nothing_is_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
