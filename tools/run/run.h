/* SPDX-License-Identifier: MIT */
/* The steps of tenon run, and the state that they pass on. */
#ifndef TOOLS_RUN_RUN_H
#define TOOLS_RUN_RUN_H

#include <tenon/artifact.h>
#include <tenon/buffer.h>
#include <tenon/function.h>
#include <tenon/model.h>
#include <tenon/module.h>

#include "tools/cli/verbs.h"
#include "tools/device_option/kernels.h"
#include "tools/device_option/target_list.h"
#include "tools/opened_model/model.h"
#include "tools/tensor/argument.h"
#include "tools/tensor/compare.h"

/**
 * struct run_options - options of `tenon run`
 * @file: the module's file
 * @function: name of the function; NULL for the default
 * @graph: graph.json in a separate file; NULL for none
 * @params: parameters in separate files
 * @labels: names of the elements of outputs, in a text file; NULL for none
 * @trace: file that a trace is written to; NULL for none
 * @record: folder that a record of the run is written to; NULL for none
 * @record_limit: bytes of that record at most
 * @remote: server that runs it; NULL for this machine
 * @imports: files of modules to import, in the order given
 * @import_count: how many
 * @targets: devices of target keys
 * @target_count: how many
 * @repeat: number of calls
 * @top: how many of the largest elements of each tensor to list; 0 for none
 * @timeout: seconds; 0 for none
 * @tolerance: largest difference from --expect that counts as equal
 * @memory: measure the memory of a model instead of running it on inputs
 * @profile: profile the operators of a model
 * @self_test: run the cases in the file
 * @reference: with @self_test: a module whose operators are right; NULL for none
 * @stream: run a model on frames from standard input
 * @verify: load modules only whose payloads have the hashes with which they were linked
 * @json: print JSON
 */
struct run_options {
	const char *file;
	const char *function;
	const char *graph;
	struct model_params params;
	const char *labels;
	const char *trace;
	const char *record;
	uint64_t record_limit;
	const char *remote;
	const char *reference;
	const char **imports;
	size_t import_count;
	struct tenon_target *targets;
	size_t target_count;
	uint64_t repeat;
	uint64_t top;
	double timeout;
	struct tolerance tolerance;
	bool memory;
	bool profile;
	bool stream;
	bool self_test;
	bool verify;
	bool json;
};

/**
 * struct arguments - inputs and outputs, in the order given
 * @at: arguments
 * @count: how many
 * @output_count: number of outputs among them
 */
struct arguments {
	struct argument *at;
	size_t count;
	size_t output_count;
};

/**
 * struct expectations - expected results, in the order given
 * @at: the expected values
 * @comparisons: one comparison each, made after the run
 * @count: how many
 */
struct expectations {
	struct argument *at;
	struct comparison *comparisons;
	size_t count;
};

/**
 * struct results - what the last call gave
 * @at: owned values: the outputs of a model; or the outputs of a function and its return value,
 * unless that is None and there are outputs
 * @count: how many
 */
struct results {
	struct tenon_value *at;
	size_t count;
};

/**
 * struct times - duration of each call
 * @ns: nanoseconds; sorted for the report
 * @count: how many calls there are
 */
struct times {
	uint64_t *ns;
	uint64_t count;
};

/**
 * struct run - one `tenon run`
 * @options: options from the command line
 * @labels: the file of --labels
 * @targets: devices to run on
 * @arguments: arguments of the function or model
 * @expectations: expected results
 * @module: the loaded file
 * @inspected: the file here, if @module is on another machine
 * @name: name of the called function, from the module or the command line
 * @function: the called function, if one is run
 * @model: the model, if one is run
 * @kernels: its kernels that are being built
 * @operators: profile of its operators, over all runs
 * @results: results of the last call
 * @times: how long the calls took
 */
struct run {
	struct run_options options;
	struct tenon_buffer labels;
	struct target_list targets;
	struct arguments arguments;
	struct expectations expectations;
	struct tenon_module *module;
	struct tenon_module *inspected;
	const char *name;
	struct tenon_function *function;
	struct tenon_model *model;
	struct kernels kernels;
	struct profile operators;
	struct results results;
	struct times times;
};

/** run_tree - the import tree of the file, on this machine */
static inline struct tenon_module *run_tree(const struct run *run)
{
	return run->inspected ? run->inspected : run->module;
}

/*
 * The steps return 0 or an exit code, its message printed, unless they say otherwise.
 */

/**
 * run_read_options - read the command line, and the file of --labels
 * @run: receives the options, the names of targets, and the SPECs of arguments and expectations
 *
 * Return: 0; CLI_OPTIONS_DONE; or an exit code, its message printed.
 */
int run_read_options(struct cli *cli, struct run *run, int argc, char **argv);

/** run_make_arguments - make the values of --input, --output and --expect */
int run_make_arguments(struct cli *cli, struct run *run);

/** run_release_arguments - release values and tensors, and free the lists */
void run_release_arguments(struct run *run);

/** run_put_arguments - copy the arguments to the device, and select it for the thread */
int run_put_arguments(struct cli *cli, struct run *run);

/** run_get_outputs - copy outputs and a returned tensor back to the host */
int run_get_outputs(struct cli *cli, const struct run *run, struct tenon_value *returned);

/** run_drop_results - release the results; the list keeps its capacity */
void run_drop_results(struct results *r);

/** run_compare - compare the results with --expect; CLI_OK, CLI_DIFFERS, or as other steps */
int run_compare(struct cli *cli, struct run *run);

/**
 * run_find_function - find the function of --function, or the one to call without it
 *
 * Options for models are refused as soon as it is clear that the file is run as no model.
 */
int run_find_function(struct cli *cli, struct run *run);

/** run_function - find the function, and call it as often as asked */
int run_function(struct cli *cli, struct run *run);

/** run_is_model - test whether to run the module as a model instead of one function */
bool run_is_model(const struct run *run);

/** run_model - open the model, run it as often as asked, write outputs and measurements */
int run_model(struct cli *cli, struct run *run);

/** run_stream - run the model on frames from standard input; returns an exit code */
int run_stream(struct cli *cli, struct run *run);

/** run_open_model - open the model, with the parameters of the command line; an exit code */
int run_open_model(struct cli *cli, struct run *run);

/** run_self_test - run the model on the cases of its file, and print KTAP; an exit code */
int run_self_test(struct cli *cli, struct run *run);

/** run_model_failed - print why the model failed, and the remedy; returns the exit code */
int run_model_failed(struct cli *cli, const struct run *run);

/** run_take_outputs - copy the outputs of the last run of the model to the host; a status */
int run_take_outputs(struct run *run);

/** run_close_model - release the model and its profile */
void run_close_model(struct run *run);

/** run_begin_record - begin the record of --record; an exit code */
int run_begin_record(struct cli *cli, const struct run_options *o);

/** run_end_record - write it, and print what it has and lacks; an exit code */
int run_end_record(struct cli *cli, const struct run_options *o);

/** run_report - print the results as text */
void run_report(const struct run *run, FILE *out);

/** run_check_labels - warn of --labels that are not as many as the elements of any output */
void run_check_labels(const struct run *run, FILE *err);

/** run_report_json - print the results as JSON; 0 or -TENON_E_NOMEM */
int run_report_json(const struct run *run, FILE *out);

/** run_memory - measure the memory of the model in the file and print it; 0 or an exit code, its message printed */
int run_memory(struct cli *cli, struct run *run);

#endif /* TOOLS_RUN_RUN_H */
