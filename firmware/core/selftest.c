/* SPDX-License-Identifier: MIT */
/* What the device can try by itself: each built-in operation, and memory. */
#include "firmware/core/mortise.h"

static bool vector_works(void)
{
	static const int8_t a[4] = { 100, -100, 7, -7 }, b[4] = { 100, -100, -3, 3 };
	static const int8_t want[MORTISE_VECTOR_COUNT][4] = {
		[MORTISE_VECTOR_ADD] = { 127, -128, 4, -4 },
		[MORTISE_VECTOR_SUB] = { 0, 0, 10, -10 },
		[MORTISE_VECTOR_MUL] = { 127, 127, -21, -21 },
		[MORTISE_VECTOR_MAX] = { 100, -100, 7, 3 },
		[MORTISE_VECTOR_MIN] = { 100, -100, -3, -7 },
	};
	struct mortise_vector p = { .count = 4, .type = MORTISE_INT8 };
	int8_t to[4];
	uint32_t i;

	for (p.operation = 0; p.operation < MORTISE_VECTOR_COUNT; p.operation++) {
		mortise_elements(&p, to, a, b);
		for (i = 0; i < 4; i++)
			if (to[i] != want[p.operation][i])
				return false;
	}
	return true;
}

static bool gemm_works(void)
{
	static const int8_t a[3] = { 1, -2, 127 }, b[6] = { 3, 4, 5, -128, 0, 1 };
	static const int32_t bias[2] = { 10, -1 };
	struct mortise_gemm p = {
		.m = 1, .n = 2, .k = 3, .a_stride = 3, .b_stride = 3, .a_zero = 1
	};
	int32_t sums[2];
	int8_t scaled[2];

	mortise_gemm_row(&p, sums, a, b, bias);
	p.multiplier = 3;
	p.shift = 2;
	p.least = -100;
	p.most = 100;
	mortise_gemm_row(&p, scaled, a, b, bias);
	/* 0 * 3 + -3 * 4 + 126 * 5 + 10, and 0 * -128 + 0 + 126 - 1; times 3/4: 471 and 93.75 */
	return sums[0] == 628 && sums[1] == 125 && scaled[0] == 100 && scaled[1] == 94;
}

static bool copy_works(void)
{
	uint8_t bytes[24];
	uint32_t i, error = 0;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	mortise_move(bytes + 1, bytes, 20);
	for (i = 0; i < 20; i++)
		error |= bytes[i + 1] ^ i;
	mortise_repeat(bytes, 24, 0x1234, 2);
	for (i = 0; i < 24; i++)
		error |= bytes[i] ^ (i % 2 ? 0x12U : 0x34U);
	return !error;
}

/* a number that has each bit at some place, and differs between places */
static uint64_t pattern_at(uint64_t i)
{
	return i * 0x9e3779b97f4a7c15U + 1;
}

static bool memory_works(volatile uint64_t *at, uint64_t count)
{
	uint64_t error = 0, i;

	for (i = 0; i < count; i++)
		at[i] = pattern_at(i);
	for (i = 0; i < count; i++)
		error |= at[i] ^ pattern_at(i);
	for (i = 0; i < count; i++)
		at[i] = ~pattern_at(i);
	for (i = 0; i < count; i++)
		error |= at[i] ^ ~pattern_at(i);
	return !error;
}

enum mortise_end mortise_run_selftest(struct mortise *m, const void *packet)
{
	const struct mortise_selftest *p = packet;
	uint64_t *at = mortise_range(m, p->address, p->size, MORTISE_READ | MORTISE_WRITE, 8);

	if (!at)
		return MORTISE_FAILED;
	if (p->size % 8)
		return mortise_bad_field(m, offsetof(struct mortise_selftest, size));
	if (!vector_works())
		return mortise_fault(m, MORTISE_FAULT_SELFTEST, 0, 1);
	if (!gemm_works())
		return mortise_fault(m, MORTISE_FAULT_SELFTEST, 0, 2);
	if (!copy_works())
		return mortise_fault(m, MORTISE_FAULT_SELFTEST, 0, 3);
	if (!memory_works(at, p->size / 8))
		return mortise_fault(m, MORTISE_FAULT_SELFTEST, p->address, 4);
	return mortise_go_on(m);
}
