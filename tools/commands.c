/* SPDX-License-Identifier: MIT */
/* Find the command of a line, print help, and check that nothing was lost at the end. */
#include "tools/commands.h"

#include <errno.h>
#include <string.h>
#include <tenon/tenon.h>

#include "lib/error_slot.h"
#include "lib/option.h"
#include "tools/cli/verbs.h"
#include "tools/file/output.h"
#include "tools/help.h"
#include "tools/json/json_value.h"

/* clang-format off */
static const struct cli_command *const commands[] = {
	&run_command, &inspect_command,
	OPTION_ROWS(EXECUTORS, &bench_command, &params_command,)
	OPTION_ROWS(EXECUTORS, OPTION_ROWS(PICTURES, &report_command,))
	OPTION_ROWS(LLM, &chat_command,)
	OPTION_ROWS(LINK, &link_command, &unpack_command, &verify_command, &sign_command, &partition_command,
		    &needs_command,)
	OPTION_ROWS(RECORD, &replay_command,)
	&devices_command,
	OPTION_ROWS(DEVICES, &device_command, &warm_command,)
	&doctor_command,
	OPTION_ROWS(REMOTE, &rpc_command,)
	OPTION_ROWS(HIL, &hil_command,)
};
/* clang-format on */

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct cli_command *find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}

static void offer_commands(struct nearest_name *nearest)
{
	for (size_t i = 0; i < COMMANDS; i++)
		nearest_name_offer(nearest, tenon_slice_of(commands[i]->name));
	nearest_name_offer(nearest, tenon_slice_of("help"));
}

static int unknown_command(struct cli *cli, const char *name)
{
	struct nearest_name nearest = { .wanted = tenon_slice_of(name) };

	offer_commands(&nearest);
	return cli_unknown(cli, "command", name, &nearest);
}

static int unknown_topic(struct cli *cli, const char *name)
{
	struct nearest_name nearest = { .wanted = tenon_slice_of(name) };

	offer_commands(&nearest);
	help_offer_topics(&nearest);
	return cli_unknown(cli, "command or topic", name, &nearest);
}

static void print_overview(FILE *out)
{
	fputs("tenon opens compiled modules, shows what is in them and runs their functions.\n\n",
	      out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  tenon %-9s %s\n", commands[i]->name, commands[i]->summary);
	fputs("  tenon help      Explain a command, or a topic: tenon help run\n"
	      "  tenon --version Print the version; --verbose after it adds the options of the "
	      "build\n\n",
	      out);
	help_list_topics(out);
}

static int help(struct cli *cli, int argc, char **argv)
{
	const struct cli_command *command;

	if (argc < 2) {
		print_overview(cli->out);
		return CLI_OK;
	}
	command = find(argv[1]);
	if (command)
		cli_print_help(command, cli->out);
	else if (!help_print_topic(argv[1], cli->out))
		return unknown_topic(cli, argv[1]);
	return CLI_OK;
}

static int print_version(struct cli *cli, int argc, char **argv)
{
	const bool verbose = argc > 2 && !strcmp(argv[2], "--verbose");

	if (argc > 2 + verbose)
		return cli_usage(cli, "%s: after %s only --verbose is possible", argv[2 + verbose],
				 argv[1]);
	fprintf(cli->out, "tenon %s\n", tenon_version());
	if (verbose)
		fprintf(cli->out, "configuration: %s\n", tenon_configuration());
	return CLI_OK;
}

/* Find the command of the line: cli->command. Without one, answer the line and return an exit code. */
static int find_command(struct cli *cli, int argc, char **argv)
{
	if (argc < 2) {
		print_overview(cli->err);
		return CLI_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		return print_version(cli, argc, argv);
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help(cli, argc - 1, argv + 1);
	if (argv[1][0] == '-')
		return cli_usage(cli, "%s: a command comes first", argv[1]);
	cli->command = find(argv[1]);
	return cli->command ? CLI_OK : unknown_command(cli, argv[1]);
}

/*
 * Memory ran out. Output may be incomplete, and a message may name a consequence instead of the
 * cause, so replace exit codes for success, usage errors and differences.
 */
static int ran_out(struct cli *cli, int code)
{
	if (!cli->reported_nomem)
		fputs("tenon: memory ran out: what is printed may not be complete\n", cli->err);
	return code == CLI_OK || code == CLI_DIFFERS || code == CLI_USAGE ? CLI_FAILED : code;
}

int cli_main(int argc, char **argv, FILE *out, FILE *err)
{
	struct cli cli = { out, err, NULL, false };
	int code;

	error_set_ran_out(false);
	if (OPTION_ON(JSON))
		json_prepare();
	output_words(argc, argv);
	optind = 0; /* restart getopt: tests call this repeatedly */
	code = find_command(&cli, argc, argv);
	if (cli.command)
		code = cli_run(&cli, argc - 1, argv + 1);
	output_words(0, NULL); /* the words of a test end with its call */
	if ((fflush(cli.out) || ferror(cli.out)) && code != CLI_USAGE) {
		fprintf(err, "tenon: cannot write the results: %s\n", strerror(errno));
		return CLI_NO_FILE;
	}
	return error_ran_out() ? ran_out(&cli, code) : code;
}
