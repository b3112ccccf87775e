/* SPDX-License-Identifier: MIT */
/* DEQUANTIZE: bytes to float32. */
#include "runtime/tflite/operator.h"

static int prepare(struct operator_call *c)
{
	int err = operator_want_type(c, c->inputs[0], OPERATOR_QUANTISED);

	err = err ? err : operator_want_scale(c, c->inputs[0]);
	err = err ? err : operator_want_type(c, c->outputs[0], 1u << TFLITE_FLOAT32);
	return err ? err : operator_want_elements(c, c->outputs[0], c->inputs[0]);
}

/* The product is computed in double precision, and rounded once. */
static void run_dequantize(const struct operator_call *c)
{
	const struct tflite_value *in = c->inputs[0];
	const double scale = (double)tflite_scale(&in->info, 0);
	const int32_t zero = operator_zero_point(in);
	float *out = (float *)(void *)c->outputs[0]->data;
	uint64_t i;

	for (i = 0; i < in->elements; i++)
		out[i] = (float)(scale * (operator_load(in, i) - zero));
}

const struct operator_kind operator_dequantize = { TFLITE_DEQUANTIZE, 1, 1, 1, prepare,
						   run_dequantize };
