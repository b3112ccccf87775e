/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_RUN_RUN_H
#define TOOLS_RUN_RUN_H

/** DOC: tenon run, its parts */

#include <tenon/device.h>
#include <tenon/model.h>
#include <tenon/module.h>

#include "tools/cli/cli.h"
#include "tools/model/model.h"
#include "tools/target/target_list.h"
#include "tools/tensor/argument.h"
#include "tools/tensor/compare.h"
#include "tools/text/timing.h"

extern const struct cli_command run_command;

/**
 * struct run - one `tenon run`
 * @file: the module's file
 * @function: name of the function; NULL for the default
 * @devices: what --device says; a function takes one
 * @device: the first as text
 * @on: the first, borrowed; NULL for the processor
 * @json: answer in JSON
 * @tolerance: how far from the expected is still equal
 * @repeat: how often to call
 * @timeout: seconds; 0 for none
 * @arguments: inputs and outputs, in the order given
 * @expects: what is expected, in the order given
 * @comparisons: one for each of @expects, after the run
 * @values: scratch: the views handed to the function
 * @imports: files of modules that the module shall import, in the order given
 * @argument_count: how many
 * @expect_count: how many
 * @output_count: how many of @arguments are outputs
 * @import_count: how many
 * @module: the file, loaded
 * @called: the function
 * @result: what the last call returned, owned
 * @ns: time of each call, sorted after the run
 * @graph: graph.json kept apart from the library; NULL for none
 * @params: parameters kept apart; NULL for none
 * @trace: file that a trace of a model's operators is written to; NULL for none
 * @profile: tell how long each of a model's operators took
 * @operators: and how long they took, over all runs
 * @top: how many of the largest elements of each tensor to list; 0 for none
 * @stream: run a model on frames from standard input
 * @model: the model, when it is one that is run
 * @model_outputs: its outputs, owned
 * @model_output_count: how many
 */
struct run {
	const char *file;
	const char *function;
	struct target_list devices;
	const char *device;
	struct tenon_device *on;
	bool json;
	struct tolerance tolerance;
	uint64_t repeat;
	double timeout;
	struct argument *arguments;
	struct argument *expects;
	struct comparison *comparisons;
	struct tenon_value *values;
	const char **imports;
	size_t argument_count, expect_count, output_count, import_count;
	struct tenon_module *module;
	struct tenon_function *called;
	struct tenon_value result;
	uint64_t *ns;
	const char *graph;
	const char *params;
	const char *trace;
	bool profile;
	struct profile operators;
	uint64_t top;
	bool stream;
	struct tenon_model *model;
	struct tenon_value *model_outputs;
	size_t model_output_count;
};

/** run_options - read the command line into @run; returns CLI_OPTIONS_END, _DONE or an exit code */
int run_options(struct cli *cli, struct run *run, int argc, char **argv);

/**
 * run_find_named - find the function that --function names; without it, see that the root can run
 *
 * Return: 0; or an exit code, its message printed.
 */
int run_find_named(struct cli *cli, struct run *run);

/** run_find_default - find the function to call where none was named; returns as above */
int run_find_default(struct cli *cli, struct run *run);

/**
 * run_result_count - results that can be compared: the outputs, then the returned value, unless it is
 * None and there are outputs
 */
size_t run_result_count(const struct run *run);

/** run_result - the i-th of them, as a view */
const struct tenon_value *run_result(const struct run *run, size_t i);

/** run_compare - compare the results with what is expected; CLI_OK, CLI_DIFFERS or another exit code */
int run_compare(struct cli *cli, struct run *run);

/** report_top - print the largest elements of a tensor, where that was asked for */
void report_top(const struct run *run, const struct tenon_value *value, FILE *out);

/** run_report - print what came out, for people */
void run_report(const struct run *run, FILE *out);

#ifdef CONFIG_EXECUTORS
/** run_is_model - is what was loaded run as a model, rather than one function of it */
bool run_is_model(const struct run *run);

/** run_model - make a model of what was loaded, and run it; returns an exit code */
int run_model(struct cli *cli, struct run *run);

/** run_model_failed - print why the model failed, and return the exit code for it */
int run_model_failed(struct cli *cli, const struct run *run);

/** run_model_take_outputs - take the outputs of the last run to the host; a status */
int run_model_take_outputs(struct run *run);

/** run_model_drop_outputs - drop what was taken */
void run_model_drop_outputs(struct run *run);

/** run_stream - run the model on frames; returns an exit code */
int run_stream(struct cli *cli, struct run *run);

/** run_report_model - print a model's outputs, for people */
void run_report_model(const struct run *run, FILE *out);

/** run_model_fini - drop the model and its outputs */
void run_model_fini(struct run *run);
#else
static inline bool run_is_model(const struct run *run)
{
	return run->graph;
}

static inline int run_model(struct cli *cli, struct run *run)
{
	fprintf(cli->err,
		"tenon: --graph %s: models are not in this build; enable "
		"CONFIG_EXECUTORS\n",
		run->graph);
	return CLI_UNAVAILABLE;
}

static inline void run_report_model(const struct run *run, FILE *out)
{
	(void)run;
	(void)out;
}

static inline void run_model_fini(struct run *run)
{
	(void)run;
}
#endif

#ifdef CONFIG_JSON
/** run_report_json - print what came out, as JSON; 0 or -TENON_E_NOMEM */
int run_report_json(const struct run *run, FILE *out);
#else
static inline int run_report_json(const struct run *run, FILE *out)
{
	(void)run;
	(void)out;
	return -TENON_E_UNSUPPORTED; /* never asked for: --json was refused */
}
#endif

#endif /* TOOLS_RUN_RUN_H */
