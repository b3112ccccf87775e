/* SPDX-License-Identifier: MIT */
/* Run the streams of the backend by Linux's driver. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/timeline.h>

#include "devices/ethosu/ethosu_accel_memory.h"
#include "devices/ethosu/ethosu_runner.h"
#include "devices/mapped/worker_queue.h"
#include "lib/brief_errors.h"

/* inputs and outputs in the form of struct ethosu_network_plan */
struct tensors {
	struct ethosu_range inputs[ETHOSU_ARGUMENTS], outputs[ETHOSU_ARGUMENTS];
	size_t input_count, output_count;
};

static void find_tensors(const struct ethosu_arguments *all, struct tensors *out)
{
	const struct ethosu_argument *a;
	size_t i;

	out->input_count = out->output_count = 0;
	for (i = 0; i < all->count; i++) {
		const struct ethosu_range r = { all->items[i].region, all->items[i].offset,
						all->items[i].bytes };

		a = &all->items[i];
		if (a->reads && a->bytes)
			out->inputs[out->input_count++] = r;
		if (a->writes && a->bytes)
			out->outputs[out->output_count++] = r;
	}
}

/**
 * struct made - what the runner made
 * @device: where
 * @network: the network
 * @given: region that is the program's memory; ETHOSU_REGIONS for none
 * @serials: of buffers in the place of regions; 0 for the network's own
 */
struct made {
	const struct tenon_device *device;
	uint32_t given;
	struct ethosu_network network;
	uint64_t serials[ETHOSU_REGIONS];
};

static void accel_destroy(void *network)
{
	struct made *m = network;

	ethosu_network_close(&m->network);
	free(m);
}

static int accel_make(const struct ethosu_plan *plan, uint8_t *bases[ETHOSU_REGIONS], void **out)
{
	struct ethosu_network_plan n = { .payload = &plan->contents->payload,
					 .name = plan->name,
					 .constants = plan->contents->constants,
					 .constant_region = plan->contents->constant_region };
	struct made *m = calloc(1, sizeof(*m));
	struct tensors t;
	int err;

	if (!m)
		return tenon_error(-TENON_E_NOMEM, "no memory for a network");
	find_tensors(plan->arguments, &t);
	memcpy(n.sizes, plan->contents->sizes, sizeof(n.sizes));
	n.inputs = t.inputs;
	n.input_count = t.input_count;
	n.outputs = t.outputs;
	n.output_count = t.output_count;
	err = ethosu_network_open(plan->device->state, &n, &m->network);
	if (err) {
		free(m);
		return err;
	}
	m->device = &plan->device->base;
	m->given = plan->contents->given_region;
	memcpy(bases, m->network.bound, sizeof(m->network.bound));
	*out = m;
	return 0;
}

static int bind(struct made *m, unsigned int region, const struct ethosu_accel_buffer *b)
{
	const uint64_t serial = b ? b->serial : 0;
	int err = 0;

	if (m->serials[region] != serial)
		err = ethosu_network_bind(&m->network, region,
					  b ? &b->drm : &m->network.regions[region]);
	if (!err)
		m->serials[region] = serial;
	return err;
}

/*
 * A buffer may be bound to one region only: unbind it from the region of the previous run. A buffer that was freed since then
 * may have had the same handle.
 */
static int leave(struct made *m, unsigned int region, uint32_t handle)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ETHOSU_REGIONS && !err; i++)
		if (i != region && m->network.job.regions[i] == handle)
			err = bind(m, i, NULL);
	return err;
}

/* Bind what an argument has, or the network's own, in whose case the entry of @stores becomes NULL. */
static int place(struct made *m, unsigned int region, struct ethosu_store **store)
{
	const struct ethosu_accel_buffer *b = *store ? (*store)->own : NULL;
	int err = 0;

	if (!b || !b->drm.handle || b->drm.size < ethosu_network_needs(&m->network, region)) {
		*store = NULL;
		b = NULL;
	}
	/* the network has none of its own for the program's memory: such a run is refused, and nothing changes */
	if (!b && region == m->given)
		return 0;
	if (b)
		err = leave(m, region, b->drm.handle);
	return err ? err : bind(m, region, b);
}

static int accel_place(void *network, struct ethosu_store *stores[ETHOSU_REGIONS],
		       uint8_t *bases[ETHOSU_REGIONS])
{
	struct made *m = network;
	unsigned int i;
	int err = 0;

	/* the program's memory first: then no other region has to take its buffer away */
	if (m->given < ETHOSU_REGIONS) {
		err = place(m, m->given, &stores[m->given]);
		if (err || !stores[m->given])
			return err;
		drm_buffer_close(&m->network.accel->drm, &m->network.regions[m->given]);
	}
	for (i = 0; i < ETHOSU_REGIONS && !err; i++)
		if (i != m->given)
			err = place(m, i, &stores[i]);
	memcpy(bases, m->network.bound, sizeof(m->network.bound));
	return err;
}

/*
 * Linux ends each job, with a reset if the device makes no progress: how long that takes depends on the jobs of
 * other programs.
 */
static int accel_run(void *network)
{
	struct made *m = network;
	int err = ethosu_network_start(&m->network);

	if (err)
		return err;
	do {
		err = ethosu_network_finish(&m->network, tenon_deadline(WORKER_SLICE));
	} while (err == -TENON_E_TIMEOUT && m->network.fence >= 0 && !worker_is_lost(m->device));
	return err;
}

const struct ethosu_runner ethosu_runner_accel = {
	.make = accel_make,
	.place = accel_place,
	.run = accel_run,
	.destroy = accel_destroy,
};
