/* SPDX-License-Identifier: MIT */
/* The operators that run on the processor, a line each. */
#include <stddef.h>

#include "runtime/tflite/operator.h"

static const struct operator_kind *const kinds[] = {
	&operator_assign_variable,
	&operator_call_once,
	&operator_concatenation,
	&operator_dequantize,
	&operator_expand_dims,
	&operator_logistic,
	&operator_pad,
	&operator_pad_with,
	&operator_quantize,
	&operator_read_variable,
	&operator_reshape,
	&operator_sin,
	&operator_slice,
	&operator_softmax,
	&operator_squeeze,
	&operator_transpose,
	&operator_var_handle,
};

const struct operator_kind *operator_find(uint32_t builtin)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i]->builtin == builtin)
			return kinds[i];
	return NULL;
}
