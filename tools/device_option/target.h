/* SPDX-License-Identifier: MIT */
/* Open the device of --device, or say which devices there are. */
#ifndef TOOLS_DEVICE_OPTION_TARGET_H
#define TOOLS_DEVICE_OPTION_TARGET_H

#include <tenon/device.h>

#include "tools/cli/cli.h"

/**
 * target_open - open the device of --device
 * @cli: for messages
 * @name: name given to --device
 * @on: receives the device, or NULL for the processor
 *
 * Return: 0, or an exit code: 2 for an invalid name, 4 for a missing device.
 */
int target_open(struct cli *cli, const char *name, struct tenon_device **on);

/**
 * target_check - refuse the name of a device that neither DLPack nor a backend knows
 * @cli: for the message
 * @option: what the message begins with: "--device ", or nothing
 * @name: the name
 *
 * Return: 0; CLI_USAGE, its message printed.
 */
int target_check(struct cli *cli, const char *option, const char *name);

#ifdef CONFIG_DEVICES
/** target_warn_of_choice - warn of names in TENON_BACKENDS, or its file, that no backend has */
void target_warn_of_choice(struct cli *cli);

/** target_wait - wait for the work submitted to a device or NULL; 0 or negative */
int target_wait(struct tenon_device *on);

/** target_fetch - copy a tensor from a device to host memory; 0 or negative */
int target_fetch(struct tenon_value *value);

#else
static inline void target_warn_of_choice(struct cli *cli)
{
}

static inline int target_wait(struct tenon_device *on)
{
	return 0;
}

static inline int target_fetch(struct tenon_value *value)
{
	return 0;
}

#endif

#endif /* TOOLS_DEVICE_OPTION_TARGET_H */
