/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_RUN_RUN_DEVICE_H
#define TOOLS_RUN_RUN_DEVICE_H

/** DOC: tenon run --device, where the device is not the processor */

#include <tenon/device.h>

#include "tools/cli/cli.h"

struct run;

/** run_device_name - "opencl:0"; returns @name */
const char *run_device_name(const struct run *run, char name[64]);

#ifdef CONFIG_DEVICES
/** run_device_put - make tensors on the device of the arguments, and hand them to the function */
int run_device_put(struct cli *cli, struct run *run);

/** run_device_get - copy outputs, and a tensor that was returned, back to the host */
int run_device_get(struct cli *cli, struct run *run);

/** run_device_fini - drop tensors and device */
void run_device_fini(struct run *run);
#else
static inline int run_device_put(struct cli *cli, struct run *run)
{
	(void)cli;
	(void)run;
	return 0;
}

static inline int run_device_get(struct cli *cli, struct run *run)
{
	(void)cli;
	(void)run;
	return 0;
}

static inline void run_device_fini(struct run *run)
{
	(void)run;
}
#endif

#endif /* TOOLS_RUN_RUN_DEVICE_H */
