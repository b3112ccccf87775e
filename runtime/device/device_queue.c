/* SPDX-License-Identifier: MIT */
/* Submit operations: resolve their waits, hold those that are not ready, and promise their signals. */
#include <stdlib.h>

#include "lib/brief_errors.h"
#include "lib/error_slot.h"
#include "lib/heap.h"
#include "runtime/device/device_capture.h"
#include "runtime/device/device_core.h"
#include "runtime/device/device_operation.h"
#include "runtime/device/device_notify.h"
#include "runtime/device/device_trace.h"

/* A queue that its backend cannot mark cannot be waited for: lose the device, which ends the queue's operations. */
static void wait_for_end(struct tenon_queue *q)
{
	uint64_t serial;
	int err = queue_mark_own(q, &serial);

	if (err)
		tenon_device_lose(q->device, err);
	else
		(void)q->device->ops->queue->wait(q, serial, TENON_FOREVER);
}

static void queue_delete(void *self, int flags)
{
	struct tenon_queue *q = self;
	struct tenon_device *device = q->device;
	struct error_slot *own;

	if (!(flags & TENON_DELETE_MEMORY) || device_is_parents(device))
		return;
	/* no caller is left to report a failure to, and the thread's own error stays */
	own = error_set_aside();
	if (!device_is_lost(device))
		wait_for_end(q);
	error_put_back(own);
	/* destroy() drops the queue's reference */
	tenon_object_ref(device);
	device->ops->queue->destroy(q);
	tenon_object_unref(device);
}

int tenon_queue_init(struct tenon_queue *q, struct tenon_device *device)
{
	struct tenon_queue_core *core = heap_zeroed(1, sizeof(*core), "queue");

	if (!core)
		return tenon_error(-TENON_E_NOMEM, "no memory for a queue");
	if (device_condition_init(&core->changed)) {
		heap_free(core);
		return -TENON_E_NOMEM;
	}
	pthread_mutex_init(&core->lock, NULL);
	tenon_object_init(&q->object, device_object_type(DEVICE_OBJECT_QUEUE), queue_delete);
	tenon_object_ref(device);
	q->device = device;
	q->native = q;
	q->core = core;
	core->queue = q;
	return 0;
}

/* Add a queue to the device's list; other threads may mark it afterwards. */
static void enlist(struct tenon_queue *q)
{
	struct tenon_device_core *device = q->device->core;
	struct tenon_queue_core *core = q->core;

	device_lock(q->device);
	core->next = device->queues;
	if (core->next)
		core->next->previous = core;
	device->queues = core;
	core->listed = true;
	device_unlock(q->device);
}

void tenon_queue_fini(struct tenon_queue *q)
{
	struct tenon_queue_core *core = q->core;
	struct tenon_device *device = q->device;

	trace_forget_queue(q);
	device_lock(device);
	if (core->next)
		core->next->previous = core->previous;
	if (core->previous)
		core->previous->next = core->next;
	else if (core->listed)
		device->core->queues = core->next;
	device_reap_queue(device, q);
	device_unlock(device);
	pool_free(core->pool);
	pthread_cond_destroy(&core->changed);
	pthread_mutex_destroy(&core->lock);
	free(core->reason);
	heap_free(core);
	q->core = NULL;
	tenon_object_unref(device);
}

int tenon_queue_create(struct tenon_device *device, struct tenon_queue **out)
{
	int err;

	*out = NULL;
	err = tenon_device_check(device);
	if (!err)
		err = device->ops->queue->create(device, out);
	if (!err)
		enlist(*out);
	return err;
}

int queue_wrap(struct tenon_device *device, void *native, struct tenon_queue **out)
{
	int err;

	*out = NULL;
	err = device->ops->queue->wrap(device, native, out);
	if (!err)
		enlist(*out);
	return err;
}

int queue_fail_signals(const struct tenon_point *signal, size_t count, int status)
{
	size_t i;

	for (i = 0; i < count; i++)
		tenon_timeline_fail(signal[i].timeline, status);
	return status;
}

int queue_promise(struct tenon_queue *q, const struct tenon_point *signal, size_t count,
		  uint64_t deadline)
{
	uint64_t serial;
	size_t i;
	int err;

	if (!count)
		return 0;
	err = q->device->ops->queue->mark(q, &serial);
	for (i = 0; !err && i < count; i++)
		err = timeline_promise(signal[i].timeline, signal[i].value, q, serial, deadline);
	/*
	 * The operation is submitted but cannot signal: fail the points, or waits for them would
	 * hang.
	 */
	return err ? queue_fail_signals(signal, count, err) : 0;
}

int queue_place(struct tenon_queue *q, const struct tenon_operation *op, bool *begun)
{
	if (op->kind == TENON_OP_EXECUTE)
		return commands_place(q, op, begun);
	/* queues are in order: a barrier needs no operation */
	if (op->kind == TENON_OP_BARRIER)
		return 0;
	return queue_give(q, op);
}

/* Order the queue behind the waits. Return: 0; 1 if the host must wait for some; negative. */
static int resolve(struct tenon_queue *q, const struct tenon_sync *sync)
{
	size_t i;
	int state, pending = 0;

	for (i = 0; i < sync->wait_count; i++) {
		state = timeline_resolve(&sync->wait[i], q);
		if (state < 0)
			return state;
		pending |= state == POINT_PENDING;
	}
	return pending;
}

static bool needs_thread(const struct tenon_queue *q, const struct tenon_operation *op)
{
	return queue_holds(q) || (op->kind == TENON_OP_CALL && !q->device->ops->queue->calls);
}

int queue_submit(struct tenon_queue *q, const struct tenon_operation *op,
		 const struct tenon_sync *sync, uint64_t deadline)
{
	const struct tenon_point *signal = sync ? sync->signal : NULL;
	size_t signals = sync ? sync->signal_count : 0;
	bool begun = false;
	int err, pending = 0;

	if (device_is_lost(q->device))
		return queue_fail_signals(signal, signals, tenon_device_check(q->device));
	err = operation_check(q->device, op);
	if (!err && op->kind == TENON_OP_EXECUTE)
		err = commands_check(q, op);
	if (!err && signals)
		err = timeline_check_signals(signal, signals);
	if (err)
		return err;
	if (q->core->follower && q->core->follower->core->capturing)
		return q->core->follower->core->capture->operation(q->core->follower, op, sync);
	if (q->core->follower)
		commands_note(q->core->follower, op, sync);
	if (needs_thread(q, op))
		return queue_hold(q, op, sync, deadline);
	if (sync && sync->wait_count) {
		pending = resolve(q, sync);
		if (pending < 0)
			return queue_fail_signals(signal, signals, pending);
		if (pending)
			return queue_hold(q, op, sync, deadline);
	}
	err = queue_place(q, op, &begun);
	if (!err)
		return queue_promise(q, signal, signals, deadline);
	if (begun || device_is_lost(q->device))
		queue_fail_signals(signal, signals, err);
	return err;
}

int tenon_queue_submit(struct tenon_queue *q, const struct tenon_operation *op,
		       const struct tenon_sync *sync)
{
	return queue_submit(q, op, sync, TENON_FOREVER);
}

int tenon_queue_copy(struct tenon_queue *q, struct tenon_memory *to, uint64_t to_offset,
		     struct tenon_memory *from, uint64_t from_offset, uint64_t size,
		     const struct tenon_sync *sync)
{
	struct tenon_operation op = { .kind = TENON_OP_COPY };

	op.as.copy.to = tenon_range(to, to_offset);
	op.as.copy.from = tenon_range(from, from_offset);
	op.as.copy.size = size;
	return tenon_queue_submit(q, &op, sync);
}

int tenon_queue_write(struct tenon_queue *q, struct tenon_memory *to, uint64_t offset,
		      const void *host, uint64_t size, const struct tenon_sync *sync)
{
	struct tenon_operation op = { .kind = TENON_OP_WRITE };

	op.as.write.to = tenon_range(to, offset);
	op.as.write.host = host;
	op.as.write.size = size;
	return tenon_queue_submit(q, &op, sync);
}

int tenon_queue_read(struct tenon_queue *q, void *host, struct tenon_memory *from, uint64_t offset,
		     uint64_t size, const struct tenon_sync *sync)
{
	struct tenon_operation op = { .kind = TENON_OP_READ };

	op.as.read.host = host;
	op.as.read.from = tenon_range(from, offset);
	op.as.read.size = size;
	return tenon_queue_submit(q, &op, sync);
}

int tenon_queue_fill(struct tenon_queue *q, struct tenon_memory *to, uint64_t offset, uint64_t size,
		     uint32_t pattern, uint32_t width, const struct tenon_sync *sync)
{
	struct tenon_operation op = { .kind = TENON_OP_FILL };

	op.as.fill.to = tenon_range(to, offset);
	op.as.fill.size = size;
	op.as.fill.pattern = pattern;
	op.as.fill.width = width;
	return tenon_queue_submit(q, &op, sync);
}

int tenon_queue_dispatch(struct tenon_queue *q, const struct tenon_dispatch *dispatch,
			 const struct tenon_sync *sync)
{
	struct tenon_operation op;

	/* the rest belongs to other kinds; to clear it would cost as much as a check */
	op.kind = TENON_OP_DISPATCH;
	op.priority = 0;
	op.as.dispatch = dispatch;
	/* what most launches are: all that queue_submit() does comes down to this */
	if (__builtin_expect(!sync && !queue_holds(q) && !q->core->follower &&
				     !device_is_lost(q->device) &&
				     dispatch_is_valid(q->device, dispatch),
			     1))
		return queue_give(q, &op);
	return tenon_queue_submit(q, &op, sync);
}

int tenon_queue_execute(struct tenon_queue *q, struct tenon_commands *commands,
			struct tenon_memory *const *bindings, size_t binding_count,
			const struct tenon_sync *sync)
{
	struct tenon_operation op = { .kind = TENON_OP_EXECUTE };

	op.as.execute.commands = commands;
	op.as.execute.bindings = bindings;
	op.as.execute.binding_count = binding_count;
	return tenon_queue_submit(q, &op, sync);
}

int tenon_queue_call(struct tenon_queue *q, void (*function)(void *context), void *context,
		     const struct tenon_sync *sync)
{
	struct tenon_operation op = { .kind = TENON_OP_CALL };

	op.as.call.function = function;
	op.as.call.context = context;
	return tenon_queue_submit(q, &op, sync);
}

int tenon_queue_timestamp(struct tenon_queue *q, uint64_t *nanoseconds,
			  const struct tenon_sync *sync)
{
	struct tenon_operation op = { .kind = TENON_OP_TIMESTAMP };

	op.as.timestamp = nanoseconds;
	return tenon_queue_submit(q, &op, sync);
}

int tenon_queue_join(struct tenon_queue *q, const struct tenon_sync *sync)
{
	const struct tenon_operation op = { .kind = TENON_OP_BARRIER };

	return tenon_queue_submit(q, &op, sync);
}

int tenon_queue_flush(struct tenon_queue *q)
{
	return q->device->ops->queue->flush ? q->device->ops->queue->flush(q) : 0;
}

/* Order a queue behind a mark, after the operations that it holds. */
static int order(struct tenon_queue *q, struct tenon_queue *other, uint64_t serial)
{
	const struct tenon_operation op = { .kind = TENON_OP_BARRIER };
	struct tenon_point point = { NULL, 1 };
	const struct tenon_sync sync = { &point, 1, NULL, 0 };
	int err;

	if (!queue_holds(q))
		return q->device->ops->queue->order(q, other, serial);
	/* let the thread that submits held operations wait */
	err = tenon_timeline_create(0, &point.timeline);
	if (err)
		return err;
	err = timeline_promise(point.timeline, 1, other, serial, TENON_FOREVER);
	if (!err)
		err = queue_hold(q, &op, &sync, TENON_FOREVER);
	tenon_object_unref(point.timeline);
	return err;
}

int queue_order_behind_all(struct tenon_queue *q)
{
	const struct tenon_queue_ops *ops = q->device->ops->queue;
	struct queue_list list;
	size_t i;
	uint64_t serial;
	int err;

	if (q->device->properties->flags & TENON_DEVICE_INLINE)
		return 0;
	err = device_queues(q->device, &list);
	if (err)
		return err;
	for (i = 0; i < list.count && !err; i++) {
		if (list.queues[i] == q)
			continue;
		/*
		 * A wait does not clear the error: it belongs to the thread that submitted the
		 * failed operation.
		 */
		if (!ops->order) {
			err = queue_wait(list.queues[i], TENON_FOREVER);
			continue;
		}
		/* operations that another queue holds must be submitted first */
		err = queue_held_wait(list.queues[i], queue_held_goal(list.queues[i]),
				      TENON_FOREVER);
		if (!err)
			err = queue_mark_own(list.queues[i], &serial);
		if (!err)
			err = order(q, list.queues[i], serial);
	}
	device_queues_free(&list);
	return err;
}
