/* SPDX-License-Identifier: MIT */
/* Queues whose thread runs programs, and where the arguments of a launch are. */
#include <inttypes.h>

#include "devices/mapped/inline_work.h"
#include "devices/mapped/worker_queue.h"
#include "devices/torq/torq_device.h"
#include "lib/brief_errors.h"

/** struct launch - from its submission to its end; @kernel: what runs; @call: its arguments */
struct launch {
	struct torq_kernel *kernel;
	struct torq_call call;
};

/*
 * Can the driver map the memory where it is? It maps whole pages: other bytes of the last page must not be of another
 * part of the same memory.
 */
static bool is_mappable(const struct tenon_memory *argument, const struct tenon_memory *root,
			uint64_t offset, uint64_t in_argument, uint32_t size)
{
	const uint64_t end = (offset + size + TORQ_PAGE - 1) / TORQ_PAGE * TORQ_PAGE;
	const uint64_t argument_end = offset - in_argument + argument->size;

	return offset % TORQ_PAGE == 0 && end <= UINT32_MAX &&
	       (end <= argument_end || argument_end == root->size);
}

static int find_place(const struct tenon_dispatch *d, const struct torq_binding *b,
		      struct torq_place *out)
{
	struct tenon_memory *m = (struct tenon_memory *)(uintptr_t)d->arguments[b->argument];
	const struct tenon_range range = tenon_range(m, 0);
	uint64_t offset = b->offset;
	struct tenon_memory *root;

	if (m->size < (uint64_t)b->offset + b->size)
		return tenon_error(-TENON_E_VALUE,
				   "%.*s: argument %u has %" PRIu64 " bytes, and needs %" PRIu64,
				   (int)d->kernel->info->name.size, d->kernel->info->name.data,
				   b->argument, m->size, (uint64_t)b->offset + b->size);
	root = tenon_memory_root(m, &offset);
	out->bytes = (uint8_t *)inline_address(&range) + b->offset;
	out->offset = offset;
	out->buffer = &((const struct torq_buffer *)root)->buffer;
	out->is_mappable = is_mappable(m, root, offset, b->offset, b->size);
	return 0;
}

static int prepare(struct tenon_queue *queue, const struct tenon_dispatch *d, void *launch)
{
	const struct torq_network *n;
	struct launch *l = launch;
	uint32_t i;
	int err = 0;

	(void)queue;
	l->kernel = (struct torq_kernel *)d->kernel;
	n = &l->kernel->network;
	for (i = 0; i < n->binding_count && !err; i++)
		err = find_place(d, &n->bindings[i], &l->call.places[i]);
	for (i = 0; i < TORQ_ARGUMENTS && !err; i++) {
		const struct torq_binding index = { .argument = i, .size = sizeof(int32_t) };

		if (n->arguments[i].is_index)
			err = find_place(d, &index, &l->call.indices[i]);
	}
	return err;
}

static int run_program(struct tenon_queue *queue, void *launch)
{
	struct torq_device *d = torq_device_of(queue->device);
	struct launch *l = launch;
	int err;

	pthread_mutex_lock(&d->lock);
	err = torq_network_run(&l->kernel->network, &l->call);
	pthread_mutex_unlock(&d->lock);
	return err;
}

static const struct worker_launches launches = {
	.size = sizeof(struct launch),
	.prepare = prepare,
	.run = run_program,
};

static int create(struct tenon_device *device, struct tenon_queue **out)
{
	return worker_queue_create(device, &launches, out);
}

const struct tenon_queue_ops torq_queue_ops = {
	.size = sizeof(torq_queue_ops),
	.create = create,
	.destroy = worker_queue_destroy,
	WORKER_SLOTS,
};
