/* SPDX-License-Identifier: MIT */
/* Run operations at submission, and report marks in order. */
#include "devices/null/null.h"

#include <stdlib.h>
#include <string.h>

struct null_queue {
	struct tenon_queue base;
};

static int null_create(struct tenon_device *device, struct tenon_queue **out)
{
	struct null_queue *q = malloc(sizeof(*q));
	int err;

	if (!q)
		return tenon_error(-TENON_E_NOMEM, "no memory for a queue");
	err = tenon_queue_init(&q->base, device);
	if (err) {
		free(q);
		return err;
	}
	*out = &q->base;
	return 0;
}

static void null_destroy(struct tenon_queue *queue)
{
	tenon_queue_fini(queue);
	free(queue);
}

static void fill(char *to, uint64_t size, uint32_t pattern, uint32_t width)
{
	uint8_t byte = (uint8_t)pattern;
	uint16_t two = (uint16_t)pattern;
	uint64_t i;

	if (width == 1)
		memset(to, byte, (size_t)size);
	for (i = 0; width > 1 && i < size; i += width) {
		if (width == 2)
			memcpy(to + i, &two, 2);
		else
			memcpy(to + i, &pattern, 4);
	}
}

static int null_submit(struct tenon_queue *queue, const struct tenon_operation *op)
{
	if (__atomic_load_n(&queue->device->lost, __ATOMIC_ACQUIRE))
		return tenon_device_check(queue->device);
	switch (op->kind) {
	case TENON_OP_COPY:
		memcpy(null_address(&op->as.copy.to), null_address(&op->as.copy.from),
		       (size_t)op->as.copy.size);
		return 0;
	case TENON_OP_WRITE:
		memcpy(null_address(&op->as.write.to), op->as.write.host,
		       (size_t)op->as.write.size);
		return 0;
	case TENON_OP_READ:
		memcpy(op->as.read.host, null_address(&op->as.read.from), (size_t)op->as.read.size);
		return 0;
	case TENON_OP_FILL:
		fill(null_address(&op->as.fill.to), op->as.fill.size, op->as.fill.pattern,
		     op->as.fill.width);
		return 0;
	case TENON_OP_DISPATCH:
		return null_run(op->as.dispatch);
	case TENON_OP_CALL:
		op->as.call.function(op->as.call.context);
		return 0;
	case TENON_OP_TIMESTAMP:
		*op->as.timestamp = tenon_now();
		return 0;
	default:
		return tenon_error(-TENON_E_UNSUPPORTED, "null does no operation %u", op->kind);
	}
}

/* Operations are complete when submit returns, so all marks are equal. */
static int null_mark(struct tenon_queue *queue, uint64_t *serial)
{
	*serial = 0;
	return 0;
}

static int null_reached(struct tenon_queue *queue, uint64_t serial)
{
	return 1;
}

static int null_wait(struct tenon_queue *queue, uint64_t serial, uint64_t deadline)
{
	return 0;
}

static int null_order(struct tenon_queue *queue, struct tenon_queue *other, uint64_t serial)
{
	return 0;
}

const struct tenon_queue_ops null_queue_ops = {
	.size = sizeof(null_queue_ops),
	.create = null_create,
	.destroy = null_destroy,
	.submit = null_submit,
	.mark = null_mark,
	.reached = null_reached,
	.wait = null_wait,
	.order = null_order,
	.calls = 1,
};
