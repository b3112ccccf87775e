/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CLI_CLI_H
#define TOOLS_CLI_CLI_H

/**
 * DOC: the command line
 *
 * Each command is a function that writes to the streams it is given, so that tests can read what a
 * person would.
 */

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <tenon/error.h>

#include "lib/nearest_name.h"

struct cli_command;

/** enum cli_exit - exit codes, documented in tenon(1) */
enum cli_exit {
	CLI_OK = 0,
	CLI_DIFFERS = 1,     /* a result is not what --expect says */
	CLI_USAGE = 2,	     /* the command line is wrong */
	CLI_NO_FILE = 3,     /* a file cannot be loaded, read or written */
	CLI_UNAVAILABLE = 4, /* a device, loader or option that this build or machine lacks */
	CLI_FAILED = 5,	     /* the called function failed, or calls one that is missing */
	CLI_TIMEOUT = 124,
};

/**
 * struct cli - one run of the command
 * @out: results
 * @err: errors and progress
 * @command: the command that runs, for messages; NULL before one was found
 * @said_ran_out: the last message of cli_error() was that there is no memory
 */
struct cli {
	FILE *out;
	FILE *err;
	const struct cli_command *command;
	bool said_ran_out;
};

/**
 * struct cli_command - a command
 * @name: its name
 * @summary: one line
 * @help: what "tenon NAME --help" prints, behind the summary
 * @run: argv[0] is the command's name; returns enum cli_exit
 */
struct cli_command {
	const char *name;
	const char *summary;
	const char *help;
	int (*run)(struct cli *cli, int argc, char **argv);
};

/* what cli_option() returns besides an option's own value */
#define CLI_OPTIONS_END	 (-1)
#define CLI_OPTIONS_DONE (-2) /* --help was answered: exit with CLI_OK */
#define CLI_OPTIONS_BAD	 (-3) /* a message was printed: exit with CLI_USAGE */

/**
 * cli_option - next option of a command
 * @cli: the run
 * @argc: words
 * @argv: words
 * @options: the command's options; "help" is always known
 *
 * Return: the option's value, its argument in optarg; or one of the three above.
 */
int cli_option(struct cli *cli, int argc, char **argv, const struct option *options);

/**
 * cli_file - the one file behind a command's options
 * @file: receives it
 *
 * Return: CLI_OK; CLI_USAGE, its message printed, when there is none or another word.
 */
int cli_file(struct cli *cli, int argc, char **argv, const char **file);

/** cli_error - print the thread's error as "tenon: …" and return the exit code @code */
int cli_error(struct cli *cli, int code);

/** cli_exit_of - exit code for a negative status; @otherwise where it says nothing of its own */
int cli_exit_of(int status, int otherwise);

/** cli_usage - print a message and where help is, and return CLI_USAGE */
int cli_usage(struct cli *cli, const char *format, ...) TENON_PRINTF(2, 3);

/** cli_unknown - say that nothing is called @name, and what is nearest to it; returns CLI_USAGE */
int cli_unknown(struct cli *cli, const char *what, const char *name,
		const struct nearest_name *nearest);

/** cli_print_help - what `tenon help NAME` prints */
void cli_print_help(const struct cli_command *command, FILE *out);

/**
 * cli_needs_json - refuse --json in a build without it
 * @cli: the run; its standard output is reserved, see below
 *
 * Return: 0; CLI_UNAVAILABLE, its message printed.
 */
int cli_needs_json(struct cli *cli);

/**
 * cli_reserve_output - keep standard output for what the command itself writes
 * @cli: the run; nothing happens when it does not write to standard output
 *
 * What drivers, their layers and compiled code print goes to standard error from here on, until the process ends:
 * one line of theirs makes JSON, or a stream of tensors, worthless.
 */
void cli_reserve_output(struct cli *cli);

/** cli_amount - read the value of an option, a number of 0 or more; 0 or CLI_USAGE, its message printed */
int cli_amount(struct cli *cli, const char *option, double *out);

/**
 * cli_driver_options - read the options of a command that asks drivers, --json and --timeout
 * @json: receives whether it was given
 * @timeout: receives seconds; 0 where it was not given
 *
 * Return: 0; CLI_OPTIONS_DONE; or an exit code, its message printed.
 */
int cli_driver_options(struct cli *cli, int argc, char **argv, bool *json, double *timeout);

#endif /* TOOLS_CLI_CLI_H */
