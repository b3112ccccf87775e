/* SPDX-License-Identifier: MIT */
/* Parse the words of tenon device, reset a device and report it. */
#include "tools/device/device.h"

#include <string.h>
#include <tenon/timeline.h>

#include "tools/cli/progress.h"
#include "tools/target/driver_guard.h"
#include "tools/target/target.h"
#include "tools/text/printable.h"
#include "tools/text/timing.h"

static int open_device(const char *uri, struct tenon_device **out)
{
	struct driver_guard guard;
	int err;

	progress_say("opening %s", uri);
	driver_guard_begin(&guard, uri);
	err = tenon_device_open(uri, out);
	driver_guard_end(&guard);
	return err;
}

static void print_reset(const struct device_reset *r, FILE *out)
{
	const struct tenon_device_properties *p = tenon_device_properties(r->device);
	char time[TIMING_TEXT];

	fprintf(out, "%s: ", r->uri);
	printable_print(p->name, out);
	fprintf(out, " was reset and is back after %s\n          ",
		timing_text(r->nanoseconds, time));
	printable_print(p->driver, out);
	fputs(*p->compute_version ? ", version " : "", out);
	printable_print(p->compute_version, out);
	fputc('\n', out);
}

static int report(struct cli *cli, const struct device_reset *r, bool json)
{
	if (!json)
		print_reset(r, cli->out);
	else if (device_reset_json(r, cli->out))
		return cli_error(cli, CLI_FAILED);
	return CLI_OK;
}

static int reset(struct cli *cli, const char *uri, bool json)
{
	struct device_reset r = { .uri = uri };
	struct tenon_device *device, *fresh = NULL;
	uint64_t began;
	int err, code;

	if (target_check(cli, "", uri))
		return CLI_USAGE;
	target_warn_of_choice(cli);
	err = open_device(uri, &device);
	if (err)
		return cli_error(cli, err == -TENON_E_VALUE ? CLI_USAGE : CLI_UNAVAILABLE);
	progress_say("resetting %s", uri);
	began = tenon_now();
	err = tenon_device_reset(device, &fresh);
	r.nanoseconds = tenon_now() - began;
	r.device = fresh;
	if (err)
		code = cli_error(cli, cli_exit_of(err, CLI_UNAVAILABLE));
	else
		code = report(cli, &r, json);
	tenon_object_unref(fresh);
	tenon_object_unref(device);
	tenon_device_close_all();
	return code;
}

static int check_words(struct cli *cli, int count, char **word)
{
	struct nearest_name nearest = { .wanted = tenon_slice_of(count ? word[0] : "") };

	if (!count)
		return cli_usage(cli, "what is to be done? tenon device reset URI");
	if (strcmp(word[0], "reset")) {
		nearest_name_offer(&nearest, tenon_slice_of("reset"));
		return cli_unknown(cli, "action of tenon device", word[0], &nearest);
	}
	if (count < 2)
		return cli_usage(cli, "which device? tenon device reset URI");
	if (count > 2)
		return cli_usage(cli, "one device at a time: %s, and then %s", word[1], word[2]);
	return CLI_OK;
}

static int device_main(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = { { "json", no_argument, NULL, 1 }, { 0 } };
	bool json = false;
	int found, code;

	while ((found = cli_option(cli, argc, argv, options)) >= 0)
		json = true;
	if (found < CLI_OPTIONS_END)
		return found;
	code = check_words(cli, argc - optind, argv + optind);
	if (code)
		return code;
	if (json && cli_needs_json(cli))
		return CLI_UNAVAILABLE;
	return reset(cli, argv[optind + 1], json);
}

const struct cli_command device_command = {
	"device",
	"Reset a device",
	"Usage: tenon device reset URI [--json]\n"
	"\n"
	"  reset    end what the device runs, and open it anew\n"
	"  --json   print JSON\n"
	"\n"
	"Programs that use the device lose what they submitted. Exit status: 4 for a device that\n"
	"cannot be opened, cannot be reset or does not come back.\n",
	device_main,
};
