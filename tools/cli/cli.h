/* SPDX-License-Identifier: MIT */
/* Options, messages and exit codes that all commands share. */
#ifndef TOOLS_CLI_CLI_H
#define TOOLS_CLI_CLI_H

/*
 * Each command is a function that writes to the streams it is given, so that tests can read its
 * output.
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
	CLI_DIFFERS = 1,     /* a result differs from --expect */
	CLI_USAGE = 2,	     /* the command line is wrong */
	CLI_NO_FILE = 3,     /* a file cannot be loaded, read or written */
	CLI_UNAVAILABLE = 4, /* this build or machine lacks a device, loader or option */
	CLI_FAILED = 5,	     /* the called function failed, or calls a missing function */
	CLI_BROKEN = 6,	     /* a board, or the connection to it, broke: there is no verdict */
	CLI_TIMEOUT = 124,
};

/**
 * struct cli - one run of the command
 * @out: results
 * @err: errors and progress
 * @command: the command that runs, for messages; NULL until it is known
 * @reported_nomem: the last message of cli_error() reported lack of memory
 */
struct cli {
	FILE *out;
	FILE *err;
	const struct cli_command *command;
	bool reported_nomem;
};

/**
 * struct cli_command - a command
 * @name: its name
 * @summary: one line
 * @help: output of "tenon NAME --help" after the summary
 * @run: argv[0] is the command's name; returns enum cli_exit, or CLI_OPTIONS_DONE
 */
struct cli_command {
	const char *name;
	const char *summary;
	const char *help;
	int (*run)(struct cli *cli, int argc, char **argv);
};

/* what cli_options() returns when --help was answered; a command returns it, and cli_run() CLI_OK */
#define CLI_OPTIONS_DONE (-2)

/**
 * struct cli_words - the values of an option that may be repeated
 * @at: an array of the command
 * @count: how many it has
 * @most: how many it has room for
 */
struct cli_words {
	const char **at;
	size_t count, most;
};

/**
 * struct cli_option - an option of a command, and where its value goes
 * @name: without the dashes; NULL ends a table
 * @letter: its short form, which has a value; 0 for none
 * @flag: set when the option is given; without a place for a value, it has none
 * @text: receives the value
 * @words: receives the values of an option that may be repeated
 * @count: receives a whole number, @from to @to
 * @from: the smallest @count
 * @to: the largest
 * @real: receives a number
 * @scaled: receives a number times @unit
 * @least: the smallest number; only 0 if there is no largest
 * @most: the largest; 0 for none, which @scaled must not have
 * @unit: of @scaled
 * @take: takes the value, which is in optarg; 0, or an exit code, its message printed
 * @context: for @take
 *
 * All places but @flag are for one value: a row has one of them, or none.
 */
struct cli_option {
	const char *name;
	char letter;
	bool *flag;
	const char **text;
	struct cli_words *words;
	uint64_t *count;
	uint64_t from;
	uint64_t to;
	double *real;
	uint64_t *scaled;
	double least;
	double most;
	double unit;
	int (*take)(struct cli *cli, void *context);
	void *context;
};

/**
 * cli_options - take all options of a command; optind is the first of the other words then
 * @cli: this run of the command
 * @argc: number of words
 * @argv: words
 * @options: the command's options; "help" is always known
 *
 * Return: 0; CLI_OPTIONS_DONE; or an exit code, its message printed.
 */
int cli_options(struct cli *cli, int argc, char **argv, const struct cli_option *options);

/**
 * cli_file - get the only operand of a command, a file
 * @file: receives the path
 *
 * Return: CLI_OK; CLI_USAGE, with a message, when there is none or more than one.
 */
int cli_file(struct cli *cli, int argc, char **argv, const char **file);

/** cli_run - run @cli->command, and return its exit code */
int cli_run(struct cli *cli, int argc, char **argv);

/** cli_error - print the thread's error as "tenon: …" and return the exit code @code */
int cli_error(struct cli *cli, int code);

/** cli_exit_of - exit code for a negative status; @otherwise if the status has none of its own */
int cli_exit_of(int status, int otherwise);

/** cli_usage - print a message and a hint at the help, and return CLI_USAGE */
int cli_usage(struct cli *cli, const char *format, ...) TENON_PRINTF(2, 3);

/** cli_unknown - report an unknown @name and suggest the nearest known one; returns CLI_USAGE */
int cli_unknown(struct cli *cli, const char *what, const char *name,
		const struct nearest_name *nearest);

/** cli_print_help - print the output of `tenon help NAME` */
void cli_print_help(const struct cli_command *command, FILE *out);

/**
 * cli_needs_json - refuse --json in a build without it
 * @cli: this run; its standard output is reserved, see cli_reserve_output()
 *
 * Return: 0; CLI_UNAVAILABLE, its message printed.
 */
int cli_needs_json(struct cli *cli);

/**
 * cli_reserve_output - reserve standard output for the command's own results
 * @cli: this run; a no-op when it does not write to standard output
 *
 * Redirects the output of drivers, their layers and compiled code to standard error until the
 * process ends: one such line would corrupt JSON or a stream of tensors.
 */
void cli_reserve_output(struct cli *cli);

#endif /* TOOLS_CLI_CLI_H */
