/* SPDX-License-Identifier: MIT */
/* Parse the options of tenon replay, and refuse what excludes each other */
#include "tools/replay/replay_options.h"

#include <string.h>

enum { DEVICE = 1, COMPARE, MODULE, RTOL, ATOL, TIMEOUT, JSON };

static const struct option options[] = {
	{ "device", required_argument, NULL, DEVICE },
	{ "compare", required_argument, NULL, COMPARE },
	{ "module", required_argument, NULL, MODULE },
	{ "rtol", required_argument, NULL, RTOL },
	{ "atol", required_argument, NULL, ATOL },
	{ "timeout", required_argument, NULL, TIMEOUT },
	{ "json", no_argument, NULL, JSON },
	{ 0 },
};

static int one_of_both(struct cli *cli)
{
	return cli_usage(cli, "either --device, once, or --compare, once");
}

/* The second device of --compare is the word behind the first. */
static int take_two(struct cli *cli, struct replay_options *o, int argc, char **argv)
{
	if (o->target_count)
		return one_of_both(cli);
	if (optind >= argc || argv[optind][0] == '-')
		return cli_usage(cli, "--compare %s: want two devices: --compare cpu:0 opencl:0",
				 optarg);
	o->targets[o->target_count++].name = optarg;
	o->targets[o->target_count++].name = argv[optind++];
	return 0;
}

/* [URI=]FILE, when all devices are known. Both stay in the command line. */
static int give_module(struct cli *cli, struct replay_options *o, const char *text)
{
	size_t i, size;
	bool given = false;

	for (i = 0; i < o->target_count; i++) {
		size = strlen(o->targets[i].name);
		if (strncmp(text, o->targets[i].name, size) || text[size] != '=')
			continue;
		if (o->targets[i].file)
			return cli_usage(cli, "--module %s: an earlier one is for %s, too", text,
					 o->targets[i].name);
		o->targets[i].file = text + size + 1;
		given = true;
	}
	for (i = 0; !given && i < o->target_count; i++) {
		if (o->targets[i].file)
			continue;
		o->targets[i].file = text;
	}
	return 0;
}

static int option(struct cli *cli, struct replay_options *o, int found, int argc, char **argv)
{
	switch (found) {
	case DEVICE:
		if (o->target_count)
			return one_of_both(cli);
		o->targets[o->target_count++].name = optarg;
		return 0;
	case COMPARE:
		return take_two(cli, o, argc, argv);
	case RTOL:
		o->tolerance.rtol_given = true;
		return cli_amount(cli, "rtol", &o->tolerance.rtol);
	case ATOL:
		o->tolerance.atol_given = true;
		return cli_amount(cli, "atol", &o->tolerance.atol);
	case TIMEOUT:
		return cli_amount(cli, "timeout", &o->timeout);
	default:
		o->json = true;
		return 0;
	}
}

int replay_read_options(struct cli *cli, int argc, char **argv, struct replay_options *o)
{
	const char *modules[2];
	size_t module_count = 0, i;
	int found, code = 0;

	o->tolerance = (struct tolerance){ .rtol = COMPARE_RTOL, .atol = COMPARE_ATOL };
	while (!code && (found = cli_option(cli, argc, argv, options)) >= 0) {
		if (found != MODULE)
			code = option(cli, o, found, argc, argv);
		else if (module_count == 2)
			code = cli_usage(cli, "--module %s: two at most", optarg);
		else
			modules[module_count++] = optarg;
	}
	if (code)
		return code;
	if (found < CLI_OPTIONS_END)
		return found;
	code = cli_file(cli, argc, argv, &o->folder);
	if (!code && !o->target_count)
		code = cli_usage(cli, "on which device? --device opencl:0, or two to compare: "
				      "--compare cpu:0 opencl:0");
	for (i = 0; !code && i < module_count; i++)
		code = give_module(cli, o, modules[i]);
	return code ? code : CLI_OPTIONS_END;
}
