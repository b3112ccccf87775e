/* SPDX-License-Identifier: MIT */
/* Command queues: copies, fills and launches in order; foreign queues wrapped. */
#include <stdlib.h>
#include <string.h>

#include "devices/opencl/opencl_device.h"

static struct opencl_queue *queue_take(struct opencl_device *d)
{
	struct opencl_queue *q;

	pthread_mutex_lock(&d->lock);
	q = d->free_queues;
	if (q)
		d->free_queues = q->next_free;
	pthread_mutex_unlock(&d->lock);
	if (!q)
		q = malloc(sizeof(*q));
	if (q)
		memset(q, 0, sizeof(*q));
	return q;
}

static void queue_keep(struct opencl_device *d, struct opencl_queue *q)
{
	pthread_mutex_lock(&d->lock);
	q->next_free = d->free_queues;
	d->free_queues = q;
	pthread_mutex_unlock(&d->lock);
}

/* Takes ownership of @queue, also on failure. */
static int queue_new(struct opencl_device *d, ocl_queue queue, bool shared,
		     struct tenon_queue **out)
{
	struct opencl_queue *q = queue_take(d);
	int err = q ? tenon_queue_init(&q->base, &d->base) : opencl_nomem("a queue");

	if (err) {
		if (q)
			queue_keep(d, q);
		ocl.ReleaseCommandQueue(queue);
		return err;
	}
	q->queue = queue;
	q->base.native = queue;
	q->shared = shared;
	pthread_mutex_init(&q->lock, NULL);
	*out = &q->base;
	return 0;
}

static int opencl_queue_create(struct tenon_device *device, struct tenon_queue **out)
{
	struct opencl_device *d = opencl_device_of(device);
	int status = 0;
	ocl_queue queue = ocl.CreateCommandQueue(d->context, d->device, 0, &status);

	if (!queue)
		return opencl_failed(d, status, "making a queue");
	return queue_new(d, queue, false, out);
}

static int opencl_queue_wrap(struct tenon_device *device, void *native, struct tenon_queue **out)
{
	struct opencl_device *d = opencl_device_of(device);
	ocl_context context = NULL;
	uint64_t properties = 0;
	int status;

	status =
		ocl.GetCommandQueueInfo(native, OCL_QUEUE_CONTEXT, sizeof(context), &context, NULL);
	if (!status)
		status = ocl.GetCommandQueueInfo(native, OCL_QUEUE_PROPERTIES, sizeof(properties),
						 &properties, NULL);
	if (!status && (context != d->context || properties & OCL_QUEUE_OUT_OF_ORDER))
		return opencl_error(d, -TENON_E_VALUE,
				    "a foreign queue that is out of order or of another "
				    "context: want an in-order queue of this device's context");
	if (!status)
		status = ocl.RetainCommandQueue(native);
	if (status)
		return opencl_failed(d, status, "using a foreign queue");
	return queue_new(d, native, true, out);
}

static void opencl_queue_share(struct tenon_queue *queue)
{
	__atomic_store_n(&((struct opencl_queue *)queue)->shared, true, __ATOMIC_RELEASE);
}

static void opencl_queue_destroy(struct tenon_queue *queue)
{
	struct opencl_queue *q = (struct opencl_queue *)queue;
	struct opencl_device *d = opencl_device_of(queue->device);

	tenon_queue_fini(queue);
	opencl_queue_forget(q);
	if (q->timing)
		ocl.ReleaseCommandQueue(q->timing);
	if (q->clock)
		ocl.ReleaseMemObject(q->clock);
	ocl.ReleaseCommandQueue(q->queue);
	pthread_mutex_destroy(&q->lock);
	queue_keep(d, q);
}

static int enqueue(struct opencl_queue *q, const struct tenon_operation *o, ocl_event *event)
{
	const struct opencl_device *d = opencl_device_of(q->base.device);

	switch (o->kind) {
	case TENON_OP_COPY:
		return ocl.EnqueueCopyBuffer(
			q->queue, opencl_mem(o->as.copy.from), opencl_mem(o->as.copy.to),
			(size_t)o->as.copy.from.offset, (size_t)o->as.copy.to.offset,
			(size_t)o->as.copy.size, 0, NULL, event);
	case TENON_OP_WRITE:
		return ocl.EnqueueWriteBuffer(
			q->queue, opencl_mem(o->as.write.to), 0, (size_t)o->as.write.to.offset,
			(size_t)o->as.write.size, o->as.write.host, 0, NULL, event);
	case TENON_OP_READ:
		return ocl.EnqueueReadBuffer(
			q->queue, opencl_mem(o->as.read.from), 0, (size_t)o->as.read.from.offset,
			(size_t)o->as.read.size, o->as.read.host, 0, NULL, event);
	case TENON_OP_FILL:
		return ocl.EnqueueFillBuffer(
			q->queue, opencl_mem(o->as.fill.to), &o->as.fill.pattern, o->as.fill.width,
			(size_t)o->as.fill.to.offset, (size_t)o->as.fill.size, 0, NULL, event);
	default:
		return d->recorder.enqueue(
			1, &q->queue, ((struct opencl_commands *)o->as.execute.commands)->recording,
			0, NULL, event);
	}
}

/* OpenCL rejects copies of 0 bytes. */
static bool is_empty(const struct tenon_operation *o)
{
	switch (o->kind) {
	case TENON_OP_COPY:
		return !o->as.copy.size;
	case TENON_OP_WRITE:
		return !o->as.write.size;
	case TENON_OP_READ:
		return !o->as.read.size;
	case TENON_OP_FILL:
		return !o->as.fill.size;
	default:
		return false;
	}
}

int opencl_submit_other(struct opencl_queue *q, const struct tenon_operation *o)
{
	static const char names[][12] = { "copy", "write", "read", "fill", "", "recording" };
	struct opencl_device *d = opencl_device_of(q->base.device);
	ocl_event event = NULL;
	int status;

	if (o->kind == TENON_OP_TIMESTAMP)
		return opencl_queue_timestamp(q, o->as.timestamp);
	if (o->kind == TENON_OP_FILL && (d->version < 120 || !ocl.EnqueueFillBuffer))
		return opencl_error(d, -TENON_E_UNSUPPORTED, "fills need OpenCL 1.2");
	if (is_empty(o) || opencl_svm_copy(q, o))
		return 0;
	status = enqueue(q, o, opencl_is_shared(q) ? NULL : &event);
	if (status)
		return opencl_failed(d, status, "submitting a %s", names[o->kind - TENON_OP_COPY]);
	opencl_queue_ended(q, event);
	return 0;
}

static int opencl_queue_flush(struct tenon_queue *queue)
{
	struct opencl_device *d = opencl_device_of(queue->device);
	int status = ocl.Flush(((struct opencl_queue *)queue)->queue);

	return status ? opencl_failed(d, status, "flushing a queue") : 0;
}

const struct tenon_queue_ops opencl_queue_ops = {
	.size = sizeof(struct tenon_queue_ops),
	.create = opencl_queue_create,
	.destroy = opencl_queue_destroy,
	.wrap = opencl_queue_wrap,
	.submit = opencl_submit,
	.mark = opencl_queue_mark,
	.reached = opencl_queue_reached,
	.wait = opencl_queue_wait,
	.order = opencl_queue_order,
	.flush = opencl_queue_flush,
	.export_fence = opencl_fence_export,
	.import_fence = opencl_fence_import,
	.share = opencl_queue_share,
};
