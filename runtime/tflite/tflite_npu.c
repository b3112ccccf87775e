/* SPDX-License-Identifier: MIT */
/*
 * Operators that Vela compiled for Ethos-U: their inputs are the driver payload, the constants, the arena, the fast scratch
 * memory, and then the tensors of the network, which are in the arena, or in regions of their own if the payload says so.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/executable.h>
#include <tenon/queue.h>
#include <tenon/string.h>
#include <tenon/timeline.h>

#include "lib/brief_errors.h"
#include "runtime/tflite/npu_parts.h"
#include "runtime/tflite/tflite_network.h"

#define NAME	   "ethos-u"
#define LABEL_TEXT 64

/* the first inputs; those of the network follow */
enum { PAYLOAD, CONSTANTS, ARENA, FAST, TENSORS };

static const char *const memories[TENSORS] = { "payload", "constants", "arena",
					       "fast scratch memory" };

/**
 * struct npu_network - an operator on a device
 * @parts: its program but the constants, in the form that devices take
 * @read: the program that is read from it
 * @info: its kernel, with the constants, which are in the model's file
 * @program: with that kernel
 * @executable: on the device
 * @kernel: the network
 * @tensors: arguments of a run; their data is set by each
 * @list: of all of them
 * @shapes: bytes of each, for @tensors
 */
struct npu_network {
	struct tenon_buffer parts;
	struct tenon_program *read;
	struct tenon_kernel_info info;
	struct tenon_program program;
	struct tenon_executable *executable;
	struct tenon_kernel *kernel;
	DLTensor *tensors;
	const DLTensor **list;
	int64_t *shapes;
};

bool npu_is(const struct tflite_operator *op)
{
	return op->builtin == TFLITE_CUSTOM && tenon_slice_equal(op->custom, tenon_slice_of(NAME));
}

/* ---- what the file says */

static int check_memory(const struct operator_call *c)
{
	const struct tflite_value *v;
	uint32_t i;
	int err;

	if (c->input_count <= TENSORS || !c->output_count)
		return operator_fault(c, NULL, -TENON_E_FORMAT,
				      "has %" PRIu32 " inputs and %" PRIu32
				      " outputs; payload, constants, arena and fast scratch memory "
				      "come before the network's, which has at least one of each",
				      c->input_count, c->output_count);
	for (i = 0; i < TENSORS; i++) {
		v = c->inputs[i];
		if (!v)
			return operator_fault(c, NULL, -TENON_E_FORMAT, "has no %s", memories[i]);
		err = operator_want_type(c, v, OPERATOR_BYTES);
		if (err)
			return err;
		if (v->info.data.size != (i <= CONSTANTS ? v->info.bytes : 0))
			return operator_fault(
				c, v, -TENON_E_FORMAT,
				"is its %s, and has %zu bytes of contents for %" PRIu64,
				memories[i], v->info.data.size, v->info.bytes);
	}
	return 0;
}

/* Find the place of a tensor of the network, which must be in its region. */
static int place(const struct operator_call *c, const struct tflite_value *v, uint32_t region,
		 struct npu_tensor *out)
{
	const uint64_t arena = c->inputs[ARENA]->info.bytes;

	if (!v)
		return operator_fault(c, NULL, -TENON_E_FORMAT,
				      "leaves an input of its network out");
	if (!v->info.bytes)
		return operator_fault(c, v, -TENON_E_UNSUPPORTED, "is empty, or has no size");
	if (tflite_type_bits(v->info.type) > 8 && htole16(1) != 1)
		return operator_fault(c, v, -TENON_E_UNSUPPORTED,
				      "is of type %s; NPUs are little-endian, and big-endian "
				      "machines give them elements of a byte alone",
				      tflite_type_name(v->info.type));
	if (v->info.place < 0)
		return operator_fault(c, v, -TENON_E_UNSUPPORTED,
				      "has no place in the arena: the metadata "
				      "OfflineMemoryAllocation has none for it");
	*out = (struct npu_tensor){ region, (uint64_t)v->info.place, v->info.bytes };
	if (region == NPU_ARENA && (out->bytes > arena || out->offset > arena - out->bytes))
		return operator_fault(c, v, -TENON_E_FORMAT,
				      "has %" PRIu64 " bytes at %" PRIu64
				      " of the arena, which has %" PRIu64,
				      out->bytes, out->offset, arena);
	return 0;
}

static int by_offset(const void *a, const void *b)
{
	const struct npu_tensor *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Inputs do not overlap each other, nor do outputs; an output may be in the place of an input. */
static int check_overlap(const struct operator_call *c, const struct npu_tensor *tensors,
			 size_t count, const char *what)
{
	struct npu_tensor *sorted = malloc((count + 1) * sizeof(*sorted));
	size_t i;
	int err = 0;

	if (!sorted)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu tensors", count);
	memcpy(sorted, tensors, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), by_offset);
	for (i = 1; i < count && !err; i++)
		if (sorted[i].offset - sorted[i - 1].offset < sorted[i - 1].bytes)
			err = operator_fault(c, NULL, -TENON_E_FORMAT,
					     "has %s that overlap, at %" PRIu64 " and %" PRIu64
					     " of their memory",
					     what, sorted[i - 1].offset, sorted[i].offset);
	free(sorted);
	return err;
}

static int read_operator(const struct operator_call *c, struct npu_tensor *tensors,
			 struct npu_operator *out)
{
	bool own;
	uint32_t i, count = 0;
	int err = check_memory(c);

	if (err)
		return err;
	out->payload = c->inputs[PAYLOAD]->info.data;
	out->constants = c->inputs[CONSTANTS]->info.data;
	out->arena = c->inputs[ARENA]->info.bytes;
	/* targets without such memory have the arena in its place, and no use for the region */
	out->fast = c->inputs[FAST] == c->inputs[ARENA] ? 0 : c->inputs[FAST]->info.bytes;
	out->tensors = tensors;
	own = npu_has_own_regions(out->payload);
	for (i = TENSORS; i < c->input_count && !err; i++)
		err = place(c, c->inputs[i], own ? NPU_INPUTS : NPU_ARENA, &tensors[count++]);
	out->input_count = count;
	for (i = 0; i < c->output_count && !err; i++)
		err = place(c, c->outputs[i], own ? NPU_OUTPUTS : NPU_ARENA, &tensors[count++]);
	out->output_count = count - out->input_count;
	err = err ? err : check_overlap(c, tensors, out->input_count, "inputs");
	return err ? err
		   : check_overlap(c, tensors + out->input_count, out->output_count, "outputs");
}

/* ---- on the device */

static int make_room(const struct operator_call *c, struct npu_network *npu)
{
	const size_t count = c->input_count - TENSORS + (size_t)c->output_count;
	size_t i;

	npu->tensors = calloc(count, sizeof(*npu->tensors));
	npu->list = calloc(count, sizeof(*npu->list));
	npu->shapes = calloc(count, sizeof(*npu->shapes));
	if (!npu->tensors || !npu->list || !npu->shapes)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu tensors", count);
	for (i = 0; i < count; i++) {
		const struct tflite_value *v = i < c->input_count - TENSORS
						       ? c->inputs[TENSORS + i]
						       : c->outputs[i + TENSORS - c->input_count];

		npu->shapes[i] = (int64_t)v->info.bytes;
		npu->tensors[i] = tenon_dltensor(v->data, &npu->shapes[i], 1,
						 tenon_dtype(TENON_DTYPE_UINT, 8, 1));
		npu->list[i] = &npu->tensors[i];
	}
	return 0;
}

/* Each operator has its own parts, and operators may name the same constants. */
static int charge(struct tflite_network *n, const struct operator_call *c,
		  const struct npu_operator *op)
{
	n->packed += op->payload.size + op->constants.size;
	if (__builtin_add_overflow(n->reserved, op->arena, &n->reserved) ||
	    __builtin_add_overflow(n->reserved, op->fast, &n->reserved) ||
	    n->reserved > TFLITE_BLOCK_MOST)
		return operator_fault(c, NULL, -TENON_E_NOMEM,
				      "brings arenas and fast scratch memory of NPU operators to "
				      "more than %" PRIu64 " bytes",
				      TFLITE_BLOCK_MOST);
	if (n->packed <= TFLITE_PACKED_MOST * (uint64_t)tenon_cursor_left(&n->model.tensors.file))
		return 0;
	return operator_fault(
		c, NULL, -TENON_E_UNSUPPORTED,
		"brings the contents that NPU operators have to more than %d times the "
		"file: too many have the same",
		TFLITE_PACKED_MOST);
}

static int pack(struct tflite_network *n, const struct operator_call *c, struct npu_network *npu)
{
	const size_t count = c->input_count + (size_t)c->output_count;
	struct npu_tensor *tensors = calloc(count + 1, sizeof(*tensors));
	struct npu_operator op = { .payload = { NULL, 0 } };
	int err;

	if (!tensors)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu tensors", count);
	err = read_operator(c, tensors, &op);
	err = err ? err : charge(n, c, &op);
	if (!err)
		err = npu_parts(&op, &npu->parts);
	npu->info.code = op.constants;
	free(tensors);
	return err;
}

static int load(struct tflite_network *n, const struct operator_call *c, struct npu_network *npu)
{
	struct tenon_slice constants;
	char label[LABEL_TEXT];
	int err;

	snprintf(label, sizeof(label), "operator %" PRIu32 " (" NAME ")", c->index);
	err = tenon_program_read(tenon_slice_of(NAME), TENON_GENERATION_FFI,
				 (struct tenon_slice){ npu->parts.data, npu->parts.size }, label,
				 &npu->read);
	if (err)
		return err;
	constants = npu->info.code;
	npu->info = npu->read->kernels[0];
	npu->info.code = constants;
	npu->program = *npu->read;
	npu->program.kernels = &npu->info;
	err = tenon_executable_create(n->device, &npu->program, NULL, &npu->executable);
	return err ? tenon_error_in(err, "%s", label)
		   : tenon_executable_kernel(npu->executable, 0, &npu->kernel);
}

int npu_create(struct tflite_network *n, const struct operator_call *c, struct npu_network **out)
{
	struct npu_network *npu = calloc(1, sizeof(*npu));
	int err;

	if (!npu)
		return tenon_error(-TENON_E_NOMEM, "no memory for an operator");
	err = pack(n, c, npu);
	err = err ? err : make_room(c, npu);
	err = err ? err : load(n, c, npu);
	if (err)
		npu_close(npu);
	else
		*out = npu;
	return err;
}

void npu_close(struct npu_network *npu)
{
	if (!npu)
		return;
	tenon_object_unref(npu->executable);
	tenon_program_free(npu->read);
	tenon_buffer_fini(&npu->parts);
	free(npu->tensors);
	free(npu->list);
	free(npu->shapes);
	free(npu);
}

/* Inputs may have been bound to other memory since the run before. */
int npu_run(struct tflite_network *n, const struct operator_call *c, struct npu_network *npu)
{
	const uint32_t inputs = c->input_count - TENSORS;
	uint32_t i;
	int err;

	for (i = 0; i < inputs; i++)
		npu->tensors[i].data = c->inputs[TENSORS + i]->data;
	err = tenon_queue_run(n->queue, npu->kernel, npu->list, inputs + (size_t)c->output_count,
			      NULL);
	if (!err)
		return tenon_queue_sync(n->queue, TENON_FOREVER);
	/* wait: operations submitted before the failure still use this memory */
	(void)tenon_queue_sync(n->queue, TENON_FOREVER);
	return err;
}
