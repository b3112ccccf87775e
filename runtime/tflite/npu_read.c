/* SPDX-License-Identifier: MIT */
/* Read an operator of an NPU from a model's file, without a device: payload, constants, and the places of its tensors. */
#include <inttypes.h>
#include <stdlib.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "runtime/tflite/npu_parts.h"

/* the first inputs; those of the network follow */
enum { PAYLOAD, CONSTANTS, ARENA, FAST, TENSORS };

static const char *const names[TENSORS] = { "the payload", "the constants", "the arena",
					    "the fast scratch memory" };

/* the operator that is read */
struct reader {
	const struct tflite_model *model;
	uint32_t index;
	struct tflite_operator op;
	struct tflite_tensor tensors[TENSORS];
};

static int bad(const struct reader *r, int status, const char *what, const char *how)
{
	const struct tenon_cursor *file = &r->model->tensors.file;

	return tenon_error(status, "%s: operator %" PRIu32 ": %s %s",
			   file->name ? file->name : "model", r->index, what, how);
}

/* Read the tensors that are not the network's. Those with contents have all of it, and the others none. */
static int read_memory(struct reader *r)
{
	const struct flatbuffer_vector *inputs = &r->op.inputs;
	struct tflite_tensor *t;
	int32_t index;
	uint32_t i;
	int err;

	if (inputs->count < TENSORS)
		return bad(r, -TENON_E_FORMAT, "it has fewer than four inputs;",
			   "payload, constants, arena and fast scratch memory come first");
	for (i = 0; i < TENSORS; i++) {
		index = tflite_index(inputs, i);
		t = &r->tensors[i];
		if (index < 0)
			return bad(r, -TENON_E_FORMAT, names[i], "is left out");
		err = tflite_tensor(r->model, (uint32_t)index, t);
		if (err)
			return err;
		if (t->type != TFLITE_UINT8 && t->type != TFLITE_INT8)
			return bad(r, -TENON_E_FORMAT, names[i], "is no tensor of bytes");
		if (t->data.size != (i <= CONSTANTS ? t->bytes : 0))
			return bad(r, -TENON_E_FORMAT, names[i],
				   "does not have contents of the size of its tensor");
	}
	return 0;
}

/* Find the place of a tensor of the network, which must be in the arena if its region is that. */
static int place(const struct reader *r, int32_t index, const char *what, uint32_t region,
		 struct npu_tensor *out)
{
	struct tflite_tensor t;
	int err;

	if (index < 0)
		return bad(r, -TENON_E_FORMAT, what, "is left out");
	err = tflite_tensor(r->model, (uint32_t)index, &t);
	if (err)
		return err;
	if (t.place < 0)
		return bad(r, -TENON_E_UNSUPPORTED, what,
			   "has no place in the arena: the metadata OfflineMemoryAllocation has "
			   "none for it");
	*out = (struct npu_tensor){ region, (uint64_t)t.place, t.bytes };
	if (region == NPU_ARENA && out->offset + out->bytes > r->tensors[ARENA].bytes)
		return bad(r, -TENON_E_FORMAT, what, "lies outside of the arena");
	return 0;
}

static int read_tensors(const struct reader *r, bool own, struct npu_tensor *tensors)
{
	const struct flatbuffer_vector *inputs = &r->op.inputs, *outputs = &r->op.outputs;
	uint32_t i;
	int err = 0;

	for (i = TENSORS; i < inputs->count && !err; i++)
		err = place(r, tflite_index(inputs, i), "an input", own ? NPU_INPUTS : NPU_ARENA,
			    tensors++);
	for (i = 0; i < outputs->count && !err; i++)
		err = place(r, tflite_index(outputs, i), "an output", own ? NPU_OUTPUTS : NPU_ARENA,
			    tensors++);
	return err;
}

static int append_parts(const struct reader *r, struct npu_tensor *tensors,
			struct tenon_buffer *out)
{
	struct npu_operator op = {
		.payload = r->tensors[PAYLOAD].data,
		.constants = r->tensors[CONSTANTS].data,
		.arena = r->tensors[ARENA].bytes,
		.tensors = tensors,
		.input_count = r->op.inputs.count - TENSORS,
		.output_count = r->op.outputs.count,
	};
	int err = read_tensors(r, npu_has_own_regions(op.payload), tensors);

	/* a target without such memory has the arena in its place, and no use for the region */
	if (tflite_index(&r->op.inputs, FAST) != tflite_index(&r->op.inputs, ARENA))
		op.fast = r->tensors[FAST].bytes;
	return err ? err : npu_parts(&op, out);
}

int npu_read(const struct tflite_model *m, uint32_t index, struct tenon_buffer *parts,
	     struct tenon_cursor *program)
{
	struct reader r = { .model = m, .index = index };
	struct npu_tensor *tensors;
	uint64_t at;
	int err;

	err = tflite_operator(m, index, &r.op);
	err = err ? err : read_memory(&r);
	if (err)
		return err;
	tensors = calloc(r.op.inputs.count + (size_t)r.op.outputs.count, sizeof(*tensors));
	if (!tensors)
		return tenon_error(-TENON_E_NOMEM, "no memory for the tensors of an operator");
	parts->size = 0;
	err = append_parts(&r, tensors, parts);
	free(tensors);
	if (err)
		return err;
	/* the size of the constants is behind the payload */
	at = parts->size - sizeof(uint64_t) - r.tensors[PAYLOAD].data.size;
	*program = tenon_cursor_of(parts->data, parts->size, m->tensors.file.name,
				   r.tensors[PAYLOAD].data_at - at);
	return 0;
}
