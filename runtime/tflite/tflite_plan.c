/* SPDX-License-Identifier: MIT */
/* Where tensors lie: each in a gap that others left, or behind all. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/tflite/tflite_network.h"

/* constants together, as a multiple of the file */
#define CONSTANTS_MOST 8

/* most gaps in the arena that are tracked; with more gaps, a model takes more memory */
#define GAPS_MOST 256

struct gap {
	uint64_t offset;
	uint64_t size;
};

struct planner {
	struct gap gaps[GAPS_MOST]; /* by offset */
	size_t gap_count;
	uint64_t end;
};

/* ---- when a tensor is needed */

static int bad_tensor(const struct tflite_value *v, const char *what)
{
	return tenon_error(-TENON_E_FORMAT, "tensor %" PRIu32 " (\"%.*s\") %s", v->index,
			   (int)v->info.name.size, v->info.name.data, what);
}

static int begin_inputs(struct tflite_network *n)
{
	struct tflite_life *life;
	size_t i;

	for (i = 0; i < n->model.inputs.count; i++) {
		const struct tflite_value *v = n->inputs[i].value;

		life = &n->lives[v->index];
		if (life->source != TFLITE_UNUSED)
			return bad_tensor(v, life->source == TFLITE_INPUT
						     ? "is an input of the model twice"
						     : "is an input of the model, and constant");
		life->source = TFLITE_INPUT;
		life->last = n->model.operators.count;
	}
	return 0;
}

/*
 * A tensor without elements, such as the shape of a scalar, has no bytes in the file and needs no
 * producer.
 */
static bool is_empty_constant(const struct tflite_value *v, const struct tflite_life *life)
{
	return life->source == TFLITE_UNUSED && !v->elements && tflite_type_bits(v->info.type);
}

/* What an NPU keeps for itself between runs. */
static void keep(struct tflite_network *n, const struct operator_call *c,
		 const struct tflite_value *v)
{
	const struct tflite_value *next = tflite_state_next(c, v);
	struct tflite_life *life = &n->lives[v->index];

	if (!next)
		return;
	life->source = TFLITE_STATE;
	life->next = next->index;
}

static int use(struct tflite_network *n, const struct tflite_step *step)
{
	const struct operator_call *c = &step->call;
	/* the memory of an NPU, which its operators list among their inputs, is not the model's */
	const uint32_t own = step->kind ? 0 : 4;
	struct tflite_life *life;
	uint32_t i;

	for (i = own; i < c->input_count; i++) {
		if (!c->inputs[i])
			continue;
		life = &n->lives[c->inputs[i]->index];
		life->npu |= own > 0;
		if (is_empty_constant(c->inputs[i], life))
			life->source = TFLITE_CONSTANT;
		if (life->source == TFLITE_UNUSED && own && n->first_graph)
			keep(n, c, c->inputs[i]);
		if (life->source == TFLITE_UNUSED)
			return operator_fault(c, c->inputs[i], -TENON_E_FORMAT,
					      "is read before an operator computes it");
		if (life->source == TFLITE_COMPUTED)
			life->last = c->index;
	}
	for (i = 0; i < c->output_count; i++) {
		life = &n->lives[c->outputs[i]->index];
		if (life->source != TFLITE_UNUSED)
			return operator_fault(c, c->outputs[i], -TENON_E_FORMAT,
					      "is its output, and has contents already");
		*life = (struct tflite_life){ TFLITE_COMPUTED, c->index, c->index, 0,
					      TFLITE_NOWHERE,  own > 0 };
	}
	return 0;
}

static int find_lives(struct tflite_network *n)
{
	struct tflite_life *life;
	uint32_t i;
	int err;

	for (i = 0; i < n->model.tensors.count; i++)
		n->lives[i] = (struct tflite_life){
			n->values[i].info.data.size ? TFLITE_CONSTANT : TFLITE_UNUSED,
			0,
			0,
			0,
			TFLITE_NOWHERE,
			false
		};
	err = begin_inputs(n);
	for (i = 0; i < n->model.operators.count && !err; i++)
		err = use(n, &n->steps[i]);
	for (i = 0; i < n->model.outputs.count && !err; i++) {
		const uint32_t index = (uint32_t)tflite_index(&n->model.outputs, i);

		life = &n->lives[index];
		if (life->source != TFLITE_COMPUTED)
			err = bad_tensor(&n->values[index],
					 "is an output of the model, and no operator computes it");
		life->last = n->model.operators.count;
	}
	return err;
}

/* ---- places */

static void remove_gap(struct planner *p, size_t i)
{
	p->gap_count--;
	memmove(&p->gaps[i], &p->gaps[i + 1], (p->gap_count - i) * sizeof(p->gaps[0]));
}

/* Leave a gap, and join it with those beside it. */
static void leave(struct planner *p, uint64_t offset, uint64_t size)
{
	size_t i = 0;

	while (i < p->gap_count && p->gaps[i].offset < offset)
		i++;
	if (i && p->gaps[i - 1].offset + p->gaps[i - 1].size == offset) {
		i--;
		p->gaps[i].size += size;
	} else if (p->gap_count < GAPS_MOST) {
		memmove(&p->gaps[i + 1], &p->gaps[i], (p->gap_count - i) * sizeof(p->gaps[0]));
		p->gaps[i] = (struct gap){ offset, size };
		p->gap_count++;
	} else {
		return;
	}
	if (i + 1 < p->gap_count && p->gaps[i].offset + p->gaps[i].size == p->gaps[i + 1].offset) {
		p->gaps[i].size += p->gaps[i + 1].size;
		remove_gap(p, i + 1);
	}
}

static uint64_t rounded(uint64_t bytes)
{
	return (bytes + TENON_TENSOR_ALIGN - 1) & ~(uint64_t)(TENON_TENSOR_ALIGN - 1);
}

static int lay(struct planner *p, uint64_t bytes, int64_t *offset)
{
	const uint64_t size = rounded(bytes);
	size_t i;

	for (i = 0; i < p->gap_count; i++) {
		struct gap *g = &p->gaps[i];

		if (g->size < size)
			continue;
		*offset = (int64_t)g->offset;
		g->offset += size;
		g->size -= size;
		if (!g->size)
			remove_gap(p, i);
		return 0;
	}
	*offset = (int64_t)p->end;
	if (__builtin_add_overflow(p->end, size, &p->end) || p->end > INT64_MAX)
		return tenon_error(-TENON_E_OVERFLOW,
				   "all tensors together do not fit into memory");
	return 0;
}

static int lay_list(struct tflite_network *n, struct planner *p, struct tflite_value **list,
		    uint32_t count)
{
	uint32_t i;
	int err = 0;

	/* what a state becomes has its place */
	for (i = 0; i < count && !err; i++)
		if (n->lives[list[i]->index].offset == TFLITE_NOWHERE)
			err = lay(p, list[i]->info.bytes, &n->lives[list[i]->index].offset);
	return err;
}

static int lay_states(struct tflite_network *n, struct planner *p)
{
	struct tflite_life *life, *next;
	uint32_t i;
	int err = 0;

	for (i = 0; i < n->model.tensors.count && !err; i++) {
		life = &n->lives[i];
		if (life->source != TFLITE_STATE)
			continue;
		next = &n->lives[life->next];
		if (next->offset != TFLITE_NOWHERE)
			return bad_tensor(&n->values[life->next],
					  "is what two variables of the NPU become");
		err = lay(p, n->values[i].info.bytes, &life->offset);
		next->offset = life->offset;
		next->last = n->model.operators.count;
	}
	return err;
}

/* Leave the places of tensors that are not needed after an operator. */
static void leave_list(struct tflite_network *n, struct planner *p, struct tflite_value **list,
		       uint32_t count, uint32_t step)
{
	struct tflite_life *life;
	uint32_t i;

	for (i = 0; i < count; i++) {
		life = list[i] ? &n->lives[list[i]->index] : NULL;
		if (!life || life->source != TFLITE_COMPUTED || life->last != step)
			continue;
		/* a tensor that is listed twice is left once */
		life->last = n->model.operators.count;
		leave(p, (uint64_t)life->offset, rounded(list[i]->info.bytes));
	}
}

/* Constants that the processor reads are copied, as the file may have them at any address. */
static int lay_constants(struct tflite_network *n, struct planner *p,
			 const struct tflite_step *step)
{
	const struct operator_call *c = &step->call;
	struct tflite_life *life;
	uint32_t i;
	int err = 0;

	for (i = step->kind ? 0 : 4; i < c->input_count && !err; i++) {
		life = c->inputs[i] ? &n->lives[c->inputs[i]->index] : NULL;
		if (life && life->source == TFLITE_CONSTANT && life->offset < 0)
			err = lay(p, c->inputs[i]->info.bytes, &life->offset);
	}
	return err;
}

/* Tensors may have the same contents in the file, but each has its own place here. */
static int check_constants(const struct tflite_network *n)
{
	const uint64_t file = tenon_cursor_left(&n->model.tensors.file);
	const uint64_t most =
		CONSTANTS_MOST * file + (uint64_t)n->model.tensors.count * TENON_TENSOR_ALIGN;

	if (n->constant_size <= most)
		return 0;
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "constants are %" PRIu64 " bytes, at most %" PRIu64
			   " are taken from this file: too many tensors have the same contents",
			   n->constant_size, most);
}

int tflite_plan(struct tflite_network *n)
{
	struct planner *p = heap_take(HEAP_TEMPORARY, sizeof(max_align_t), sizeof(*p), "plan");
	uint32_t i;
	int err = 0;

	if (!p)
		return tenon_error(-TENON_E_NOMEM, "no memory for a plan");
	memset(p, 0, sizeof(*p));
	err = find_lives(n);
	for (i = 0; i < n->model.operators.count && !err; i++)
		err = lay_constants(n, p, &n->steps[i]);
	n->constant_size = p->end;
	err = err ? err : check_constants(n);
	/* no other tensor takes their places: there is no gap yet */
	for (i = 0; i < n->variable_count && !err; i++)
		err = lay(p, n->variables[i].bytes, &n->variables[i].offset);
	err = err ? err : lay_states(n, p);
	n->lasting_size = p->end;
	for (i = 0; i < n->model.inputs.count && !err; i++)
		err = lay_list(n, p, &n->inputs[i].value, 1);
	for (i = 0; i < n->model.operators.count && !err; i++) {
		const struct operator_call *c = &n->steps[i].call;

		err = lay_list(n, p, c->outputs, c->output_count);
		leave_list(n, p, c->inputs, c->input_count, i);
		leave_list(n, p, c->outputs, c->output_count, i);
	}
	n->block_size = p->end;
	heap_free(p);
	return err;
}
