/* SPDX-License-Identifier: MIT */
/* Queues that write register commands and run each launch as a job. */
#include "devices/rocket/rocket_device.h"

#include <stdlib.h>

#include "lib/brief_errors.h"

static int queue_create(struct tenon_device *device, struct tenon_queue **out)
{
	struct rocket_queue *q = calloc(1, sizeof(*q));
	int err;

	if (!q)
		return tenon_error(-TENON_E_NOMEM, "no memory for a queue");
	err = rocket_lane_open(rocket_accel_of(device), &q->lane);
	if (!err) {
		err = worker_queue_open(&q->worker, device, &rocket_launches);
		if (err)
			rocket_lane_close(&q->lane);
	}
	if (err) {
		free(q);
		return err;
	}
	*out = &q->worker.base;
	return 0;
}

static void queue_destroy(struct tenon_queue *queue)
{
	struct rocket_queue *q = (struct rocket_queue *)queue;

	worker_queue_close(&q->worker);
	rocket_lane_close(&q->lane);
	free(q);
}

const struct tenon_queue_ops rocket_queue_ops = {
	.size = sizeof(rocket_queue_ops),
	.create = queue_create,
	.destroy = queue_destroy,
	WORKER_SLOTS,
};
