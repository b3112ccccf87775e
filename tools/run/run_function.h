/* SPDX-License-Identifier: MIT */
/* tenon run of a function */
#ifndef TOOLS_RUN_RUN_FUNCTION_H
#define TOOLS_RUN_RUN_FUNCTION_H

#include <tenon/module.h>

#include "tools/run/run_arguments.h"
#include "tools/run/run_expect.h"
#include "tools/run/run_options.h"
#include "tools/run/run_times.h"
#include "tools/target/target_list.h"

/**
 * struct function_run - a function to call
 * @name: its name, from the module or the command line
 * @function: the function
 * @tree: the import tree of its file, on this machine
 * @results: results of the last call
 */
struct function_run {
	const char *name;
	struct tenon_function *function;
	struct tenon_module *tree;
	struct results results;
};

/**
 * run_find_named - find the function of --function; without it, check that the root can run
 * @o: options
 * @module: the loaded file
 * @f: receives the function
 *
 * Return: 0; or an exit code, its message printed.
 */
int run_find_named(struct cli *cli, const struct run_options *o, struct tenon_module *module,
		   struct function_run *f);

/** run_find_default - find the function to call without --function; as run_find_named() */
int run_find_default(struct cli *cli, const struct run_options *o, struct tenon_module *module,
		     struct function_run *f);

/**
 * run_function - call the function of run_find_named() or run_find_default()
 * @o: options
 * @targets: devices; the first is used
 * @a: arguments
 * @times: receives how long the calls took
 * @f: the function; receives the results
 *
 * Return: 0; or an exit code, its message printed.
 */
int run_function(struct cli *cli, const struct run_options *o, const struct target_list *targets,
		 struct arguments *a, struct times *times, struct function_run *f);

/** run_function_fini - release function and results */
void run_function_fini(struct function_run *f);

#endif /* TOOLS_RUN_RUN_FUNCTION_H */
