/* SPDX-License-Identifier: MIT */
/*
 * Issue jobs from the lists of queues and take completed ones off. All functions need the device's
 * lock.
 */
#include "devices/mortise/mortise_device.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>

#include "devices/mortise/mortise_stream.h"

/* answers of issue() */
#define ISSUED 1
#define HELD   0

static bool is_lost(const struct mortise_device *d)
{
	return __atomic_load_n(&d->base.lost, __ATOMIC_ACQUIRE) != 0;
}

/* The ring has to be at @sequence before a list moves on. */
static int hold(struct mortise_device *d, uint64_t sequence)
{
	if (!d->needed || sequence < d->needed)
		d->needed = sequence;
	return HELD;
}

void mortise_line_drop(struct mortise_line *line)
{
	if (!--line->references)
		free(line);
}

/* ---- what is complete */

static uint64_t nanoseconds(const struct mortise_device *d, uint64_t ticks)
{
	uint64_t hz = d->tick_hz;

	return ticks / hz * 1000000000 + ticks % hz * 1000000000 / hz;
}

static void complete(struct mortise_device *d, struct mortise_job *job)
{
	uint64_t ticks;

	if (job->kind != MORTISE_JOB_TIMESTAMP)
		return;
	memcpy(&ticks, d->window + job->as.timestamp.block->offset, sizeof(ticks));
	*job->as.timestamp.to = nanoseconds(d, ticks);
	mortise_heap_give(&d->heap, job->as.timestamp.block);
}

static void take_complete(struct mortise_device *d, struct mortise_queue *q, uint64_t completed)
{
	struct mortise_job *job;

	while ((job = q->first) && job->issued && job->sequence <= completed) {
		complete(d, job);
		q->done = job->serial;
		q->first = job->next;
		if (!q->first)
			q->last = NULL;
		job->next = q->spare;
		q->spare = job;
	}
}

/* ---- what can be issued */

static int issue_packet(struct mortise_device *d, struct mortise_queue *q, struct mortise_job *job)
{
	uint64_t completed;
	int err;

#ifdef CONFIG_CMDSTREAM
	if (job->kind == MORTISE_JOB_STREAM) {
		err = mortise_stream_issue(d, job);
		if (err && err != -TENON_E_TIMEOUT)
			return mortise_lose(d, err);
	} else
#endif
		err = mortise_emit(d, job->packet, job->packet_size, &job->sequence);
	if (err == -TENON_E_TIMEOUT) {
		/* the ring is full */
		tenon_error_clear();
		err = ring_completed(d->ring, &completed);
		return err ? mortise_lose(d, err) : hold(d, completed + 1);
	}
	if (err)
		return err;
	q->line->sequence = job->sequence;
	return ISSUED;
}

static int issue_move(struct mortise_device *d, struct mortise_queue *q, struct mortise_job *job,
		      uint64_t completed)
{
	if (completed < q->line->sequence)
		return hold(d, q->line->sequence);
	memcpy(job->as.move.to, job->as.move.from, (size_t)job->as.move.size);
	job->sequence = q->line->sequence;
	return ISSUED;
}

/*
 * Packets run in the order of the ring: those of another queue that are in it already run before
 * the next one.
 */
static int issue_order(struct mortise_queue *q, struct mortise_job *job)
{
	struct mortise_line *other = job->as.order.line;

	if (other->issued < job->as.order.serial)
		return HELD;
	/* but what the host does has to wait for it */
	if (q->line->sequence < other->sequence)
		q->line->sequence = other->sequence;
	job->sequence = q->line->sequence;
	mortise_line_drop(other);
	return ISSUED;
}

static int issue(struct mortise_device *d, struct mortise_queue *q, struct mortise_job *job,
		 uint64_t completed)
{
	switch (job->kind) {
	case MORTISE_JOB_MOVE:
		return issue_move(d, q, job, completed);
	case MORTISE_JOB_ORDER:
		return issue_order(q, job);
	default:
		return issue_packet(d, q, job);
	}
}

/* Issue what can be of a queue. Returns the number; negative after a loss. */
static int issue_all(struct mortise_device *d, struct mortise_queue *q, uint64_t completed)
{
	int state, count = 0;

	while (q->waiting) {
		state = issue(d, q, q->waiting, completed);
		if (state != ISSUED)
			return state < 0 ? state : count;
		q->waiting->issued = true;
		q->line->issued = q->waiting->serial;
		q->waiting = q->waiting->next;
		if (!q->waiting)
			d->held--;
		count++;
	}
	return count;
}

static int look(struct mortise_device *d, uint64_t *completed)
{
	int err = ring_completed(d->ring, completed);

	return err ? mortise_lose(d, err) : 0;
}

/* Of the queues that wait, the one whose job has the largest priority goes first. */
static void put_urgent_first(struct mortise_device *d)
{
	struct mortise_queue **at, **best = NULL, *q;

	for (at = &d->queues; *at; at = &(*at)->next)
		if ((*at)->waiting &&
		    (!best || (*at)->waiting->priority > (*best)->waiting->priority))
			best = at;
	if (!best)
		return;
	q = *best;
	*best = q->next;
	q->next = d->queues;
	d->queues = q;
}

int mortise_pump(struct mortise_device *d)
{
	struct mortise_queue *q;
	uint64_t completed = 0;
	int err, state, moved;

	err = look(d, &completed);
	do {
		moved = 0;
		d->needed = 0;
		put_urgent_first(d);
		for (q = d->queues; q && d->held && !err; q = q->next) {
			state = issue_all(d, q, completed);
			if (state < 0)
				err = state;
			moved |= state;
		}
	} while (moved > 0 && d->held && !err);
	/* jobs that completed before the device was lost count as complete */
	for (q = d->queues; q; q = q->next)
		take_complete(d, q, completed);
	return err;
}

/* A job that never came into the list. */
static void discard(struct mortise_device *d, struct mortise_queue *q, struct mortise_job *job)
{
	if (job->kind == MORTISE_JOB_ORDER)
		mortise_line_drop(job->as.order.line);
	if (job->kind == MORTISE_JOB_TIMESTAMP)
		mortise_heap_give(&d->heap, job->as.timestamp.block);
	job->next = q->spare;
	q->spare = job;
}

int mortise_push(struct mortise_queue *q, struct mortise_job *job)
{
	struct mortise_device *d = mortise_device_of(q->base.device);
	uint64_t completed = 0;
	int err = 0;

	if (is_lost(d)) {
		discard(d, q, job);
		return tenon_device_check(&d->base);
	}
	job->serial = ++q->given;
	job->issued = false;
	job->next = NULL;
	if (q->last)
		q->last->next = job;
	else
		q->first = job;
	q->last = job;
	if (q->waiting)
		return 0;
	q->waiting = job;
	d->held++;
	if (job->kind == MORTISE_JOB_MOVE)
		err = look(d, &completed);
	if (!err)
		err = issue_all(d, q, completed);
	return err < 0 ? err : 0;
}

int mortise_emit(struct mortise_device *d, const void *packet, size_t size, uint64_t *sequence)
{
	int err = ring_emit(d->ring, packet, size, RING_NOW, sequence);

	return err && err != -TENON_E_TIMEOUT ? mortise_lose(d, err) : err;
}
