/* SPDX-License-Identifier: MIT */
/* PAD and PADV2: what is around the input is its zero point, 0, or a number that is given. */
#include <inttypes.h>
#include <string.h>

#include "runtime/tflite/operator.h"

/* Check that the output is as large as the input and what is in front of and behind it. */
static int want_output(struct operator_call *c, const int64_t *around)
{
	const struct tflite_value *in = c->inputs[0], *out = c->outputs[0];
	uint64_t shape[TFLITE_DIMENSIONS], stride = tflite_type_bits(out->info.type) / 8;
	uint32_t i;
	int err;

	for (i = 0; i < in->info.ndim; i++) {
		if (around[2 * i] < 0 || around[2 * i + 1] < 0 || around[2 * i] > INT32_MAX ||
		    around[2 * i + 1] > INT32_MAX)
			return operator_fault(c, c->inputs[1], -TENON_E_FORMAT,
					      "has %" PRId64 " and %" PRId64
					      " for dimension %" PRIu32
					      "; numbers of elements are wanted",
					      around[2 * i], around[2 * i + 1], i);
		shape[i] = in->info.shape[i] + (uint64_t)(around[2 * i] + around[2 * i + 1]);
	}
	err = operator_want_shape(c, out, in->info.ndim, shape);
	/* the output's strides, and the place of the input's first element in it */
	for (i = in->info.ndim; !err && i--;) {
		c->strides[i] = stride;
		c->offset += (uint64_t)around[2 * i] * stride;
		stride *= shape[i];
	}
	return err;
}

static int prepare(struct operator_call *c)
{
	const struct tflite_value *in = c->inputs[0];
	int64_t around[2 * TFLITE_DIMENSIONS];
	int err = operator_want_type(c, in, OPERATOR_MOVED);

	err = err ? err : operator_want_same_type(c, c->outputs[0], in);
	err = err ? err : operator_want_same_scale(c, c->outputs[0], in);
	err = err ? err : operator_want_numbers(c, c->inputs[1], 2u * in->info.ndim, around);
	if (!err && in->info.scales.count)
		err = operator_want_scale(c, in);
	return err ? err : want_output(c, around);
}

static int prepare_with(struct operator_call *c)
{
	const struct tflite_value *with = c->inputs[2];
	int err = operator_want_same_type(c, with, c->inputs[0]);

	err = err ? err : operator_want_same_scale(c, with, c->inputs[0]);
	if (!err && with->elements != 1)
		err = operator_fault(c, with, -TENON_E_FORMAT, "has %" PRIu64 " elements, want one",
				     with->elements);
	return err ? err : prepare(c);
}

/* Fill the output with one element of @size bytes. */
static void fill(const struct tflite_value *out, const void *element, size_t size)
{
	uint64_t i;

	for (i = 0; i < out->info.bytes; i += size)
		memcpy(out->data + i, element, size);
}

/* Copy the input row by row: the last dimension lies in one piece. */
static void copy_rows(const struct operator_call *c)
{
	const struct tflite_value *in = c->inputs[0];
	const uint32_t last = in->info.ndim ? in->info.ndim - 1u : 0;
	const size_t row = (size_t)(in->info.ndim ? in->info.shape[last] : 1) *
			   (tflite_type_bits(in->info.type) / 8);
	uint32_t index[TFLITE_DIMENSIONS] = { 0 }, i;
	const char *from = in->data;
	uint64_t to = c->offset, k;

	for (k = 0; row && k < in->info.bytes / row; k++) {
		memcpy(c->outputs[0]->data + to, from, row);
		from += row;
		for (i = last; i--;) {
			to += c->strides[i];
			if (++index[i] < in->info.shape[i])
				break;
			to -= c->strides[i] * index[i];
			index[i] = 0;
		}
	}
}

static void run_pad(const struct operator_call *c)
{
	const struct tflite_value *out = c->outputs[0];
	const bool quantised = (OPERATOR_QUANTISED >> out->info.type & 1) && out->info.scales.count;
	const int16_t zero = quantised ? (int16_t)operator_zero_point(out) : 0;
	const size_t size = tflite_type_bits(out->info.type) / 8;
	char element[sizeof(int64_t)] = { 0 };

	memcpy(element, &(int8_t){ (int8_t)zero }, 1);
	if (size == sizeof(zero))
		memcpy(element, &zero, sizeof(zero));
	fill(out, element, size);
	copy_rows(c);
}

static void run_with(const struct operator_call *c)
{
	fill(c->outputs[0], c->inputs[2]->data, tflite_type_bits(c->outputs[0]->info.type) / 8);
	copy_rows(c);
}

const struct operator_kind operator_pad = { TFLITE_PAD, 2, 2, 1, prepare, run_pad };
const struct operator_kind operator_pad_with = { TFLITE_PADV2, 3, 3, 1, prepare_with, run_with };
