/* SPDX-License-Identifier: MIT */
/* Push and pop frames on the machine's stack. */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/core/reference.h"
#include "runtime/relax/relax.h"

#define SEGMENT_VALUES 2048

struct relax_segment {
	struct relax_segment *below;
	struct relax_segment *above; /* kept for reuse */
	uint32_t size;
	uint32_t used;
	struct tenon_value values[];
};

void relax_stack_fini(struct relax_stack *s)
{
	struct relax_segment *segment = s->segment, *above;

	while (segment && segment->below)
		segment = segment->below;
	for (; segment; segment = above) {
		above = segment->above;
		heap_free(segment);
	}
	heap_free(s->frames);
	memset(s, 0, sizeof(*s));
}

static int grow_frames(struct relax_stack *s)
{
	size_t room = s->room ? 2 * s->room : 16;
	struct relax_frame *frames;

	if (s->depth >= RELAX_DEPTH_MOST)
		return tenon_error(-TENON_E_OVERFLOW, "functions call each other %d deep",
				   RELAX_DEPTH_MOST);
	frames = heap_resize(s->frames, room * sizeof(*frames), "frames of functions");
	if (!frames)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu frames", room);
	s->frames = frames;
	s->room = room;
	return 0;
}

/* Go to the next segment and make it large enough; lower segments do not move. */
static int next_segment(struct relax_stack *s, uint32_t need)
{
	struct relax_segment *top = s->segment, *above = top ? top->above : NULL;
	/* Memory of a caller is counted, so take no reserve there. */
	uint32_t size = need > SEGMENT_VALUES || heap_now() ? need : SEGMENT_VALUES;

	if (!above || above->size < need) {
		struct relax_segment *fresh =
			heap_alloc(sizeof(*fresh) + size * sizeof(fresh->values[0]), "registers");

		if (!fresh)
			return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu32 " registers",
					   need);
		fresh->size = size;
		fresh->used = 0;
		fresh->below = top;
		fresh->above = above;
		if (above)
			above->below = fresh;
		if (top)
			top->above = fresh;
		above = fresh;
	}
	s->segment = above;
	return 0;
}

int relax_push(struct relax_vm *vm, uint32_t function)
{
	uint32_t room = vm->entries[function].room;
	struct relax_stack *s = &vm->stack;
	struct relax_frame *f;
	int err;

	if (s->depth == s->room || s->depth >= RELAX_DEPTH_MOST) {
		err = grow_frames(s);
		if (err)
			return err;
	}
	if (s->values + room > RELAX_VALUES_MOST)
		return tenon_error(-TENON_E_OVERFLOW,
				   "%zu functions in each other need more than %" PRIu64
				   " registers",
				   s->depth + 1, RELAX_VALUES_MOST);
	if (!s->segment || s->segment->size - s->segment->used < room) {
		err = next_segment(s, room);
		if (err)
			return err;
	}
	f = &s->frames[s->depth++];
	f->segment = s->segment;
	f->mark = s->segment->used;
	f->registers = s->segment->values + f->mark;
	f->function = function;
	f->dst = RELAX_NOWHERE;
	f->at = NULL;
	s->segment->used += room;
	s->values += room;
	memset(f->registers, 0, vm->x->functions[function].registers * sizeof(*f->registers));
	return 0;
}

void relax_pop(struct relax_vm *vm)
{
	struct relax_stack *s = &vm->stack;
	struct relax_frame *f = &s->frames[--s->depth];
	uint32_t i, registers = vm->x->functions[f->function].registers;

	for (i = 0; i < registers; i++)
		if (f->registers[i].type >= TENON_TYPE_OBJECT)
			object_unref(f->registers[i].as.object);
	s->values -= vm->entries[f->function].room;
	s->segment = f->segment;
	s->segment->used = f->mark;
	/* Leave the segment that this frame started, so that the one below is used up first. */
	if (!f->mark && s->segment->below)
		s->segment = s->segment->below;
}
