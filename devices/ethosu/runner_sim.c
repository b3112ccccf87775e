/* SPDX-License-Identifier: MIT */
/* Run the streams of the backend on the functional model. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "devices/ethosu/ethosu_runner.h"
#include "devices/ethosu/ethosu_sim.h"
#include "lib/brief_errors.h"
#include "lib/heap.h"

/**
 * struct sim - a network on the functional model
 * @stream: its stream
 * @target: what it was compiled for
 * @memory: memory of all regions, with the constants in it
 */
struct sim {
	struct tenon_cursor stream;
	struct ethosu_target target;
	struct ethosu_memory memory;
};

static int check_target(const struct ethosu_plan *plan)
{
	const struct ethosu_device *d = plan->device;
	const struct ethosu_target *t = &plan->contents->payload.target;
	char name[ETHOSU_TARGET_NAME], own[ETHOSU_TARGET_NAME];
	const char *differs = d->is_any ? NULL : ethosu_target_runs(&d->target, t);

	if (!differs)
		return 0;
	ethosu_target_name(t, name);
	ethosu_target_name(&d->target, own);
	return tenon_error(-TENON_E_UNSUPPORTED, "it was compiled for %s, and this is a %s: %s",
			   name, own, differs);
}

/*
 * Refuse sizes that the process could not use: Linux overcommits, so a file with a huge region
 * would end the process.
 */
static int check_total(const struct ethosu_plan *plan)
{
	uint64_t total = 0;
	unsigned int i;

	for (i = 0; i < ETHOSU_REGIONS; i++)
		if (__builtin_add_overflow(total, ethosu_region_size(plan, i), &total) ||
		    total > ETHOSU_SIM_MEMORY)
			return tenon_error(-TENON_E_NOMEM,
					   "%s: its regions need more than the %" PRIu64
					   " bytes that the model of Ethos-U has",
					   plan->name, ETHOSU_SIM_MEMORY);
	return 0;
}

static int make_regions(const struct ethosu_plan *plan, struct ethosu_memory *m)
{
	const struct ethosu_container *c = plan->contents;
	unsigned int i;

	for (i = 0; i < ETHOSU_REGIONS; i++) {
		const uint64_t size = ethosu_region_size(plan, i);

		if (!size)
			continue;
		m->base[i] =
			size > SIZE_MAX ? NULL : heap_zeroed(1, (size_t)size, "regions of the NPU");
		if (!m->base[i])
			return tenon_error(-TENON_E_NOMEM,
					   "no memory for region %u of %" PRIu64 " bytes", i, size);
		m->size[i] = size;
	}
	if (c->constants.size)
		memcpy(m->base[c->constant_region], c->constants.data, c->constants.size);
	return 0;
}

static void sim_destroy(void *network)
{
	struct sim *s = network;
	unsigned int i;

	for (i = 0; i < ETHOSU_REGIONS; i++)
		heap_free(s->memory.base[i]);
	heap_free(s);
}

static int sim_make(const struct ethosu_plan *plan, uint8_t *bases[ETHOSU_REGIONS], void **out)
{
	const struct ethosu_payload *p = &plan->contents->payload;
	struct sim *s = heap_zeroed(1, sizeof(*s), "network of the NPU");
	int err;

	if (!s)
		return tenon_error(-TENON_E_NOMEM, "no memory for a network");
	s->stream = tenon_cursor_of(p->stream.data, p->stream.size, plan->name, p->stream_at);
	s->target = p->target;
	err = check_target(plan);
	if (!err)
		err = check_total(plan);
	if (!err)
		err = make_regions(plan, &s->memory);
	if (err) {
		sim_destroy(s);
		return err;
	}
	memcpy(bases, s->memory.base, sizeof(s->memory.base));
	*out = s;
	return 0;
}

static int sim_run(void *network)
{
	const struct sim *s = network;

	return ethosu_sim_run(s->stream, &s->target, &s->memory, ETHOSU_SIM_WORK, NULL);
}

const struct ethosu_runner ethosu_runner_sim = {
	.make = sim_make,
	.run = sim_run,
	.destroy = sim_destroy,
};
