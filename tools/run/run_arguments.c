/* SPDX-License-Identifier: MIT */
/* Convert words of the command line to arguments and expected values; copy arguments to a device and back. */
#include <stdlib.h>
#include <tenon/backend/backend.h>
#include <tenon/memory.h>

#include "lib/option.h"
#include "tools/cli/progress.h"
#include "tools/device_option/target_list.h"
#include "tools/run/run.h"

static int make_values(struct cli *cli, struct argument *list, size_t count)
{
	static const char *const names[] = { "input", "output", "expect" };

	for (size_t i = 0; i < count; i++) {
		int err = argument_make(&list[i]);

		if (!err)
			continue;
		tenon_error_in(err, "--%s %s", names[list[i].spec.role], list[i].spec.text);
		return cli_error(cli, err == -TENON_E_USAGE ? CLI_USAGE : CLI_NO_FILE);
	}
	return 0;
}

int run_make_arguments(struct cli *cli, struct run *run)
{
	int code;

	progress_say("making the arguments");
	code = make_values(cli, run->arguments.at, run->arguments.count);
	return code ? code : make_values(cli, run->expectations.at, run->expectations.count);
}

static void release_values(struct argument *list, size_t count)
{
	for (size_t i = 0; list && i < count; i++) {
		tenon_object_unref(list[i].on_device);
		argument_release(&list[i]);
	}
	free(list);
}

void run_release_arguments(struct run *run)
{
	release_values(run->arguments.at, run->arguments.count);
	release_values(run->expectations.at, run->expectations.count);
	free(run->expectations.comparisons);
}

static int put_one(struct argument *a, DLDevice device)
{
	const DLTensor *host = &a->tensor->dl;
	int err;

	err = tenon_tensor_create_on(device, host->shape, host->ndim, host->dtype, &a->on_device);
	if (!err)
		err = tenon_tensor_copy(host, &a->on_device->dl);
	return err ? tenon_error_in(err, "%s", a->spec.text) : 0;
}

int run_put_arguments(struct cli *cli, struct run *run)
{
	const struct tenon_device *on = run->targets.on[0];
	struct arguments *a = &run->arguments;
	int err = 0;

	if (!OPTION_ON(DEVICES) || !on)
		return 0;
	progress_say("copying the arguments to %s", run->targets.name[0]);
	for (size_t i = 0; i < a->count && !err; i++)
		if (a->at[i].tensor)
			err = put_one(&a->at[i], on->id);
	if (!err)
		/* what host code does first: kernels and workspaces are on this device from now on */
		err = tenon_device_set_current(on);
	return err ? cli_error(cli, cli_exit_of(err, CLI_FAILED)) : 0;
}

int run_get_outputs(struct cli *cli, const struct run *run, struct tenon_value *returned)
{
	const struct arguments *a = &run->arguments;
	int err = 0;

	if (!OPTION_ON(DEVICES) || !run->targets.on[0])
		return 0;
	progress_say("copying the outputs from %s", run->targets.name[0]);
	for (size_t i = 0; i < a->count && !err; i++)
		if (a->at[i].on_device && a->at[i].spec.role == SPEC_OUTPUT)
			err = tenon_tensor_copy(&a->at[i].on_device->dl, &a->at[i].tensor->dl);
	if (!err)
		err = target_fetch(returned);
	return err ? cli_error(cli, cli_exit_of(err, CLI_FAILED)) : 0;
}
