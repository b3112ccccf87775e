/* SPDX-License-Identifier: MIT */
/* Texts, tracks and events of a trace. The caller of a function that adds one holds the trace's lock. */
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>

#include "runtime/trace/trace.h"

const char *trace_text(struct trace *t, struct tenon_slice text)
{
	char *copy;
	void **slot;

	/* what another machine sent may have a zero in it, and the key has the size of the copy */
	text.size = text.data ? strnlen(text.data, text.size) : 0;
	text.data = text.data ? text.data : "";
	copy = string_map_get(&t->names, text);
	if (copy)
		return copy;
	copy = strndup(text.data, text.size);
	slot = copy ? string_map_slot(&t->names, (struct tenon_slice){ copy, text.size }) : NULL;
	if (!slot) {
		free(copy);
		tenon_error_clear();
		t->incomplete = true;
		return "";
	}
	*slot = copy;
	return copy;
}

struct trace_event *trace_event(struct trace *t, enum trace_kind kind, uint32_t track)
{
	struct trace_chunk *c = t->last;

	if (track == NO_TRACK || t->count == t->most)
		goto dropped;
	if (!c || c->count == TRACE_CHUNK) {
		c = calloc(1, sizeof(*c));
		if (!c) {
			t->incomplete = true;
			goto dropped;
		}
		if (t->last)
			t->last->next = c;
		else
			t->first = c;
		t->last = c;
	}
	t->count++;
	c->events[c->count].kind = kind;
	c->events[c->count].track = track;
	return &c->events[c->count++];
dropped:
	t->dropped++;
	return NULL;
}

static uint32_t no_track(struct trace *t)
{
	t->incomplete = true;
	return NO_TRACK;
}

uint32_t trace_track(struct trace *t, uint32_t process, uint32_t thread, const char *name)
{
	const uint32_t n = t->track_count;
	struct trace_track *more;
	char *copy;

	/* what would be on it is counted as dropped */
	if (n >= TRACE_TRACKS_MOST)
		return NO_TRACK;
	if (!(n & (n - 1))) {
		more = realloc(t->tracks, (n ? 2 * (size_t)n : 1) * sizeof(*more));
		if (!more)
			return no_track(t);
		t->tracks = more;
	}
	copy = strdup(name);
	if (!copy)
		return no_track(t);
	t->tracks[n] = (struct trace_track){ process, thread, copy };
	return t->track_count++;
}

uint32_t trace_device(struct trace *t, char *name)
{
	const uint32_t n = t->device_count;
	struct trace_device *more = NULL;

	if (name)
		more = realloc(t->devices, (n + (size_t)1) * sizeof(*more));
	if (!more) {
		free(name);
		return no_track(t);
	}
	t->devices = more;
	more[n] = (struct trace_device){ .name = name, .counter = NO_TRACK };
	return t->device_count++;
}

void trace_fini(struct trace *t)
{
	size_t i;

	for (i = 0; i < t->names.slots; i++)
		if (t->names.entries[i].key.data)
			free(t->names.entries[i].value);
	string_map_fini(&t->names);
	for (i = 0; i < t->track_count; i++)
		free(t->tracks[i].name);
	for (i = 0; i < t->device_count; i++)
		free(t->devices[i].name);
	free(t->tracks);
	free(t->devices);
	free(t->path);
	*t = (struct trace){ .fd = -1 };
}
