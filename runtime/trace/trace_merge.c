/* SPDX-License-Identifier: MIT */
/* The trace of another machine in that of this process. Its bytes are not trusted. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/cursor.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/slice_text.h"
#include "runtime/trace/trace.h"

/* more are no trace: a server has a few devices, and a queue or thread for each track */
#define PROCESSES_MOST 1024
#define TRACKS_MOST    TRACE_TRACKS_MOST

/**
 * struct merge - the reading of a trace
 * @t: receives it
 * @there: the other machine
 * @c: the bytes
 * @now: no event is later
 * @start: when the other trace began, in its clock
 * @texts: of @text_count
 * @processes: of @process_count: index in @t of its process
 * @spans: of @track_count: the track has spans, else the values of a counter
 * @tracks: likewise: index in @t
 */
struct merge {
	struct trace *t;
	const struct trace_there *there;
	struct tenon_cursor c;
	uint64_t now;
	uint64_t start;
	struct tenon_slice *texts;
	uint32_t *processes;
	bool *spans;
	uint32_t *tracks;
	uint64_t text_count, process_count, track_count;
};

/* ---- times */

/*
 * The clocks are related at two points, and run at steady speeds between. The difference changes by
 * little, so a double holds it; it never makes time run backwards.
 */
static uint64_t here(const struct merge *m, uint64_t there)
{
	const struct trace_clock *b = &m->there->begin, *e = &m->there->end;
	const int64_t first = (int64_t)(b->here - b->there);
	const int64_t span = (int64_t)(e->there - b->there);
	int64_t drift = (int64_t)(e->here - e->there - (uint64_t)first);
	double part = 0;
	uint64_t time;

	if (span > 0 && drift < span && drift > -span)
		part = (double)(int64_t)(there - b->there) / (double)span * (double)drift;
	else
		drift = 0;
	if (part > 1e15 || part < -1e15)
		part = 0;
	time = there + (uint64_t)first + (uint64_t)(int64_t)part;
	/* also what is negative */
	if (time > m->now)
		return (int64_t)time < 0 ? m->t->start : m->now;
	return time < m->t->start ? m->t->start : time;
}

/* ---- tables */

static int bad(const struct merge *m, const char *what)
{
	return tenon_cursor_error(&m->c, -TENON_E_FORMAT, "trace of %s: %s", m->there->name, what);
}

static int read_text(struct merge *m, bool needed, struct tenon_slice *out)
{
	uint32_t number = 0;
	int err = tenon_cursor_u32(&m->c, &number);

	*out = (struct tenon_slice){ "", 0 };
	if (err)
		return err;
	if (number > m->text_count || (needed && !number))
		return bad(m, "the number of a text that it does not have");
	if (number)
		*out = m->texts[number - 1];
	return 0;
}

/* Read a count of things of at least @size bytes, and allocate as many of @each. */
static int read_count(struct merge *m, size_t size, uint64_t most, uint64_t *count)
{
	uint32_t n = 0;
	int err = tenon_cursor_u32(&m->c, &n);

	if (!err && (n > most || n > tenon_cursor_left(&m->c) / size))
		err = bad(m, "more than its bytes can hold");
	*count = n;
	return err;
}

static int no_memory(const struct merge *m)
{
	return tenon_error(-TENON_E_NOMEM, "no memory for the trace of %s", m->there->name);
}

static int read_texts(struct merge *m)
{
	uint64_t i;
	int err = read_count(m, 8, UINT32_MAX, &m->text_count);

	if (err)
		return err;
	m->texts = calloc(m->text_count + 1, sizeof(*m->texts));
	if (!m->texts)
		return no_memory(m);
	for (i = 0; i < m->text_count && !err; i++)
		err = tenon_cursor_string(&m->c, &m->texts[i]);
	return err;
}

/* "remote 1: 127.0.0.1:9090 (clock within 35 us)", "remote 1: 127.0.0.1:9090: opencl:0 (…)" */
static char *process_name(const struct merge *m, uint64_t index, struct tenon_slice name)
{
	const struct trace_clock *b = &m->there->begin, *e = &m->there->end;
	const uint64_t within = b->within > e->within ? b->within : e->within;
	char text[512];

	if (index)
		snprintf(text, sizeof(text), "%s: %.*s", m->there->name, slice_shown(name, 256),
			 name.data);
	else
		snprintf(text, sizeof(text), "%s (clock within %" PRIu64 " us)", m->there->name,
			 (within + 999) / 1000);
	return strdup(text);
}

/* Read the names of processes. They are added by the second reading. */
static int read_processes(struct merge *m, bool add)
{
	struct tenon_slice name;
	uint64_t i;
	int err = read_count(m, 4, PROCESSES_MOST, &m->process_count);

	if (!err && !m->process_count)
		err = bad(m, "no process");
	if (!err && !m->processes) {
		m->processes = calloc(m->process_count, sizeof(*m->processes));
		err = m->processes ? 0 : no_memory(m);
	}
	for (i = 0; i < m->process_count && !err; i++) {
		err = read_text(m, true, &name);
		if (!err && add)
			m->processes[i] = trace_device(m->t, process_name(m, i, name));
	}
	return err;
}

static void add_track(struct merge *m, uint64_t i, uint32_t process, bool spans,
		      struct tenon_slice name)
{
	const uint32_t there = m->processes[process];
	char text[256];

	snprintf(text, sizeof(text), "%.*s", slice_shown(name, 255), name.data);
	m->tracks[i] = NO_TRACK;
	/* numbers of threads are this file's: the other machine's may repeat */
	if (there != NO_TRACK)
		m->tracks[i] = trace_track(m->t, there + 1, spans ? (uint32_t)i + 1 : 0, text);
}

static int read_tracks(struct merge *m, bool add)
{
	uint32_t process = 0, spans = 0;
	struct tenon_slice name;
	uint64_t i;
	int err = read_count(m, 12, TRACKS_MOST, &m->track_count);

	if (!err && !m->tracks) {
		m->spans = calloc(m->track_count + 1, sizeof(*m->spans));
		m->tracks = calloc(m->track_count + 1, sizeof(*m->tracks));
		err = m->spans && m->tracks ? 0 : no_memory(m);
	}
	for (i = 0; i < m->track_count && !err; i++) {
		err = tenon_cursor_u32(&m->c, &process);
		if (!err)
			err = tenon_cursor_u32(&m->c, &spans);
		if (!err)
			err = read_text(m, true, &name);
		if (!err && (process >= m->process_count || spans > 1))
			err = bad(m, "a track of no process");
		m->spans[i] = spans;
		if (!err && add)
			add_track(m, i, process, spans, name);
	}
	return err;
}

/* ---- events */

/* what an event is, with texts and times of its machine */
struct read_event {
	struct trace_event e;
	uint8_t kind, of_device;
	struct tenon_slice category, name, function;
	uint64_t submitted;
};

static int read_event(struct merge *m, struct read_event *r)
{
	int err = tenon_cursor_u8(&m->c, &r->kind);

	if (!err)
		err = tenon_cursor_u32(&m->c, &r->e.track);
	if (!err)
		err = read_text(m, r->kind != TRACE_COUNTER, &r->category);
	if (!err)
		err = read_text(m, true, &r->name);
	if (!err)
		err = read_text(m, false, &r->function);
	if (!err)
		err = tenon_cursor_u64(&m->c, &r->e.bytes);
	if (!err)
		err = tenon_cursor_u64(&m->c, &r->e.begin);
	if (!err)
		err = tenon_cursor_u64(&m->c, &r->e.end);
	if (!err)
		err = tenon_cursor_u64(&m->c, &r->submitted);
	if (!err)
		err = tenon_cursor_u8(&m->c, &r->of_device);
	return err;
}

static int check_event(const struct merge *m, const struct read_event *r)
{
	if (r->e.track >= m->track_count)
		return bad(m, "an event of no track");
	if (r->kind != TRACE_SPAN && r->kind != TRACE_COUNTER && r->kind != TRACE_OPERATION_THERE)
		return bad(m, "an event of an unknown kind");
	if ((r->kind == TRACE_COUNTER) == m->spans[r->e.track])
		return bad(m, "a span of a counter, or a value of a track of spans");
	if (r->kind != TRACE_COUNTER && r->e.end < r->e.begin)
		return bad(m, "an event that ends before it begins");
	if (r->kind == TRACE_OPERATION_THERE && r->submitted > r->e.begin)
		return bad(m, "an operation that ran before it was submitted");
	return 0;
}

static void add_event(struct merge *m, const struct read_event *r)
{
	struct trace_event *e = trace_event(m->t, r->kind, m->tracks[r->e.track]);

	if (!e)
		return;
	e->category = trace_text(m->t, r->category);
	e->name = trace_text(m->t, r->name);
	e->function = r->function.size ? trace_text(m->t, r->function) : NULL;
	e->bytes = r->e.bytes;
	e->begin = here(m, m->start + r->e.begin);
	e->end = here(m, m->start + r->e.end);
	/* hostile clocks may run backwards */
	if (e->end < e->begin)
		e->end = e->begin;
	if (r->kind != TRACE_OPERATION_THERE)
		return;
	e->submitted = here(m, m->start + r->submitted);
	e->of_device = r->of_device;
}

static int read_events(struct merge *m, bool add)
{
	struct read_event r = { .kind = TRACE_NOTHING };
	uint64_t count = 0, i;
	int err = tenon_cursor_u64(&m->c, &count);

	if (!err && count > tenon_cursor_left(&m->c) / TRACE_PACK_EVENT)
		err = bad(m, "more events than its bytes can hold");
	for (i = 0; i < count && !err; i++) {
		err = read_event(m, &r);
		if (!err && !add)
			err = check_event(m, &r);
		if (!err && add)
			add_event(m, &r);
	}
	if (!err && tenon_cursor_left(&m->c))
		err = bad(m, "bytes follow the last event");
	return err;
}

static int read_head(struct merge *m, uint64_t *dropped)
{
	uint32_t version = 0;
	int err = tenon_cursor_u32(&m->c, &version);

	if (!err && version != TRACE_PACK_VERSION)
		err = tenon_cursor_error(&m->c, -TENON_E_FORMAT,
					 "trace of %s: version %" PRIu32
					 ", expected %d: use the same release on both machines",
					 m->there->name, version, TRACE_PACK_VERSION);
	if (!err)
		err = tenon_cursor_u64(&m->c, &m->start);
	if (!err)
		err = tenon_cursor_u64(&m->c, dropped);
	return err ? err : read_texts(m);
}

static int read_rest(struct merge *m, bool add)
{
	int err = read_processes(m, add);

	if (!err)
		err = read_tracks(m, add);
	return err ? err : read_events(m, add);
}

int trace_merge_events(struct trace *t, const struct trace_there *there, uint64_t now)
{
	struct merge m = { .t = t, .there = there, .now = now };
	struct tenon_cursor rest;
	uint64_t dropped = 0;
	int err;

	m.c = tenon_cursor_of(there->events.data, there->events.size, "trace", 0);
	err = read_head(&m, &dropped);
	rest = m.c;
	/* all is checked before anything is added */
	if (!err)
		err = read_rest(&m, false);
	m.c = rest;
	if (!err)
		err = read_rest(&m, true);
	if (!err && __builtin_add_overflow(t->dropped, dropped, &t->dropped))
		t->dropped = UINT64_MAX;
	free(m.texts);
	free(m.processes);
	free(m.spans);
	free(m.tracks);
	return err;
}
