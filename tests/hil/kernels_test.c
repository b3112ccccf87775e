/* SPDX-License-Identifier: MIT */
/* The example functions of firmware/kernels, compiled for the host, beside the reference of packets and plain loops. */
#include "firmware/kernels/dense_int8.c"
#include "firmware/kernels/depthwise_int8.c"
#include "firmware/kernels/vector_add.c"
#include "tests/hil/reference.h"
#include "tests/unit/suite.h"

#define VALUE(pointer) ((uint64_t)(uintptr_t)(pointer))

typedef int32_t (*function)(const uint64_t *arguments, const struct mortise_group *group);

/* Call a function for each group of a grid. */
static void run(function f, const uint64_t *arguments, uint32_t x, uint32_t y, uint32_t threads)
{
	struct mortise_group g = { { 0, 0, 0 }, { x, y, 1 }, { threads, 1, 1 } };

	for (g.group[1] = 0; g.group[1] < y; g.group[1]++)
		for (g.group[0] = 0; g.group[0] < x; g.group[0]++)
			assert_int_equal(f(arguments, &g), 0);
}

static void fill(struct random *r, void *to, size_t size)
{
	uint8_t *bytes = to;

	while (size--)
		*bytes++ = (uint8_t)random_next(r);
}

static void vectors_are_added_to_their_end(void **state)
{
	int32_t to[11] = { 0 }, a[11], b[11], i;
	const uint64_t arguments[] = { VALUE(to), VALUE(a), VALUE(b), 10 };

	(void)state;
	for (i = 0; i < 11; i++) {
		a[i] = i * 100;
		b[i] = -i;
	}
	run(vector_add, arguments, 3, 1, 4);
	for (i = 0; i < 10; i++)
		assert_int_equal(to[i], i * 99);
	assert_int_equal(to[10], 0);
}

enum { N = 6, K = 33 };

static void a_dense_layer_is_a_matrix_product(void **state)
{
	struct {
		int8_t to[8], a[K + 7], weights[N * K + 2];
		int32_t bias[N];
	} m;
	struct int8_scale scale = { 1 << 20, 31, -3, -100, 90 };
	union any_packet p = { 0 };
	int8_t want[N];
	const uint64_t arguments[] = { VALUE(m.to),   VALUE(m.a),    VALUE(m.weights),
				       VALUE(m.bias), VALUE(&scale), K };
	struct random r = { 5 };

	(void)state;
	fill(&r, &m, sizeof(m));
	p.gemm = (struct mortise_gemm){
		.header = { MORTISE_OP_GEMM, 0, 0, 0 },
		.to = VALUE(m.to),
		.a = VALUE(m.a),
		.b = VALUE(m.weights),
		.bias = VALUE(m.bias),
		.m = 1,
		.n = N,
		.k = K,
		.a_stride = K,
		.b_stride = K,
		.to_stride = N,
		.multiplier = scale.multiplier,
		.shift = (uint32_t)scale.shift,
		.to_zero = scale.zero,
		.least = scale.least,
		.most = scale.most,
	};
	for (size_t i = 0; i < N; i++)
		m.bias[i] %= 100000;
	reference_run(&p, (uint8_t *)&m, VALUE(&m));
	memcpy(want, m.to, N);
	memset(m.to, 0, sizeof(m.to));
	run(dense_int8, arguments, N / 2, 1, 2);
	assert_memory_equal(m.to, want, N);
}

/* 5 x 4 x 2 with a kernel of 3, padded by 1 */
static void a_depthwise_convolution_is_the_sum_it_says(void **state)
{
	struct depthwise_shape s = { 5, 4, 2, 3, 1, 1, 7 };
	struct int8_scale scale = { 1 << 24, 31, 0, -128, 127 };
	int8_t to[40], a[40], weights[18];
	int32_t bias[2] = { 1000, -1000 }, y, x, c, i, j, sum, at;
	const uint64_t arguments[] = { VALUE(to),   VALUE(a),	   VALUE(weights),
				       VALUE(bias), VALUE(&scale), VALUE(&s) };
	struct random r = { 6 };

	(void)state;
	fill(&r, a, sizeof(a));
	fill(&r, weights, sizeof(weights));
	run(depthwise_int8, arguments, 4, 5, 1);
	for (at = 0; at < 40; at++) {
		y = at / 8, x = at / 2 % 4, c = at % 2;
		sum = bias[c];
		for (i = -1; i <= 1; i++)
			for (j = -1; j <= 1; j++)
				if (y + i >= 0 && y + i < 5 && x + j >= 0 && x + j < 4)
					sum += (a[((y + i) * 4 + x + j) * 2 + c] - 7) *
					       weights[((i + 1) * 3 + j + 1) * 2 + c];
		assert_int_equal(to[at], int8_scaled(&scale, sum));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_are_added_to_their_end),
		cmocka_unit_test(a_dense_layer_is_a_matrix_product),
		cmocka_unit_test(a_depthwise_convolution_is_the_sum_it_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
