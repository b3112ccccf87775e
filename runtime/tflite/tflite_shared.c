/* SPDX-License-Identifier: MIT */
/*
 * Memory that the processor and an NPU share: a dma-buf of the caller. Tensors of the NPU's operators lie in it at the offsets
 * that the NPU's compiler planned, so that it is the arena of these operators; all others lie behind.
 */
#include <inttypes.h>
#include <tenon/device.h>
#include <tenon/memory.h>

#include "lib/brief_errors.h"
#include "runtime/tflite/npu_parts.h"
#include "runtime/tflite/tflite_network.h"

enum { PAYLOAD, ARENA = 2 };

#define ALIGN 16 /* of the tensors that compilers plan */

static bool has_place(const struct tflite_life *life)
{
	return life->source == TFLITE_INPUT || life->source == TFLITE_COMPUTED;
}

static bool has_memories(const struct tflite_step *s)
{
	return !s->kind && s->call.input_count >= NPU_MEMORIES && s->call.inputs[ARENA];
}

static uint64_t arena_of(const struct tflite_network *n)
{
	uint64_t bytes, most = 0;
	uint32_t i;

	for (i = 0; i < n->model.operators.count; i++) {
		if (!has_memories(&n->steps[i]))
			continue;
		bytes = n->steps[i].call.inputs[ARENA]->info.bytes;
		most = bytes > most ? bytes : most;
	}
	return most;
}

/* Add the place of a tensor to memory of @*end bytes; saturates. Returns where it begins. */
static uint64_t append(uint64_t bytes, uint64_t *end)
{
	uint64_t at;

	if (__builtin_add_overflow(*end, TENON_TENSOR_ALIGN - 1, &at))
		at = UINT64_MAX;
	at &= ~(uint64_t)(TENON_TENSOR_ALIGN - 1);
	if (__builtin_add_overflow(at, bytes, end))
		*end = UINT64_MAX;
	return at;
}

uint64_t tflite_shared_size(const struct tflite_network *n)
{
	uint64_t end = arena_of(n);
	uint32_t i;

	for (i = 0; end && i < n->model.tensors.count; i++)
		if (has_place(&n->lives[i]) && !n->lives[i].npu)
			append(n->values[i].info.bytes, &end);
	return end;
}

/* ---- what must be so */

static int refuse(const struct tflite_value *v, const char *what)
{
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "tensor %" PRIu32
			   " (\"%.*s\") cannot be in a dma-buf that the NPU shares: %s",
			   v->index, (int)v->info.name.size, v->info.name.data, what);
}

static int check_tensor(const struct tflite_network *n, uint32_t index, uint64_t arena)
{
	const struct tflite_value *v = &n->values[index];
	const int64_t place = v->info.place;

	if (!has_place(&n->lives[index]))
		return refuse(v, "it is constant");
	if (place < 0 || place % ALIGN)
		return refuse(v, "the compiler planned no place for it");
	if (v->info.bytes > arena || (uint64_t)place > arena - v->info.bytes)
		return refuse(v, "its place is not in the arena");
	return 0;
}

static bool overlap(const struct tflite_network *n, const struct tflite_value *a,
		    const struct tflite_value *b)
{
	const uint64_t x = (uint64_t)a->info.place, y = (uint64_t)b->info.place;

	return n->lives[a->index].npu && n->lives[b->index].npu && x < y + b->info.bytes &&
	       y < x + a->info.bytes;
}

/* Operators of the processor read inputs while they write outputs. */
static int check_apart(const struct tflite_network *n, const struct operator_call *c)
{
	uint32_t i, k;

	for (i = 0; i < c->output_count; i++) {
		for (k = 0; k < c->input_count; k++)
			if (c->inputs[k] && overlap(n, c->outputs[i], c->inputs[k]))
				return refuse(c->outputs[i],
					      "it overlaps an input of its operator");
		for (k = 0; k < i; k++)
			if (overlap(n, c->outputs[i], c->outputs[k]))
				return refuse(c->outputs[i], "it overlaps another output");
	}
	return 0;
}

static int check(const struct tflite_network *n, uint64_t arena)
{
	const struct tflite_step *s;
	uint32_t i;
	int err = 0;

	for (i = 0; i < n->model.operators.count && !err; i++) {
		s = &n->steps[i];
		if (s->kind)
			err = check_apart(n, &s->call);
		else if (has_memories(s) && s->call.inputs[PAYLOAD] &&
			 npu_has_own_regions(s->call.inputs[PAYLOAD]->info.data))
			err = operator_fault(&s->call, NULL, -TENON_E_UNSUPPORTED,
					     "has regions of its own for inputs and outputs, and "
					     "cannot have them in a dma-buf");
	}
	if (!err && !arena)
		err = tenon_error(
			-TENON_E_UNSUPPORTED,
			"planned memory is a dma-buf, and the model has no operator of an "
			"NPU that would use it; leave its dmabuf out");
	for (i = 0; i < n->model.tensors.count && !err; i++)
		err = n->lives[i].npu ? check_tensor(n, i, arena) : 0;
	return err;
}

/* ---- sharing */

static void lay(struct tflite_network *n)
{
	uint64_t end = arena_of(n), at;
	uint32_t i;

	for (i = 0; i < n->model.tensors.count; i++) {
		if (!has_place(&n->lives[i]))
			continue;
		at = n->lives[i].npu ? (uint64_t)n->values[i].info.place
				     : append(n->values[i].info.bytes, &end);
		n->lives[i].offset = (int64_t)(n->lasting_size + at);
	}
	n->block_size = n->lasting_size + end;
}

int tflite_share(struct tflite_network *n, const struct heap_region *memory)
{
	const struct tenon_memory_import from = { .size = sizeof(from),
						  .type = TENON_HANDLE_DMA_BUF,
						  .fd = *memory->dmabuf,
						  .bytes = memory->size,
						  .usage = TENON_MEMORY_DEFAULT |
							   TENON_MEMORY_IN_PLACE };
	const uint64_t size = tflite_shared_size(n);
	int err = check(n, arena_of(n));

	if (!err && size > INT64_MAX - n->lasting_size)
		err = tenon_error(-TENON_E_OVERFLOW, "all tensors together do not fit into memory");
	if (!err)
		err = tenon_memory_import(n->device, &from, &n->shared);
	if (err)
		return err;
	lay(n);
	return tenon_memory_invalidate(n->shared, 0, memory->size);
}

void tflite_unshare(struct tflite_network *n)
{
	if (n->shared)
		(void)tenon_memory_flush(n->shared, 0, tenon_memory_size(n->shared));
	tenon_object_unref(n->shared);
}

void tflite_forget_inputs(struct tflite_network *n)
{
	struct tflite_slot *s;
	uint32_t i;

	for (i = 0; i < n->model.inputs.count && n->shared; i++) {
		s = &n->inputs[i];
		if (!s->set || !n->lives[s->value->index].npu)
			continue;
		s->set = false;
		n->unset++;
	}
}
