/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tenon/tenon.h>

#include "lib/error_slot.h"
#include "lib/nearest_name.h"
#include "tools/cli.h"
#include "tools/tensor/element.h"
#include "tools/json_value.h"
#include "tools/printable.h"

static const struct cli_command *const commands[] = {
	&run_command,	  &inspect_command,
#ifdef CONFIG_EXECUTORS
	&bench_command,	  &params_command,
#endif
	&devices_command, &doctor_command,
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct cli_command *find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	}
	return NULL;
}

/* ---- messages */

int cli_error(struct cli *cli, int code)
{
	const char *message = tenon_error_message();

	cli->said_ran_out = tenon_error_status() == -TENON_E_NOMEM;
	fputs("tenon: ", cli->err);
	printable_print(*message ? message : "failed without saying why", cli->err);
	fputc('\n', cli->err);
	tenon_error_clear();
	return code;
}

int cli_exit_of(int status, int otherwise)
{
	switch (status) {
	case -TENON_E_NO_LOADER:
	case -TENON_E_DEVICE:
	case -TENON_E_LOST:
	case -TENON_E_UNSUPPORTED:
		return CLI_UNAVAILABLE;
	case -TENON_E_NO_FUNCTION:
		return CLI_FAILED;
	default:
		return otherwise;
	}
}

int cli_usage(struct cli *cli, const char *format, ...)
{
	char *text;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0) {
		text = NULL;
		error_set_ran_out(true);
	}
	va_end(args);
	fputs("tenon: ", cli->err);
	printable_print(text ? text : "no memory for a message", cli->err);
	free(text);
	if (cli->command)
		fprintf(cli->err, "\nTry: tenon help %s\n", cli->command);
	else
		fputs("\nTry: tenon help\n", cli->err);
	return CLI_USAGE;
}

int cli_needs_json(struct cli *cli)
{
	if (json_available) {
		cli_reserve_output(cli);
		return 0;
	}
	fputs("tenon: --json is not in this build; it needs CONFIG_JSON\n", cli->err);
	return CLI_UNAVAILABLE;
}

void cli_reserve_output(struct cli *cli)
{
	FILE *own;
	int fd;

	/* tests have streams of their own; where there is no standard error nothing can go there */
	if (cli->out != stdout || fcntl(STDERR_FILENO, F_GETFD) < 0)
		return;
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	own = fd < 0 ? NULL : fdopen(fd, "w");
	if (!own) {
		if (fd >= 0)
			close(fd);
		return;
	}
	dup2(STDERR_FILENO, STDOUT_FILENO);
	cli->out = own;
}

static int unknown(struct cli *cli, const char *what, const char *name,
		   const struct nearest_name *nearest)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;

	nearest_name_print(nearest, &text);
	cli_usage(cli, "no %s is called \"%s\".%s", what, name, text.data ? text.data : "");
	tenon_buffer_fini(&text);
	return CLI_USAGE;
}

static int unknown_command(struct cli *cli, const char *name)
{
	struct nearest_name nearest = { .wanted = tenon_slice_of(name) };

	for (size_t i = 0; i < COMMANDS; i++)
		nearest_name_offer(&nearest, tenon_slice_of(commands[i]->name));
	nearest_name_offer(&nearest, tenon_slice_of("help"));
	return unknown(cli, "command", name, &nearest);
}

/* ---- help and version */

static void print_overview(FILE *out)
{
	fputs("tenon opens compiled modules, shows what is in them and runs their functions.\n\n",
	      out);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "  tenon %-9s %s\n", commands[i]->name, commands[i]->summary);
	fputs("  tenon help      Explain a command: tenon help run\n"
	      "  tenon --version Print version and configuration\n",
	      out);
}

static void print_help(const struct cli_command *command, FILE *out)
{
	fprintf(out, "tenon %s: %s\n\n%s", command->name, command->summary, command->help);
}

static int help(struct cli *cli, int argc, char **argv)
{
	const struct cli_command *command;

	if (argc < 2) {
		print_overview(cli->out);
		return CLI_OK;
	}
	command = find(argv[1]);
	if (!command)
		return unknown_command(cli, argv[1]);
	print_help(command, cli->out);
	return CLI_OK;
}

static void print_version(FILE *out)
{
	fprintf(out, "tenon %s\nconfiguration: %s\n", tenon_version(), tenon_configuration());
}

/* ---- options */

#define HELP_OPTION  0x7f00
#define OPTIONS_MOST 24

static int bad_option(struct cli *cli, char **argv, const struct option *options, int found)
{
	const char *word = argv[optind - 1], *name = word + strspn(word, "-");
	struct nearest_name nearest = { .wanted = { name, strcspn(name, "=") } };

	if (found == ':')
		return cli_usage(cli, "%s needs a value", word);
	if (optopt && (optopt & ~0xff) == 0 && word[1] != '-')
		return cli_usage(cli, "no option is called -%c", optopt);
	if (strchr(word, '=') && optopt)
		return cli_usage(cli, "--%.*s takes no value", (int)nearest.wanted.size, name);
	for (; options->name; options++)
		nearest_name_offer(&nearest, tenon_slice_of(options->name));
	return unknown(cli, "option", word, &nearest);
}

int cli_option(struct cli *cli, int argc, char **argv, const struct option *options)
{
	static const struct option help_option = { "help", no_argument, NULL, HELP_OPTION };
	struct option all[OPTIONS_MOST] = { help_option };
	const char *letters = ":h";
	int found;

	for (size_t i = 0; options[i].name && i < OPTIONS_MOST - 2; i++) {
		all[i + 1] = options[i];
		if (options[i].val == 'o')
			letters = ":ho:";
	}
	opterr = 0;
	found = getopt_long(argc, argv, letters, all, NULL);
	if (found == HELP_OPTION || found == 'h') {
		print_help(find(cli->command), cli->out);
		return CLI_OPTIONS_DONE;
	}
	if (found == '?' || found == ':') {
		bad_option(cli, argv, all, found);
		return CLI_OPTIONS_BAD;
	}
	return found;
}

int cli_file(struct cli *cli, int argc, char **argv, const char **file)
{
	if (optind >= argc)
		return cli_usage(cli, "which file? tenon %s FILE", cli->command);
	if (optind + 1 < argc)
		return cli_usage(cli, "one file at a time: %s, and then %s", argv[optind],
				 argv[optind + 1]);
	*file = argv[optind];
	return CLI_OK;
}

int cli_amount(struct cli *cli, const char *option, double *out)
{
	struct element e;

	if (element_parse(optarg, strlen(optarg), tenon_dtype(TENON_DTYPE_FLOAT, 64, 1), &e) ||
	    !(e.real >= 0)) {
		tenon_error_clear();
		return cli_usage(cli, "--%s %s: a number that is not negative is wanted", option,
				 optarg);
	}
	*out = e.real;
	return 0;
}

int cli_driver_options(struct cli *cli, int argc, char **argv, bool *json, double *timeout)
{
	static const struct option options[] = { { "json", no_argument, NULL, 1 },
						 { "timeout", required_argument, NULL, 2 },
						 { 0 } };
	int found, code = 0;

	*json = false;
	*timeout = 0;
	while (!code && (found = cli_option(cli, argc, argv, options)) >= 0) {
		if (found == 1)
			*json = true;
		else
			code = cli_amount(cli, "timeout", timeout);
	}
	if (code)
		return code;
	if (found == CLI_OPTIONS_DONE)
		return CLI_OPTIONS_DONE;
	if (found == CLI_OPTIONS_BAD)
		return CLI_USAGE;
	if (optind < argc)
		return cli_usage(cli, "%s: no file or name is wanted here", argv[optind]);
	return *json ? cli_needs_json(cli) : CLI_OK;
}

/* ---- dispatch */

static int dispatch(struct cli *cli, int argc, char **argv)
{
	const struct cli_command *command;

	if (argc < 2) {
		print_overview(cli->err);
		return CLI_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		print_version(cli->out);
		return CLI_OK;
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help(cli, argc - 1, argv + 1);
	if (argv[1][0] == '-')
		return cli_usage(cli, "%s: a command comes first", argv[1]);
	command = find(argv[1]);
	if (!command)
		return unknown_command(cli, argv[1]);
	cli->command = command->name;
	return command->run(cli, argc - 1, argv + 1);
}

/*
 * Memory ran out somewhere. Parts of the answer may be missing, and a message may give a consequence for
 * the reason, so this run neither succeeded nor found a mistake in the command line or a difference.
 */
static int ran_out(struct cli *cli, int code)
{
	if (!cli->said_ran_out)
		fputs("tenon: memory ran out: what is printed may not be complete\n", cli->err);
	return code == CLI_OK || code == CLI_DIFFERS || code == CLI_USAGE ? CLI_FAILED : code;
}

int cli_main(int argc, char **argv, FILE *out, FILE *err)
{
	struct cli cli = { out, err, NULL, false };
	int code;

	error_set_ran_out(false);
	json_prepare();
	/* a build without them says so where one is asked for */
	if (tenon_executors_register())
		tenon_error_clear();
	optind = 0; /* start anew: tests come here many times */
	code = dispatch(&cli, argc, argv);
	if ((fflush(cli.out) || ferror(cli.out)) && code != CLI_USAGE) {
		fprintf(err, "tenon: cannot write the results: %s\n", strerror(errno));
		return CLI_NO_FILE;
	}
	return error_ran_out() ? ran_out(&cli, code) : code;
}
