/* SPDX-License-Identifier: MIT */
/* Parse the options of tenon replay, and refuse what excludes each other. */
#include "tools/replay/replay.h"

#include <string.h>

static int one_of_both(struct cli *cli)
{
	return cli_usage(cli, "either --device, once, or --compare, once");
}

static int take_device(struct cli *cli, void *options)
{
	struct replay_options *o = options;

	if (o->target_count)
		return one_of_both(cli);
	o->targets[o->target_count++].name = optarg;
	return 0;
}

/* the words of the command line behind --compare, and where its devices go */
struct compared {
	struct replay_options *o;
	int argc;
	char **argv;
};

/* The second device of --compare is the word behind the first. */
static int take_two(struct cli *cli, void *context)
{
	const struct compared *c = context;
	struct replay_options *o = c->o;

	if (o->target_count)
		return one_of_both(cli);
	if (optind >= c->argc || c->argv[optind][0] == '-')
		return cli_usage(cli, "--compare %s: want two devices: --compare cpu:0 opencl:0",
				 optarg);
	o->targets[o->target_count++].name = optarg;
	o->targets[o->target_count++].name = c->argv[optind++];
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

int replay_read_options(struct cli *cli, int argc, char **argv, struct replay_options *o)
{
	const char *words[2];
	struct cli_words modules = { words, .most = 2 };
	struct compared compared = { o, argc, argv };
	const struct cli_option options[] = {
		{ "device", .take = take_device, .context = o },
		{ "compare", .take = take_two, .context = &compared },
		{ "module", .words = &modules },
		{ "rtol", .real = &o->tolerance.rtol, .flag = &o->tolerance.rtol_given },
		{ "atol", .real = &o->tolerance.atol, .flag = &o->tolerance.atol_given },
		{ "timeout", .real = &o->timeout },
		{ "json", .flag = &o->json },
		{ 0 },
	};
	size_t i;
	int code;

	o->tolerance = (struct tolerance){ .rtol = COMPARE_RTOL, .atol = COMPARE_ATOL };
	code = cli_options(cli, argc, argv, options);
	if (code)
		return code;
	code = cli_file(cli, argc, argv, &o->folder);
	if (!code && !o->target_count)
		code = cli_usage(cli, "on which device? --device opencl:0, or two to compare: "
				      "--compare cpu:0 opencl:0");
	for (i = 0; !code && i < modules.count; i++)
		code = give_module(cli, o, words[i]);
	return code;
}
