/* SPDX-License-Identifier: MIT */
/* When events were: devices have clocks of their own. */
#include <stdlib.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "runtime/trace/trace.h"

/* no event of the device was seen that limits how far its clock is behind the host's */
#define NO_OFFSET INT64_MIN

bool trace_is_timed(const struct trace_event *e)
{
	if (e->kind == TRACE_OPERATION_THERE)
		return e->of_device;
	return e->kind == TRACE_OPERATION && e->stamps[0] && e->stamps[1];
}

/*
 * No operation runs before it was submitted, and one that finds its queue idle runs soon after: the
 * smallest offset that is true for all operations is close.
 */
static void find_offsets(struct trace_times *x)
{
	const struct trace_chunk *c;
	const struct trace_event *e;
	int64_t *offset, least;

	for (uint32_t i = 0; i < x->t->device_count; i++)
		x->offsets[i] = NO_OFFSET;
	for (c = x->t->first; c; c = c->next)
		for (e = c->events; e < c->events + c->count; e++) {
			if (e->kind != TRACE_OPERATION || !trace_is_timed(e))
				continue;
			offset = &x->offsets[x->t->tracks[e->track].process - 1];
			least = (int64_t)(e->begin - e->stamps[0]);
			if (least > *offset)
				*offset = least;
		}
}

int trace_times_init(struct trace_times *x, const struct trace *t)
{
	x->t = t;
	x->offsets = calloc(t->device_count + (size_t)1, sizeof(*x->offsets));
	x->ends = calloc(t->track_count + (size_t)1, sizeof(*x->ends));
	if (!x->offsets || !x->ends)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory to write the trace", t->path);
	find_offsets(x);
	return 0;
}

void trace_times_fini(struct trace_times *x)
{
	free(x->offsets);
	free(x->ends);
}

/* Operations of a queue follow each other, which rounding and drivers may blur. */
static void follow(uint64_t *last, uint64_t *begin, uint64_t *end)
{
	*begin = *begin < *last ? *last : *begin;
	*end = *end < *begin ? *begin : *end;
	*last = *end;
}

void trace_times_of(struct trace_times *x, const struct trace_event *e, uint64_t *begin,
		    uint64_t *end)
{
	uint64_t offset;

	*begin = trace_since(x->t, e->begin);
	*end = trace_since(x->t, e->end);
	if (e->kind == TRACE_OPERATION && trace_is_timed(e)) {
		offset = (uint64_t)x->offsets[x->t->tracks[e->track].process - 1];
		*begin = trace_since(x->t, e->stamps[0] + offset);
		*end = trace_since(x->t, e->stamps[1] + offset);
	}
	if (e->kind == TRACE_OPERATION || e->kind == TRACE_OPERATION_THERE)
		follow(&x->ends[e->track], begin, end);
}
