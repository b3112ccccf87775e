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
#include <tenon/device.h>
#include <tenon/executable.h>
#include <tenon/memory.h>
#include <tenon/queue.h>
#include <tenon/string.h>
#include <tenon/timeline.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/tflite/npu_parts.h"
#include "runtime/tflite/tflite_network.h"

#define NAME	   "ethos-u"
#define LABEL_TEXT 64

/**
 * struct npu_network - an operator on a device
 * @parts: its program but the constants, in the form that devices take
 * @read: the program that is read from it
 * @info: its kernel, with the constants, which are in the model's file
 * @program: with that kernel
 * @executable: on the device
 * @kernel: the network
 * @tensors: arguments of a run; their data is set by each
 * @count: number of these
 * @list: of all of them
 * @shapes: bytes of each, for @tensors
 * @memories: of each, the device's memory of its place in the block; NULL where the device has none
 */
struct npu_network {
	struct tenon_buffer parts;
	struct tenon_program *read;
	struct tenon_kernel_info info;
	struct tenon_program program;
	struct tenon_executable *executable;
	struct tenon_kernel *kernel;
	DLTensor *tensors;
	size_t count;
	const DLTensor **list;
	int64_t *shapes;
	struct tenon_memory **memories;
};

bool npu_is(const struct tflite_operator *op)
{
	return op->builtin == TFLITE_CUSTOM && tenon_slice_equal(op->custom, tenon_slice_of(NAME));
}

/* Tensor @i of the network: its inputs, then its outputs. */
static const struct tflite_value *tensor_of(const struct operator_call *c, size_t i)
{
	const size_t inputs = c->input_count - NPU_MEMORIES;

	return i < inputs ? c->inputs[NPU_MEMORIES + i] : c->outputs[i - inputs];
}

/* NPUs are little-endian: a big-endian machine gives them elements of a byte alone. */
static int check_order(const struct operator_call *c)
{
	const uint32_t count = c->input_count - NPU_MEMORIES + c->output_count;
	const struct tflite_value *v;
	uint32_t i;

	for (i = 0; i < count && htole16(1) != 1; i++) {
		v = tensor_of(c, i);
		if (tflite_type_bits(v->info.type) > 8)
			return operator_fault(c, v, -TENON_E_UNSUPPORTED,
					      "is of type %s; NPUs are little-endian, and "
					      "big-endian machines give them elements of a byte "
					      "alone",
					      tflite_type_name(v->info.type));
	}
	return 0;
}

/* ---- on the device */

/* Let a tensor be where it is now: an input may have been bound to memory of the program. */
static void aim(const struct tflite_network *n, const struct tflite_value *v,
		struct npu_network *npu, size_t i)
{
	const bool own = v->data == tflite_place(n, n->lives[v->index].offset);

	if (npu->memories[i] && own) {
		npu->tensors[i].device = tenon_device_id(n->device);
		npu->tensors[i].data = tenon_memory_data(npu->memories[i]);
	} else {
		npu->tensors[i].device = (DLDevice){ kDLCPU, 0 };
		npu->tensors[i].data = v->data;
	}
}

static int allocate_parts(const struct operator_call *c, struct npu_network *npu)
{
	const size_t count = c->input_count - NPU_MEMORIES + (size_t)c->output_count;
	size_t i;

	npu->count = count;
	npu->tensors = heap_zeroed(count, sizeof(*npu->tensors), "model");
	npu->list = heap_zeroed(count, sizeof(*npu->list), "model");
	npu->shapes = heap_zeroed(count, sizeof(*npu->shapes), "model");
	if (!npu->tensors || !npu->list || !npu->shapes)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu tensors", count);
	for (i = 0; i < count; i++) {
		const struct tflite_value *v = tensor_of(c, i);

		npu->shapes[i] = (int64_t)v->info.bytes;
		npu->tensors[i] = tenon_dltensor(v->data, &npu->shapes[i], 1,
						 tenon_dtype(TENON_DTYPE_UINT, 8, 1));
		npu->list[i] = &npu->tensors[i];
	}
	return 0;
}

/* The device's memory of a tensor: a part of what it shares, or the bytes of the block where it can use these. */
static int memory_of(struct tflite_network *n, const struct tflite_value *v,
		     struct tenon_memory **out)
{
	const struct tenon_memory_import from = { .size = sizeof(from),
						  .type = TENON_HANDLE_HOST_POINTER,
						  .fd = -1,
						  .pointer = v->data,
						  .bytes = v->info.bytes,
						  .usage = TENON_MEMORY_DEFAULT };
	const struct tenon_device_properties *p = tenon_device_properties(n->device);

	if (n->shared)
		return tenon_memory_subrange(n->shared, (uint64_t)v->info.place, v->info.bytes,
					     out);
	if (p->flags & TENON_DEVICE_ADDRESSES || !(p->imports & 1u << from.type) || !v->data)
		return 0;
	return tenon_memory_import(n->device, &from, out);
}

/* Once for all runs: of a queue with a thread, each would wait for memory to release it. */
static int make_memories(struct tflite_network *n, const struct operator_call *c,
			 struct npu_network *npu)
{
	size_t i;
	int err = 0;

	npu->memories = heap_zeroed(npu->count, sizeof(struct tenon_memory *), "model");
	if (!npu->memories)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu tensors", npu->count);
	for (i = 0; i < npu->count && !err; i++) {
		err = memory_of(n, tensor_of(c, i), &npu->memories[i]);
		if (!err)
			aim(n, tensor_of(c, i), npu, i);
	}
	return err;
}

/* What the regions of inputs and outputs have, where these are not in the arena. */
static uint64_t bytes_of_tensors(const struct operator_call *c)
{
	const uint32_t count = c->input_count - NPU_MEMORIES + c->output_count;
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < count; i++)
		bytes += tensor_of(c, i)->info.bytes;
	return bytes;
}

/* Each operator has its own parts, and operators may name the same constants. */
static int charge(struct tflite_network *n, const struct operator_call *c,
		  const struct npu_operator *op)
{
	n->packed += op->payload.size + op->constants.size;
	n->on_device +=
		op->payload.size + op->constants.size + op->arena + op->fast + bytes_of_tensors(c);
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

/* The buffer is as large as it gets: it may be memory of the caller's, which does not grow. */
static int make_parts(const struct npu_operator *op, struct tenon_buffer *out)
{
	const size_t size = npu_parts_size(op);

	out->data = heap_alloc(size, "program of the NPU");
	if (!out->data)
		return tenon_error(-TENON_E_NOMEM, "no memory for a program of %zu bytes", size);
	out->room = size;
	return npu_parts(op, out);
}

static int pack(struct tflite_network *n, const struct operator_call *c, struct npu_network *npu)
{
	struct npu_operator op;
	int err = npu_operator_read(&n->model, c->index, &op);

	op.is_given = n->shared;
	err = err ? err : check_order(c);
	err = err ? err : charge(n, c, &op);
	if (!err)
		err = make_parts(&op, &npu->parts);
	npu->info.code = op.constants;
	heap_free(op.tensors);
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
	struct npu_network *npu = heap_zeroed(1, sizeof(*npu), "model");
	int err;

	if (!npu)
		return tenon_error(-TENON_E_NOMEM, "no memory for an operator");
	err = pack(n, c, npu);
	err = err ? err : allocate_parts(c, npu);
	err = err ? err : make_memories(n, c, npu);
	err = err ? err : load(n, c, npu);
	if (err)
		npu_close(npu);
	else
		*out = npu;
	return err;
}

void npu_close(struct npu_network *npu)
{
	size_t i;

	if (!npu)
		return;
	for (i = 0; npu->memories && i < npu->count; i++)
		tenon_object_unref(npu->memories[i]);
	heap_free(npu->memories);
	tenon_object_unref(npu->executable);
	tenon_program_free(npu->read);
	heap_free(npu->parts.data);
	heap_free(npu->tensors);
	heap_free(npu->list);
	heap_free(npu->shapes);
	heap_free(npu);
}

static int run_and_wait(struct tflite_network *n, struct npu_network *npu)
{
	int err = tenon_queue_run(n->queue, npu->kernel, npu->list, npu->count, NULL);

	if (!err)
		return tenon_queue_sync(n->queue, TENON_FOREVER);
	/* wait: operations submitted before the failure still use this memory */
	(void)tenon_queue_sync(n->queue, TENON_FOREVER);
	return err;
}

/* The processor accesses shared memory but for this time. */
static int run_on_shared(struct tflite_network *n, struct npu_network *npu)
{
	const uint64_t size = tenon_memory_size(n->shared);
	int begun, err = tenon_memory_flush(n->shared, 0, size);

	if (err)
		return err;
	err = run_and_wait(n, npu);
	begun = tenon_memory_invalidate(n->shared, 0, size);
	return err ? err : begun;
}

int npu_run(struct tflite_network *n, const struct operator_call *c, struct npu_network *npu)
{
	const uint32_t inputs = c->input_count - NPU_MEMORIES;
	struct heap *before = heap_enter(n->base.heap);
	uint32_t i;
	int err;

	for (i = 0; i < inputs; i++)
		aim(n, c->inputs[NPU_MEMORIES + i], npu, i);
	err = n->shared ? run_on_shared(n, npu) : run_and_wait(n, npu);
	heap_enter(before);
	return err;
}
