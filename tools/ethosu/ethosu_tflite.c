/* SPDX-License-Identifier: MIT */
/* Find the payload and regions among the inputs of a custom operator. */
#include "tools/ethosu/ethosu_tflite.h"

#include <inttypes.h>
#include <string.h>
#include <tenon/string.h>

#define NAME "ethos-u"

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
	struct ethosu_container *out;
};

bool ethosu_tflite_is(const struct tflite_operator *op)
{
	return op->builtin == TFLITE_CUSTOM && tenon_slice_equal(op->custom, tenon_slice_of(NAME));
}

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

/* Find where a tensor of the network ends in its region. */
static int place(const struct reader *r, int32_t index, const char *what, uint64_t *end)
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
	*end = (uint64_t)t.place + t.bytes;
	return 0;
}

/* Lay the tensors of a role into their region: the arena, which has a size, or one that they are all of. */
static int lay(const struct reader *r, const struct flatbuffer_vector *list, uint32_t from,
	       const char *what, unsigned int region)
{
	uint64_t end, *size = &r->out->sizes[region];
	uint32_t i;
	int err;

	for (i = from; i < list->count; i++) {
		err = place(r, tflite_index(list, i), what, &end);
		if (err)
			return err;
		if (region == 1 && end > *size)
			return bad(r, -TENON_E_FORMAT, what, "lies outside of the arena");
		if (end > *size)
			*size = end;
	}
	return 0;
}

static int read_regions(struct reader *r)
{
	const bool local = r->out->payload.local;
	int err;

	r->out->constants = r->tensors[CONSTANTS].data;
	r->out->sizes[0] = r->tensors[CONSTANTS].bytes;
	r->out->sizes[1] = r->tensors[ARENA].bytes;
	/* a target without such memory has the arena in its place, and no use for the region */
	if (tflite_index(&r->op.inputs, FAST) != tflite_index(&r->op.inputs, ARENA))
		r->out->sizes[2] = r->tensors[FAST].bytes;
	err = lay(r, &r->op.inputs, TENSORS, "an input", local ? 3 : 1);
	return err ? err : lay(r, &r->op.outputs, 0, "an output", local ? 4 : 1);
}

int ethosu_tflite_read(const struct tflite_model *m, uint32_t index, struct ethosu_container *out)
{
	struct reader r = { .model = m, .index = index, .out = out };
	const struct tflite_tensor *p = &r.tensors[PAYLOAD];
	struct tenon_cursor c;
	int err;

	memset(out, 0, sizeof(*out));
	err = tflite_operator(m, index, &r.op);
	err = err ? err : read_memory(&r);
	if (err)
		return err;
	c = tenon_cursor_of(p->data.data, p->data.size, m->tensors.file.name, p->data_at);
	err = ethosu_payload_read(&c, &out->payload);
	return err ? err : read_regions(&r);
}
