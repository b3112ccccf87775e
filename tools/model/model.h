/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_MODEL_MODEL_H
#define TOOLS_MODEL_MODEL_H

/** DOC: whole models on the command line: opened, given their inputs, measured */

#include <tenon/device.h>
#include <tenon/model.h>

#include "tools/cli/cli.h"
#include "tools/json/json_value.h"
#include "tools/target/target_list.h"
#include "tools/tensor/argument.h"

/**
 * struct model_source - where a model comes from
 * @file: shared object
 * @graph: graph.json kept apart; NULL where the file holds all
 * @params: its parameters; NULL for none
 * @function: which model of the file; NULL for the only one
 * @devices: devices to run on; NULL for the processor
 */
struct model_source {
	const char *file;
	const char *graph;
	const char *params;
	const char *function;
	const struct target_list *devices;
};

/** model_is_root - is a module one that a model can be made of */
bool model_is_root(const struct tenon_module *m);

/**
 * model_open - open a model
 * @module: the file, loaded
 * @describe: only look
 * @out: receives the model
 *
 * Return: 0, or an exit code, its message printed.
 */
int model_open(struct cli *cli, const struct model_source *source, struct tenon_module *module,
	       bool describe, struct tenon_model **out);

/**
 * model_set_inputs - give a model its inputs
 * @list: arguments; those with a name go to that input, the others to the inputs without content,
 *	in their order. Arguments named "t.0", "t.1" are items of the tuple "t" where the model has
 *	no input of such a name.
 * @count: how many
 *
 * Return: 0, or an exit code, its message printed.
 */
int model_set_inputs(struct cli *cli, struct tenon_model *model, const struct argument *list,
		     size_t count);

/** model_fill_inputs - set inputs without a value to random numbers; returns as above */
int model_fill_inputs(struct cli *cli, struct tenon_model *model);

/** model_find_output - number of the output a SPEC is for: by its name, else @next; -1 for none */
int64_t model_find_output(struct tenon_model *model, const struct spec *spec, size_t next);

/**
 * struct profile_op - one operator's share
 * @name: in the model
 * @function: that it calls
 * @calls: how often it ran
 * @ns: all its runs together
 */
struct profile_op {
	char *name;
	char *function;
	uint64_t calls;
	uint64_t ns;
};

/**
 * struct profile - what a profiled model did
 * @ops: by number
 * @count: how many
 * @events: op number, begin and end of each run of an operator, for a trace; kept when @trace is
 *	set
 * @event_count: how many
 * @failed: memory was short: the profile is not whole
 */
struct profile {
	struct profile_op *ops;
	size_t count;
	struct profile_event {
		size_t op;
		uint64_t begin, end;
	} * events;
	size_t event_count;
	bool trace;
	bool failed;
};

/** profile_run - run a model once and add to the profile; returns a status */
int profile_run(struct profile *p, struct tenon_model *model);

/** profile_print - a table of operators, the longest first */
void profile_print(const struct profile *p, FILE *out);

#ifdef CONFIG_JSON
/** profile_json - the operators that ran, in their order; NULL without memory */
cJSON *profile_json(const struct profile *p);
#endif

/**
 * profile_write_trace - write the events for Perfetto or Chrome's about:tracing; returns a status
 */
int profile_write_trace(const struct profile *p, const char *path);

void profile_fini(struct profile *p);

#endif /* TOOLS_MODEL_MODEL_H */
