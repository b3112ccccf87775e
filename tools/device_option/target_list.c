/* SPDX-License-Identifier: MIT */
/* Open the devices of repeated options, remote ones by their session. */
#include "tools/device_option/target_list.h"

#include <string.h>
#include <tenon/backend/backend.h>

#include "lib/option.h"

int target_list_add(struct cli *cli, struct target_list *list, const char *name)
{
	if (list->count == TARGETS_MOST)
		return cli_usage(cli, "--device %s: %d devices at most", name, TARGETS_MOST);
	list->name[list->count++] = name;
	return 0;
}

int target_list_take(struct cli *cli, void *list)
{
	return target_list_add(cli, list, optarg);
}

/* A device of the session by its name on the server. */
static int open_remote(struct cli *cli, struct target_list *list, const char *name,
		       struct tenon_device **on)
{
	DLDevice there;
	int err = tenon_device_parse((struct tenon_slice){ name, strlen(name) }, &there);

	if (err) {
		cli_usage(cli, "--device %s: %s", name, tenon_error_message());
		tenon_error_clear();
		return CLI_USAGE;
	}
	err = tenon_remote_device(list->remote, there, on);
	if (!err)
		return 0;
	tenon_error_in(err, "--device %s", name);
	return cli_error(cli, CLI_UNAVAILABLE);
}

/* Devices of one session are run on there; those of several machines are not. */
static int note_session(struct cli *cli, struct target_list *list, size_t i)
{
	struct tenon_remote *remote =
		list->on[i] ? tenon_remote_of_device(list->on[i], NULL) : NULL;

	if (i && remote != list->remote)
		return cli_usage(cli, "--device %s and %s are of different machines", list->name[0],
				 list->name[i]);
	if (remote && !list->remote) {
		tenon_object_ref(remote);
		list->remote = remote;
	}
	return 0;
}

int target_list_open(struct cli *cli, struct target_list *list)
{
	bool remote = list->remote != NULL;
	size_t i;
	int code;

	target_warn_of_choice(cli);
	if (remote && !list->count)
		list->name[list->count++] = "cpu";
	for (i = 0; i < list->count; i++) {
		code = OPTION_ON(DEVICES) && remote
			       ? open_remote(cli, list, list->name[i], &list->on[i])
			       : target_open(cli, list->name[i], &list->on[i]);
		if (OPTION_ON(DEVICES) && !code && !remote)
			code = note_session(cli, list, i);
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
	tenon_remote_close(list->remote);
	list->remote = NULL;
}
