/* SPDX-License-Identifier: MIT */
/* Read an operator of an NPU from a model's file, without a device: payload, constants, and the places of its tensors. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/tflite/npu_parts.h"

/* the first inputs; those of the network follow */
enum { PAYLOAD, CONSTANTS, ARENA, FAST };

static const char *const memories[NPU_MEMORIES] = { "payload", "constants", "arena",
						    "fast scratch memory" };

#define FAULT_TEXT 256

/* the operator that is read, and the tensor that a message is about */
struct reader {
	const struct tflite_model *model;
	uint32_t index;
	struct tflite_operator op;
	struct tflite_tensor t;
	int32_t number; /* of @t */
	struct npu_operator *out;
};

static TENON_PRINTF(3, 4) int bad(const struct reader *r, int status, const char *format, ...)
{
	const struct tenon_cursor *file = &r->model->tensors.file;
	const struct tenon_slice name = tflite_operator_name(&r->op);
	char text[FAULT_TEXT], tensor[FAULT_TEXT] = "";
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (r->number >= 0)
		snprintf(tensor, sizeof(tensor), ": tensor %" PRId32 " (\"%.*s\")", r->number,
			 (int)r->t.name.size, r->t.name.data);
	return tenon_error(status, "%s%soperator %" PRIu32 " (%.*s)%s %s",
			   file->name ? file->name : "", file->name ? ": " : "", r->index,
			   (int)name.size, name.data, tensor, text);
}

/* Read a tensor; messages are about it. False where it is left out. */
static bool has_tensor(struct reader *r, const struct flatbuffer_vector *list, uint32_t i)
{
	r->number = tflite_index(list, i);
	/* tflite_read() has read all tensors before */
	return r->number >= 0 && !tflite_tensor(r->model, (uint32_t)r->number, &r->t);
}

/* Read the tensors that are not the network's. Those with contents have all of it, and the others none. */
static int read_memory(struct reader *r)
{
	const struct flatbuffer_vector *inputs = &r->op.inputs, *outputs = &r->op.outputs;
	uint64_t bytes[NPU_MEMORIES];
	uint32_t i;

	/* a network may have no input, as one that only sets the first values of variables */
	if (inputs->count < NPU_MEMORIES || !outputs->count)
		return bad(r, -TENON_E_FORMAT,
			   "has %" PRIu64 " inputs and %" PRIu64
			   " outputs; payload, constants, arena and fast scratch memory "
			   "come before the inputs of the network, which has at least one output",
			   (uint64_t)inputs->count, (uint64_t)outputs->count);
	for (i = 0; i < NPU_MEMORIES; i++) {
		if (!has_tensor(r, inputs, i))
			return bad(r, -TENON_E_FORMAT, "has no %s", memories[i]);
		if (r->t.type != TFLITE_UINT8 && r->t.type != TFLITE_INT8)
			return bad(r, -TENON_E_UNSUPPORTED, "is its %s, and no tensor of bytes",
				   memories[i]);
		bytes[i] = r->t.bytes;
		if (r->t.data.size != (i <= CONSTANTS ? bytes[i] : 0))
			return bad(r, -TENON_E_FORMAT,
				   "is its %s, and has %zu bytes of contents for %" PRIu64,
				   memories[i], r->t.data.size, bytes[i]);
		if (i == PAYLOAD) {
			r->out->payload = r->t.data;
			r->out->payload_at = r->t.data_at;
		} else if (i == CONSTANTS) {
			r->out->constants = r->t.data;
		}
	}
	r->out->arena = bytes[ARENA];
	/* a target without such memory has the arena in its place, and no use for the region */
	r->out->fast = tflite_index(inputs, FAST) == tflite_index(inputs, ARENA) ? 0 : bytes[FAST];
	return 0;
}

/* Find the place of a tensor of the network, which must be in the arena if its region is that. */
static int place(struct reader *r, const struct flatbuffer_vector *list, uint32_t i,
		 uint32_t region, struct npu_tensor *out)
{
	const uint64_t arena = r->out->arena;

	if (!has_tensor(r, list, i))
		return bad(r, -TENON_E_FORMAT, "leaves an input of its network out");
	if (!r->t.bytes)
		return bad(r, -TENON_E_UNSUPPORTED, "is empty, or has no size");
	if (r->t.place < 0)
		return bad(r, -TENON_E_UNSUPPORTED,
			   "has no place in the arena: the metadata OfflineMemoryAllocation has "
			   "none for it");
	*out = (struct npu_tensor){ region, (uint64_t)r->t.place, r->t.bytes };
	if (region == NPU_ARENA && (out->bytes > arena || out->offset > arena - out->bytes))
		return bad(r, -TENON_E_FORMAT,
			   "has %" PRIu64 " bytes at %" PRIu64 " of the arena, which has %" PRIu64,
			   out->bytes, out->offset, arena);
	return 0;
}

static int by_offset(const void *a, const void *b)
{
	const struct npu_tensor *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Inputs do not overlap each other, nor do outputs; an output may be in the place of an input. */
static int check_overlap(struct reader *r, const struct npu_tensor *tensors, size_t count,
			 struct npu_tensor *sorted, const char *what)
{
	size_t i;

	memcpy(sorted, tensors, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), by_offset);
	r->number = TFLITE_NO_TENSOR;
	for (i = 1; i < count; i++)
		if (sorted[i].offset - sorted[i - 1].offset < sorted[i - 1].bytes)
			return bad(r, -TENON_E_FORMAT,
				   "has %s that overlap, at %" PRIu64 " and %" PRIu64
				   " of their memory",
				   what, sorted[i - 1].offset, sorted[i].offset);
	return 0;
}

static int read_tensors(struct reader *r)
{
	const struct flatbuffer_vector *inputs = &r->op.inputs, *outputs = &r->op.outputs;
	const bool own = npu_has_own_regions(r->out->payload);
	const size_t in = inputs->count - NPU_MEMORIES, out = outputs->count;
	struct npu_tensor *t = heap_zeroed(2 * (in + out), sizeof(*t), "tensors of the NPU");
	uint32_t i;
	int err = 0;

	r->out->tensors = t;
	if (!t)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu tensors", in + out);
	r->out->input_count = in;
	r->out->output_count = out;
	for (i = 0; i < in && !err; i++)
		err = place(r, inputs, NPU_MEMORIES + i, own ? NPU_INPUTS : NPU_ARENA, t + i);
	for (i = 0; i < out && !err; i++)
		err = place(r, outputs, i, own ? NPU_OUTPUTS : NPU_ARENA, t + in + i);
	err = err ? err : check_overlap(r, t, in, t + in + out, "inputs");
	return err ? err : check_overlap(r, t + in, out, t + in + out, "outputs");
}

int npu_operator_read(const struct tflite_model *m, uint32_t index, struct npu_operator *out)
{
	struct reader r = { .model = m, .index = index, .number = TFLITE_NO_TENSOR, .out = out };
	int err;

	*out = (struct npu_operator){ .tensors = NULL };
	err = tflite_operator(m, index, &r.op);
	err = err ? err : read_memory(&r);
	return err ? err : read_tensors(&r);
}

int npu_read(const struct tflite_model *m, uint32_t index, struct tenon_buffer *parts,
	     struct tenon_cursor *program)
{
	struct npu_operator op;
	uint64_t at;
	int err = npu_operator_read(m, index, &op);

	parts->size = 0;
	if (!err)
		err = npu_parts(&op, parts);
	heap_free(op.tensors);
	if (err)
		return err;
	/* the size of the constants is behind the payload */
	at = parts->size - sizeof(uint64_t) - op.payload.size;
	*program =
		tenon_cursor_of(parts->data, parts->size, m->tensors.file.name, op.payload_at - at);
	return 0;
}
