/* SPDX-License-Identifier: MIT */
/* Queue that runs operations at submission. */
#include "devices/cpu/cpu.h"
#include "lib/brief_errors.h"

#include <stdlib.h>

static int create(struct tenon_device *device, struct tenon_queue **out)
{
	struct tenon_queue *q = malloc(sizeof(*q));
	int err;

	if (!q)
		return tenon_error(-TENON_E_NOMEM, "no memory for a queue");
	err = tenon_queue_init(q, device);
	if (err) {
		free(q);
		return err;
	}
	*out = q;
	return 0;
}

static void destroy(struct tenon_queue *q)
{
	tenon_queue_fini(q);
	free(q);
}

static int submit(struct tenon_queue *q, const struct tenon_operation *op)
{
	return cpu_work(q->device, op);
}

static int mark(struct tenon_queue *q, uint64_t *serial)
{
	(void)q;
	*serial = 0;
	return 0;
}

static int reached(struct tenon_queue *q, uint64_t serial)
{
	(void)q;
	(void)serial;
	return 1;
}

static int wait(struct tenon_queue *q, uint64_t serial, uint64_t deadline)
{
	(void)q;
	(void)serial;
	(void)deadline;
	return 0;
}

static int order(struct tenon_queue *q, struct tenon_queue *other, uint64_t serial)
{
	(void)q;
	(void)other;
	(void)serial;
	return 0;
}

const struct tenon_queue_ops cpu_inline_ops = {
	.size = sizeof(cpu_inline_ops),
	.create = create,
	.destroy = destroy,
	.submit = submit,
	.mark = mark,
	.reached = reached,
	.wait = wait,
	.order = order,
	.calls = 1,
};
