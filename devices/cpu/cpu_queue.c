/* SPDX-License-Identifier: MIT */
/* Queues that run operations at submission, and those that have a thread. */
#include "devices/cpu/cpu.h"

#include <stdlib.h>
#include <string.h>

#include "devices/mapped/inline_queue.h"
#include "devices/mapped/inline_work.h"
#include "devices/mapped/worker_queue.h"
#include "lib/brief_errors.h"

static int submit(struct tenon_queue *q, const struct tenon_operation *op)
{
	return inline_work(q, op, cpu_run);
}

const struct tenon_queue_ops cpu_inline_ops = {
	.size = sizeof(cpu_inline_ops),
	.create = inline_create,
	.destroy = inline_destroy,
	.submit = submit,
	INLINE_MARKS,
};

/* ---- with a thread */

/* a copy of a dispatch; @room: number of @arguments that fit */
struct launch {
	struct tenon_dispatch dispatch;
	uint64_t *arguments;
	size_t room;
};

static int prepare(struct tenon_queue *queue, const struct tenon_dispatch *d, void *launch)
{
	const size_t n = d->kernel->info->argument_count;
	struct launch *l = launch;
	uint64_t *arguments;

	if (n > l->room) {
		arguments = realloc(l->arguments, n * sizeof(*arguments));
		if (!arguments)
			return tenon_error(-TENON_E_NOMEM, "no memory for a launch");
		l->arguments = arguments;
		l->room = n;
	}
	if (n)
		memcpy(l->arguments, d->arguments, n * sizeof(*l->arguments));
	l->dispatch = *d;
	l->dispatch.arguments = l->arguments;
	return 0;
}

static int run_function(struct tenon_queue *queue, void *launch)
{
	return cpu_run(queue, &((const struct launch *)launch)->dispatch);
}

static void release(struct tenon_queue *queue, void *launch)
{
	free(((struct launch *)launch)->arguments);
}

static const struct worker_launches launches = {
	.size = sizeof(struct launch),
	.prepare = prepare,
	.run = run_function,
	.release = release,
};

static int create(struct tenon_device *device, struct tenon_queue **out)
{
	return worker_queue_create(device, &launches, out);
}

const struct tenon_queue_ops cpu_worker_ops = {
	.size = sizeof(cpu_worker_ops),
	.create = create,
	.destroy = worker_queue_destroy,
	WORKER_SLOTS,
};
