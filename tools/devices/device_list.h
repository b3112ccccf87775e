/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_DEVICES_DEVICE_LIST_H
#define TOOLS_DEVICES_DEVICE_LIST_H

/** DOC: the devices of --device, which for a model may come several times */

#include <tenon/device.h>

#include "tools/cli.h"

#define DEVICE_LIST_MOST 8

/**
 * struct device_list - devices in the order given
 * @name: as text
 * @on: opened; NULL for the processor
 * @id: type and number
 * @count: how many; 0 for the processor alone
 */
struct device_list {
	const char *name[DEVICE_LIST_MOST];
	struct tenon_device *on[DEVICE_LIST_MOST];
	DLDevice id[DEVICE_LIST_MOST];
	size_t count;
};

/** device_list_add - take one more word of --device; returns 0 or an exit code */
int device_list_add(struct cli *cli, struct device_list *list, const char *name);

/** device_list_open - open all; returns 0 or an exit code, its message printed */
int device_list_open(struct cli *cli, struct device_list *list);

/** device_list_wait - wait until all have done what was submitted; returns a status */
int device_list_wait(const struct device_list *list);

void device_list_fini(struct device_list *list);

#endif /* TOOLS_DEVICES_DEVICE_LIST_H */
