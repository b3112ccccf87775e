/* SPDX-License-Identifier: MIT */
/* Building the kernels of a model in the background, from its opening on. */
#ifndef TOOLS_DEVICE_OPTION_KERNELS_H
#define TOOLS_DEVICE_OPTION_KERNELS_H

#include <tenon/module.h>
#include <tenon/prepare.h>

#include "tools/device_option/target_list.h"

/**
 * struct kernels_built - kernels of a device; written by its preparation
 * @total: how many it has
 * @ended: when the last one was built
 */
struct kernels_built {
	size_t total;
	uint64_t ended;
};

/**
 * struct kernels - kernels that are being built
 * @building: a preparation for each device with kernels
 * @of: what each reported
 * @count: number of preparations
 * @began: when they were started
 * @built: kernels of all devices; set by kernels_wait()
 * @nanoseconds: from the start until the last one was built; set by kernels_wait()
 */
struct kernels {
	struct tenon_preparation *building[TARGETS_MOST];
	struct kernels_built of[TARGETS_MOST];
	size_t count;
	uint64_t began;
	uint64_t built;
	uint64_t nanoseconds;
};

/**
 * kernels_build - start building the kernels of a module for all devices
 * @k: zeroed; must stay in place until kernels_fini()
 * @m: the module
 * @targets: open devices; those of a remote session are left out
 *
 * Failures are not reported: a call that needs the kernel fails with the same error.
 */
void kernels_build(struct kernels *k, struct tenon_module *m, const struct target_list *targets);

/** kernels_wait - wait until all are built, so that no compiler disturbs a measurement */
void kernels_wait(struct kernels *k);

/** kernels_fini - start no other kernel, and wait for those that are being built */
void kernels_fini(struct kernels *k);

/** kernels_progress - show which of how many; a tenon_prepare.progress of any context */
void kernels_progress(void *context, const struct tenon_prepare_progress *progress);

#endif /* TOOLS_DEVICE_OPTION_KERNELS_H */
