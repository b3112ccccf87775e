/* SPDX-License-Identifier: MIT */
/* State of tenon run */
#ifndef TOOLS_RUN_RUN_H
#define TOOLS_RUN_RUN_H

#include <tenon/buffer.h>

#include "tools/cli/cli.h"
#include "tools/run/run_function.h"
#include "tools/run/run_model.h"

extern const struct cli_command run_command;

/**
 * struct run - one `tenon run`
 * @options: options from the command line
 * @targets: devices to run on
 * @arguments: arguments of the function or model
 * @expectations: expected results
 * @remote: server of --remote; NULL for none
 * @module: the loaded file
 * @inspected: the file here, if @module is on another machine
 * @function: the called function, if one is run
 * @model: the model, if one is run
 * @times: run times
 * @labels: the file of --labels
 */
struct run {
	struct run_options options;
	struct target_list targets;
	struct arguments arguments;
	struct expectations expectations;
	const char *remote;
	struct tenon_module *module;
	struct tenon_module *inspected;
	struct function_run function;
	struct model_run model;
	struct times times;
	struct tenon_buffer labels;
};

/**
 * run_read_options - read the command line
 * @run: receives the options, the names of targets, and the SPECs of arguments and expectations;
 * their lists have room for one per word
 *
 * Return: CLI_OPTIONS_END; CLI_OPTIONS_DONE; or an exit code, its message printed.
 */
int run_read_options(struct cli *cli, struct run *run, int argc, char **argv);

#endif /* TOOLS_RUN_RUN_H */
