/* SPDX-License-Identifier: MIT */
/* Operators that change the shape alone. The shape of the output is in the file, so what gives it is not read. */
#include <string.h>

#include "runtime/tflite/operator.h"

static int prepare(struct operator_call *c)
{
	int err = operator_want_type(c, c->inputs[0], OPERATOR_MOVED);

	err = err ? err : operator_want_same_type(c, c->outputs[0], c->inputs[0]);
	return err ? err : operator_want_elements(c, c->outputs[0], c->inputs[0]);
}

static void run_reshape(const struct operator_call *c)
{
	memcpy(c->outputs[0]->data, c->inputs[0]->data, (size_t)c->inputs[0]->info.bytes);
}

const struct operator_kind operator_reshape = { TFLITE_RESHAPE, 1, 2, 1, prepare, run_reshape };
const struct operator_kind operator_squeeze = { TFLITE_SQUEEZE, 1, 1, 1, prepare, run_reshape };
const struct operator_kind operator_expand_dims = { TFLITE_EXPAND_DIMS, 2, 2, 1, prepare,
						    run_reshape };
