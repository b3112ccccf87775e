/* SPDX-License-Identifier: MIT */
/* The devices of --device, which may be repeated for a model. */
#ifndef TOOLS_DEVICE_OPTION_TARGET_LIST_H
#define TOOLS_DEVICE_OPTION_TARGET_LIST_H

#include <tenon/device.h>
#include <tenon/remote.h>

#include "tools/cli/cli.h"

#define TARGETS_MOST 8

/**
 * struct target_list - devices in the order given
 * @name: as text
 * @on: opened; NULL for the processor
 * @id: type and number
 * @count: how many; 0 for the processor alone
 * @remote: session of --remote, whose devices are meant, or of a device rpc://…; NULL for none.
 *	Closed by target_list_fini().
 */
struct target_list {
	const char *name[TARGETS_MOST];
	struct tenon_device *on[TARGETS_MOST];
	DLDevice id[TARGETS_MOST];
	size_t count;
	struct tenon_remote *remote;
};

/** target_list_add - add the name of one --device; returns 0 or an exit code */
int target_list_add(struct cli *cli, struct target_list *list, const char *name);

/** target_list_take - the same, as cli_option.take for a struct target_list */
int target_list_take(struct cli *cli, void *list);

/**
 * target_list_open - open all; returns 0 or an exit code, its message printed
 *
 * With @remote and no name, the processor of the server is the device.
 */
int target_list_open(struct cli *cli, struct target_list *list);

/** target_list_wait - wait for the work submitted to all devices; returns a status */
int target_list_wait(const struct target_list *list);

void target_list_fini(struct target_list *list);

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

/** target_warn_of_choice - warn of names in TENON_BACKENDS, or its file, that no backend has */
void target_warn_of_choice(struct cli *cli);

/** target_wait - wait for the work submitted to a device or NULL; 0 or negative */
int target_wait(struct tenon_device *on);

/** target_fetch - copy a tensor from a device to host memory; 0 or negative */
int target_fetch(struct tenon_value *value);

#endif /* TOOLS_DEVICE_OPTION_TARGET_LIST_H */
