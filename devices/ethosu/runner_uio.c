/* SPDX-License-Identifier: MIT */
/* Run the streams of the backend on an NPU behind UIO, with its memory in the window. */
#include <inttypes.h>
#include <stdlib.h>
#include <tenon/timeline.h>

#include "devices/ethosu/ethosu_runner.h"
#include "devices/ethosu/ethosu_uio.h"
#include "lib/brief_errors.h"

/* no network of these devices runs so long */
#define DEADLINE (UINT64_C(60) * 1000000000)

/**
 * struct network - a network in the memory of a device
 * @device: it
 * @stream: the command stream
 * @regions: memory of the regions; NULL for those that it does not touch
 * @job: what is run
 */
struct network {
	struct ethosu_uio *device;
	struct first_fit_piece *stream;
	struct first_fit_piece *regions[ETHOSU_REGIONS];
	struct ethosu_uio_job job;
};

static int check_target(const struct ethosu_plan *plan)
{
	const struct ethosu_target *t = &plan->contents->payload.target;
	const char *differs = ethosu_target_runs(&plan->device->target, t);
	char name[ETHOSU_TARGET_NAME], own[ETHOSU_TARGET_NAME];

	if (!differs)
		return 0;
	ethosu_target_name(t, name);
	ethosu_target_name(&plan->device->target, own);
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "%s at 0x%" PRIx64 ": compiled for %s (config 0x%08x), and this is a %s "
			   "(config 0x%08x): %s",
			   plan->name, plan->contents->payload.target_at, name, t->config, own,
			   plan->device->target.config, differs);
}

static int take(struct ethosu_window *w, uint64_t size, struct first_fit_piece **piece,
		uint64_t *address)
{
	*piece = ethosu_window_take(w, size);
	if (!*piece)
		return -TENON_E_NOMEM;
	*address = w->address + (*piece)->offset;
	return 0;
}

static int make_regions(struct network *n, const struct ethosu_plan *plan,
			uint8_t *bases[ETHOSU_REGIONS])
{
	struct ethosu_window *w = &n->device->window;
	unsigned int i;
	int err = 0;

	for (i = 0; i < ETHOSU_REGIONS && !err; i++) {
		const uint64_t size = ethosu_region_size(plan, i);

		bases[i] = NULL;
		if (!size)
			continue;
		err = take(w, size, &n->regions[i], &n->job.bases[i]);
		if (!err)
			bases[i] = w->base + n->regions[i]->offset;
	}
	return err;
}

static int make_stream(struct network *n, const struct ethosu_plan *plan)
{
	const struct tenon_slice *s = &plan->contents->payload.stream;
	struct ethosu_window *w = &n->device->window;
	int err = take(w, s->size, &n->stream, &n->job.stream);

	if (err)
		return err;
	n->job.size = (uint32_t)s->size;
	ethosu_window_copy(w->base + n->stream->offset, s->data, s->size);
	return 0;
}

static void release(struct network *n)
{
	unsigned int i;

	for (i = 0; i < ETHOSU_REGIONS; i++)
		ethosu_window_give(&n->device->window, n->regions[i]);
	ethosu_window_give(&n->device->window, n->stream);
	free(n);
}

static void uio_destroy(void *network)
{
	struct network *n = network;
	struct ethosu_uio *device = n->device;

	pthread_mutex_lock(&device->lock);
	release(n);
	pthread_mutex_unlock(&device->lock);
}

static int make(struct network *n, const struct ethosu_plan *plan, uint8_t *bases[ETHOSU_REGIONS])
{
	const struct ethosu_container *c = plan->contents;
	int err = ethosu_uio_enter(n->device);

	if (err)
		return err;
	err = make_regions(n, plan, bases);
	if (!err)
		err = make_stream(n, plan);
	if (!err && c->constants.size)
		ethosu_window_copy(bases[c->constant_region], c->constants.data, c->constants.size);
	ethosu_uio_leave(n->device);
	return err;
}

static int uio_make(const struct ethosu_plan *plan, uint8_t *bases[ETHOSU_REGIONS], void **out)
{
	struct network *n;
	int err = check_target(plan);

	if (err)
		return err;
	n = calloc(1, sizeof(*n));
	if (!n)
		return tenon_error(-TENON_E_NOMEM, "no memory for a network");
	n->device = plan->device->state;
	pthread_mutex_lock(&n->device->lock);
	err = make(n, plan, bases);
	pthread_mutex_unlock(&n->device->lock);
	if (err)
		uio_destroy(n);
	else
		*out = n;
	return err;
}

static int uio_copy(void *network, void *to, const void *from, size_t size)
{
	const struct network *n = network;
	int err = ethosu_uio_enter(n->device);

	if (err)
		return err;
	ethosu_window_copy(to, from, size);
	ethosu_uio_leave(n->device);
	return 0;
}

static int uio_run(void *network)
{
	const struct network *n = network;
	int err;

	pthread_mutex_lock(&n->device->lock);
	err = ethosu_uio_run(n->device, &n->job, tenon_now() + DEADLINE);
	pthread_mutex_unlock(&n->device->lock);
	return err;
}

const struct ethosu_runner ethosu_runner_uio = {
	.make = uio_make,
	.run = uio_run,
	.copy = uio_copy,
	.destroy = uio_destroy,
};
