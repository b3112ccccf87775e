/* SPDX-License-Identifier: MIT */
/* Multiply matrices of int8, add the bias, and scale the results. */
#include "firmware/core/mortise.h"

/* Sums wrap at 32 bits: the host chooses k so that they do not. */
static int32_t dot(const struct mortise_gemm *p, const int8_t *a, const int8_t *b)
{
	uint32_t sum = 0, k;

	for (k = 0; k < p->k; k++)
		sum += (uint32_t)((a[k] - p->a_zero) * (b[k] - p->b_zero));
	return (int32_t)sum;
}

/* Scale a sum as fixed point arithmetic does, rounding half up. The product needs 63 bits at most. */
static int32_t scale(const struct mortise_gemm *p, int32_t sum)
{
	int64_t scaled = (int64_t)sum * p->multiplier;

	scaled = (scaled + ((int64_t)1 << (p->shift - 1))) >> p->shift;
	scaled += p->to_zero;
	if (scaled < p->least)
		return p->least;
	return (int32_t)(scaled > p->most ? p->most : scaled);
}

/* One row of the result. */
void mortise_gemm_row(const struct mortise_gemm *p, void *to, const int8_t *a, const int8_t *b,
		      const int32_t *bias)
{
	uint32_t n;

	for (n = 0; n < p->n; n++) {
		uint32_t sum = (uint32_t)dot(p, a, b + (size_t)n * p->b_stride);

		if (bias)
			sum += (uint32_t)bias[n];
		if (p->multiplier)
			((int8_t *)to)[n] = (int8_t)scale(p, (int32_t)sum);
		else
			((int32_t *)to)[n] = (int32_t)sum;
	}
}

static bool is_int8(int32_t value)
{
	return value >= -128 && value <= 127;
}

#define BAD(field) mortise_bad_field(m, offsetof(struct mortise_gemm, field))

static enum mortise_end check_scaling(struct mortise *m, const struct mortise_gemm *p)
{
	if (!p->multiplier)
		return MORTISE_DONE;
	if (p->shift < 1 || p->shift > 62)
		return BAD(shift);
	if (!is_int8(p->to_zero))
		return BAD(to_zero);
	if (!is_int8(p->least))
		return BAD(least);
	if (!is_int8(p->most) || p->most < p->least)
		return BAD(most);
	return MORTISE_DONE;
}

static enum mortise_end check_fields(struct mortise *m, const struct mortise_gemm *p, uint32_t size)
{
	if (!p->m)
		return BAD(m);
	if (!p->n)
		return BAD(n);
	if (!p->k)
		return BAD(k);
	if (p->a_stride < p->k)
		return BAD(a_stride);
	if (p->b_stride < p->k)
		return BAD(b_stride);
	if (p->to_stride / size < p->n || p->to_stride % size)
		return BAD(to_stride);
	if (!is_int8(p->a_zero))
		return BAD(a_zero);
	if (!is_int8(p->b_zero))
		return BAD(b_zero);
	if (p->reserved)
		return BAD(reserved);
	return check_scaling(m, p);
}

enum mortise_end mortise_run_gemm(struct mortise *m, const void *packet)
{
	const struct mortise_gemm *p = packet;
	uint32_t size = p->multiplier ? 1 : 4, row;
	enum mortise_end end = MORTISE_DONE;
	const int32_t *bias = NULL;
	const int8_t *a, *b;
	uint8_t *to;

	if (check_fields(m, p, size) != MORTISE_DONE)
		return MORTISE_FAILED;
	to = mortise_rows(m, p->to, p->m, p->to_stride, (uint64_t)p->n * size, MORTISE_WRITE, size);
	a = to ? mortise_rows(m, p->a, p->m, p->a_stride, p->k, MORTISE_READ, 1) : NULL;
	b = a ? mortise_rows(m, p->b, p->n, p->b_stride, p->k, MORTISE_READ, 1) : NULL;
	if (!b)
		return MORTISE_FAILED;
	if (p->bias) {
		bias = mortise_range(m, p->bias, (uint64_t)p->n * 4, MORTISE_READ, 4);
		if (!bias)
			return MORTISE_FAILED;
	}
	for (row = 0; row < p->m && end == MORTISE_DONE; row++) {
		mortise_gemm_row(p, to + (size_t)row * p->to_stride, a + (size_t)row * p->a_stride,
				 b, bias);
		end = mortise_go_on(m);
	}
	return end;
}
