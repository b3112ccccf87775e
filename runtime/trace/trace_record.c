/* SPDX-License-Identifier: MIT */
/*
 * Collects the events of a trace. Two locks: @lock protects the events and is held briefly; @queues_lock
 * protects the list of queues, and is held while the end of the trace waits for them, so that none
 * is destroyed meanwhile.
 */
#include "runtime/trace/trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/option.h"
#include "runtime/device/device_core.h"
#include "runtime/record/record.h"

/* how long the end of a trace waits for all queues together */
#define END_WAIT UINT64_C(30000000000)
/* shortest time between two looks at the memory of the process */
#define MEMORY_EVERY UINT64_C(1000000)

/* numbers of named tracks; above those of threads */
#define NAMED_TRACK (UINT32_C(1) << 30)

/* a queue that operations were traced of */
struct traced_queue {
	struct traced_queue *next;
	struct tenon_queue *queue;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t returned = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t queues_lock = PTHREAD_MUTEX_INITIALIZER;

static struct trace trace = { .fd = -1 };
static pid_t owner; /* the process that is traced; atomic */
static bool recording;
/* tracks noted elsewhere are of this trace if they carry this number */
static uint32_t generation;
static uint32_t submitting; /* threads that submit an operation of this trace */
static uint32_t memory_track;
static uint64_t memory_next; /* when to count the memory of the process again; atomic */
static struct traced_queue *queues;
/* events that a driver may still write to, since a queue did not become idle */
static struct trace_chunk *abandoned;

static __thread uint64_t thread_track;

/* A track's number with the trace's generation, as queues, devices and threads store it. */
static uint64_t note_of(uint32_t track)
{
	return (uint64_t)generation << 32 | track;
}

static bool noted(uint64_t note, uint32_t *track)
{
	*track = (uint32_t)note;
	return note >> 32 == generation;
}

/* ---- parts, with the lock held */

static uint32_t device_index(struct tenon_device *device)
{
	char name[256];
	uint32_t index;

	if (noted(device->core->trace_device, &index))
		return index;
	snprintf(name, sizeof(name), "%s:%d (%s)", device->backend->name, device->id.device_id,
		 device->properties->name);
	index = trace_device(&trace, strdup(name));
	if (index != NO_TRACK)
		device->core->trace_device = note_of(index);
	return index;
}

static uint32_t queue_track(struct tenon_queue *queue)
{
	uint32_t index = device_index(queue->device), track;
	char name[32];

	if (noted(queue->core->trace_track, &track))
		return track;
	if (index == NO_TRACK)
		return NO_TRACK;
	snprintf(name, sizeof(name), "queue %u", trace.devices[index].tracks++);
	track = trace_track(&trace, index + 1, trace.devices[index].tracks, name);
	if (track != NO_TRACK)
		queue->core->trace_track = note_of(track);
	return track;
}

/*
 * Read the name of the main thread, so that threads that inherited it count as unnamed. Under an
 * interpreter (ld.so, qemu) it is the interpreter's name, not program_invocation_short_name.
 */
static void name_of_main_thread(char name[16])
{
	const int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	const ssize_t size = fd < 0 ? -1 : read(fd, name, 15);

	if (fd >= 0)
		close(fd);
	name[size < 0 ? 0 : size] = '\0';
	name[strcspn(name, "\n")] = '\0';
}

/* "main thread", or the name that the thread gave itself. */
static const char *name_of_thread(long thread, char name[16])
{
	char inherited[16];

	name[0] = '\0';
	if (thread == getpid())
		return "main thread";
	name_of_main_thread(inherited);
	if (prctl(PR_GET_NAME, name) || !*name || !strcmp(name, inherited))
		return "thread";
	return name;
}

static uint32_t thread_track_here(void)
{
	const long thread = syscall(SYS_gettid);
	uint32_t track;
	char name[40], own[16];

	if (noted(thread_track, &track))
		return track;
	snprintf(name, sizeof(name), "%s %ld", name_of_thread(thread, own), thread);
	track = trace_track(&trace, 0, (uint32_t)thread, name);
	if (track != NO_TRACK)
		thread_track = note_of(track);
	return track;
}

static uint32_t named_track(const char *name)
{
	uint32_t i;

	for (i = 0; i < trace.track_count; i++)
		if (!trace.tracks[i].process && trace.tracks[i].thread & NAMED_TRACK &&
		    !strcmp(trace.tracks[i].name, name))
			return i;
	return trace_track(&trace, 0, NAMED_TRACK | i, name);
}

static void count_memory(uint32_t track, uint64_t now, uint64_t bytes)
{
	struct trace_event *e = trace_event(&trace, TRACE_COUNTER, track);

	if (!e)
		return;
	e->name = "memory";
	e->begin = now;
	e->bytes = bytes;
}

/* Whether the memory of the process is to be counted now: at most once in a while. */
static bool memory_is_due(uint64_t now)
{
	return now >= __atomic_load_n(&memory_next, __ATOMIC_RELAXED);
}

/* Resident memory of the process; 0 if unknown. Reads a file, so call it without the lock. */
static uint64_t resident_memory(void)
{
	char text[128];
	unsigned long long size, resident;
	ssize_t n;
	int fd;

	fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	if (sscanf(text, "%llu %llu", &size, &resident) != 2)
		return 0;
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void count_process_memory(uint64_t now, uint64_t resident)
{
	/* another thread may have counted it meanwhile */
	if (!memory_is_due(now))
		return;
	__atomic_store_n(&memory_next, now + MEMORY_EVERY, __ATOMIC_RELAXED);
	if (!resident)
		return;
	if (memory_track == NO_TRACK)
		memory_track = trace_track(&trace, 0, 0, "memory");
	count_memory(memory_track, now, resident);
}

/* A child process may not take the locks: another thread of the parent may have held them. */
static bool is_owner(void)
{
	return __atomic_load_n(&owner, __ATOMIC_RELAXED) == getpid();
}

/* Take the lock, unless nothing is recorded. */
static bool enter(void)
{
	if (!is_owner())
		return false;
	pthread_mutex_lock(&lock);
	if (recording)
		return true;
	pthread_mutex_unlock(&lock);
	return false;
}

static void leave(void)
{
	pthread_mutex_unlock(&lock);
}

/* ---- operations */

static const char *category_of(uint32_t kind)
{
	switch (kind) {
	case TENON_OP_DISPATCH:
		return "kernel";
	case TENON_OP_EXECUTE:
		return "recording";
	case TENON_OP_CALL:
		return "call";
	case TENON_OP_FILL:
		return "fill";
	default:
		return "copy";
	}
}

static const char *operation_text(const struct tenon_operation *op, uint64_t *bytes)
{
	switch (op->kind) {
	case TENON_OP_COPY:
		*bytes = op->as.copy.size;
		return "copy";
	case TENON_OP_WRITE:
		*bytes = op->as.write.size;
		return "write";
	case TENON_OP_READ:
		*bytes = op->as.read.size;
		return "read";
	case TENON_OP_FILL:
		*bytes = op->as.fill.size;
		return "fill";
	case TENON_OP_EXECUTE:
		return "recording";
	default:
		return "host function";
	}
}

/* Have the end of the trace wait for a queue. Called without the lock. */
static bool list_queue(struct tenon_queue *queue)
{
	struct traced_queue *q;

	pthread_mutex_lock(&queues_lock);
	for (q = queues; q && q->queue != queue; q = q->next)
		;
	if (!q) {
		q = malloc(sizeof(*q));
		if (q) {
			*q = (struct traced_queue){ queues, queue };
			queues = q;
			queue->core->traced = true;
		}
	}
	pthread_mutex_unlock(&queues_lock);
	return q;
}

/* Caller holds the lock. */
static void end_submitting(void)
{
	if (!--submitting)
		pthread_cond_broadcast(&returned);
}

static struct trace_event *begin_operation(struct tenon_queue *queue,
					   const struct tenon_operation *op)
{
	struct trace_event *e;
	bool listed;

	/* The trace does not end while threads are counted, so the queue is in its list. */
	if (!enter())
		return NULL;
	submitting++;
	leave();
	listed = list_queue(queue);
	pthread_mutex_lock(&lock);
	if (!listed)
		trace.incomplete = true;
	e = trace_event(&trace, TRACE_OPERATION, listed ? queue_track(queue) : NO_TRACK);
	if (e) {
		e->category = category_of(op->kind);
		e->name = op->kind == TENON_OP_DISPATCH
				  ? trace_text(&trace, op->as.dispatch->kernel->info->name)
				  : operation_text(op, &e->bytes);
		e->begin = e->end = clock_now();
	} else {
		end_submitting();
	}
	pthread_mutex_unlock(&lock);
	return e;
}

static void end_operation(struct trace_event *e, int err)
{
	pthread_mutex_lock(&lock);
	e->end = clock_now();
	if (err)
		e->kind = TRACE_NOTHING;
	end_submitting();
	pthread_mutex_unlock(&lock);
}

/* A device without a clock leaves the time 0. */
static void stamp(struct tenon_queue *queue, uint64_t *time)
{
	struct tenon_operation op = { .kind = TENON_OP_TIMESTAMP };

	op.as.timestamp = time;
	if (queue->device->ops->queue->submit(queue, &op))
		tenon_error_clear();
}

static int trace_submit(struct tenon_queue *queue, const struct tenon_operation *op)
{
	const struct tenon_queue_ops *ops = queue->device->ops->queue;
	struct trace_event *e = NULL;
	int err;

	if (is_owner() && op->kind != TENON_OP_TIMESTAMP)
		e = begin_operation(queue, op);
	if (!e)
		return ops->submit(queue, op);
	stamp(queue, &e->stamps[0]);
	err = ops->submit(queue, op);
	if (!err)
		stamp(queue, &e->stamps[1]);
	end_operation(e, err);
	return err;
}

static void trace_queue_gone(struct tenon_queue *queue)
{
	struct traced_queue **at, *q;

	if (!is_owner())
		return;
	pthread_mutex_lock(&queues_lock);
	for (at = &queues; (q = *at); at = &q->next)
		if (q->queue == queue) {
			*at = q->next;
			free(q);
			break;
		}
	pthread_mutex_unlock(&queues_lock);
}

/* ---- memory and spans */

static void trace_memory(struct tenon_device *device)
{
	uint64_t bytes;
	uint32_t index;

	if (!enter())
		return;
	/* With the lock held, so that the last event has the last sum. */
	bytes = __atomic_load_n(&device->core->allocated, __ATOMIC_RELAXED);
	index = device_index(device);
	if (index != NO_TRACK && trace.devices[index].counter == NO_TRACK)
		trace.devices[index].counter = trace_track(&trace, index + 1, 0, "memory");
	if (index != NO_TRACK)
		count_memory(trace.devices[index].counter, clock_now(), bytes);
	leave();
}

static void trace_span(const struct trace_span *s)
{
	struct trace_event *e;
	const bool due = memory_is_due(s->end);
	uint64_t resident = due ? resident_memory() : 0;

	if (!enter())
		return;
	e = trace_event(&trace, TRACE_SPAN, s->track ? named_track(s->track) : thread_track_here());
	if (e) {
		e->category = s->category;
		e->name = trace_text(&trace, s->name);
		e->function = s->function.size ? trace_text(&trace, s->function) : NULL;
		e->bytes = s->bytes;
		e->begin = s->begin < trace.start ? trace.start : s->begin;
		e->end = s->end < e->begin ? e->begin : s->end;
	}
	if (due)
		count_process_memory(s->end, resident);
	leave();
}

/* ---- beginning and end */

static int begin_trace(const char *path)
{
	const char *name = path ? path : "a trace for another machine";
	uint64_t resident;

	if (trace.path)
		return tenon_error(-TENON_E_USAGE,
				   "%s: a process whose parent is traced writes no trace", name);
	trace.path = strdup(name);
	if (!trace.path)
		return tenon_error(-TENON_E_NOMEM, "%s: no memory for a trace", name);
	if (path && trace_file_open(path, &trace.fd)) {
		free(trace.path);
		trace.path = NULL;
		return tenon_error_status();
	}
	trace.most = path ? TRACE_EVENTS_MOST : TRACE_KEPT_MOST;
	__atomic_store_n(&owner, getpid(), __ATOMIC_RELAXED);
	resident = resident_memory();
	pthread_mutex_lock(&lock);
	generation++;
	trace.start = clock_now();
	memory_track = NO_TRACK;
	__atomic_store_n(&memory_next, 0, __ATOMIC_RELAXED);
	recording = true;
	count_process_memory(trace.start, resident);
	pthread_mutex_unlock(&lock);
	return 0;
}

static bool is_idle(struct tenon_queue *queue, uint64_t deadline)
{
	const struct tenon_queue_ops *ops = queue->device->ops->queue;
	uint64_t serial;
	bool idle = false;

	if (!queue_mark_own(queue, &serial) && !ops->wait(queue, serial, deadline))
		idle = ops->reached(queue, serial) == 1;
	/* after a failure or a loss the driver may write at any time */
	if (idle && !device_is_lost(queue->device))
		return true;
	tenon_error_clear();
	return false;
}

/* Wait for the times of all operations. Return: no device will write to an event any more. */
static bool wait_for_queues(void)
{
	const uint64_t deadline = tenon_deadline(END_WAIT);
	struct traced_queue *q;
	bool idle = true;

	pthread_mutex_lock(&queues_lock);
	while ((q = queues)) {
		idle = is_idle(q->queue, deadline) && idle;
		queues = q->next;
		free(q);
	}
	pthread_mutex_unlock(&queues_lock);
	return idle;
}

static void free_events(bool idle)
{
	struct trace_chunk *c;

	if (!idle && trace.last) {
		trace.last->next = abandoned;
		abandoned = trace.first;
		return;
	}
	while ((c = trace.first)) {
		trace.first = c->next;
		free(c);
	}
}

static int write_file(void)
{
	int err = trace_file_write(&trace);

	if (!err && trace.incomplete)
		err = tenon_error(-TENON_E_NOMEM,
				  "%s: no memory for all events; the file has the others",
				  trace.path);
	return err;
}

static int end_trace(struct tenon_buffer *out)
{
	bool idle;
	int err = 0;

	if (!is_owner())
		return tenon_error(-TENON_E_USAGE, "%s: the trace is of the parent process",
				   trace.path);
	pthread_mutex_lock(&lock);
	recording = false;
	while (submitting)
		pthread_cond_wait(&returned, &lock);
	pthread_mutex_unlock(&lock);
	idle = wait_for_queues();
	if (trace.fd >= 0)
		err = write_file();
	else if (out)
		err = trace_pack(&trace, out);
	free_events(idle);
	trace_fini(&trace);
	return err;
}

static int merge(const struct trace_there *there)
{
	int err;

	if (!enter())
		return 0;
	err = trace_merge_events(&trace, there, clock_now());
	leave();
	return err;
}

extern const struct tracer trace_tracer;

const struct tracer trace_tracer = {
	.begin = begin_trace,
	.end = end_trace,
	.submit = trace_submit,
	.queue_gone = trace_queue_gone,
	.memory = trace_memory,
	.span = trace_span,
	.merge = merge,
	.recorder = OPTION_SLOT(RECORD, &run_recorder),
};
