/* SPDX-License-Identifier: MIT */
/* A trace as bytes, for another machine. */
#include <tenon/backend/buffer.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "runtime/trace/trace.h"

/**
 * struct packer - writes the bytes
 * @out: all but the texts
 * @texts: written in front of @out when that is complete, since readers need them first
 * @numbers: of texts, from 1
 * @count: how many texts
 */
struct packer {
	struct tenon_buffer out;
	struct tenon_buffer texts;
	struct string_map numbers;
	uint32_t count;
};

static void put_number(struct packer *p, const char *text)
{
	const struct tenon_slice key = tenon_slice_of(text ? text : "");
	void **slot = text ? string_map_slot(&p->numbers, key) : NULL;

	if (text && !slot)
		p->out.status = -TENON_E_NOMEM;
	if (slot && !*slot) {
		tenon_buffer_string(&p->texts, key);
		*slot = (void *)(uintptr_t)++p->count;
	}
	tenon_buffer_u32(&p->out, slot ? (uint32_t)(uintptr_t)*slot : 0);
}

static void put_tracks(struct packer *p, const struct trace *t)
{
	uint32_t i;

	tenon_buffer_u32(&p->out, t->device_count + 1);
	put_number(p, "");
	for (i = 0; i < t->device_count; i++)
		put_number(p, t->devices[i].name);
	tenon_buffer_u32(&p->out, t->track_count);
	for (i = 0; i < t->track_count; i++) {
		tenon_buffer_u32(&p->out, t->tracks[i].process);
		tenon_buffer_u32(&p->out, t->tracks[i].thread != 0);
		put_number(p, t->tracks[i].name);
	}
}

static void put_event(struct packer *p, struct trace_times *times, const struct trace_event *e)
{
	uint64_t begin, end, submitted = 0;

	trace_times_of(times, e, &begin, &end);
	if (e->kind == TRACE_OPERATION)
		submitted = trace_since(times->t, e->begin);
	if (e->kind == TRACE_OPERATION_THERE)
		submitted = trace_since(times->t, e->submitted);
	tenon_buffer_u8(&p->out,
			(uint8_t)(e->kind == TRACE_OPERATION ? TRACE_OPERATION_THERE : e->kind));
	tenon_buffer_u32(&p->out, e->track);
	put_number(p, e->category);
	put_number(p, e->name);
	put_number(p, e->function);
	tenon_buffer_u64(&p->out, e->bytes);
	tenon_buffer_u64(&p->out, begin);
	tenon_buffer_u64(&p->out, end);
	tenon_buffer_u64(&p->out, submitted);
	tenon_buffer_u8(&p->out, trace_is_timed(e));
}

static uint64_t count_events(const struct trace *t)
{
	const struct trace_chunk *c;
	const struct trace_event *e;
	uint64_t n = 0;

	for (c = t->first; c; c = c->next)
		for (e = c->events; e < c->events + c->count; e++)
			n += e->kind != TRACE_NOTHING;
	return n;
}

static void put_events(struct packer *p, struct trace_times *times)
{
	const struct trace_chunk *c;
	const struct trace_event *e;

	tenon_buffer_u64(&p->out, count_events(times->t));
	for (c = times->t->first; c; c = c->next)
		for (e = c->events; e < c->events + c->count && !p->out.status; e++)
			if (e->kind != TRACE_NOTHING)
				put_event(p, times, e);
}

int trace_pack(const struct trace *t, struct tenon_buffer *out)
{
	struct packer p = { TENON_BUFFER_INIT, TENON_BUFFER_INIT, STRING_MAP_INIT, 0 };
	struct trace_times times;
	int err = trace_times_init(&times, t);

	if (err)
		goto done;
	put_tracks(&p, t);
	put_events(&p, &times);
	tenon_buffer_u32(out, TRACE_PACK_VERSION);
	tenon_buffer_u64(out, t->start);
	tenon_buffer_u64(out, t->dropped);
	tenon_buffer_u32(out, p.count);
	tenon_buffer_append(out, p.texts.data, p.texts.size);
	tenon_buffer_append(out, p.out.data, p.out.size);
	if (p.out.status || p.texts.status || out->status)
		err = tenon_error(-TENON_E_NOMEM, "no memory for a trace");
done:
	trace_times_fini(&times);
	tenon_buffer_fini(&p.out);
	tenon_buffer_fini(&p.texts);
	string_map_fini(&p.numbers);
	return err;
}
