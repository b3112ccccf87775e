/* SPDX-License-Identifier: MIT */
/* LOGISTIC of int8, in fixed point. */
#include "runtime/tflite/operator.h"

/* integer bits of inputs; the output has 8 bits of fraction */
#define INPUT  4
#define OUTPUT 8

static int prepare(struct operator_call *c)
{
	const struct tflite_value *in = c->inputs[0], *out = c->outputs[0];
	int err = operator_want_type(c, in, 1u << TFLITE_INT8);

	err = err ? err : operator_want_same_type(c, out, in);
	err = err ? err : operator_want_elements(c, out, in);
	err = err ? err : operator_want_scale(c, in);
	err = err ? err : operator_want_scale(c, out);
	if (err)
		return err;
	if (tflite_scale(&out->info, 0) != 1.0F / 256 || operator_zero_point(out) != INT8_MIN)
		return operator_fault(
			c, out, -TENON_E_FORMAT,
			"has another scale than 1/256, or another zero point than -128");
	if (!fixed_scale_of((double)tflite_scale(&in->info, 0) * (double)(1 << (31 - INPUT)),
			    &c->scale))
		return operator_fault(c, in, -TENON_E_UNSUPPORTED, "has a scale of 16 or more");
	c->radius = fixed_input_radius(INPUT, c->scale.shift);
	return 0;
}

static int32_t logistic(const struct operator_call *c, int32_t x)
{
	const int32_t scaled = fixed_scale_apply(x, &c->scale);

	return fixed_shift_right(fixed_logistic(scaled, INPUT), 31 - OUTPUT);
}

static void run(const struct operator_call *c)
{
	const struct tflite_value *in = c->inputs[0];
	const int32_t zero = operator_zero_point(in);
	int32_t x, y;
	uint64_t i;

	for (i = 0; i < in->elements; i++) {
		x = operator_load(in, i) - zero;
		if (x <= -c->radius)
			y = 0;
		else if (x >= c->radius)
			y = UINT8_MAX;
		else
			y = logistic(c, x);
		operator_store(c->outputs[0], i, operator_clamp(y + INT8_MIN, INT8_MIN, INT8_MAX));
	}
}

const struct operator_kind operator_logistic = { TFLITE_LOGISTIC, 1, 1, 1, prepare, run };
