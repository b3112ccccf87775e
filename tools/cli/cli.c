/* SPDX-License-Identifier: MIT */
/* Parse options, print errors and help, and map statuses to exit codes. */
#include "tools/cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/error_slot.h"
#include "lib/number.h"
#include "lib/option.h"
#include "tools/json/json_value.h"
#include "tools/text/text.h"

/* ---- messages */

int cli_error(struct cli *cli, int code)
{
	const char *message = tenon_error_message();

	cli->reported_nomem = tenon_error_status() == -TENON_E_NOMEM;
	fputs("tenon: ", cli->err);
	printable_message(*message ? message : "failed without saying why", cli->err);
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
	printable_message(text ? text : "no memory for a message", cli->err);
	free(text);
	if (cli->command)
		fprintf(cli->err, "\nTry: tenon help %s\n", cli->command->name);
	else
		fputs("\nTry: tenon help\n", cli->err);
	return CLI_USAGE;
}

int cli_needs_json(struct cli *cli)
{
	if (OPTION_ON(JSON)) {
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

	/* Tests have their own streams, and without standard error there is no target. */
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

int cli_unknown(struct cli *cli, const char *what, const char *name,
		const struct nearest_name *nearest)
{
	struct tenon_buffer text = TENON_BUFFER_INIT;

	nearest_name_print(nearest, &text);
	cli_usage(cli, "no %s is called \"%s\".%s", what, name, text.data ? text.data : "");
	tenon_buffer_fini(&text);
	return CLI_USAGE;
}

void cli_print_help(const struct cli_command *command, FILE *out)
{
	fprintf(out, "tenon %s: %s\n\n%s", command->name, command->summary, command->help);
}

/* ---- options */

/* what getopt_long() returns for --help, and for the first of the command's options */
#define HELP_OPTION  0x7f00
#define FIRST_OPTION 0x100
#define OPTIONS_MOST 64

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
	return cli_unknown(cli, "option", word, &nearest);
}

static int take_count(struct cli *cli, const struct cli_option *o)
{
	char *end;

	errno = 0;
	*o->count = strtoull(optarg, &end, 10);
	if (errno || *end || *optarg < '0' || *optarg > '9' || *o->count < o->from ||
	    *o->count > o->to)
		return cli_usage(
			cli, "--%s %s: a whole number from %" PRIu64 " to %" PRIu64 " is wanted",
			o->name, optarg, o->from, o->to);
	return 0;
}

static int take_number(struct cli *cli, const struct cli_option *o)
{
	const char *end;
	double number = number_read(optarg, &end);
	bool wrong = end == optarg || *end || !(number >= o->least);

	if (o->most && (wrong || number > o->most))
		return cli_usage(cli, "--%s %s: a number from %.15g to %.15g is wanted", o->name,
				 optarg, o->least, o->most);
	if (wrong)
		return cli_usage(cli, "--%s %s: a number that is not negative is wanted", o->name,
				 optarg);
	if (o->real)
		*o->real = number;
	else
		*o->scaled = (uint64_t)(number * o->unit);
	return 0;
}

static int take_word(struct cli *cli, const struct cli_option *o)
{
	if (o->words->count == o->words->most)
		return cli_usage(cli, "--%s is given more than %zu times", o->name, o->words->most);
	o->words->at[o->words->count++] = optarg;
	return 0;
}

static bool has_value(const struct cli_option *o)
{
	return o->text || o->words || o->count || o->real || o->scaled || o->take;
}

static int take_option(struct cli *cli, const struct cli_option *o)
{
	if (o->flag)
		*o->flag = true;
	if (o->text)
		*o->text = optarg;
	if (o->words)
		return take_word(cli, o);
	if (o->count)
		return take_count(cli, o);
	if (o->real || o->scaled)
		return take_number(cli, o);
	return o->take ? o->take(cli, o->context) : 0;
}

static const struct cli_option *option_of(const struct cli_option *options, int found)
{
	if (found >= FIRST_OPTION)
		return &options[found - FIRST_OPTION];
	while (options->letter != found)
		options++;
	return options;
}

int cli_options(struct cli *cli, int argc, char **argv, const struct cli_option *options)
{
	struct option all[OPTIONS_MOST] = { { "help", no_argument, NULL, HELP_OPTION } };
	char letters[2 * OPTIONS_MOST] = ":h", *letter = letters + 2;
	int found, i, code = 0;

	for (i = 0; i < OPTIONS_MOST - 2 && options[i].name; i++) {
		all[i + 1] =
			(struct option){ options[i].name,
					 has_value(&options[i]) ? required_argument : no_argument,
					 NULL, FIRST_OPTION + i };
		if (options[i].letter) {
			*letter++ = options[i].letter;
			*letter++ = ':';
		}
	}
	opterr = 0;
	while (!code && (found = getopt_long(argc, argv, letters, all, NULL)) != -1) {
		if (found == HELP_OPTION || found == 'h') {
			cli_print_help(cli->command, cli->out);
			return CLI_OPTIONS_DONE;
		}
		if (found == '?' || found == ':')
			return bad_option(cli, argv, all, found);
		code = take_option(cli, option_of(options, found));
	}
	return code;
}

int cli_run(struct cli *cli, int argc, char **argv)
{
	int code = cli->command->run(cli, argc, argv);

	return code == CLI_OPTIONS_DONE ? CLI_OK : code;
}

int cli_file(struct cli *cli, int argc, char **argv, const char **file)
{
	if (optind >= argc)
		return cli_usage(cli, "which file? tenon %s FILE", cli->command->name);
	if (optind + 1 < argc)
		return cli_usage(cli, "one file at a time: %s, and then %s", argv[optind],
				 argv[optind + 1]);
	*file = argv[optind];
	return CLI_OK;
}
