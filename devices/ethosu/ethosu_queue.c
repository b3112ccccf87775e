/* SPDX-License-Identifier: MIT */
/* Queues of the backend, which run each operation at submission. */
#include "devices/ethosu/ethosu_device.h"
#include "devices/inline/inline_queue.h"
#include "devices/inline/inline_work.h"

static int submit(struct tenon_queue *queue, const struct tenon_operation *op)
{
	return inline_work(queue, op, ethosu_run);
}

const struct tenon_queue_ops ethosu_queue_ops = {
	.size = sizeof(ethosu_queue_ops),
	.create = inline_create,
	.destroy = inline_destroy,
	.submit = submit,
	INLINE_MARKS,
};
