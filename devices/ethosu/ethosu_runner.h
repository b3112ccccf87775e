/* SPDX-License-Identifier: MIT */
/* The interface between the backend and what runs its streams. */
#ifndef DEVICES_ETHOSU_ETHOSU_RUNNER_H
#define DEVICES_ETHOSU_ETHOSU_RUNNER_H

/*
 * The functional model (runner_sim.c), Linux's accel interface (runner_accel.c), or registers behind UIO (runner_uio.c).
 */

#include "devices/ethosu/ethosu_arguments.h"
#include "devices/ethosu/ethosu_device.h"

/**
 * struct ethosu_plan - what to run
 * @device: on which device
 * @name: of the file, for messages
 * @contents: of the file; valid as long as what was made of it
 * @arguments: of a call, and the extents of the stream
 */
struct ethosu_plan {
	struct ethosu_device *device;
	const char *name;
	const struct ethosu_container *contents;
	const struct ethosu_arguments *arguments;
};

/** ethosu_region_size - what the file says of a region, or what the stream and the arguments need of it */
static inline uint64_t ethosu_region_size(const struct ethosu_plan *plan, unsigned int region)
{
	const struct ethosu_extents *e = &plan->arguments->extents;

	if (plan->contents->sizes[region] != ETHOSU_UNLIMITED)
		return plan->contents->sizes[region];
	return e->read[region] > e->write[region] ? e->read[region] : e->write[region];
}

/**
 * struct ethosu_runner - a row
 * @make: prepares a network, and sets @bases to where the CPU has its regions, NULL for those that it does not have
 * @place: uses memory of arguments as regions from the next run on, and changes @bases; NULL stands for the region's
 *	own memory, and becomes the entry of memory that cannot be used so. NULL if it never can
 * @run: runs it; inputs are in the regions, and outputs are there afterwards. Returns soon after a loss of the device
 * @copy: copies into regions and out of them, or says why not; NULL for memcpy()
 * @destroy: releases what @make made; not called after a failure of @make
 */
struct ethosu_runner {
	int (*make)(const struct ethosu_plan *plan, uint8_t *bases[ETHOSU_REGIONS], void **out);
	int (*place)(void *network, struct ethosu_store *stores[ETHOSU_REGIONS],
		     uint8_t *bases[ETHOSU_REGIONS]);
	int (*run)(void *network);
	int (*copy)(void *network, void *to, const void *from, size_t size);
	void (*destroy)(void *network);
};

extern const struct ethosu_runner ethosu_runner_sim;
extern const struct ethosu_runner ethosu_runner_accel;
extern const struct ethosu_runner ethosu_runner_uio;

#endif /* DEVICES_ETHOSU_ETHOSU_RUNNER_H */
