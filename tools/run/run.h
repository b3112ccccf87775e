/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_RUN_RUN_H
#define TOOLS_RUN_RUN_H

/** DOC: tenon run, its parts put together */

#include "tools/cli/cli.h"
#include "tools/run/run_function.h"
#include "tools/run/run_model.h"

extern const struct cli_command run_command;

/**
 * struct run - one `tenon run`
 * @options: what the command line asks for
 * @targets: devices to run on
 * @arguments: what the function or model is given
 * @expectations: what the results shall be equal to
 * @module: the file, loaded
 * @function: what was called, where it is a function
 * @model: what was run, where it is a model
 * @times: how long that took
 */
struct run {
	struct run_options options;
	struct target_list targets;
	struct arguments arguments;
	struct expectations expectations;
	struct tenon_module *module;
	struct function_run function;
	struct model_run model;
	struct times times;
};

/**
 * run_read_options - read the command line
 * @run: receives the options, the targets' names, and the SPECs of arguments and expectations; their lists
 *	have room for one of each word
 *
 * Return: CLI_OPTIONS_END; CLI_OPTIONS_DONE; or an exit code, its message printed.
 */
int run_read_options(struct cli *cli, struct run *run, int argc, char **argv);

#endif /* TOOLS_RUN_RUN_H */
