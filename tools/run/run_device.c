/* SPDX-License-Identifier: MIT */
#include "tools/run/run_device.h"

#include <stdio.h>
#include <string.h>
#include <tenon/backend/backend.h>
#include <tenon/memory.h>
#include <tenon/queue.h>

#include "tools/devices/driver_guard.h"
#include "tools/run/run.h"
#include "tools/progress.h"

/* "cpu", "cpu:0": what needs no device layer */
static bool is_processor(const char *name)
{
	return !strcmp(name, "cpu") || !strcmp(name, "cpu:0");
}

const char *run_device_name(const struct run *run, char name[64])
{
	if (run->on)
		snprintf(name, 64, "%s:%d", tenon_device_name(run->on->id.device_type),
			 run->on->id.device_id);
	else
		strcpy(name, "cpu:0");
	return name;
}

/* a word that neither DLPack nor a backend has as the name of a device */
static bool is_nonsense(const char *name)
{
	struct tenon_slice driver = { name, strcspn(name, ":?") };
	DLDevice device;

	if (!tenon_device_parse(driver, &device) || tenon_backend_find(driver))
		return false;
	return true;
}

static int refuse_nonsense(struct cli *cli, const char *name)
{
	cli_usage(cli, "--device %s: %s", name, tenon_error_message());
	tenon_error_clear();
	return CLI_USAGE;
}

#ifdef CONFIG_DEVICES
int run_device_open(struct cli *cli, const char *name, struct tenon_device **on)
{
	struct driver_guard guard;
	int err;

	*on = NULL;
	if (is_processor(name))
		return 0;
	if (is_nonsense(name))
		return refuse_nonsense(cli, name);
	progress_say("opening %s", name);
	driver_guard_begin(&guard, name);
	err = tenon_device_open(name, on);
	driver_guard_end(&guard);
	if (!err)
		return 0;
	tenon_error_in(err, "--device %s", name);
	return cli_error(cli, err == -TENON_E_VALUE ? CLI_USAGE : CLI_UNAVAILABLE);
}

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

int run_device_wait(struct tenon_device *on)
{
	return on ? tenon_device_sync(on, TENON_FOREVER) : 0;
}

int run_device_fetch(struct tenon_value *value)
{
	struct tenon_tensor *host;
	DLTensor *dl;
	int err;

	if (value->type != TENON_TYPE_TENSOR || tenon_value_tensor(value, &dl) ||
	    dl->device.device_type == kDLCPU)
		return 0;
	err = tenon_tensor_create(dl->shape, dl->ndim, dl->dtype, &host);
	if (err)
		return err;
	err = tenon_tensor_copy(dl, &host->dl);
	if (err) {
		tenon_object_unref(host);
		return err;
	}
	tenon_value_release(value);
	*value = tenon_arg_object(host);
	return 0;
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
		err = run_device_fetch(&run->result);
	return err ? cli_error(cli, cli_exit_of(err, CLI_FAILED)) : 0;
}

void run_device_fini(struct run *run)
{
	for (size_t i = 0; run->arguments && i < run->argument_count; i++) {
		tenon_object_unref(run->arguments[i].on_device);
		run->arguments[i].on_device = NULL;
	}
}
#else
int run_device_open(struct cli *cli, const char *name, struct tenon_device **on)
{
	*on = NULL;
	if (is_processor(name))
		return 0;
	if (is_nonsense(name))
		return refuse_nonsense(cli, name);
	fprintf(cli->err, "tenon: --device %s: no such device in this build; it has cpu:0\n", name);
	return CLI_UNAVAILABLE;
}
#endif
