/* SPDX-License-Identifier: MIT */
/* Queue with a thread, which runs the submitted operations from a list. */
#include "devices/mapped/worker_queue.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "devices/mapped/inline_work.h"
#include "lib/brief_errors.h"

#define SECOND UINT64_C(1000000000)

/* not an operation of the ABI: wait for a mark of another queue */
#define OP_ORDER 1000

/**
 * struct worker_job - an operation in the list
 * @next: in the list
 * @op: the operation
 * @rooms: stand for its memory, which may be freed before the job runs
 * @other: of OP_ORDER; referenced
 * @serial: of the job
 * @marked: a mark follows the job
 * @failure: for when it fails, since there may be no memory then
 * @launch: of the backend
 */
struct worker_job {
	struct worker_job *next;
	struct tenon_operation op;
	struct tenon_memory rooms[2];
	struct tenon_queue *other;
	uint64_t serial;
	bool marked;
	struct worker_failure *failure;
	max_align_t launch[];
};

/* failure of a mark; kept until the queue is destroyed */
struct worker_failure {
	struct worker_failure *next;
	uint64_t serial;
	bool placed; /* its mark is known */
	int status;
	char *reason;
};

static struct worker_queue *worker_of(struct tenon_queue *q)
{
	return (struct worker_queue *)q;
}

/* Wait for a condition for at most one slice, since the loss of a device signals no condition. */
static void wait_slice(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t deadline)
{
	uint64_t until = tenon_now() + WORKER_SLICE;
	struct timespec t;

	if (until > deadline)
		until = deadline;
	t.tv_sec = (time_t)(until / SECOND);
	t.tv_nsec = (long)(until % SECOND);
	pthread_cond_timedwait(condition, lock, &t);
}

static const struct worker_failure *failure_at(const struct worker_queue *w, uint64_t serial)
{
	const struct worker_failure *f;

	for (f = w->failures; f; f = f->next)
		if (f->placed && f->serial == serial)
			return f;
	return NULL;
}

/* State of a mark: 1 reached, 0 not reached, negative failed. Called with the lock held. */
static int look(const struct worker_queue *w, uint64_t serial)
{
	const struct worker_failure *f;

	/* report a failure only when no operation before the mark is running */
	if (w->finished < serial)
		return worker_is_lost(w->base.device) ? tenon_device_check(w->base.device) : 0;
	f = failure_at(w, serial);
	return f ? tenon_error(f->status, "%s", f->reason ? f->reason : "") : 1;
}

int worker_reached(struct tenon_queue *q, uint64_t serial)
{
	struct worker_queue *w = worker_of(q);
	int state;

	pthread_mutex_lock(&w->lock);
	state = look(w, serial);
	pthread_mutex_unlock(&w->lock);
	return state;
}

int worker_wait(struct tenon_queue *q, uint64_t serial, uint64_t deadline)
{
	struct worker_queue *w = worker_of(q);
	int state;

	pthread_mutex_lock(&w->lock);
	while (!(state = look(w, serial)) && tenon_now() < deadline)
		wait_slice(&w->done, &w->lock, deadline);
	pthread_mutex_unlock(&w->lock);
	if (!state)
		return tenon_error(-TENON_E_TIMEOUT, "%s: the queue's thread is not done in time",
				   q->device->backend->name);
	return state < 0 ? state : 0;
}

/* Assign the failure to the first mark after the job; if there is none yet, mark() does. */
static void place_failure(struct worker_failure *f, const struct worker_job *job)
{
	while (job && !job->marked)
		job = job->next;
	if (job) {
		f->serial = job->serial;
		f->placed = true;
	}
}

static void note_failure(struct worker_queue *w, struct worker_job *job, int status)
{
	struct worker_failure *f = job->failure;

	job->failure = NULL;
	/* a caller would take TIMEOUT for an operation that has not ended, and this one has */
	f->status = status == -TENON_E_TIMEOUT ? -TENON_E_DEVICE : status;
	f->reason = strdup(tenon_error_message());
	place_failure(f, job);
	f->next = w->failures;
	w->failures = f;
}

static int do_order(struct worker_queue *w, const struct worker_job *job)
{
	int err;

	do {
		err = worker_wait(job->other, job->op.as.execute.binding_count,
				  tenon_now() + WORKER_SLICE);
	} while (err == -TENON_E_TIMEOUT && !worker_is_lost(w->base.device));
	return err;
}

static int do_job(struct worker_queue *w, struct worker_job *job)
{
	if (job->op.kind == OP_ORDER)
		return do_order(w, job);
	if (job->op.kind != TENON_OP_DISPATCH)
		return inline_work(&w->base, &job->op, NULL);
	return worker_is_lost(w->base.device) ? tenon_device_check(w->base.device)
					      : w->launches->run(&w->base, job->launch);
}

static void *work(void *context)
{
	struct worker_queue *w = context;
	struct worker_job *job;
	int err;

	/* messages of this thread get their memory now: waits in slices make one for each slice */
	tenon_error(-TENON_E_TIMEOUT, "no operation yet");
	tenon_error_clear();
	pthread_mutex_lock(&w->lock);
	w->started = true;
	pthread_cond_broadcast(&w->done);
	for (;;) {
		while (!w->first && !w->stop)
			pthread_cond_wait(&w->submitted, &w->lock);
		job = w->first;
		if (!job)
			break;
		pthread_mutex_unlock(&w->lock);
		err = do_job(w, job);
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

static void put_back(struct worker_queue *w, struct worker_job *job)
{
	pthread_mutex_lock(&w->lock);
	job->next = w->spare;
	w->spare = job;
	pthread_mutex_unlock(&w->lock);
}

/* Return: a job with memory for its failure; NULL if there is none. */
static struct worker_job *take_job(struct worker_queue *w)
{
	struct worker_job *job;

	pthread_mutex_lock(&w->lock);
	job = w->spare;
	if (job)
		w->spare = job->next;
	pthread_mutex_unlock(&w->lock);
	if (!job)
		job = calloc(1, sizeof(*job) + w->launches->size);
	if (job && !job->failure)
		job->failure = calloc(1, sizeof(*job->failure));
	if (job && job->failure)
		return job;
	if (job)
		put_back(w, job);
	tenon_error(-TENON_E_NOMEM, "no memory for an operation");
	return NULL;
}

static void give_job(struct worker_queue *w, struct worker_job *job)
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

static int keep(struct worker_queue *w, struct worker_job *job, const struct tenon_operation *op)
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
		return w->launches->prepare(&w->base, op->as.dispatch, job->launch);
	default:
		return 0;
	}
}

int worker_submit(struct tenon_queue *q, const struct tenon_operation *op)
{
	struct worker_queue *w = worker_of(q);
	struct worker_job *job;
	int err;

	if (worker_is_lost(w->base.device))
		return tenon_device_check(q->device);
	if (op->kind == TENON_OP_EXECUTE || op->kind > TENON_OP_TIMESTAMP)
		return tenon_error(-TENON_E_UNSUPPORTED, "%s does no operation %u",
				   q->device->backend->name, op->kind);
	job = take_job(w);
	if (!job)
		return -TENON_E_NOMEM;
	err = keep(w, job, op);
	if (err) {
		put_back(w, job);
		return err;
	}
	give_job(w, job);
	return 0;
}

int worker_order(struct tenon_queue *q, struct tenon_queue *other, uint64_t serial)
{
	struct worker_queue *w = worker_of(q);
	struct worker_job *job;
	int state;

	state = worker_reached(other, serial);
	if (state == 1)
		return 0;
	if (state < 0 && worker_is_lost(w->base.device))
		return state;
	job = take_job(w);
	if (!job)
		return -TENON_E_NOMEM;
	memset(&job->op, 0, sizeof(job->op));
	job->op.kind = OP_ORDER;
	job->op.as.execute.binding_count = serial;
	tenon_object_ref(other);
	job->other = other;
	give_job(w, job);
	return 0;
}

int worker_mark(struct tenon_queue *q, uint64_t *serial)
{
	struct worker_queue *w = worker_of(q);
	struct worker_failure *f;

	pthread_mutex_lock(&w->lock);
	*serial = w->given;
	if (w->last)
		w->last->marked = true;
	/* a failure that an earlier mark reported is not this one's */
	if (!w->last && failure_at(w, w->given))
		*serial = w->finished = ++w->given;
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

static void free_jobs(struct worker_queue *w)
{
	struct worker_job *job;

	while ((job = w->spare)) {
		w->spare = job->next;
		if (w->launches->release)
			w->launches->release(&w->base, job->launch);
		free(job->failure);
		free(job);
	}
}

static void free_failures(struct worker_queue *w)
{
	struct worker_failure *f;

	while ((f = w->failures)) {
		w->failures = f->next;
		free(f->reason);
		free(f);
	}
}

/* A program that has at most so many operations in flight submits without an allocation. */
static int make_spares(struct worker_queue *w)
{
	struct worker_job *jobs[WORKER_JOBS];
	int made = 0, i;

	while (made < WORKER_JOBS && (jobs[made] = take_job(w)))
		made++;
	for (i = 0; i < made; i++)
		put_back(w, jobs[i]);
	return made == WORKER_JOBS ? 0 : -TENON_E_NOMEM;
}

static int make_locks(struct worker_queue *w)
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

static void destroy_locks(struct worker_queue *w)
{
	pthread_cond_destroy(&w->done);
	pthread_cond_destroy(&w->submitted);
	pthread_mutex_destroy(&w->lock);
}

/* Then the thread has taken all memory that operations want of it. */
static void wait_for_start(struct worker_queue *w)
{
	pthread_mutex_lock(&w->lock);
	while (!w->started)
		pthread_cond_wait(&w->done, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

int worker_queue_open(struct worker_queue *w, struct tenon_device *device,
		      const struct worker_launches *launches)
{
	int err = make_locks(w);

	if (err)
		return err;
	w->launches = launches;
	err = tenon_queue_init(&w->base, device);
	if (err)
		goto destroy_locks;
	err = make_spares(w);
	if (!err && !pthread_create(&w->thread, NULL, work, w)) {
		wait_for_start(w);
		return 0;
	}
	if (!err)
		err = tenon_error(-TENON_E_NOMEM, "%s: no thread for a queue",
				  device->backend->name);
	free_jobs(w);
	tenon_queue_fini(&w->base);
destroy_locks:
	destroy_locks(w);
	return err;
}

void worker_queue_close(struct worker_queue *w)
{
	tenon_queue_fini(&w->base);
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_signal(&w->submitted);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	free_jobs(w);
	free_failures(w);
	destroy_locks(w);
}

int worker_queue_create(struct tenon_device *device, const struct worker_launches *launches,
			struct tenon_queue **out)
{
	struct worker_queue *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return tenon_error(-TENON_E_NOMEM, "no memory for a queue");
	err = worker_queue_open(w, device, launches);
	if (err)
		free(w);
	else
		*out = &w->base;
	return err;
}

void worker_queue_destroy(struct tenon_queue *queue)
{
	worker_queue_close(worker_of(queue));
	free(queue);
}
