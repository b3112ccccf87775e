/* SPDX-License-Identifier: MIT */
/* Queues of the backend: the model's run operations at submission, those of hardware have a thread. */
#include "devices/ethosu/ethosu_device.h"
#include "devices/mapped/inline_queue.h"
#include "devices/mapped/inline_work.h"
#include "devices/mapped/worker_queue.h"

static int run_now(struct tenon_queue *queue, const struct tenon_dispatch *dispatch)
{
	struct ethosu_launch l;
	int err = ethosu_prepare(dispatch, &l);

	return err ? err : ethosu_run(&l);
}

static int submit(struct tenon_queue *queue, const struct tenon_operation *op)
{
	return inline_work(queue, op, run_now);
}

const struct tenon_queue_ops ethosu_inline_ops = {
	.size = sizeof(ethosu_inline_ops),
	.create = inline_create,
	.destroy = inline_destroy,
	.submit = submit,
	INLINE_MARKS,
};

static int prepare(struct tenon_queue *queue, const struct tenon_dispatch *dispatch, void *launch)
{
	return ethosu_prepare(dispatch, launch);
}

static int run_network(struct tenon_queue *queue, void *launch)
{
	return ethosu_run(launch);
}

static const struct worker_launches launches = {
	.size = sizeof(struct ethosu_launch),
	.prepare = prepare,
	.run = run_network,
};

static int create(struct tenon_device *device, struct tenon_queue **out)
{
	return worker_queue_create(device, &launches, out);
}

const struct tenon_queue_ops ethosu_worker_ops = {
	.size = sizeof(ethosu_worker_ops),
	.create = create,
	.destroy = worker_queue_destroy,
	WORKER_SLOTS,
};
