/* SPDX-License-Identifier: MIT */
#include "tools/target/target_list.h"

#include <tenon/backend/backend.h>

#include "tools/target/target.h"

int target_list_add(struct cli *cli, struct target_list *list, const char *name)
{
	if (list->count == TARGETS_MOST)
		return cli_usage(cli, "--device %s: %d devices at most", name, TARGETS_MOST);
	list->name[list->count++] = name;
	return 0;
}

int target_list_open(struct cli *cli, struct target_list *list)
{
	size_t i;
	int code;

	for (i = 0; i < list->count; i++) {
		code = target_open(cli, list->name[i], &list->on[i]);
		if (code)
			return code;
		list->id[i] = (DLDevice){ kDLCPU, 0 };
		if (list->on[i])
			list->id[i] = list->on[i]->id;
	}
	return 0;
}

int target_list_wait(const struct target_list *list)
{
	size_t i;
	int err = 0;

	for (i = 0; i < list->count && !err; i++)
		err = target_wait(list->on[i]);
	return err;
}

void target_list_fini(struct target_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		tenon_object_unref(list->on[i]);
	list->count = 0;
}
