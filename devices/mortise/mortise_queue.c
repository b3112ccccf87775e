/* SPDX-License-Identifier: MIT */
/* Turn operations into jobs of packets, mark them, and wait for their completion. */
#include "devices/mortise/mortise_device.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>
#include <tenon/timeline.h>

#include "devices/mortise/mortise_stream.h"

/* how long to sleep before looking whether the board is still there */
#define LOOK_NS UINT64_C(100000000)

static struct mortise_queue *queue_of(struct tenon_queue *queue)
{
	return (struct mortise_queue *)queue;
}

static struct mortise_device *device_of(struct tenon_queue *queue)
{
	return mortise_device_of(queue->device);
}

/* ---- jobs */

int mortise_job_room(struct mortise_job *job, size_t size)
{
	void *packet;

	if (size > job->packet_room) {
		packet = realloc(job->packet, size);
		if (!packet)
			return tenon_error(-TENON_E_NOMEM, "no memory for a packet");
		job->packet = packet;
		job->packet_room = size;
	}
	memset(job->packet, 0, size);
	job->packet_size = size;
	return 0;
}

static void free_jobs(struct mortise_job *job)
{
	struct mortise_job *next;

	for (; job; job = next) {
		next = job->next;
		if (job->kind == MORTISE_JOB_ORDER && !job->issued)
			mortise_line_drop(job->as.order.line);
		free(job->packet);
		free(job);
	}
}

/* Called with the device's lock held. */
static struct mortise_job *take_job(struct mortise_queue *q, enum mortise_job_kind kind)
{
	struct mortise_job *job = q->spare;

	if (job)
		q->spare = job->next;
	else
		job = calloc(1, sizeof(*job));
	if (!job)
		tenon_error(-TENON_E_NOMEM, "no memory for an operation");
	else
		job->kind = kind;
	return job;
}

static int fill_copy(struct mortise_device *d, struct mortise_job *job,
		     const struct tenon_operation *op)
{
	struct mortise_copy *p;
	int err = mortise_job_room(job, sizeof(*p));

	if (err)
		return err;
	p = job->packet;
	p->header.opcode = MORTISE_OP_COPY;
	p->to = d->address + mortise_offset(&op->as.copy.to);
	p->from = d->address + mortise_offset(&op->as.copy.from);
	p->size = op->as.copy.size;
	return 0;
}

static int fill_fill(struct mortise_device *d, struct mortise_job *job,
		     const struct tenon_operation *op)
{
	struct mortise_fill *p;
	int err = mortise_job_room(job, sizeof(*p));

	if (err)
		return err;
	p = job->packet;
	p->header.opcode = MORTISE_OP_FILL;
	p->to = d->address + mortise_offset(&op->as.fill.to);
	p->size = op->as.fill.size;
	p->pattern = op->as.fill.pattern;
	p->width = op->as.fill.width;
	return 0;
}

static void fill_move(struct mortise_device *d, struct mortise_job *job,
		      const struct tenon_operation *op)
{
	job->kind = MORTISE_JOB_MOVE;
	if (op->kind == TENON_OP_WRITE) {
		job->as.move.to = d->window + mortise_offset(&op->as.write.to);
		job->as.move.from = op->as.write.host;
		job->as.move.size = op->as.write.size;
	} else {
		job->as.move.to = op->as.read.host;
		job->as.move.from = d->window + mortise_offset(&op->as.read.from);
		job->as.move.size = op->as.read.size;
	}
}

static int fill_timestamp(struct mortise_device *d, struct mortise_job *job,
			  const struct tenon_operation *op)
{
	struct mortise_timestamp *p;
	int err;

	if (!d->tick_hz)
		return tenon_error(-TENON_E_UNSUPPORTED, "%s has no clock",
				   d->base.properties->name);
	err = mortise_job_room(job, sizeof(*p));
	if (!err)
		err = mortise_heap_take(&d->heap, sizeof(uint64_t), 8, &job->as.timestamp.block);
	if (err)
		return err;
	job->kind = MORTISE_JOB_TIMESTAMP;
	job->as.timestamp.to = op->as.timestamp;
	p = job->packet;
	p->header.opcode = MORTISE_OP_TIMESTAMP;
	p->address = d->address + job->as.timestamp.block->offset;
	return 0;
}

static int fill_job(struct mortise_device *d, struct mortise_job *job,
		    const struct tenon_operation *op)
{
	switch (op->kind) {
	case TENON_OP_COPY:
		return fill_copy(d, job, op);
	case TENON_OP_FILL:
		return fill_fill(d, job, op);
	case TENON_OP_WRITE:
	case TENON_OP_READ:
		fill_move(d, job, op);
		return 0;
	case TENON_OP_DISPATCH:
		return mortise_call_packet(d, op->as.dispatch, job);
	case TENON_OP_TIMESTAMP:
		return fill_timestamp(d, job, op);
	default:
		return tenon_error(-TENON_E_UNSUPPORTED, "mortise does no operation %u", op->kind);
	}
}

static bool is_stream(const struct tenon_operation *op)
{
#ifdef CONFIG_CMDSTREAM
	return op->kind == TENON_OP_DISPATCH &&
	       cmdstream_runs(op->as.dispatch->kernel->executable->program);
#else
	return false;
#endif
}

/* @binding: the memory of a command stream; NULL for other operations */
static int submit(struct tenon_queue *queue, const struct tenon_operation *op,
		  const struct cmdstream_binding *binding)
{
	struct mortise_device *d = device_of(queue);
	struct mortise_queue *q = queue_of(queue);
	struct mortise_job *job;
	int err = 0;

	pthread_mutex_lock(&d->lock);
	job = take_job(q, MORTISE_JOB_PACKET);
	if (!job)
		err = -TENON_E_NOMEM;
	else if (!binding)
		err = fill_job(d, job, op);
#ifdef CONFIG_CMDSTREAM
	else
		err = mortise_stream_job(queue, op->as.dispatch, binding, job);
#endif
	if (!err) {
		job->priority = op->priority;
		err = mortise_push(q, job);
	} else if (job) {
		job->next = q->spare;
		q->spare = job;
	}
	pthread_mutex_unlock(&d->lock);
	return err;
}

#ifdef CONFIG_CMDSTREAM
/* Allocating scratch memory may look at all queues, which takes the lock. */
static int submit_stream(struct tenon_queue *queue, const struct tenon_operation *op)
{
	struct cmdstream_binding binding;
	int err = cmdstream_bind(queue, op->as.dispatch, &binding);

	return err ? err : submit(queue, op, &binding);
}
#else
#define submit_stream(queue, op) submit(queue, op, NULL)
#endif

static int mortise_submit(struct tenon_queue *queue, const struct tenon_operation *op)
{
	if (__atomic_load_n(&queue->device->lost, __ATOMIC_ACQUIRE))
		return tenon_device_check(queue->device);
	return is_stream(op) ? submit_stream(queue, op) : submit(queue, op, NULL);
}

/* ---- how far it is */

static int mortise_mark(struct tenon_queue *queue, uint64_t *serial)
{
	struct mortise_device *d = device_of(queue);

	pthread_mutex_lock(&d->lock);
	*serial = queue_of(queue)->given;
	pthread_mutex_unlock(&d->lock);
	return 0;
}

/* As tenon_queue_ops.reached; with the device's lock held. */
static int look(struct mortise_device *d, struct mortise_queue *q, uint64_t serial)
{
	int err = 0;

	if (q->done >= serial)
		return 1;
	err = mortise_pump(d);
	if (q->done >= serial) {
		if (err)
			tenon_error_clear();
		return 1;
	}
	return err ? err : tenon_device_check(&d->base);
}

static int mortise_reached(struct tenon_queue *queue, uint64_t serial)
{
	struct mortise_device *d = device_of(queue);
	int state;

	pthread_mutex_lock(&d->lock);
	state = look(d, queue_of(queue), serial);
	pthread_mutex_unlock(&d->lock);
	return state;
}

/* Which place of the ring to wait for: where the mark is complete, or where lists move on. Lock held. */
static uint64_t next_sequence(const struct mortise_device *d, const struct mortise_queue *q,
			      uint64_t serial)
{
	const struct mortise_job *job;
	uint64_t sequence = 0;

	for (job = q->first; job && job->issued && job->serial <= serial; job = job->next)
		sequence = job->sequence;
	if (job && job->serial <= serial && d->needed)
		return d->needed;
	return sequence;
}

/* After the deadline: raise an error that describes what the device does. */
static int timed_out(struct mortise_device *d, uint64_t sequence)
{
	int err = ring_wait(d->ring, sequence, RING_NOW);

	return err == -TENON_E_TIMEOUT ? err
				       : tenon_error(-TENON_E_TIMEOUT, "%s: not done in time",
						     d->base.properties->name);
}

static int mortise_wait(struct tenon_queue *queue, uint64_t serial, uint64_t deadline)
{
	struct mortise_device *d = device_of(queue);
	uint64_t sequence, now, until;
	int state;

	for (;;) {
		pthread_mutex_lock(&d->lock);
		state = look(d, queue_of(queue), serial);
		sequence = next_sequence(d, queue_of(queue), serial);
		pthread_mutex_unlock(&d->lock);
		if (state)
			return state < 0 ? state : 0;
		now = tenon_now();
		if (now >= deadline)
			return timed_out(d, sequence);
		until = deadline - now > LOOK_NS ? now + LOOK_NS : deadline;
		/* a loss that ring_wait() reports is found again, with its reason, by look() */
		if (ring_wait(d->ring, sequence, until))
			tenon_error_clear();
		if (tenon_now() >= until && mortise_check_board(d))
			tenon_error_clear();
	}
}

/* ---- between queues */

static int mortise_order(struct tenon_queue *queue, struct tenon_queue *other, uint64_t serial)
{
	struct mortise_device *d = device_of(queue);
	struct mortise_queue *q = queue_of(queue), *o = queue_of(other);
	struct mortise_job *job;
	int err = 0;

	pthread_mutex_lock(&d->lock);
	if (o->done < serial) {
		job = take_job(q, MORTISE_JOB_ORDER);
		err = job ? 0 : -TENON_E_NOMEM;
		if (job) {
			o->line->references++;
			job->as.order.line = o->line;
			job->as.order.serial = serial;
			err = mortise_push(q, job);
		}
	}
	pthread_mutex_unlock(&d->lock);
	return err;
}

static int mortise_flush(struct tenon_queue *queue)
{
	struct mortise_device *d = device_of(queue);
	int err = 0;

	pthread_mutex_lock(&d->lock);
	if (d->held)
		err = mortise_pump(d);
	pthread_mutex_unlock(&d->lock);
	return err;
}

/* ---- making and freeing */

static int mortise_create(struct tenon_device *device, struct tenon_queue **out)
{
	struct mortise_device *d = mortise_device_of(device);
	struct mortise_queue *q = calloc(1, sizeof(*q));
	int err = -TENON_E_NOMEM;

	if (q)
		q->line = calloc(1, sizeof(*q->line));
	if (!q || !q->line)
		tenon_error(-TENON_E_NOMEM, "no memory for a queue");
	else
		err = tenon_queue_init(&q->base, device);
	if (err) {
		if (q)
			free(q->line);
		free(q);
		return err;
	}
	q->line->references = 1;
	pthread_mutex_lock(&d->lock);
	q->next = d->queues;
	d->queues = q;
	pthread_mutex_unlock(&d->lock);
	*out = &q->base;
	return 0;
}

static void leave(struct mortise_device *d, struct mortise_queue *q)
{
	struct mortise_queue **at = &d->queues;

	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
	if (q->waiting)
		d->held--;
	/* behind a lost device, nothing waits for it any more */
	q->line->issued = UINT64_MAX;
	free_jobs(q->first);
	mortise_line_drop(q->line);
}

static void mortise_destroy(struct tenon_queue *queue)
{
	struct mortise_device *d = device_of(queue);
	struct mortise_queue *q = queue_of(queue);
	bool ours = mortise_is_ours(d);

	/* in a child of fork() a thread that does not exist there may hold the lock */
	if (ours)
		pthread_mutex_lock(&d->lock);
	leave(d, q);
	if (ours)
		pthread_mutex_unlock(&d->lock);
	free_jobs(q->spare);
	/* gives the device back, last */
	tenon_queue_fini(queue);
	free(q);
}

const struct tenon_queue_ops mortise_queue_ops = {
	.size = sizeof(mortise_queue_ops),
	.create = mortise_create,
	.destroy = mortise_destroy,
	.submit = mortise_submit,
	.mark = mortise_mark,
	.reached = mortise_reached,
	.wait = mortise_wait,
	.order = mortise_order,
	.flush = mortise_flush,
};
