/* SPDX-License-Identifier: MIT */
/* The options of tenon run */
#ifndef TOOLS_RUN_RUN_OPTIONS_H
#define TOOLS_RUN_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tenon/artifact.h>

/**
 * struct run_options - options of `tenon run`
 * @file: the module's file
 * @function: name of the function; NULL for the default
 * @graph: graph.json in a separate file; NULL for none
 * @params: parameters in a separate file; NULL for none
 * @labels: names of the elements of outputs, in a text file; NULL for none
 * @trace: file that a trace is written to; NULL for none
 * @imports: files of modules to import, in the order given
 * @import_count: how many
 * @targets: devices of target keys
 * @target_count: how many
 * @repeat: number of calls
 * @top: how many of the largest elements of each tensor to list; 0 for none
 * @timeout: seconds; 0 for none
 * @profile: profile the operators of a model
 * @stream: run a model on frames from standard input
 * @verify: load modules only whose payloads have the hashes with which they were linked
 * @json: print JSON
 */
struct run_options {
	const char *file;
	const char *function;
	const char *graph;
	const char *params;
	const char *labels;
	const char *trace;
	const char **imports;
	size_t import_count;
	struct tenon_target *targets;
	size_t target_count;
	uint64_t repeat;
	uint64_t top;
	double timeout;
	bool profile;
	bool stream;
	bool verify;
	bool json;
};

#endif /* TOOLS_RUN_RUN_OPTIONS_H */
