/* SPDX-License-Identifier: MIT */
#include "tools/run/run_device.h"

#include <stdio.h>
#include <string.h>
#include <tenon/backend/backend.h>
#include <tenon/memory.h>

#include "tools/cli/progress.h"
#include "tools/run/run.h"
#include "tools/target/target.h"

const char *run_device_name(const struct run *run, char name[64])
{
	if (run->on)
		snprintf(name, 64, "%s:%d", tenon_device_name(run->on->id.device_type),
			 run->on->id.device_id);
	else
		strcpy(name, "cpu:0");
	return name;
}

#ifdef CONFIG_DEVICES
/* What host code does first: kernels and workspaces are on this device from now on. */
static int choose(const struct tenon_device *device)
{
	struct tenon_value ret = tenon_arg_none();
	struct tenon_function *set;
	int err;

	err = tenon_function_find("__tvm_set_device", &set);
	if (err || !set)
		return err;
	err = tenon_call(set, &ret, tenon_arg_int(device->id.device_type),
			 tenon_arg_int(device->id.device_id));
	tenon_object_unref(set);
	return err;
}

static int put_one(struct run *run, struct argument *a)
{
	const DLTensor *host = &a->tensor->dl;
	int err;

	err = tenon_tensor_create_on(run->on->id, host->shape, host->ndim, host->dtype,
				     &a->on_device);
	if (!err)
		err = tenon_tensor_copy(host, &a->on_device->dl);
	return err ? tenon_error_in(err, "%s", a->spec.text) : 0;
}

int run_device_put(struct cli *cli, struct run *run)
{
	int err = 0;

	if (!run->on)
		return 0;
	progress_say("copying the arguments to %s", run->device);
	for (size_t i = 0; i < run->argument_count && !err; i++) {
		struct argument *a = &run->arguments[i];

		if (a->tensor)
			err = put_one(run, a);
	}
	if (!err)
		err = choose(run->on);
	return err ? cli_error(cli, cli_exit_of(err, CLI_FAILED)) : 0;
}

int run_device_get(struct cli *cli, struct run *run)
{
	int err = 0;

	if (!run->on)
		return 0;
	progress_say("copying the outputs from %s", run->device);
	for (size_t i = 0; i < run->argument_count && !err; i++) {
		const struct argument *a = &run->arguments[i];

		if (a->on_device && a->spec.role == SPEC_OUTPUT)
			err = tenon_tensor_copy(&a->on_device->dl, &a->tensor->dl);
	}
	if (!err)
		err = target_fetch(&run->result);
	return err ? cli_error(cli, cli_exit_of(err, CLI_FAILED)) : 0;
}

void run_device_fini(struct run *run)
{
	for (size_t i = 0; run->arguments && i < run->argument_count; i++) {
		tenon_object_unref(run->arguments[i].on_device);
		run->arguments[i].on_device = NULL;
	}
}
#endif
