/* SPDX-License-Identifier: MIT */
/* Collect operations in batches and report which marks were reached. */
#include "devices/vulkan/vulkan_queue.h"

#include "lib/brief_errors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* interval at which a wait checks for loss of the device */
#define SLICE_NS UINT64_C(1000000000)

static inline struct vulkan_queue *queue_of(struct tenon_queue *queue)
{
	return (struct vulkan_queue *)queue;
}

/*
 * Keep the queue's semaphore for the next queue, which continues from its value. Mesa's drivers may
 * use a timeline semaphore after it has signalled, so it is not destroyed before the device is
 * idle.
 */
static void release(void *item)
{
	struct vulkan_queue *q = item;
	struct vulkan_device *d = vulkan_queue_device(q);
	const VkSemaphore timeline = q->timeline;
	const uint64_t value = q->submitted;

	vulkan_batches_free(q);
	vulkan_arena_free(d, &q->idle);
	vulkan_sets_free(d, &q->sets);
	pthread_mutex_destroy(&q->lock);
	memset(q, 0, sizeof(*q));
	q->timeline = timeline;
	q->marked = q->done = q->submitted = value;
	pthread_mutex_lock(&d->lock);
	q->next = d->spare_queues;
	d->spare_queues = q;
	pthread_mutex_unlock(&d->lock);
}

void vulkan_queues_free(struct vulkan_device *d)
{
	struct vulkan_queue *q;

	while ((q = d->spare_queues)) {
		d->spare_queues = q->next;
		d->api.DestroySemaphore(d->handle, q->timeline, NULL);
		free(q);
	}
}

static int make_queue(struct vulkan_device *d, struct vulkan_queue **out)
{
	const VkSemaphoreTypeCreateInfo type = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
		.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
	};
	const VkSemaphoreCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
		.pNext = &type,
	};
	struct vulkan_queue *q;
	VkResult r;

	pthread_mutex_lock(&d->lock);
	q = d->spare_queues;
	if (q)
		d->spare_queues = q->next;
	pthread_mutex_unlock(&d->lock);
	*out = q ? q : calloc(1, sizeof(*q));
	if (!*out)
		return tenon_error(-TENON_E_NOMEM, "no memory for a queue");
	r = q ? VK_SUCCESS : d->api.CreateSemaphore(d->handle, &info, NULL, &(*out)->timeline);
	if (r)
		free(*out);
	return vulkan_check(d, r, "CreateSemaphore");
}

static int vulkan_queue_create(struct tenon_device *device, struct tenon_queue **out)
{
	struct vulkan_device *d = vulkan_device_of(device);
	struct vulkan_queue *q;
	uint32_t port;
	int err;

	err = make_queue(d, &q);
	if (err)
		return err;
	port = __atomic_fetch_add(&d->next_port, 1, __ATOMIC_RELAXED) % d->port_count;
	q->port = &d->ports[port];
	pthread_mutex_init(&q->lock, NULL);
	err = tenon_queue_init(&q->base, device);
	if (err) {
		q->base.device = device;
		release(q);
		return err;
	}
	q->base.native = q->port->handle;
	*out = &q->base;
	return 0;
}

/* Retire the queue, because other queues may still submit waits for its timeline. */
static void vulkan_queue_destroy(struct tenon_queue *queue)
{
	struct tenon_device *device = queue->device;

	tenon_queue_fini(queue);
	tenon_device_retire(device, release, queue);
}

/* Test whether all submitted operations are done; batched ones are not. Caller holds the lock. */
static bool idle(struct vulkan_queue *q)
{
	if (q->marked != q->done && q->marked == q->submitted && vulkan_batch_collect(q))
		tenon_error_clear();
	return q->marked == q->done;
}

/* Host-visible memory of a queue that is known to be idle is written and read in place. */
static bool in_place(struct vulkan_queue *q, const struct tenon_operation *op)
{
	const struct tenon_memory *m =
		op->kind == TENON_OP_WRITE ? op->as.write.to.memory : op->as.read.from.memory;
	bool quiet;

	if (vulkan_queue_is_shared(q) || !m->host ||
	    (op->kind == TENON_OP_READ && !(m->flags & TENON_HEAP_HOST_CACHED)))
		return false;
	pthread_mutex_lock(&q->lock);
	quiet = idle(q);
	pthread_mutex_unlock(&q->lock);
	return quiet;
}

static void move_in_place(const struct tenon_operation *op)
{
	if (op->kind == TENON_OP_WRITE)
		memcpy((char *)op->as.write.to.memory->host + op->as.write.to.offset,
		       op->as.write.host, op->as.write.size);
	else
		memcpy(op->as.read.host,
		       (const char *)op->as.read.from.memory->host + op->as.read.from.offset,
		       op->as.read.size);
}

static int put(struct vulkan_queue *q, const struct tenon_operation *op)
{
	switch (op->kind) {
	case TENON_OP_READ:
		return vulkan_batch_read(q, op->as.read.host, op->as.read.from, op->as.read.size);
	case TENON_OP_TIMESTAMP:
		return vulkan_batch_stamp(q, op->as.timestamp);
	default:
		return vulkan_record(&q->recorder, op);
	}
}

static int put_locked(struct vulkan_queue *q, const struct tenon_operation *op)
{
	int err = 0;

	if (op->kind == TENON_OP_TIMESTAMP && q->open &&
	    q->open->stamp_count == VULKAN_BATCH_STAMPS)
		err = vulkan_batch_flush(q);
	if (!err)
		err = vulkan_batch_open(q);
	if (!err)
		err = put(q, op);
	return err ? err : vulkan_batch_wrote(q);
}

static int vulkan_queue_submit(struct tenon_queue *queue, const struct tenon_operation *op)
{
	struct vulkan_queue *q = queue_of(queue);
	int err;

	if (__atomic_load_n(&queue->device->lost, __ATOMIC_RELAXED))
		return tenon_device_check(queue->device);
	if (op->kind == TENON_OP_EXECUTE)
		return vulkan_commands_run(q, op);
	if (op->kind == TENON_OP_TIMESTAMP && !queue->device->properties->timestamp_period)
		return tenon_error(-TENON_E_UNSUPPORTED, "%s has no clock",
				   queue->device->properties->name);
	if ((op->kind == TENON_OP_WRITE || op->kind == TENON_OP_READ) && in_place(q, op)) {
		move_in_place(op);
		return 0;
	}
	pthread_mutex_lock(&q->lock);
	err = put_locked(q, op);
	pthread_mutex_unlock(&q->lock);
	return err;
}

/* Submits nothing: another thread may be submitting to the port, where the program holds no lock. */
static int vulkan_queue_mark_own(struct tenon_queue *queue, uint64_t *serial)
{
	*serial = __atomic_load_n(&queue_of(queue)->marked, __ATOMIC_ACQUIRE);
	return 0;
}

static int vulkan_queue_mark(struct tenon_queue *queue, uint64_t *serial)
{
	struct vulkan_queue *q = queue_of(queue);
	int err;

	if (!vulkan_queue_is_shared(q))
		return vulkan_queue_mark_own(queue, serial);
	pthread_mutex_lock(&q->lock);
	err = vulkan_batch_mark(q, VK_NULL_HANDLE);
	*serial = q->marked;
	pthread_mutex_unlock(&q->lock);
	return err;
}

/* Submit what is batched, and a barrier, before all that the program submits. */
static int hand_over(struct vulkan_queue *q)
{
	int err = vulkan_batch_open(q);

	if (err)
		return err;
	q->recorder.shared = true;
	return vulkan_batch_mark(q, VK_NULL_HANDLE);
}

static void vulkan_queue_share(struct tenon_queue *queue)
{
	struct vulkan_queue *q = queue_of(queue);

	pthread_mutex_lock(&q->lock);
	if (!vulkan_queue_is_shared(q)) {
		__atomic_store_n(&q->shared, true, __ATOMIC_RELEASE);
		/* the device is lost, which later calls report, or nothing was batched */
		if (hand_over(q))
			tenon_error_clear();
	}
	pthread_mutex_unlock(&q->lock);
}

static inline bool is_done(struct vulkan_queue *q, uint64_t serial)
{
	return __atomic_load_n(&q->done, __ATOMIC_ACQUIRE) >= serial;
}

/* Submit the batches up to a mark. */
static int bring_out(struct vulkan_queue *q, uint64_t serial)
{
	int err = 0;

	pthread_mutex_lock(&q->lock);
	if (serial > q->submitted)
		err = vulkan_batch_flush(q);
	pthread_mutex_unlock(&q->lock);
	return err;
}

static int vulkan_queue_reached(struct tenon_queue *queue, uint64_t serial)
{
	struct vulkan_queue *q = queue_of(queue);
	int err = 0;

	if (is_done(q, serial))
		return 1;
	pthread_mutex_lock(&q->lock);
	if (serial > q->submitted)
		err = vulkan_batch_flush(q);
	if (!err)
		err = vulkan_batch_collect(q);
	pthread_mutex_unlock(&q->lock);
	if (is_done(q, serial))
		return 1;
	return err ? err : tenon_device_check(queue->device);
}

static int timed_out(struct vulkan_queue *q, uint64_t serial)
{
	return tenon_error(-TENON_E_TIMEOUT,
			   "%s: batch %" PRIu64
			   " of commands was not done by the deadline; the last "
			   "one done is %" PRIu64,
			   q->base.device->properties->name, serial,
			   __atomic_load_n(&q->done, __ATOMIC_RELAXED));
}

static int vulkan_queue_wait(struct tenon_queue *queue, uint64_t serial, uint64_t deadline)
{
	struct vulkan_queue *q = queue_of(queue);
	struct vulkan_device *d = vulkan_queue_device(q);
	const VkSemaphoreWaitInfo info = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
		.semaphoreCount = 1,
		.pSemaphores = &q->timeline,
		.pValues = &serial,
	};
	uint64_t at, left;
	VkResult r;
	int state, err;

	if (is_done(q, serial))
		return 0;
	err = bring_out(q, serial);
	if (err)
		return err;
	do {
		at = tenon_now();
		left = deadline > at ? deadline - at : 0;
		r = d->api.WaitSemaphores(d->handle, &info, left < SLICE_NS ? left : SLICE_NS);
		if (r < 0)
			return vulkan_check(d, r, "WaitSemaphores");
		state = vulkan_queue_reached(queue, serial);
		if (state)
			return state < 0 ? state : 0;
	} while (left);
	return timed_out(q, serial);
}

static int vulkan_queue_order(struct tenon_queue *queue, struct tenon_queue *other, uint64_t serial)
{
	struct vulkan_queue *q = queue_of(queue), *o = queue_of(other);
	int err;

	if (is_done(o, serial))
		return 0;
	err = bring_out(o, serial);
	if (err)
		return err;
	pthread_mutex_lock(&q->lock);
	err = vulkan_batch_wait(q, o->timeline, serial);
	pthread_mutex_unlock(&q->lock);
	return err;
}

static int vulkan_queue_flush(struct tenon_queue *queue)
{
	return bring_out(queue_of(queue), UINT64_MAX);
}

const struct tenon_queue_ops vulkan_queue_ops = {
	.size = sizeof(struct tenon_queue_ops),
	.create = vulkan_queue_create,
	.destroy = vulkan_queue_destroy,
	.submit = vulkan_queue_submit,
	.mark = vulkan_queue_mark,
	.reached = vulkan_queue_reached,
	.wait = vulkan_queue_wait,
	.order = vulkan_queue_order,
	.flush = vulkan_queue_flush,
	.export_fence = vulkan_fence_export,
	.import_fence = vulkan_fence_import,
	.share = vulkan_queue_share,
	.mark_own = vulkan_queue_mark_own,
};
