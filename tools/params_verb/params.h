/* SPDX-License-Identifier: MIT */
/* What the files of tenon params share: words, the target and its checks, writing. */
#ifndef TOOLS_PARAMS_VERB_PARAMS_H
#define TOOLS_PARAMS_VERB_PARAMS_H

#include <tenon/params.h>

#include "tools/cli/verbs.h"
#include "tools/opened_model/model_params.h"

/**
 * struct words - options and operands of `tenon params ACTION`
 * @align: alignment of the output, in bytes
 * @json: print JSON
 * @names: the files of convert, and new names
 * @output: file or folder to be written to; NULL if it is an operand
 * @count: number of operands
 * @word: the operands
 */
struct words {
	size_t align;
	bool json;
	struct model_params names;
	const char *output;
	int count;
	char **word;
};

/** params_failed - print the thread's error; returns the exit code for a bad file, or for a missing plug-in */
int params_failed(struct cli *cli);

/** params_open - open the first operand, as model_params_open() */
int params_open(const struct words *w, struct tenon_params **out);

/** params_target - the output file */
const char *params_target(const struct words *w);

/**
 * params_check_target - refuse to overwrite other files
 * @cli: the run
 * @to: output file: must not exist, unless it is a parameter file, and must not have the suffix of
 * an array file
 *
 * Return: 0; CLI_USAGE, its message printed.
 */
int params_check_target(struct cli *cli, const char *to);

/** params_check_contents - refuse to overwrite what is no file of parameters, whatever the name; as params_check_target() */
int params_check_contents(struct cli *cli, const char *to);

/** params_in_npz - test whether a file is to be NumPy's, by its name */
bool params_in_npz(const char *path);

/** params_in_safetensors - test whether a file is to be in safetensors, by its name or its content */
bool params_in_safetensors(const char *path);

/** params_write - write to the output file and print that; 0 or a negative status */
int params_write(struct cli *cli, const struct words *w, const struct tenon_param *params,
		 size_t n);

/** params_extract - write parameters as array files; returns an exit code */
int params_extract(struct cli *cli, const struct words *w);

/** params_convert - make one file of parameters of any; returns an exit code */
int params_convert(struct cli *cli, const struct words *w);

/** params_from_npz - create a parameter file from numpy's .npz; returns an exit code */
int params_from_npz(struct cli *cli, const struct words *w);

#endif /* TOOLS_PARAMS_VERB_PARAMS_H */
