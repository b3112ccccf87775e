/* SPDX-License-Identifier: MIT */
/*
 * What a trace consists of: trace_record.c collects it, trace_store.c keeps it, trace_write.c writes
 * the file, trace_pack.c writes it for another machine, and trace_merge.c reads that there.
 */
#ifndef RUNTIME_TRACE_TRACE_H
#define RUNTIME_TRACE_TRACE_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>
#include <tenon/backend/buffer.h>

#include "lib/string_map.h"
#include "lib/trace.h"

/* events that are kept of one trace */
#define TRACE_EVENTS_MOST (UINT64_C(1) << 20)
/* of one for another machine: of a server's memory they are not the client's */
#define TRACE_KEPT_MOST (UINT64_C(1) << 17)
/* tracks of one trace: a program may name any number, and have a thread for each request */
#define TRACE_TRACKS_MOST 65536
/* events that are allocated together; they do not move, since devices write to them */
#define TRACE_CHUNK 1024

enum trace_kind {
	TRACE_NOTHING, /* an operation that the backend refused */
	TRACE_SPAN,
	TRACE_OPERATION,
	TRACE_COUNTER,	       /* @bytes at @begin */
	TRACE_OPERATION_THERE, /* of a device of another machine, in the time of this host */
};

#define NO_TRACK UINT32_MAX

/**
 * struct trace_event - an event
 * @kind: enum trace_kind
 * @track: index of its track
 * @category: a constant
 * @name: interned
 * @function: interned; NULL for none
 * @bytes: size; 0 for none
 * @begin: time of the host; of operations, when they were submitted
 * @end: time of the host; of operations, when submitting returned
 * @stamps: times of the device before and after an operation; 0 where there is none
 * @submitted: TRACE_OPERATION_THERE: when it was submitted
 * @of_device: TRACE_OPERATION_THERE: its times are the device's
 */
struct trace_event {
	enum trace_kind kind;
	uint32_t track;
	const char *category;
	const char *name;
	const char *function;
	uint64_t bytes;
	uint64_t begin, end;
	union {
		uint64_t stamps[2];
		struct {
			uint64_t submitted;
			bool of_device;
		};
	};
};

struct trace_chunk {
	struct trace_chunk *next;
	size_t count;
	struct trace_event events[TRACE_CHUNK];
};

/**
 * struct trace_track - a track: a queue, a thread, a counter, or a name
 * @process: 0 for the program, else index of its device, or of a process elsewhere, plus 1
 * @thread: number of the track in its process
 * @name: as it is shown
 */
struct trace_track {
	uint32_t process;
	uint32_t thread;
	char *name;
};

/**
 * struct trace_device - a device with tracks, or a program or device of another machine
 * @name: "opencl:0 (name)"
 * @tracks: number of its tracks
 * @counter: track of its memory
 */
struct trace_device {
	char *name;
	uint32_t tracks;
	uint32_t counter;
};

/**
 * struct trace - the trace that is being written
 * @path: of the file
 * @fd: the file; -1 for a trace for another machine
 * @start: time at which the trace began
 * @first: events, in the order in which they were added: spans when they end
 * @last: last chunk
 * @count: number of events
 * @most: largest number of events
 * @dropped: number of events that were not kept
 * @incomplete: memory ran out: events, or names of some, are missing
 * @names: interned texts
 * @tracks: all tracks
 * @track_count: how many
 * @devices: all devices
 * @device_count: how many
 */
struct trace {
	char *path;
	int fd;
	uint64_t start;
	struct trace_chunk *first, *last;
	uint64_t count, most, dropped;
	bool incomplete;
	struct string_map names;
	struct trace_track *tracks;
	uint32_t track_count;
	struct trace_device *devices;
	uint32_t device_count;
};

/*
 * ---- trace_store.c: adding to a trace. Without memory the trace is marked, and the event is counted
 * as dropped.
 */

/** trace_text - a copy of a text that the trace keeps; equal ones share it. "" without memory */
const char *trace_text(struct trace *t, struct tenon_slice text);

/** trace_event - add an event of a track, zeroed but for both; NULL if it is dropped */
struct trace_event *trace_event(struct trace *t, enum trace_kind kind, uint32_t track);

/** trace_track - add a track; NO_TRACK without memory, and when there are TRACE_TRACKS_MOST */
uint32_t trace_track(struct trace *t, uint32_t process, uint32_t thread, const char *name);

/** trace_device - add a device; takes over @name, which may be NULL. NO_TRACK without memory. */
uint32_t trace_device(struct trace *t, char *name);

/** trace_fini - free all but the events */
void trace_fini(struct trace *t);

/* ---- trace_times.c */

/**
 * struct trace_times - the times of events, asked for in the order of the trace
 * @t: the trace
 * @offsets: of each device: what is to be added to its times for the host's
 * @ends: of each track: when its last operation ended
 */
struct trace_times {
	const struct trace *t;
	int64_t *offsets;
	uint64_t *ends;
};

/** trace_times_init - find how the clocks of devices relate to the host's. 0; -TENON_E_NOMEM. */
int trace_times_init(struct trace_times *x, const struct trace *t);

void trace_times_fini(struct trace_times *x);

/** trace_times_of - when an event was, in nanoseconds since the trace began */
void trace_times_of(struct trace_times *x, const struct trace_event *e, uint64_t *begin,
		    uint64_t *end);

/** trace_is_timed - whether the times are the device's */
bool trace_is_timed(const struct trace_event *e);

/** trace_since - nanoseconds from the begin of the trace to @time; 0 for times before */
static inline uint64_t trace_since(const struct trace *t, uint64_t time)
{
	return time > t->start ? time - t->start : 0;
}

/* ---- the trace as bytes, for another machine */

/*
 * All integers little-endian, texts as tenon_buffer_string(), times in nanoseconds: u32 version; u64
 * begin of the trace, in the clock of its machine; u64 dropped events; u32 count and the texts; u32
 * count and the names of processes, the program first; u32 count and the tracks: u32 process, u32 1,
 * or 0 for a counter, u32 name; u64 count and the events: u8 kind (enum trace_kind), u32 track, u32
 * category, u32 name, u32 function, u64 bytes, u64 begin, u64 end, u64 submitted, u8 1 for times of
 * the device. Numbers of texts count from 1; 0 is none. Times of events count from the begin of the
 * trace.
 */
#define TRACE_PACK_VERSION 1
#define TRACE_PACK_EVENT   50

/** trace_pack - append a trace to @out. 0; -TENON_E_NOMEM. */
int trace_pack(const struct trace *t, struct tenon_buffer *out);

/**
 * trace_merge_events - add the trace of another machine
 * @t: trace
 * @there: the other
 * @now: no event is later
 *
 * Return: as trace_merge().
 */
int trace_merge_events(struct trace *t, const struct trace_there *there, uint64_t now);

/* how each file begins */
#define TRACE_HEAD "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"

/**
 * trace_file_open - create the file of a trace, or open an older trace that it is to replace
 *
 * An older trace stays until trace_file_write(). Another file is not replaced: the name of a model or
 * a key in place of a trace's would destroy it.
 *
 * Return: 0; -TENON_E_IO; -TENON_E_EXISTS for a file that is no trace.
 */
int trace_file_open(const char *path, int *fd);

/** trace_file_write - write and close the file of a trace. Return: 0; -TENON_E_IO; -TENON_E_NOMEM. */
int trace_file_write(const struct trace *t);

/** trace_write - write a trace to its file. Return: 0; -TENON_E_IO; -TENON_E_NOMEM. */
int trace_write(const struct trace *t);

#endif /* RUNTIME_TRACE_TRACE_H */
