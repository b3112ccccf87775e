/* SPDX-License-Identifier: MIT */
/* Queues without pending operations, for backends that work at submission. */
#ifndef DEVICES_MAPPED_INLINE_QUEUE_H
#define DEVICES_MAPPED_INLINE_QUEUE_H

/*
 * Each operation has ended when submit returns, or others cannot tell the difference. So all marks are equal, and there
 * is nothing to wait for. A backend writes submit, and create and destroy if its queue has fields of its own.
 */

#include <tenon/backend/queue.h>

/** inline_create - tenon_queue_ops.create of a queue without fields of its own */
int inline_create(struct tenon_device *device, struct tenon_queue **out);

/** inline_destroy - tenon_queue_ops.destroy of what inline_create() made */
void inline_destroy(struct tenon_queue *queue);

int inline_mark(struct tenon_queue *queue, uint64_t *serial);
int inline_reached(struct tenon_queue *queue, uint64_t serial);
int inline_wait(struct tenon_queue *queue, uint64_t serial, uint64_t deadline);
int inline_order(struct tenon_queue *queue, struct tenon_queue *other, uint64_t serial);

/** INLINE_MARKS - the slots of struct tenon_queue_ops that concern what is pending */
#define INLINE_MARKS                                                                               \
	.mark = inline_mark, .reached = inline_reached, .wait = inline_wait,                       \
	.order = inline_order, .calls = 1

#endif /* DEVICES_MAPPED_INLINE_QUEUE_H */
