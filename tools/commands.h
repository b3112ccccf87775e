/* SPDX-License-Identifier: MIT */
/* The table of commands, and their dispatch. */
#ifndef TOOLS_COMMANDS_H
#define TOOLS_COMMANDS_H

#include "tools/cli/cli.h"

/**
 * cli_main - run the command
 * @argc: number of words
 * @argv: words; reordered, options first
 * @out: results
 * @err: errors
 *
 * Context: one call at a time, since getopt has global state.
 * Return: enum cli_exit.
 */
int cli_main(int argc, char **argv, FILE *out, FILE *err);

#endif /* TOOLS_COMMANDS_H */
