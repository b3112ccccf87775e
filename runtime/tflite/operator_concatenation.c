/* SPDX-License-Identifier: MIT */
/* CONCATENATION: copy rows of each input behind one another. */
#include <inttypes.h>
#include <string.h>

#include "runtime/tflite/operator.h"

enum { AXIS, ACTIVATION };

/* Check that an input differs from the output in one dimension alone, and count its extent there. */
static int add_input(const struct operator_call *c, const struct tflite_value *v, uint32_t axis,
		     uint64_t *extent)
{
	const struct tflite_value *out = c->outputs[0];
	uint64_t shape[TFLITE_DIMENSIONS];
	uint32_t i;
	int err = operator_want_same_type(c, v, out);

	err = err ? err : operator_want_same_scale(c, v, out);
	if (err)
		return err;
	for (i = 0; i < out->info.ndim; i++)
		shape[i] = out->info.shape[i];
	if (axis < v->info.ndim)
		shape[axis] = v->info.shape[axis];
	*extent += shape[axis];
	return operator_want_shape(c, v, out->info.ndim, shape);
}

static int read_axis(const struct operator_call *c, uint32_t *axis)
{
	const uint32_t ndim = c->outputs[0]->info.ndim;
	uint64_t word, activation;
	int64_t given;
	int err = operator_option(c, AXIS, 4, 0, &word);

	err = err ? err : operator_option(c, ACTIVATION, 1, 0, &activation);
	if (err)
		return err;
	if (activation)
		return operator_fault(c, NULL, -TENON_E_UNSUPPORTED,
				      "has activation %" PRIu64 "; none is supported", activation);
	given = (int32_t)word;
	if (given < 0)
		given += ndim;
	if (given < 0 || given >= ndim)
		return operator_fault(c, NULL, -TENON_E_FORMAT,
				      "has axis %" PRId32 "; its output has %" PRIu32 " dimensions",
				      (int32_t)word, ndim);
	*axis = (uint32_t)given;
	return 0;
}

static int prepare(struct operator_call *c)
{
	const struct tflite_value *out = c->outputs[0];
	uint64_t extent = 0;
	uint32_t i, axis = 0;
	int err = operator_want_type(c, out, OPERATOR_MOVED);

	err = err ? err : read_axis(c, &axis);
	for (i = 0; i < c->input_count && !err; i++)
		err = add_input(c, c->inputs[i], axis, &extent);
	if (err)
		return err;
	if (extent != out->info.shape[axis])
		return operator_fault(c, out, -TENON_E_FORMAT,
				      "has extent %" PRIu32 " in dimension %" PRIu32
				      ", and its inputs together %" PRIu64,
				      out->info.shape[axis], axis, extent);
	c->blocks.count = 1;
	for (i = 0; i < axis; i++)
		c->blocks.count *= out->info.shape[i];
	return 0;
}

static void run_concatenation(const struct operator_call *c)
{
	const struct tflite_value *out = c->outputs[0], *v;
	const size_t row = c->blocks.count ? (size_t)(out->info.bytes / c->blocks.count) : 0;
	char *to = out->data;
	uint64_t block;
	size_t size;
	uint32_t i;

	/* inputs outside: one that is empty costs no walk over the blocks */
	for (i = 0; i < c->input_count; i++) {
		v = c->inputs[i];
		if (!row || !v->info.bytes)
			continue;
		size = (size_t)(v->info.bytes / c->blocks.count);
		for (block = 0; block < c->blocks.count; block++)
			memcpy(to + block * row, v->data + block * size, size);
		to += size;
	}
}

const struct operator_kind operator_concatenation = {
	TFLITE_CONCATENATION, 1, UINT32_MAX, 1, prepare, run_concatenation
};
