/* SPDX-License-Identifier: MIT */
/* tenon run of a whole model */
#ifndef TOOLS_RUN_RUN_MODEL_H
#define TOOLS_RUN_RUN_MODEL_H

#include <tenon/model.h>
#include <tenon/module.h>

#include "tools/model/model.h"
#include "tools/run/run_arguments.h"
#include "tools/run/run_expect.h"
#include "tools/run/run_options.h"
#include "tools/run/run_times.h"
#include "tools/target/kernels.h"

/**
 * struct model_run - a running model
 * @model: the model; NULL when a function is called
 * @file: the file that it is in
 * @tree: the import tree of that file, on this machine
 * @targets: the devices it runs on
 * @outputs: outputs of the last run
 * @kernels: kernels that are being built
 * @operators: profile of the operators, over all runs
 */
struct model_run {
	struct tenon_model *model;
	const char *file;
	struct tenon_module *tree;
	const struct target_list *targets;
	struct kernels kernels;
	struct results outputs;
	struct profile operators;
};

#ifdef CONFIG_EXECUTORS
/** run_is_model - test whether to run the module as a model instead of one function */
bool run_is_model(const struct run_options *o, struct tenon_module *module);

/** run_model_open - create the model and set its inputs; 0 or an exit code */
int run_model_open(struct cli *cli, const struct run_options *o, struct tenon_module *module,
		   const struct target_list *targets, const struct arguments *a,
		   struct model_run *m);

/** run_model - run it, write outputs and measurements; 0 or an exit code */
int run_model(struct cli *cli, const struct run_options *o, const struct target_list *targets,
	      const struct arguments *a, struct times *times, struct model_run *m);

/** run_stream - run it on frames from standard input; returns an exit code */
int run_stream(struct cli *cli, struct expectations *e, struct model_run *m);

/** run_model_failed - print why the model failed, and the remedy; returns the exit code */
int run_model_failed(struct cli *cli, const struct model_run *m);

/** run_model_take_outputs - copy the outputs of the last run to the host; a status */
int run_model_take_outputs(struct model_run *m);

/** run_model_fini - release the model and its outputs */
void run_model_fini(struct model_run *m);
#else
static inline bool run_is_model(const struct run_options *o, struct tenon_module *module)
{
	(void)module;
	return o->graph;
}

static inline int run_model_open(struct cli *cli, const struct run_options *o,
				 struct tenon_module *module, const struct target_list *targets,
				 const struct arguments *a, struct model_run *m)
{
	(void)module;
	(void)targets;
	(void)a;
	(void)m;
	fprintf(cli->err,
		"tenon: --graph %s: models are not in this build; enable "
		"CONFIG_GRAPH_EXECUTOR\n",
		o->graph);
	return CLI_UNAVAILABLE;
}

static inline int run_model(struct cli *cli, const struct run_options *o,
			    const struct target_list *targets, const struct arguments *a,
			    struct times *times, struct model_run *m)
{
	(void)cli;
	(void)o;
	(void)targets;
	(void)a;
	(void)times;
	(void)m;
	return CLI_UNAVAILABLE; /* unreachable: no model was opened */
}

static inline int run_stream(struct cli *cli, struct expectations *e, struct model_run *m)
{
	(void)cli;
	(void)e;
	(void)m;
	return CLI_UNAVAILABLE;
}

static inline void run_model_fini(struct model_run *m)
{
	(void)m;
}
#endif

#endif /* TOOLS_RUN_RUN_MODEL_H */
