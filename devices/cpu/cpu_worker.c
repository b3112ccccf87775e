/* SPDX-License-Identifier: MIT */
/* Queue with a thread, which runs the submitted operations from a list. */
#include "devices/cpu/cpu.h"
#include "devices/inline/inline_work.h"
#include "lib/brief_errors.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* interval at which a waiting thread checks for loss of the device */
#define SLICE  UINT64_C(20000000)
#define SECOND UINT64_C(1000000000)

/* not an operation of the ABI: wait for a mark of another queue */
#define OP_ORDER 1000

struct job {
	struct job *next;
	struct tenon_operation op;
	struct tenon_dispatch dispatch;
	struct tenon_memory rooms[2]; /* copies: the memory may be freed before the job runs */
	struct tenon_queue *other;    /* OP_ORDER: referenced */
	uint64_t serial;
	bool marked; /* a mark follows the job */
	size_t argument_room;
	uint64_t *arguments;
};

/* failure of a mark; kept until the queue is destroyed */
struct failure {
	struct failure *next;
	uint64_t serial;
	bool placed; /* its mark is known */
	int status;
	char *reason;
};

struct worker {
	struct tenon_queue base;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t submitted;
	pthread_cond_t done;
	struct job *first, *last, *spare;
	struct failure *failures;
	uint64_t given; /* jobs submitted */
	uint64_t finished;
	bool stop;
};

static struct worker *worker_of(struct tenon_queue *q)
{
	return (struct worker *)q;
}

static bool lost(const struct worker *w)
{
	return __atomic_load_n(&w->base.device->lost, __ATOMIC_ACQUIRE) != 0;
}

/* Wait for a condition for at most one slice, since the loss of a device signals no condition. */
static void wait_slice(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t deadline)
{
	uint64_t until = tenon_now() + SLICE;
	struct timespec t;

	if (until > deadline)
		until = deadline;
	t.tv_sec = (time_t)(until / SECOND);
	t.tv_nsec = (long)(until % SECOND);
	pthread_cond_timedwait(condition, lock, &t);
}

static const struct failure *failure_at(const struct worker *w, uint64_t serial)
{
	const struct failure *f;

	for (f = w->failures; f; f = f->next)
		if (f->placed && f->serial == serial)
			return f;
	return NULL;
}

/* State of a mark: 1 reached, 0 not reached, negative failed. Called with the lock held. */
static int look(const struct worker *w, uint64_t serial)
{
	const struct failure *f;

	/* report a failure only when no operation before the mark is running */
	if (w->finished < serial)
		return lost(w) ? tenon_device_check(w->base.device) : 0;
	f = failure_at(w, serial);
	return f ? tenon_error(f->status, "%s", f->reason ? f->reason : "") : 1;
}

static int reached(struct tenon_queue *q, uint64_t serial)
{
	struct worker *w = worker_of(q);
	int state;

	pthread_mutex_lock(&w->lock);
	state = look(w, serial);
	pthread_mutex_unlock(&w->lock);
	return state;
}

static int wait(struct tenon_queue *q, uint64_t serial, uint64_t deadline)
{
	struct worker *w = worker_of(q);
	int state;

	pthread_mutex_lock(&w->lock);
	while (!(state = look(w, serial)) && tenon_now() < deadline)
		wait_slice(&w->done, &w->lock, deadline);
	pthread_mutex_unlock(&w->lock);
	if (!state)
		return tenon_error(-TENON_E_TIMEOUT, "cpu: the queue's thread is not done in time");
	return state < 0 ? state : 0;
}

/* Assign the failure to the first mark after the job; if there is none yet, mark() does. */
static void place_failure(struct worker *w, struct failure *f, const struct job *job)
{
	for (; job; job = job->next)
		if (job->marked) {
			f->serial = job->serial;
			f->placed = true;
			return;
		}
	(void)w;
}

static void note_failure(struct worker *w, const struct job *job, int status)
{
	struct failure *f = calloc(1, sizeof(*f));

	if (!f)
		return;
	f->status = status;
	f->reason = strdup(tenon_error_message());
	place_failure(w, f, job);
	f->next = w->failures;
	w->failures = f;
}

static int do_order(struct worker *w, const struct job *job)
{
	int err;

	do {
		err = wait(job->other, job->op.as.execute.binding_count, tenon_now() + SLICE);
	} while (err == -TENON_E_TIMEOUT && !lost(w));
	return err;
}

static void *work(void *context)
{
	struct worker *w = context;
	struct job *job;
	int err;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		while (!w->first && !w->stop)
			pthread_cond_wait(&w->submitted, &w->lock);
		job = w->first;
		if (!job)
			break;
		pthread_mutex_unlock(&w->lock);
		err = job->op.kind == OP_ORDER ? do_order(w, job)
					       : inline_work(&w->base, &job->op, cpu_run);
		if (job->other)
			tenon_object_unref(job->other);
		job->other = NULL;
		pthread_mutex_lock(&w->lock);
		if (err)
			note_failure(w, job, err);
		w->finished = job->serial;
		w->first = job->next;
		if (!w->first)
			w->last = NULL;
		job->next = w->spare;
		w->spare = job;
		pthread_cond_broadcast(&w->done);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static struct job *take_job(struct worker *w)
{
	struct job *job;

	pthread_mutex_lock(&w->lock);
	job = w->spare;
	if (job)
		w->spare = job->next;
	pthread_mutex_unlock(&w->lock);
	return job ? job : calloc(1, sizeof(*job));
}

static void give_job(struct worker *w, struct job *job)
{
	pthread_mutex_lock(&w->lock);
	job->serial = ++w->given;
	job->marked = false;
	job->next = NULL;
	if (w->last)
		w->last->next = job;
	else
		w->first = job;
	w->last = job;
	pthread_cond_signal(&w->submitted);
	pthread_mutex_unlock(&w->lock);
}

static void keep_range(struct tenon_range *r, struct tenon_memory *room)
{
	/* inline_work() uses this pointer only */
	room->host = r->memory->host;
	r->memory = room;
}

static int keep_dispatch(struct job *job, const struct tenon_dispatch *d)
{
	size_t n = d->kernel->info->argument_count;
	uint64_t *arguments;

	if (n > job->argument_room) {
		arguments = realloc(job->arguments, n * sizeof(*arguments));
		if (!arguments)
			return tenon_error(-TENON_E_NOMEM, "no memory for a launch");
		job->arguments = arguments;
		job->argument_room = n;
	}
	if (n)
		memcpy(job->arguments, d->arguments, n * sizeof(*job->arguments));
	job->dispatch = *d;
	job->dispatch.arguments = job->arguments;
	job->op.as.dispatch = &job->dispatch;
	return 0;
}

static int keep(struct job *job, const struct tenon_operation *op)
{
	job->op = *op;
	switch (op->kind) {
	case TENON_OP_COPY:
		keep_range(&job->op.as.copy.to, &job->rooms[0]);
		keep_range(&job->op.as.copy.from, &job->rooms[1]);
		return 0;
	case TENON_OP_WRITE:
		keep_range(&job->op.as.write.to, &job->rooms[0]);
		return 0;
	case TENON_OP_READ:
		keep_range(&job->op.as.read.from, &job->rooms[0]);
		return 0;
	case TENON_OP_FILL:
		keep_range(&job->op.as.fill.to, &job->rooms[0]);
		return 0;
	case TENON_OP_DISPATCH:
		return keep_dispatch(job, op->as.dispatch);
	default:
		return 0;
	}
}

static void put_back(struct worker *w, struct job *job)
{
	pthread_mutex_lock(&w->lock);
	job->next = w->spare;
	w->spare = job;
	pthread_mutex_unlock(&w->lock);
}

static int submit(struct tenon_queue *q, const struct tenon_operation *op)
{
	struct worker *w = worker_of(q);
	struct job *job;
	int err;

	if (lost(w))
		return tenon_device_check(q->device);
	if (op->kind == TENON_OP_EXECUTE || op->kind > TENON_OP_TIMESTAMP)
		return tenon_error(-TENON_E_UNSUPPORTED, "cpu does no operation %u", op->kind);
	job = take_job(w);
	if (!job)
		return tenon_error(-TENON_E_NOMEM, "no memory for an operation");
	err = keep(job, op);
	if (err) {
		put_back(w, job);
		return err;
	}
	give_job(w, job);
	return 0;
}

static int order(struct tenon_queue *q, struct tenon_queue *other, uint64_t serial)
{
	struct worker *w = worker_of(q);
	struct job *job;
	int state;

	state = reached(other, serial);
	if (state == 1)
		return 0;
	if (state < 0 && lost(w))
		return state;
	job = take_job(w);
	if (!job)
		return tenon_error(-TENON_E_NOMEM, "no memory for an operation");
	memset(&job->op, 0, sizeof(job->op));
	job->op.kind = OP_ORDER;
	job->op.as.execute.binding_count = serial;
	tenon_object_ref(other);
	job->other = other;
	give_job(w, job);
	return 0;
}

static int mark(struct tenon_queue *q, uint64_t *serial)
{
	struct worker *w = worker_of(q);
	struct failure *f;

	pthread_mutex_lock(&w->lock);
	*serial = w->given;
	if (w->last)
		w->last->marked = true;
	/* this mark reports jobs that have failed already */
	for (f = w->failures; f; f = f->next)
		if (!f->placed) {
			/* use a new serial, so that a later mark at this place does not fail too */
			*serial = w->last ? w->given : ++w->given;
			w->finished = w->last ? w->finished : w->given;
			f->serial = *serial;
			f->placed = true;
		}
	pthread_mutex_unlock(&w->lock);
	return 0;
}

static void free_worker(struct worker *w)
{
	struct failure *f;
	struct job *job;

	while ((job = w->spare)) {
		w->spare = job->next;
		free(job->arguments);
		free(job);
	}
	while ((f = w->failures)) {
		w->failures = f->next;
		free(f->reason);
		free(f);
	}
	pthread_cond_destroy(&w->done);
	pthread_cond_destroy(&w->submitted);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

static int make_locks(struct worker *w)
{
	pthread_condattr_t attributes;

	if (pthread_condattr_init(&attributes))
		return tenon_error(-TENON_E_NOMEM, "no memory for a queue");
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&w->done, &attributes);
	pthread_cond_init(&w->submitted, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&w->lock, NULL);
	return 0;
}

static int create(struct tenon_device *device, struct tenon_queue **out)
{
	struct worker *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return tenon_error(-TENON_E_NOMEM, "no memory for a queue");
	err = make_locks(w);
	if (err) {
		free(w);
		return err;
	}
	err = tenon_queue_init(&w->base, device);
	if (err) {
		free_worker(w);
		return err;
	}
	if (pthread_create(&w->thread, NULL, work, w)) {
		tenon_queue_fini(&w->base);
		free_worker(w);
		return tenon_error(-TENON_E_NOMEM, "cpu: no thread for a queue");
	}
	*out = &w->base;
	return 0;
}

static void destroy(struct tenon_queue *q)
{
	struct worker *w = worker_of(q);

	tenon_queue_fini(q);
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_signal(&w->submitted);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	free_worker(w);
}

const struct tenon_queue_ops cpu_worker_ops = {
	.size = sizeof(cpu_worker_ops),
	.create = create,
	.destroy = destroy,
	.submit = submit,
	.mark = mark,
	.reached = reached,
	.wait = wait,
	.order = order,
	.calls = 1,
};
