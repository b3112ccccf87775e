/* SPDX-License-Identifier: MIT */
/* The file: the trace-event format of Chrome and Perfetto, in JSON. */
#include "runtime/trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <tenon/backend/buffer.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/json_quote.h"
#include "lib/whole_io.h"

/* bytes that are written together */
#define TOGETHER (UINT32_C(1) << 16)

struct writer {
	const struct trace *t;
	struct tenon_buffer out;
	struct trace_times times;
	bool first;
};

static int flush(struct writer *w)
{
	if (w->out.status)
		return w->out.status;
	if (!write_whole(w->t->fd, w->out.data, w->out.size))
		return tenon_error(-TENON_E_IO, "%s: %s", w->t->path, strerror(errno));
	w->out.size = 0;
	return 0;
}

/* Names come from files: their bytes may be no UTF-8. */
static void put_text(struct tenon_buffer *b, const char *text)
{
	json_quote(b, tenon_slice_of(text));
}

/* Microseconds since the trace began. */
static void put_time(struct writer *w, const char *key, uint64_t nanoseconds)
{
	tenon_buffer_printf(&w->out, ",\"%s\":%" PRIu64 ".%03u", key, nanoseconds / 1000,
			    (unsigned int)(nanoseconds % 1000));
}

/* the program is process 1, devices follow */
static void open_event(struct writer *w, const char *phase, uint32_t process, uint32_t thread)
{
	tenon_buffer_printf(&w->out, "%s{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u",
			    w->first ? "" : ",\n", phase, process + 1, thread);
	w->first = false;
}

static void put_name(struct writer *w, const char *what, uint32_t process, uint32_t thread,
		     const char *name)
{
	open_event(w, "M", process, thread);
	tenon_buffer_printf(&w->out, ",\"name\":\"%s\",\"args\":{\"name\":", what);
	put_text(&w->out, name);
	tenon_buffer_printf(&w->out, "}}");
}

static void put_names(struct writer *w)
{
	const struct trace *t = w->t;
	uint32_t i;

	put_name(w, "process_name", 0, 0, "tenon");
	for (i = 0; i < t->device_count; i++)
		put_name(w, "process_name", i + 1, 0, t->devices[i].name);
	for (i = 0; i < t->track_count; i++)
		if (t->tracks[i].thread)
			put_name(w, "thread_name", t->tracks[i].process, t->tracks[i].thread,
				 t->tracks[i].name);
}

static void open_span(struct writer *w, const struct trace_event *e, uint64_t begin, uint64_t end)
{
	const struct trace_track *track = &w->t->tracks[e->track];

	open_event(w, "X", track->process, track->thread);
	tenon_buffer_printf(&w->out, ",\"cat\":");
	put_text(&w->out, e->category);
	tenon_buffer_printf(&w->out, ",\"name\":");
	put_text(&w->out, *e->name ? e->name : "?");
	put_time(w, "ts", begin);
	put_time(w, "dur", end - begin);
	tenon_buffer_printf(&w->out, ",\"args\":{");
}

static void put_span(struct writer *w, const struct trace_event *e)
{
	uint64_t begin, end;

	trace_times_of(&w->times, e, &begin, &end);
	open_span(w, e, begin, end);
	if (e->function) {
		tenon_buffer_printf(&w->out, "\"function\":");
		put_text(&w->out, e->function);
	}
	if (e->bytes)
		tenon_buffer_printf(&w->out, "%s\"bytes\":%" PRIu64, e->function ? "," : "",
				    e->bytes);
	tenon_buffer_printf(&w->out, "}}");
}

static void put_operation(struct writer *w, const struct trace_event *e)
{
	uint64_t begin, end;

	trace_times_of(&w->times, e, &begin, &end);
	open_span(w, e, begin, end);
	tenon_buffer_printf(&w->out, "\"clock\":\"%s\"", trace_is_timed(e) ? "device" : "host");
	put_time(w, "submitted",
		 trace_since(w->t, e->kind == TRACE_OPERATION ? e->begin : e->submitted));
	if (e->bytes)
		tenon_buffer_printf(&w->out, ",\"bytes\":%" PRIu64, e->bytes);
	tenon_buffer_printf(&w->out, "}}");
}

static void put_counter(struct writer *w, const struct trace_event *e)
{
	const struct trace_track *track = &w->t->tracks[e->track];

	open_event(w, "C", track->process, track->thread);
	tenon_buffer_printf(&w->out, ",\"name\":");
	put_text(&w->out, *e->name ? e->name : "?");
	put_time(w, "ts", trace_since(w->t, e->begin));
	tenon_buffer_printf(&w->out, ",\"args\":{\"bytes\":%" PRIu64 "}}", e->bytes);
}

static int put_events(struct writer *w)
{
	const struct trace_chunk *c;
	const struct trace_event *e;
	int err = 0;

	for (c = w->t->first; c && !err; c = c->next)
		for (e = c->events; e < c->events + c->count && !err; e++) {
			if (e->kind == TRACE_SPAN)
				put_span(w, e);
			else if (e->kind == TRACE_OPERATION || e->kind == TRACE_OPERATION_THERE)
				put_operation(w, e);
			else if (e->kind == TRACE_COUNTER)
				put_counter(w, e);
			if (w->out.size >= TOGETHER || w->out.status)
				err = flush(w);
		}
	return err;
}

int trace_write(const struct trace *t)
{
	struct writer w = { .t = t, .out = TENON_BUFFER_INIT, .first = true };
	int err;

	err = trace_times_init(&w.times, t);
	if (err)
		goto done;
	tenon_buffer_printf(&w.out, TRACE_HEAD);
	put_names(&w);
	err = put_events(&w);
	tenon_buffer_printf(&w.out, "\n],\"otherData\":{\"dropped\":\"%" PRIu64 "\"}}\n",
			    t->dropped);
	if (!err)
		err = flush(&w);
done:
	tenon_buffer_fini(&w.out);
	trace_times_fini(&w.times);
	return err;
}
