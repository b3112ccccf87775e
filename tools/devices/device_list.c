/* SPDX-License-Identifier: MIT */
#include <tenon/backend/backend.h>

#include "tools/devices/device_list.h"

#include "tools/run/run_device.h"

int device_list_add(struct cli *cli, struct device_list *list, const char *name)
{
	if (list->count == DEVICE_LIST_MOST)
		return cli_usage(cli, "--device %s: %d devices at most", name, DEVICE_LIST_MOST);
	list->name[list->count++] = name;
	return 0;
}

int device_list_open(struct cli *cli, struct device_list *list)
{
	size_t i;
	int code;

	for (i = 0; i < list->count; i++) {
		code = run_device_open(cli, list->name[i], &list->on[i]);
		if (code)
			return code;
		list->id[i] = (DLDevice){ kDLCPU, 0 };
		if (list->on[i])
			list->id[i] = list->on[i]->id;
	}
	return 0;
}

int device_list_wait(const struct device_list *list)
{
	size_t i;
	int err = 0;

	for (i = 0; i < list->count && !err; i++)
		err = run_device_wait(list->on[i]);
	return err;
}

void device_list_fini(struct device_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		tenon_object_unref(list->on[i]);
	list->count = 0;
}
