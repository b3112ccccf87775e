/* SPDX-License-Identifier: MIT */
/* Slots of a queue whose operations have ended when they were submitted. */
#include "devices/mapped/inline_queue.h"

#include "lib/brief_errors.h"
#include "lib/heap.h"

int inline_create(struct tenon_device *device, struct tenon_queue **out)
{
	struct tenon_queue *q = heap_alloc(sizeof(*q), "queue");
	int err;

	if (!q)
		return tenon_error(-TENON_E_NOMEM, "no memory for a queue");
	err = tenon_queue_init(q, device);
	if (err) {
		heap_free(q);
		return err;
	}
	*out = q;
	return 0;
}

void inline_destroy(struct tenon_queue *queue)
{
	tenon_queue_fini(queue);
	heap_free(queue);
}

int inline_mark(struct tenon_queue *queue, uint64_t *serial)
{
	*serial = 0;
	return 0;
}

int inline_reached(struct tenon_queue *queue, uint64_t serial)
{
	return 1;
}

int inline_wait(struct tenon_queue *queue, uint64_t serial, uint64_t deadline)
{
	return 0;
}

int inline_order(struct tenon_queue *queue, struct tenon_queue *other, uint64_t serial)
{
	return 0;
}
