/* SPDX-License-Identifier: MIT */
/* Whole models on the command line: opening, inputs, measurement. */
#ifndef TOOLS_OPENED_MODEL_MODEL_H
#define TOOLS_OPENED_MODEL_MODEL_H

#include <tenon/device.h>
#include <tenon/model.h>

#include "tools/cli/cli.h"
#include "tools/device_option/target_list.h"
#include "tools/json/json_value.h"
#include "tools/opened_model/model_params.h"
#include "tools/tensor/argument.h"

/**
 * struct model_source - files and options to open a model from
 * @file: shared object
 * @graph: graph.json in a separate file; NULL if @file contains it
 * @params: its parameters
 * @function: name of the model in the file; NULL for the only one
 * @devices: devices to run on; NULL for the processor
 * @tree: the import tree of @file on this machine, for advice about @devices; NULL for none
 */
struct model_source {
	const char *file;
	const char *graph;
	struct model_params params;
	const char *function;
	const struct target_list *devices;
	struct tenon_module *tree;
};

/** model_is_root - test whether a module can be opened as a model */
bool model_is_root(const struct tenon_module *m);

/**
 * model_open - open a model
 * @module: the loaded file
 * @describe: for inspection only
 * @out: receives the model
 *
 * Return: 0, or an exit code, its message printed.
 */
int model_open(struct cli *cli, const struct model_source *source, struct tenon_module *module,
	       bool describe, struct tenon_model **out);

/**
 * model_set_inputs - set the inputs of a model
 * @list: arguments. Named ones set the input of that name, others the inputs not yet set, in order.
 * Arguments named "t.0", "t.1" are items of the tuple "t" if the model has no input of such a name.
 * @count: how many
 *
 * Return: 0, or an exit code, its message printed.
 */
int model_set_inputs(struct cli *cli, struct tenon_model *model, const struct argument *list,
		     size_t count);

/**
 * model_need_inputs - require that all inputs have a content
 * @source: where the model is from
 *
 * Return: 0; CLI_USAGE, its message printed: each missing input with its type and an example.
 */
int model_need_inputs(struct cli *cli, const struct model_source *source,
		      struct tenon_model *model);

/** model_fill_inputs - set inputs without a value to random numbers; as model_set_inputs() */
int model_fill_inputs(struct cli *cli, struct tenon_model *model);

/** model_find_output - output index for a SPEC: by name, else @next; -1 if there is none */
int64_t model_find_output(struct tenon_model *model, const struct spec *spec, size_t next);

/** model_short_name - a function's name without what TVM puts before the names of all operators */
struct tenon_slice model_short_name(struct tenon_slice function);

/**
 * struct profile_op - time of one operator
 * @name: name in the model
 * @function: function that it calls
 * @calls: number of runs
 * @ns: total time of its runs
 */
struct profile_op {
	char *name;
	char *function;
	uint64_t calls;
	uint64_t ns;
};

/**
 * struct profile - profile of a model
 * @ops: operators by index
 * @count: how many
 * @failed: memory ran out: the profile is incomplete
 */
struct profile {
	struct profile_op *ops;
	size_t count;
	bool failed;
};

/** profile_run - run a model once and add to the profile; returns a status */
int profile_run(struct profile *p, struct tenon_model *model);

/** profile_print - print the operators as a table, by descending time; 0; -TENON_E_NOMEM */
int profile_print(const struct profile *p, FILE *out);

#ifdef CONFIG_JSON
/** profile_json - the operators that ran, in execution order; NULL if out of memory */
cJSON *profile_json(const struct profile *p);
#endif

void profile_fini(struct profile *p);

/*
 * A function of a Relax executable may take tuples. If its instructions access the items, these are
 * separate inputs "t.0" and "t.1". Otherwise, mostly for compiled functions, only the name "t" is
 * known, and the arguments t.0, t.1.0, t.1.1 … are combined to the value of that input.
 */

/**
 * model_tuple_input - find the tuple input of an argument
 * @a: an argument with a name
 * @index: receives the index of the input
 *
 * Return: true when no input has the argument's own name, but one has the name of its tuple.
 */
bool model_tuple_input(struct tenon_model *model, const struct argument *a, size_t *index);

/**
 * model_tuple_set - build a tuple from its items' arguments and set the input
 * @index: index of the input
 * @list: all arguments
 * @count: how many
 *
 * Return: 0; -TENON_E_USAGE for missing or duplicate items; as tenon_model_set_input().
 */
int model_tuple_set(struct tenon_model *model, size_t index, const struct argument *list,
		    size_t count);

#endif /* TOOLS_OPENED_MODEL_MODEL_H */
