/* SPDX-License-Identifier: MIT */
/* Pass events of the library to the trace that is being recorded, if there is one. */
#include "lib/trace.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/fork_gate.h"

#if OPTION_ON(TRACE)
static pthread_mutex_t begin_lock = PTHREAD_MUTEX_INITIALIZER;

const struct tracer *trace_active;

static bool kept;	      /* the trace is for trace_take() */
static pid_t owner;	      /* the process that is traced; atomic */
static uint32_t number;	      /* of the last trace; atomic */
static void (*collect)(void); /* atomic */

/* Caller holds the lock. */
static int start(const struct tracer *t, int (*prepare)(const void *context), const void *context,
		 const char *name)
{
	int err;

	if (trace_active)
		return tenon_error(-TENON_E_USAGE, "%s: a %s is being written already", name,
				   trace_active->end ? "trace" : "record of a run");
	err = prepare(context);
	if (err)
		return err;
	__atomic_store_n(&owner, getpid(), __ATOMIC_RELAXED);
	__atomic_add_fetch(&number, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&trace_active, t, __ATOMIC_RELEASE);
	return 0;
}

int trace_start(const struct tracer *t, int (*prepare)(const void *context), const void *context,
		const char *name)
{
	int err;

	fork_gate_lock(&begin_lock);
	err = start(t, prepare, context, name);
	fork_gate_unlock(&begin_lock);
	return err;
}

bool trace_stop(const struct tracer *t)
{
	bool active;

	fork_gate_lock(&begin_lock);
	active = trace_active == t;
	if (active)
		__atomic_store_n(&trace_active, NULL, __ATOMIC_RELEASE);
	fork_gate_unlock(&begin_lock);
	return active;
}

static int begin_trace(const void *path)
{
	const struct tracer *t = plugin_trace.offer->tracer;

	kept = !path;
	return t->begin(path);
}

static int begin(const char *path)
{
	int err = plugin_open(&plugin_trace, -TENON_E_UNSUPPORTED);

	return err ? err
		   : start(plugin_trace.offer->tracer, begin_trace, path,
			   path ? path : "a trace for another machine");
}

static int end(struct tenon_buffer *out, bool take)
{
	const struct tracer *t = trace_active;
	void (*ask)(void) = __atomic_load_n(&collect, __ATOMIC_ACQUIRE);

	if (!t || !t->end)
		return tenon_error(-TENON_E_USAGE, "no trace is being written");
	if (kept != take)
		return tenon_error(-TENON_E_USAGE, "the trace that is being written is %s",
				   kept ? "for another machine" : "for a file");
	if (ask && trace_number())
		ask();
	__atomic_store_n(&trace_active, NULL, __ATOMIC_RELEASE);
	return t->end(out);
}

int tenon_trace(const char *path)
{
	int err;

	fork_gate_lock(&begin_lock);
	err = path ? begin(path) : end(NULL, false);
	fork_gate_unlock(&begin_lock);
	return err;
}

int trace_keep(void)
{
	int err;

	fork_gate_lock(&begin_lock);
	err = begin(NULL);
	fork_gate_unlock(&begin_lock);
	return err;
}

int trace_take(struct tenon_buffer *out)
{
	int err;

	fork_gate_lock(&begin_lock);
	err = end(out, true);
	fork_gate_unlock(&begin_lock);
	return err;
}

int trace_merge(const struct trace_there *there)
{
	const struct tracer *t = trace_on();

	return t && t->merge ? t->merge(there) : 0;
}

uint32_t trace_number(void)
{
	const struct tracer *t = trace_on();

	if (!t || !t->end || __atomic_load_n(&owner, __ATOMIC_RELAXED) != getpid())
		return 0;
	return __atomic_load_n(&number, __ATOMIC_RELAXED);
}

void trace_collect_with(void (*function)(void))
{
	__atomic_store_n(&collect, function, __ATOMIC_RELEASE);
}

void tenon_trace_span(const char *track, const char *name, uint64_t begin, uint64_t end)
{
	const struct trace_span span = { .track = track,
					 .category = "program",
					 .name = tenon_slice_of(name),
					 .begin = begin,
					 .end = end };

	if (begin)
		trace_put(&span);
}

void trace_put(const struct trace_span *span)
{
	const struct tracer *t = trace_on();

	if (t && t->span)
		t->span(span);
}

void trace_add(const char *category, struct tenon_slice name, uint64_t bytes, uint64_t begin)
{
	struct trace_span span = {
		.category = category, .name = name, .bytes = bytes, .begin = begin
	};

	if (!begin)
		return;
	span.end = clock_now();
	trace_put(&span);
}
#else
static int no_traces(void)
{
	return tenon_error(-TENON_E_UNSUPPORTED, "CONFIG_TRACE is off in this build");
}

int tenon_trace(const char *path)
{
	return no_traces();
}

int trace_keep(void)
{
	return no_traces();
}

int trace_take(struct tenon_buffer *out)
{
	return no_traces();
}

int trace_merge(const struct trace_there *there)
{
	return 0;
}

uint32_t trace_number(void)
{
	return 0;
}

void trace_collect_with(void (*function)(void))
{
}

void tenon_trace_span(const char *track, const char *name, uint64_t begin, uint64_t end)
{
}
#endif

uint64_t tenon_trace_now(void)
{
	return trace_begin();
}
