/* SPDX-License-Identifier: MIT */
/* QUANTIZE: of float32, and of one scale to another. */
#include <math.h>

#include "runtime/tflite/operator.h"

static int prepare_scale(struct operator_call *c)
{
	const double from = (double)tflite_scale(&c->inputs[0]->info, 0);
	const double to = (double)tflite_scale(&c->outputs[0]->info, 0);

	/* the difference of an element and a zero point has 17 bits */
	if (fixed_scale_of(from / to, &c->scale) && c->scale.shift <= 31 - 17)
		return 0;
	return operator_fault(c, c->outputs[0], -TENON_E_UNSUPPORTED,
			      "has scale %g, and the input %g: they are too far apart", to, from);
}

static int prepare(struct operator_call *c)
{
	const struct tflite_value *in = c->inputs[0], *out = c->outputs[0];
	int err = operator_want_type(c, in, OPERATOR_QUANTISED | 1u << TFLITE_FLOAT32);

	err = err ? err : operator_want_type(c, out, OPERATOR_QUANTISED);
	err = err ? err : operator_want_scale(c, out);
	err = err ? err : operator_want_elements(c, out, in);
	if (err || in->info.type == TFLITE_FLOAT32)
		return err;
	err = operator_want_scale(c, in);
	return err ? err : prepare_scale(c);
}

/* Clamp to the range of the output; NaN becomes the zero point. */
static int32_t quantise(float x, float scale, int32_t zero, int32_t least, int32_t most)
{
	const float scaled = roundf(x / scale);

	if (isnan(scaled))
		return zero;
	if (scaled <= -65536.0F)
		return least;
	return scaled >= 65536.0F ? most : operator_clamp((int64_t)scaled + zero, least, most);
}

static void run_float(const struct operator_call *c, int32_t least, int32_t most)
{
	const struct tflite_value *out = c->outputs[0];
	const float *in = (const float *)(const void *)c->inputs[0]->data;
	const float scale = tflite_scale(&out->info, 0);
	const int32_t zero = operator_zero_point(out);
	uint64_t i;

	for (i = 0; i < out->elements; i++)
		operator_store(out, i, quantise(in[i], scale, zero, least, most));
}

static void run_quantize(const struct operator_call *c)
{
	const struct tflite_value *in = c->inputs[0], *out = c->outputs[0];
	int32_t least, most, from, to, x;
	uint64_t i;

	operator_range(out->info.type, &least, &most);
	if (in->info.type == TFLITE_FLOAT32) {
		run_float(c, least, most);
		return;
	}
	from = operator_zero_point(in);
	to = operator_zero_point(out);
	for (i = 0; i < in->elements; i++) {
		x = fixed_scale_apply(operator_load(in, i) - from, &c->scale);
		operator_store(out, i, operator_clamp((int64_t)x + to, least, most));
	}
}

const struct operator_kind operator_quantize = { TFLITE_QUANTIZE, 1, 1, 1, prepare, run_quantize };
