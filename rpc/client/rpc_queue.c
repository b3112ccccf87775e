/* SPDX-License-Identifier: MIT */
/* Queues of remote devices: a request for each operation, in the session's order. */
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/queue.h>

#include "devices/mapped/inline_queue.h"
#include "lib/brief_errors.h"
#include "rpc/client/rpc.h"

static uint64_t handle_of(const struct tenon_range *range, uint64_t *offset)
{
	*offset = range->offset;
	return ((struct rpc_memory *)tenon_memory_root(range->memory, offset))->handle;
}

static int copy(struct rpc_device *d, const struct tenon_operation *op)
{
	struct wire_tensor from = { .device = d->there, .dtype = { kDLUInt, 8, 1 }, .ndim = 1 };
	struct wire_tensor to;
	struct wire_value values[3] = { { WIRE_TENSOR, { .tensor = &from } },
					{ WIRE_TENSOR, { .tensor = &to } },
					wire_pointer(0) };

	from.shape[0] = (int64_t)op->as.copy.size;
	to = from;
	from.data = handle_of(&op->as.copy.from, &from.byte_offset);
	to.data = handle_of(&op->as.copy.to, &to.byte_offset);
	return rpc_post(d->rpc, PACKET_COPY_AMONG, 0, values, 3, NULL);
}

static int fill(struct rpc_device *d, const struct tenon_operation *op)
{
	uint64_t offset, handle = handle_of(&op->as.fill.to, &offset), i;
	uint32_t width = op->as.fill.width;
	char *host = malloc(op->as.fill.size);
	int err;

	if (!host)
		return tenon_error(-TENON_E_NOMEM, "no memory to fill %llu bytes",
				   (unsigned long long)op->as.fill.size);
	for (i = 0; i < op->as.fill.size; i++)
		host[i] = (char)(op->as.fill.pattern >> 8 * (i % width));
	err = rpc_put(d->rpc, d->there, handle, offset, host, op->as.fill.size);
	free(host);
	return err;
}

static int run_operation(struct rpc_device *d, const struct tenon_operation *op)
{
	uint64_t offset, handle;

	switch (op->kind) {
	case TENON_OP_COPY:
		return copy(d, op);
	case TENON_OP_WRITE:
		handle = handle_of(&op->as.write.to, &offset);
		return rpc_put(d->rpc, d->there, handle, offset, op->as.write.host,
			       op->as.write.size);
	case TENON_OP_READ:
		handle = handle_of(&op->as.read.from, &offset);
		return rpc_get(d->rpc, d->there, handle, offset, op->as.read.host,
			       op->as.read.size);
	case TENON_OP_FILL:
		return fill(d, op);
	default:
		return tenon_error(-TENON_E_UNSUPPORTED, "rpc does no operation %u", op->kind);
	}
}

static int rpc_submit(struct tenon_queue *queue, const struct tenon_operation *op)
{
	struct rpc_device *d = (struct rpc_device *)queue->device;
	int err;

	if (op->kind == TENON_OP_CALL) {
		op->as.call.function(op->as.call.context);
		return 0;
	}
	if (op->kind == TENON_OP_TIMESTAMP) {
		*op->as.timestamp = tenon_now();
		return 0;
	}
	pthread_mutex_lock(&d->rpc->lock);
	err = run_operation(d, op);
	pthread_mutex_unlock(&d->rpc->lock);
	if (err == -TENON_E_LOST)
		return tenon_device_lose(&d->base, err);
	return err;
}

/* Operations are sent when submit returns, and run in this order: all marks are equal. */
const struct tenon_queue_ops rpc_queue_ops = {
	.size = sizeof(rpc_queue_ops),
	.create = inline_create,
	.destroy = inline_destroy,
	.submit = rpc_submit,
	INLINE_MARKS,
};
