/* SPDX-License-Identifier: MIT */
/* The words of tenon device; devices that are reset. */
#include "tools/device_verb/device.h"

#include <string.h>
#include <tenon/timeline.h>

#include "lib/option.h"
#include "tools/cli/progress.h"
#include "tools/device_option/driver_guard.h"
#include "tools/device_option/target_list.h"
#include "tools/text/text.h"

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
	else if (OPTION_ON(JSON) && device_reset_json(r, cli->out))
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

/* ---- the command line */

/**
 * struct action - what is done to a device
 * @name: its word
 * @operands: words behind it
 * @usage: the line, for messages
 * @run: does it
 */
struct action {
	const char *name;
	int operands;
	const char *usage;
	int (*run)(struct cli *cli, char **word, struct device_logic *l);
};

static int run_reset(struct cli *cli, char **word, struct device_logic *l)
{
	if (*l->root)
		return cli_usage(cli, "--root: devices are reset on this machine alone");
	return reset(cli, word[0], l->json);
}

static int has_no_logic(struct cli *cli)
{
	tenon_error(-TENON_E_UNSUPPORTED,
		    "this build does not load the logic of FPGAs; it was made without "
		    "CONFIG_KERNEL_CACHE, whose hashes bitstreams have");
	return cli_error(cli, CLI_UNAVAILABLE);
}

static int run_program(struct cli *cli, char **word, struct device_logic *l)
{
	l->manager = word[0];
	l->file = word[1];
	return OPTION_ON(KERNEL_CACHE) ? device_logic_program(cli, l) : has_no_logic(cli);
}

static int run_apply(struct cli *cli, char **word, struct device_logic *l)
{
	l->overlay = word[0];
	l->file = word[1];
	return OPTION_ON(KERNEL_CACHE) ? device_logic_apply(cli, l) : has_no_logic(cli);
}

static int run_remove(struct cli *cli, char **word, struct device_logic *l)
{
	l->overlay = word[0];
	return OPTION_ON(KERNEL_CACHE) ? device_logic_remove(cli, l) : has_no_logic(cli);
}

static const struct action actions[] = {
	{ "reset", 1, "tenon device reset URI", run_reset },
	{ "program", 2, "tenon device program fpga0 FILE.bitstream", run_program },
	{ "apply-overlay", 2, "tenon device apply-overlay NAME FILE.dtbo", run_apply },
	{ "remove-overlay", 1, "tenon device remove-overlay NAME", run_remove },
};

#define ACTIONS (sizeof(actions) / sizeof(*actions))

static int find_action(struct cli *cli, const char *word, const struct action **out)
{
	struct nearest_name nearest = { .wanted = tenon_slice_of(word ? word : "") };
	size_t i;

	if (!word)
		return cli_usage(cli, "what is to be done? %s", actions[0].usage);
	for (i = 0; i < ACTIONS && strcmp(word, actions[i].name) != 0; i++)
		nearest_name_offer(&nearest, tenon_slice_of(actions[i].name));
	if (i == ACTIONS)
		return cli_unknown(cli, "action of tenon device", word, &nearest);
	*out = &actions[i];
	return 0;
}

static int run_action(struct cli *cli, int count, char **word, struct device_logic *l)
{
	const struct action *a = NULL;
	int code = find_action(cli, count ? word[0] : NULL, &a);

	if (code)
		return code;
	if (count != 1 + a->operands)
		return cli_usage(cli, "%s takes %d operand%s, and %d %s given: %s", a->name,
				 a->operands, a->operands == 1 ? "" : "s", count - 1,
				 count == 2 ? "was" : "were", a->usage);
	if (l->copy && a->run != run_program)
		return cli_usage(cli, "--copy is an option of %s", actions[1].usage);
	if (l->json && cli_needs_json(cli))
		return CLI_UNAVAILABLE;
	return a->run(cli, word + 1, l);
}

static int device_main(struct cli *cli, int argc, char **argv)
{
	struct device_logic l = { .root = "" };
	const struct cli_option options[] = { { "json", .flag = &l.json },
					      { "copy", .flag = &l.copy },
					      { "root", .text = &l.root },
					      { 0 } };
	int code = cli_options(cli, argc, argv, options);

	if (code)
		return code;
	return run_action(cli, argc - optind, argv + optind, &l);
}

const struct cli_command device_command = {
	"device",
	"Reset a device, or load the logic of an FPGA",
	"Usage: tenon device reset URI [--json]\n"
	"       tenon device program fpgaN FILE.bitstream [--copy] [--root DIR] [--json]\n"
	"       tenon device apply-overlay NAME FILE.dtbo [--root DIR] [--json]\n"
	"       tenon device remove-overlay NAME [--root DIR] [--json]\n"
	"\n"
	"  reset           end what the device runs, and open it anew\n"
	"  program         load a bitstream by the FPGA manager /sys/class/fpga_manager/fpgaN\n"
	"  apply-overlay   apply a device-tree overlay below /lib/firmware, under a name\n"
	"  remove-overlay  remove it again\n"
	"  --copy          write the bitstream below /lib/firmware first, where the kernel reads "
	"it\n"
	"  --root DIR      prefix of /sys and /lib/firmware\n"
	"  --json          print JSON\n"
	"\n"
	"Programs that use the device lose what they submitted; stop what uses an FPGA before its\n"
	"logic is replaced. Exit status: 3 for a file that cannot be read or is damaged, 4 for a\n"
	"device that cannot be opened, reset or programmed, or does not come back.\n",
	device_main,
};
