/* SPDX-License-Identifier: MIT */
#include "devices/rocket/rocket_device.h"

#include <stdlib.h>
#include <string.h>

#include "lib/brief_errors.h"

static int queue_create(struct tenon_device *device, struct tenon_queue **out)
{
	struct rocket_queue *q = calloc(1, sizeof(*q));
	int err;

	if (!q)
		return tenon_error(-TENON_E_NOMEM, "no memory for a queue");
	err = rocket_lane_open(rocket_accel_of(device), &q->lane);
	if (!err) {
		err = tenon_queue_init(&q->base, device);
		if (err)
			rocket_lane_close(&q->lane);
	}
	if (err) {
		free(q);
		return err;
	}
	*out = &q->base;
	return 0;
}

static void queue_destroy(struct tenon_queue *queue)
{
	struct rocket_queue *q = (struct rocket_queue *)queue;

	rocket_buffer_close(rocket_accel_of(queue->device), &q->commands);
	rocket_lane_close(&q->lane);
	tenon_queue_fini(queue);
	free(q);
}

static void fill(char *to, uint64_t size, uint32_t pattern, uint32_t width)
{
	uint16_t two = (uint16_t)pattern;
	uint64_t i;

	if (width == 1)
		memset(to, (uint8_t)pattern, (size_t)size);
	for (i = 0; width > 1 && i < size; i += width) {
		if (width == 2)
			memcpy(to + i, &two, 2);
		else
			memcpy(to + i, &pattern, 4);
	}
}

static int run(struct rocket_queue *q, const struct tenon_operation *op)
{
	switch (op->kind) {
	case TENON_OP_COPY:
		memcpy(rocket_address(&op->as.copy.to), rocket_address(&op->as.copy.from),
		       (size_t)op->as.copy.size);
		return 0;
	case TENON_OP_WRITE:
		memcpy(rocket_address(&op->as.write.to), op->as.write.host,
		       (size_t)op->as.write.size);
		return 0;
	case TENON_OP_READ:
		memcpy(op->as.read.host, rocket_address(&op->as.read.from),
		       (size_t)op->as.read.size);
		return 0;
	case TENON_OP_FILL:
		fill(rocket_address(&op->as.fill.to), op->as.fill.size, op->as.fill.pattern,
		     op->as.fill.width);
		return 0;
	case TENON_OP_DISPATCH:
		return rocket_dispatch(q, op->as.dispatch);
	case TENON_OP_CALL:
		op->as.call.function(op->as.call.context);
		return 0;
	case TENON_OP_TIMESTAMP:
		*op->as.timestamp = tenon_now();
		return 0;
	default:
		return tenon_error(-TENON_E_UNSUPPORTED, "rocket does no operation %u", op->kind);
	}
}

static int queue_submit(struct tenon_queue *queue, const struct tenon_operation *op)
{
	struct rocket_queue *q = (struct rocket_queue *)queue;
	int err;

	if (__atomic_load_n(&queue->device->lost, __ATOMIC_ACQUIRE))
		return tenon_device_check(queue->device);
	err = rocket_settle(q);
	return err ? err : run(q, op);
}

/* Operations are complete when submit returns, so all marks are equal. */
static int queue_mark(struct tenon_queue *queue, uint64_t *serial)
{
	(void)queue;
	*serial = 0;
	return 0;
}

static int queue_reached(struct tenon_queue *queue, uint64_t serial)
{
	(void)queue;
	(void)serial;
	return 1;
}

static int queue_wait(struct tenon_queue *queue, uint64_t serial, uint64_t deadline)
{
	(void)queue;
	(void)serial;
	(void)deadline;
	return 0;
}

static int queue_order(struct tenon_queue *queue, struct tenon_queue *other, uint64_t serial)
{
	(void)queue;
	(void)other;
	(void)serial;
	return 0;
}

const struct tenon_queue_ops rocket_queue_ops = {
	.size = sizeof(rocket_queue_ops),
	.create = queue_create,
	.destroy = queue_destroy,
	.submit = queue_submit,
	.mark = queue_mark,
	.reached = queue_reached,
	.wait = queue_wait,
	.order = queue_order,
	.calls = 1,
};
