/* SPDX-License-Identifier: MIT */
/* SOFTMAX of bytes, over the last dimension, in fixed point. */
#include <string.h>

#include "runtime/tflite/operator.h"

#define BETA 0 /* the field */

/* integer bits of differences, and of sums of their exponentials */
#define DIFFERENCE 5
#define SUM	   12

static double smaller(double a, double b)
{
	/* a NaN stays NaN, and is refused */
	return b < a ? b : a;
}

static int prepare_scale(struct operator_call *c)
{
	const double largest = (double)INT32_MAX;
	uint64_t bits;
	uint32_t word;
	double factor;
	float beta;
	int err = operator_option(c, BETA, 4, 0, &bits);

	if (err)
		return err;
	word = (uint32_t)bits;
	memcpy(&beta, &word, sizeof(beta));
	factor = smaller((double)beta * (double)tflite_scale(&c->inputs[0]->info, 0) *
				 (double)(1 << (31 - DIFFERENCE)),
			 largest);
	/*
	 * a factor above 1 keeps differences within the radius in 32 bits; the reference kernels
	 * scale smaller ones in another way
	 */
	if (!(factor > 1) || !fixed_scale_of(factor, &c->scale))
		return operator_fault(
			c, c->inputs[0], -TENON_E_UNSUPPORTED,
			"has a scale that makes %g with beta %g; this is out of range", factor,
			(double)beta);
	c->radius = fixed_input_radius(DIFFERENCE, c->scale.shift);
	return 0;
}

static int want_output(const struct operator_call *c)
{
	const struct tflite_value *out = c->outputs[0];
	const int32_t zero = out->info.type == TFLITE_INT8 ? INT8_MIN : 0;
	int err = operator_want_same_type(c, out, c->inputs[0]);

	err = err ? err : operator_want_elements(c, out, c->inputs[0]);
	err = err ? err : operator_want_scale(c, out);
	if (err)
		return err;
	if (tflite_scale(&out->info, 0) != 1.0F / 256 || operator_zero_point(out) != zero)
		return operator_fault(c, out, -TENON_E_FORMAT,
				      "has another scale than 1/256, or another zero point than %d",
				      (int)zero);
	return 0;
}

static int prepare(struct operator_call *c)
{
	const struct tflite_value *in = c->inputs[0];
	int err = operator_want_type(c, in, OPERATOR_BYTES);

	err = err ? err : operator_want_scale(c, in);
	err = err ? err : want_output(c);
	if (err)
		return err;
	if (!in->info.ndim)
		return operator_fault(c, in, -TENON_E_FORMAT, "has no dimensions");
	c->blocks.size = in->info.shape[in->info.ndim - 1];
	c->blocks.count = c->blocks.size ? in->elements / c->blocks.size : 0;
	return prepare_scale(c);
}

/* e^difference, of a difference from the largest element that is in the radius; 0 bits of integer */
static int32_t exponential(const struct operator_call *c, int32_t difference)
{
	const uint32_t shifted = (uint32_t)difference << c->scale.shift;

	return fixed_exp(fixed_multiply((int32_t)shifted, c->scale.multiplier), DIFFERENCE);
}

static int32_t largest_of(const struct tflite_value *in, uint64_t at, uint64_t count)
{
	int32_t largest = operator_load(in, at);
	uint64_t i;

	for (i = 1; i < count; i++)
		if (operator_load(in, at + i) > largest)
			largest = operator_load(in, at + i);
	return largest;
}

/* Sums of more than 2^12 are taken for this: probabilities are 0 long before. */
static int32_t sum_of(const struct operator_call *c, uint64_t at, int32_t largest)
{
	int64_t sum = 0;
	int32_t difference;
	uint64_t i;

	for (i = 0; i < c->blocks.size; i++) {
		difference = operator_load(c->inputs[0], at + i) - largest;
		if (difference >= -c->radius)
			sum += fixed_shift_right(exponential(c, difference), SUM);
	}
	return sum > INT32_MAX ? INT32_MAX : (int32_t)sum;
}

static void run_row(const struct operator_call *c, uint64_t at)
{
	const struct tflite_value *in = c->inputs[0], *out = c->outputs[0];
	const int32_t largest = largest_of(in, at, c->blocks.size);
	const int32_t sum = sum_of(c, at, largest);
	const int zeros = __builtin_clz((unsigned int)sum);
	const int32_t part = (int32_t)(((uint32_t)sum << zeros) - (UINT32_C(1) << 31));
	const int32_t reciprocal = fixed_one_over_one_plus(part);
	int32_t least, most, difference, x;
	uint64_t i;

	operator_range(out->info.type, &least, &most);
	for (i = 0; i < c->blocks.size; i++) {
		difference = operator_load(in, at + i) - largest;
		x = 0;
		if (difference >= -c->radius)
			x = fixed_shift_right(
				fixed_multiply(reciprocal, exponential(c, difference)),
				SUM - zeros + 31 - 8);
		operator_store(out, at + i, operator_clamp((int64_t)x + least, least, most));
	}
}

static void run_softmax(const struct operator_call *c)
{
	uint64_t i;

	for (i = 0; i < c->blocks.count; i++)
		run_row(c, i * c->blocks.size);
}

const struct operator_kind operator_softmax = { TFLITE_SOFTMAX, 1, 1, 1, prepare, run_softmax };
