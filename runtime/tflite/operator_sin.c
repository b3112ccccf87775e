/* SPDX-License-Identifier: MIT */
/* The operator SIN, for float32. */
#include <math.h>

#include "runtime/tflite/operator.h"

static int prepare(struct operator_call *c)
{
	int err = operator_want_type(c, c->inputs[0], 1u << TFLITE_FLOAT32);

	err = err ? err : operator_want_same_type(c, c->outputs[0], c->inputs[0]);
	return err ? err : operator_want_elements(c, c->outputs[0], c->inputs[0]);
}

/* What the C library says, as in the reference kernel. */
static void run_sin(const struct operator_call *c)
{
	const float *in = (const float *)(const void *)c->inputs[0]->data;
	float *out = (float *)(void *)c->outputs[0]->data;
	uint64_t i;

	for (i = 0; i < c->inputs[0]->elements; i++)
		out[i] = sinf(in[i]);
}

const struct operator_kind operator_sin = { TFLITE_SIN, 1, 1, 1, prepare, run_sin };
