/* SPDX-License-Identifier: MIT */
/* Where the library reports to the trace. What writes it is in runtime/trace/, usually a plug-in. */
#ifndef LIB_TRACE_H
#define LIB_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/error.h>
#include <tenon/string.h>
#include <tenon/trace.h>

#include "lib/clock.h"
#include "lib/option.h"
#include "lib/plugin.h"
#include "lib/plugin_api.h"

struct operator_begun;
struct operator_call;
struct recorder;
struct tenon_buffer;
struct tenon_device;
struct tenon_operation;
struct tenon_queue;

/**
 * struct trace_span - something that a thread did
 * @track: name of its track; NULL for that of the thread
 * @category: kind of span, for filters; a constant
 * @name: name of the span
 * @function: called function; empty for none
 * @bytes: size of what was handled; 0 for none
 * @begin: nanoseconds of CLOCK_MONOTONIC
 * @end: likewise
 */
struct trace_span {
	const char *track;
	const char *category;
	struct tenon_slice name;
	struct tenon_slice function;
	uint64_t bytes;
	uint64_t begin, end;
};

/**
 * struct trace_clock - what two clocks showed at one time, both in nanoseconds
 * @there: clock of the other machine
 * @here: CLOCK_MONOTONIC
 * @within: how far @here may be from the time at which @there was read
 */
struct trace_clock {
	uint64_t there, here;
	uint64_t within;
};

/**
 * struct trace_there - the trace of another machine
 * @name: of the machine
 * @events: from its trace_take(); not trusted
 * @begin: both clocks near the begin of that trace
 * @end: and near its end; the clocks may run at different speeds
 */
struct trace_there {
	const char *name;
	struct tenon_slice events;
	struct trace_clock begin, end;
};

/**
 * struct tracer - what writes a trace, or a record of a run (lib/record.h)
 * @begin: create the file; with a path of NULL, keep the events in memory
 * @end: write the file, or append what trace_take() gives to @out, and forget the events
 * @submit: submit an operation to the backend, and note when it ran
 * @queue_gone: NULL but in the tracer that the plug-in offers: a queue with a track is destroyed; called at any time after @submit
 * @memory: the memory of a device has changed; NULL for what writes no trace, as the next two
 * @span: add a span
 * @merge: add the events of another machine
 * @before: an operator is about to be called; NULL in a trace, which has its span afterwards
 * @recorder: of the tracer that the plug-in offers: what writes records; NULL in a build without records
 */
struct tracer {
	int (*begin)(const char *path);
	int (*end)(struct tenon_buffer *out);
	int (*submit)(struct tenon_queue *queue, const struct tenon_operation *operation);
	void (*queue_gone)(struct tenon_queue *queue);
	void (*memory)(struct tenon_device *device);
	void (*span)(const struct trace_span *span);
	int (*merge)(const struct trace_there *there);
	struct operator_begun *(*before)(const struct operator_call *call);
	const struct recorder *recorder;
};

#if OPTION_ON(TRACE)
/* what has the tracer */
extern struct plugin plugin_trace;

/* atomic; NULL while no trace is being written */
extern const struct tracer *trace_active;

/** trace_on - the tracer; NULL while no trace is being written */
static inline const struct tracer *trace_on(void)
{
	return (const struct tracer *)__builtin_expect(
		(intptr_t)__atomic_load_n(&trace_active, __ATOMIC_ACQUIRE), 0);
}
#else
static inline const struct tracer *trace_on(void)
{
	return NULL;
}
#endif

/** trace_begin - time at which a span begins; 0 while no trace is being written */
static inline uint64_t trace_begin(void)
{
	return trace_on() ? clock_now() : 0;
}

/** trace_add - add a span of the calling thread that ends now; not if it begins at 0 */
#if OPTION_ON(TRACE)
void trace_add(const char *category, struct tenon_slice name, uint64_t bytes, uint64_t begin)
	TO_PLUGINS(trace_add);
#else
static inline void trace_add(const char *category, struct tenon_slice name, uint64_t bytes,
			     uint64_t begin)
{
}
#endif

/** trace_put - add a span, if a trace is being written */
#if OPTION_ON(TRACE)
void trace_put(const struct trace_span *span) TO_PLUGINS(trace_put);
#else
static inline void trace_put(const struct trace_span *span)
{
}
#endif

/**
 * trace_start - have a tracer called, if none is; for traces and records
 * @t: the tracer
 * @begin: makes it ready
 * @context: passed to @begin
 * @name: what is written, for messages
 *
 * Return: 0; -TENON_E_USAGE when a trace or a record is being written already; as @begin.
 */
int trace_start(const struct tracer *t, int (*begin)(const void *context), const void *context,
		const char *name) TO_PLUGINS(trace_start);

/**
 * trace_stop - have a tracer called no more
 *
 * Return: whether it was called before.
 */
bool trace_stop(const struct tracer *t) TO_PLUGINS(trace_stop);

/**
 * trace_keep - begin a trace that trace_take() ends, for another machine
 *
 * It has no file, and keeps fewer events than one that has.
 *
 * Return: 0; -TENON_E_USAGE when a trace is being written already; -TENON_E_NOMEM;
 *	-TENON_E_UNSUPPORTED in a build without traces.
 */
int trace_keep(void) TO_PLUGINS(trace_keep);

/**
 * trace_take - end such a trace
 * @out: its events are appended, for struct trace_there; NULL to drop them
 *
 * Return: as tenon_trace(); the trace ended unless it is -TENON_E_USAGE.
 */
int trace_take(struct tenon_buffer *out) TO_PLUGINS(trace_take);

/**
 * trace_merge - add the trace of another machine to that of this process, if one is being written
 *
 * Return: 0; -TENON_E_FORMAT, -TENON_E_TRUNCATED for events that are malformed, of which none is
 *	added; -TENON_E_NOMEM.
 */
int trace_merge(const struct trace_there *there) TO_PLUGINS(trace_merge);

/** trace_number - number of the trace that this process writes, from 1; 0 for none */
uint32_t trace_number(void) TO_PLUGINS(trace_number);

/**
 * trace_collect_with - have a function called before a trace ends, for trace_merge()
 * @collect: any number of times, by threads that end traces; it may wait for other machines
 */
void trace_collect_with(void (*collect)(void)) TO_PLUGINS(trace_collect_with);

#endif /* LIB_TRACE_H */
