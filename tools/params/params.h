/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_PARAMS_PARAMS_H
#define TOOLS_PARAMS_PARAMS_H

/** DOC: tenon params, its parts */

#include <tenon/params.h>

#include "tools/cli/cli.h"

extern const struct cli_command params_command;

/**
 * struct words - the words behind `tenon params ACTION`
 * @align: alignment of what is written, in bytes
 * @json: print JSON
 * @output: file or folder to be written to; NULL when it is among the words
 * @count: how many words
 * @word: the words
 */
struct words {
	size_t align;
	bool json;
	const char *output;
	int count;
	char **word;
};

/** params_failed - print the thread's error; returns the exit code of a file that is no good */
int params_failed(struct cli *cli);

/** params_target - the file to be written, by the words */
const char *params_target(const struct words *w);

/**
 * params_check_target - refuse to write where something else would be lost
 * @cli: the run
 * @to: the file to be written: none that is there already, unless it is one of parameters, and none
 *	with a name that array files have
 *
 * Return: 0; CLI_USAGE, its message printed.
 */
int params_check_target(struct cli *cli, const char *to);

/** params_write - write to where the words say, and print that; 0 or a negative status */
int params_write(struct cli *cli, const struct words *w, const struct tenon_param *params,
		 size_t n);

/** params_extract - write parameters as array files; returns an exit code */
int params_extract(struct cli *cli, const struct words *w);

/** params_from_npz - make a file of parameters of numpy's file of arrays; returns an exit code */
int params_from_npz(struct cli *cli, const struct words *w);

#endif /* TOOLS_PARAMS_PARAMS_H */
