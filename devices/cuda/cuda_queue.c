/* SPDX-License-Identifier: MIT */
/* Queues as streams: copies, fills and launches in their order. */
#include <inttypes.h>
#include <stdlib.h>

#include "devices/cuda/cuda_device.h"
#include "lib/brief_errors.h"

static struct cuda_queue *queue_of(struct tenon_queue *queue)
{
	return (struct cuda_queue *)queue;
}

void cuda_stream_drop(struct cuda_stream *s)
{
	struct cuda_device *d = s->device;

	if (__atomic_sub_fetch(&s->references, 1, __ATOMIC_ACQ_REL))
		return;
	/* cuStreamDestroy() does not wait: CUDA destroys the stream when it is done */
	if (!s->foreign && !cuda_is_dead(d) && !__atomic_load_n(&d->stuck, __ATOMIC_ACQUIRE)) {
		cuda_enter(d);
		d->cu->StreamDestroy(s->handle);
	}
	free(s);
}

static int queue_new(struct cuda_device *d, cu_stream handle, bool foreign,
		     struct tenon_queue **out)
{
	struct cuda_stream *s = malloc(sizeof(*s));
	struct cuda_queue *q = calloc(1, sizeof(*q));
	int err = -TENON_E_NOMEM;

	if (s && q)
		err = tenon_queue_init(&q->base, &d->base);
	else
		tenon_error(err, "no memory for a queue");
	if (err) {
		free(s);
		free(q);
		return err;
	}
	*s = (struct cuda_stream){ 1, 1, foreign, handle, d };
	__atomic_add_fetch(&d->queues, 1, __ATOMIC_RELAXED);
	q->stream = s;
	q->handle = handle;
	q->shared = foreign;
	q->base.native = handle;
	pthread_mutex_init(&q->lock, NULL);
	*out = &q->base;
	return 0;
}

static int cuda_queue_create(struct tenon_device *device, struct tenon_queue **out)
{
	struct cuda_device *d = cuda_device_of(device);
	cu_stream handle = NULL;
	int status, err;

	status = cuda_enter(d);
	if (!status)
		status = d->cu->StreamCreate(&handle, CU_STREAM_DEFAULT);
	if (status)
		return cuda_failed(d, status, "making a queue");
	err = queue_new(d, handle, false, out);
	if (err)
		d->cu->StreamDestroy(handle);
	return err;
}

static int cuda_queue_wrap(struct tenon_device *device, void *native, struct tenon_queue **out)
{
	return queue_new(cuda_device_of(device), native, true, out);
}

static void cuda_queue_share(struct tenon_queue *queue)
{
	__atomic_store_n(&queue_of(queue)->shared, true, __ATOMIC_RELEASE);
}

static void cuda_queue_destroy(struct tenon_queue *queue)
{
	struct cuda_device *d = cuda_device_of(queue->device);
	struct cuda_queue *q = queue_of(queue);
	bool alive = !cuda_is_dead(d);

	tenon_queue_fini(queue);
	__atomic_store_n(&q->stream->queues, 0, __ATOMIC_RELAXED);
	__atomic_sub_fetch(&d->queues, 1, __ATOMIC_RELEASE);
	/* operations may still run on a device that was marked as lost */
	if (cuda_is_lost(d) && alive) {
		cuda_enter(d);
		if (d->cu->StreamQuery(q->handle)) {
			__atomic_store_n(&d->stuck, 1, __ATOMIC_RELEASE);
			alive = false;
		}
	}
	if (alive)
		cuda_enter(d);
	cuda_queue_forget(q, alive);
	if (q->stage)
		cuda_stage_end(d, q->stage, alive);
	/* leak contexts and queue if operations may still run and use them */
	if (alive || cuda_is_dead(d))
		cuda_calls_end(q);
	cuda_stream_drop(q->stream);
	pthread_mutex_destroy(&q->lock);
	if (!q->calls)
		free(q);
}

static int fill(struct cuda_queue *q, const struct tenon_operation *o)
{
	const struct cuda_api *cu = cuda_device_of(q->base.device)->cu;
	cu_address to = cuda_address(o->as.fill.to);
	size_t count = (size_t)(o->as.fill.size / o->as.fill.width);
	uint32_t pattern = o->as.fill.pattern;

	if (!count)
		return 0;
	if (o->as.fill.width == 1)
		return cu->MemsetD8Async(to, (unsigned char)pattern, count, q->handle);
	if (o->as.fill.width == 2)
		return cu->MemsetD16Async(to, (unsigned short)pattern, count, q->handle);
	return cu->MemsetD32Async(to, pattern, count, q->handle);
}

/* Submit operations that are a single CUDA call; returns CUDA's status. */
static int enqueue(struct cuda_queue *q, const struct tenon_operation *o)
{
	const struct cuda_api *cu = cuda_device_of(q->base.device)->cu;

	switch (o->kind) {
	case TENON_OP_COPY:
		return o->as.copy.size ? cu->MemcpyAsync(cuda_address(o->as.copy.to),
							 cuda_address(o->as.copy.from),
							 (size_t)o->as.copy.size, q->handle)
				       : 0;
	case TENON_OP_FILL:
		return fill(q, o);
	default:
		return cuda_call(q, o->as.call.function, o->as.call.context);
	}
}

static int submit_other(struct cuda_queue *q, const struct tenon_operation *o)
{
	struct cuda_device *d = cuda_device_of(q->base.device);
	int status;

	switch (o->kind) {
	case TENON_OP_WRITE:
		return cuda_write(q, cuda_address(o->as.write.to), o->as.write.host,
				  o->as.write.size);
	case TENON_OP_READ:
		return cuda_read(q, o->as.read.host, cuda_address(o->as.read.from),
				 o->as.read.size);
	case TENON_OP_EXECUTE:
		return cuda_replay(q, o->as.execute.commands, o->as.execute.bindings);
	case TENON_OP_TIMESTAMP:
		return cuda_queue_timestamp(q, o->as.timestamp);
	default:
		status = enqueue(q, o);
		return status ? cuda_failed(d, status, "submitting a %s",
					    o->kind == TENON_OP_COPY   ? "copy"
					    : o->kind == TENON_OP_FILL ? "fill"
								       : "host function")
			      : 0;
	}
}

static int cuda_submit(struct tenon_queue *queue, const struct tenon_operation *o)
{
	struct cuda_device *d = cuda_device_of(queue->device);
	struct cuda_queue *q = queue_of(queue);
	int err;

	err = cuda_enter(d);
	if (__builtin_expect(err, 0))
		return cuda_failed(d, err, "making the device current");
	if (__builtin_expect(o->kind == TENON_OP_DISPATCH, 1))
		err = cuda_launch(q->handle, o->as.dispatch);
	else
		err = submit_other(q, o);
	if (!err)
		cuda_queue_submitted(q);
	return err;
}

const struct tenon_queue_ops cuda_queue_ops = {
	.size = sizeof(struct tenon_queue_ops),
	.create = cuda_queue_create,
	.destroy = cuda_queue_destroy,
	.wrap = cuda_queue_wrap,
	.submit = cuda_submit,
	.mark = cuda_queue_mark,
	.reached = cuda_queue_reached,
	.wait = cuda_queue_wait,
	.order = cuda_queue_order,
	.import_fence = cuda_fence_import,
	.share = cuda_queue_share,
	.calls = 1,
};
