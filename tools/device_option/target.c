/* SPDX-License-Identifier: MIT */
/* Open a device, or explain why that fails and which names there are. */
#include "tools/device_option/target_list.h"

#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/memory.h>
#include <tenon/queue.h>

#include "lib/option.h"
#include "runtime/device/backend_choice.h"
#include "tools/cli/progress.h"
#include "tools/device_option/driver_guard.h"
#include "tools/text/text.h"

/* names of the processor, which need no device layer */
static bool is_processor(const char *name)
{
	return !strcmp(name, "cpu") || !strcmp(name, "cpu:0");
}

/* names that neither DLPack nor a backend knows */
static bool is_nonsense(const char *name)
{
	struct tenon_slice driver = { name, strcspn(name, ":?") };
	DLDevice device;

	if (tenon_backend_find(driver))
		return false;
	if (!tenon_device_parse(driver, &device))
		return false;
	tenon_error_clear();
	return true;
}

static int list_name(void *context, const struct tenon_backend *b)
{
	struct tenon_buffer *names = context;

	return tenon_buffer_printf(names, "%s%s", names->size ? ", " : "", tenon_backend_name(b));
}

int target_check(struct cli *cli, const char *option, const char *name)
{
	struct tenon_buffer names = TENON_BUFFER_INIT;

	if (!is_nonsense(name))
		return 0;
	tenon_backend_each(list_name, &names);
	cli_usage(cli,
		  "%s%s: no kind of device is called \"%.*s\"; this build has %s. tenon devices "
		  "lists the devices of this machine",
		  option, name, (int)strcspn(name, ":?"), name, names.data ? names.data : "cpu");
	tenon_buffer_fini(&names);
	return CLI_USAGE;
}

void target_warn_of_choice(struct cli *cli)
{
	struct tenon_buffer problems = TENON_BUFFER_INIT;
	char *line, *save;

	if (OPTION_ON(DEVICES) && !backend_choice_problems(&problems) && problems.size)
		for (line = strtok_r(problems.data, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save)) {
			fputs("tenon: ", cli->err);
			printable_print(line, cli->err);
			fputc('\n', cli->err);
		}
	tenon_buffer_fini(&problems);
	tenon_error_clear();
}

int target_open(struct cli *cli, const char *name, struct tenon_device **on)
{
	struct driver_guard guard;
	int err;

	*on = NULL;
	if (is_processor(name))
		return 0;
	if (target_check(cli, "--device ", name))
		return CLI_USAGE;
	if (!OPTION_ON(DEVICES)) {
		fprintf(cli->err,
			"tenon: --device %s: no such device in this build; it has cpu:0\n", name);
		return CLI_UNAVAILABLE;
	}
	progress_say("opening %s", name);
	driver_guard_begin(&guard, name);
	err = tenon_device_open(name, on);
	driver_guard_end(&guard);
	if (!err)
		return 0;
	tenon_error_in(err, "--device %s", name);
	return cli_error(cli, err == -TENON_E_VALUE ? CLI_USAGE : CLI_UNAVAILABLE);
}

int target_wait(struct tenon_device *on)
{
	return on ? tenon_device_sync(on, TENON_FOREVER) : 0;
}

int target_fetch(struct tenon_value *value)
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
