/* SPDX-License-Identifier: MIT */
/* TRANSPOSE and SLICE: the output's elements in order, from places in the input. */
#include <inttypes.h>
#include <string.h>

#include "runtime/tflite/operator.h"

static void input_strides(const struct tflite_value *in, uint64_t strides[TFLITE_DIMENSIONS])
{
	uint64_t stride = tflite_type_bits(in->info.type) / 8;
	uint32_t i;

	for (i = in->info.ndim; i--;) {
		strides[i] = stride;
		stride *= in->info.shape[i];
	}
}

static int prepare_types(struct operator_call *c)
{
	int err = operator_want_type(c, c->inputs[0], OPERATOR_MOVED);

	err = err ? err : operator_want_same_type(c, c->outputs[0], c->inputs[0]);
	return err ? err : operator_want_same_scale(c, c->outputs[0], c->inputs[0]);
}

static int prepare_transpose(struct operator_call *c)
{
	const struct tflite_value *in = c->inputs[0];
	uint64_t shape[TFLITE_DIMENSIONS], strides[TFLITE_DIMENSIONS];
	int64_t order[2 * TFLITE_DIMENSIONS];
	uint32_t i, seen = 0;
	int err = prepare_types(c);

	err = err ? err : operator_want_numbers(c, c->inputs[1], in->info.ndim, order);
	if (err)
		return err;
	input_strides(in, strides);
	for (i = 0; i < in->info.ndim; i++) {
		if (order[i] < 0)
			order[i] += in->info.ndim;
		if (order[i] < 0 || order[i] >= in->info.ndim || seen & 1u << order[i])
			return operator_fault(c, c->inputs[1], -TENON_E_FORMAT,
					      "is no order of %u dimensions", in->info.ndim);
		seen |= 1u << order[i];
		shape[i] = in->info.shape[order[i]];
		c->strides[i] = strides[order[i]];
	}
	return operator_want_shape(c, c->outputs[0], in->info.ndim, shape);
}

static int prepare_slice(struct operator_call *c)
{
	const struct tflite_value *in = c->inputs[0];
	int64_t begin[2 * TFLITE_DIMENSIONS], size[2 * TFLITE_DIMENSIONS];
	uint64_t shape[TFLITE_DIMENSIONS];
	uint32_t i;
	int err = prepare_types(c);

	err = err ? err : operator_want_numbers(c, c->inputs[1], in->info.ndim, begin);
	err = err ? err : operator_want_numbers(c, c->inputs[2], in->info.ndim, size);
	if (err)
		return err;
	input_strides(in, c->strides);
	for (i = 0; i < in->info.ndim; i++) {
		const int64_t whole = in->info.shape[i];

		/* -1 is all that follows */
		if (size[i] == -1 && begin[i] >= 0 && begin[i] <= whole)
			size[i] = whole - begin[i];
		if (begin[i] < 0 || begin[i] > whole || size[i] < 0 || size[i] > whole - begin[i])
			return operator_fault(c, c->inputs[1], -TENON_E_FORMAT,
					      "and the size select %" PRId64
					      " elements from %" PRId64 " on of dimension %" PRIu32
					      ", which has %" PRId64,
					      size[i], begin[i], i, whole);
		shape[i] = (uint64_t)size[i];
		c->offset += (uint64_t)begin[i] * c->strides[i];
	}
	return operator_want_shape(c, c->outputs[0], in->info.ndim, shape);
}

static void run_transpose(const struct operator_call *c)
{
	const struct tflite_value *out = c->outputs[0];
	const size_t size = tflite_type_bits(out->info.type) / 8;
	uint32_t index[TFLITE_DIMENSIONS] = { 0 }, i;
	uint64_t from = c->offset, k;

	for (k = 0; k < out->elements; k++) {
		memcpy(out->data + k * size, c->inputs[0]->data + from, size);
		for (i = out->info.ndim; i--;) {
			from += c->strides[i];
			if (++index[i] < out->info.shape[i])
				break;
			from -= c->strides[i] * index[i];
			index[i] = 0;
		}
	}
}

const struct operator_kind operator_transpose = { TFLITE_TRANSPOSE, 2, 2, 1, prepare_transpose,
						  run_transpose };
const struct operator_kind operator_slice = { TFLITE_SLICE, 3, 3, 1, prepare_slice, run_transpose };
