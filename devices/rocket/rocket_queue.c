/* SPDX-License-Identifier: MIT */
/* Queues that write register commands and run each launch as a job. */
#include "devices/rocket/rocket_device.h"

#include <stdlib.h>

#include "devices/inline/inline_queue.h"
#include "devices/inline/inline_work.h"
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
	rocket_let_go(q);
	tenon_queue_fini(queue);
	free(q);
}

static int run(struct tenon_queue *queue, const struct tenon_dispatch *dispatch)
{
	return rocket_dispatch((struct rocket_queue *)queue, dispatch);
}

static int queue_submit(struct tenon_queue *queue, const struct tenon_operation *op)
{
	int err = tenon_device_check(queue->device);

	if (!err)
		err = rocket_settle((struct rocket_queue *)queue);
	return err ? err : inline_work(queue, op, run);
}

const struct tenon_queue_ops rocket_queue_ops = {
	.size = sizeof(rocket_queue_ops),
	.create = queue_create,
	.destroy = queue_destroy,
	.submit = queue_submit,
	INLINE_MARKS,
};
