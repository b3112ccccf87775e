/* SPDX-License-Identifier: MIT */
/* LOGISTIC of int8, in single precision: LiteRT's kernels, also the reference ones, have a table made so. */
#include <math.h>

#include "runtime/tflite/operator.h"

/* the output counts 256ths from the least number on */
#define PARTS  256
#define VALUES 256

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
	if (tflite_scale(&out->info, 0) != 1.0F / PARTS || operator_zero_point(out) != INT8_MIN)
		return operator_fault(
			c, out, -TENON_E_FORMAT,
			"has another scale than 1/256, or another zero point than -128");
	return 0;
}

/* From 0 to 1, so that nothing but 1 itself has to be clamped. */
static int32_t logistic(float x)
{
	const float y = roundf(1.0F / (1.0F + expf(-x)) * PARTS);

	return operator_clamp((int64_t)y + INT8_MIN, INT8_MIN, INT8_MAX);
}

static void run_logistic(const struct operator_call *c)
{
	const struct tflite_value *in = c->inputs[0];
	const float scale = tflite_scale(&in->info, 0);
	const int32_t zero = operator_zero_point(in);
	int8_t table[VALUES];
	uint64_t i;
	int32_t x;

	for (x = 0; x < VALUES; x++)
		table[x] = (int8_t)logistic(scale * (float)(x + INT8_MIN - zero));
	for (i = 0; i < in->elements; i++)
		operator_store(c->outputs[0], i, table[operator_load(in, i) - INT8_MIN]);
}

const struct operator_kind operator_logistic = { TFLITE_LOGISTIC, 1, 1, 1, prepare, run_logistic };
