/* SPDX-License-Identifier: MIT */
#ifndef TENON_TRACE_H
#define TENON_TRACE_H

/**
 * DOC: traces
 *
 * A trace shows what the process and its devices did and when: a track for each queue with its
 * kernels, copies and other operations in the device's time, a track for each thread with models,
 * their operators, waits, allocations and builds of kernels, a track for each session with another
 * machine, and the memory of each device as a counter. Servers of Tenon record the same while their
 * clients do; their tracks are added when the session or the trace ends. The file has the trace-event format in
 * JSON, which Perfetto (ui.perfetto.dev) and Chrome's about:tracing open.
 *
 * While no trace is written, each submission reads one word for it and nothing else is done. While
 * one is written, each operation of a queue is enclosed by two timestamps, and the operators of
 * graph models run one after the other.
 */

#include <stdint.h>
#include <tenon/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * tenon_trace - begin or end the trace of this process
 * @path: file to write; NULL to end the trace and complete its file
 *
 * The file is created when the trace begins and written when it ends. Ending a trace waits until
 * the queues have done what was submitted to them, up to half a minute, and up to 5 s for requests
 * of sessions with other machines: of a session whose requests take longer, the trace has nothing
 * of the server. At most a million events and 65536 tracks are kept; the file says how many more
 * events there were. A child process after fork() writes no trace.
 *
 * Context: any thread, but no host function of a queue (tenon_queue_call()).
 * Return: 0; -TENON_E_USAGE when a trace is being written already, or none; -TENON_E_IO;
 *	-TENON_E_NOMEM, at the end of a trace also when memory ran out meanwhile: the file has the
 *	other events; -TENON_E_UNSUPPORTED in a build without traces.
 */
TENON_API int tenon_trace(const char *path);

/**
 * tenon_trace_now - test whether a trace is being written, and get the time
 *
 * Context: any thread.
 * Return: nanoseconds of CLOCK_MONOTONIC; 0 when no trace is being written.
 */
TENON_API uint64_t tenon_trace_now(void);

/**
 * tenon_trace_span - add a span of the program's own to the trace
 * @track: name of a track; NULL for that of the calling thread
 * @name: what was done
 * @begin: when it began, from tenon_trace_now(); the span is not added if this is 0
 * @end: when it ended
 *
 * Spans of one track either follow each other or lie one in the other. Both texts are copied.
 *
 * Context: any thread; takes a lock.
 */
TENON_API void tenon_trace_span(const char *track, const char *name, uint64_t begin, uint64_t end);

#ifdef __cplusplus
}
#endif

#endif /* TENON_TRACE_H */
