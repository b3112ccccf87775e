/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_RUN_RUN_DEVICE_H
#define TOOLS_RUN_RUN_DEVICE_H

/** DOC: tenon run --device, where the device is not the processor */

#include <tenon/device.h>

#include "tools/cli.h"

struct run;

/**
 * run_device_open - open the device that was asked for
 * @cli: for messages
 * @name: what --device says
 * @on: receives it, or NULL for the processor
 *
 * Return: 0, or an exit code: 2 for a name that cannot be read, 4 when it is not there.
 */
int run_device_open(struct cli *cli, const char *name, struct tenon_device **on);

/** run_device_name - "opencl:0"; returns @name */
const char *run_device_name(const struct run *run, char name[64]);

#ifdef CONFIG_DEVICES
/** run_device_put - make tensors on the device of the arguments, and hand them to the function */
int run_device_put(struct cli *cli, struct run *run);

/** run_device_wait - wait until a device, or NULL, has done what was submitted; 0 or negative */
int run_device_wait(struct tenon_device *on);

/** run_device_fetch - put a tensor that lies on a device into memory of the process; 0 or negative */
int run_device_fetch(struct tenon_value *value);

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

static inline int run_device_wait(struct tenon_device *on)
{
	(void)on;
	return 0;
}

static inline int run_device_fetch(struct tenon_value *value)
{
	(void)value;
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
