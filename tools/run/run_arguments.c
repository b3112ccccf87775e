/* SPDX-License-Identifier: MIT */
/* Make arguments of words, write the outputs among them */
#include "tools/run/run_arguments.h"

#include <stdlib.h>
#include <tenon/backend/backend.h>
#include <tenon/function.h>
#include <tenon/memory.h>

#include "tools/cli/progress.h"
#include "tools/run/run_write.h"
#include "tools/target/target.h"

int arguments_make(struct cli *cli, struct argument *list, size_t count)
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

int arguments_write(struct cli *cli, const struct arguments *a)
{
	for (size_t i = 0; i < a->count; i++) {
		const char *path = a->at[i].spec.write;

		if (!path)
			continue;
		progress_say("writing %s", path);
		if (run_write(path, &a->at[i].tensor->dl))
			return cli_error(cli, CLI_NO_FILE);
	}
	return 0;
}

void arguments_release(struct argument *list, size_t count)
{
	for (size_t i = 0; list && i < count; i++) {
		tenon_object_unref(list[i].on_device);
		argument_release(&list[i]);
	}
	free(list);
}

#ifdef CONFIG_DEVICES
static int put_one(struct argument *a, DLDevice device)
{
	const DLTensor *host = &a->tensor->dl;
	int err;

	err = tenon_tensor_create_on(device, host->shape, host->ndim, host->dtype, &a->on_device);
	if (!err)
		err = tenon_tensor_copy(host, &a->on_device->dl);
	return err ? tenon_error_in(err, "%s", a->spec.text) : 0;
}

int arguments_put(struct cli *cli, struct arguments *a, const struct tenon_device *on,
		  const char *name)
{
	int err = 0;

	if (!on)
		return 0;
	progress_say("copying the arguments to %s", name);
	for (size_t i = 0; i < a->count && !err; i++)
		if (a->at[i].tensor)
			err = put_one(&a->at[i], on->id);
	if (!err)
		/* what host code does first: kernels and workspaces are on this device from now on */
		err = tenon_device_set_current(on);
	return err ? cli_error(cli, cli_exit_of(err, CLI_FAILED)) : 0;
}

int arguments_get(struct cli *cli, const struct arguments *a, const struct tenon_device *on,
		  const char *name, struct tenon_value *returned)
{
	int err = 0;

	if (!on)
		return 0;
	progress_say("copying the outputs from %s", name);
	for (size_t i = 0; i < a->count && !err; i++)
		if (a->at[i].on_device && a->at[i].spec.role == SPEC_OUTPUT)
			err = tenon_tensor_copy(&a->at[i].on_device->dl, &a->at[i].tensor->dl);
	if (!err)
		err = target_fetch(returned);
	return err ? cli_error(cli, cli_exit_of(err, CLI_FAILED)) : 0;
}
#endif
