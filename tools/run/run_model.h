/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_RUN_RUN_MODEL_H
#define TOOLS_RUN_RUN_MODEL_H

/** DOC: tenon run, of a whole model */

#include <tenon/model.h>
#include <tenon/module.h>

#include "tools/model/model.h"
#include "tools/run/run_arguments.h"
#include "tools/run/run_expect.h"
#include "tools/run/run_options.h"
#include "tools/run/run_times.h"

/**
 * struct model_run - a model that is run
 * @model: it; NULL while a function is called
 * @outputs: of the last run
 * @operators: how long they took, over all runs
 */
struct model_run {
	struct tenon_model *model;
	struct results outputs;
	struct profile operators;
};

#ifdef CONFIG_EXECUTORS
/** run_is_model - is what was loaded run as a model, rather than one function of it */
bool run_is_model(const struct run_options *o, struct tenon_module *module);

/** run_model_open - make a model of what was loaded, and give it its inputs; 0 or an exit code */
int run_model_open(struct cli *cli, const struct run_options *o, struct tenon_module *module,
		   const struct target_list *targets, const struct arguments *a,
		   struct model_run *m);

/** run_model - run it, write outputs and what was measured; 0 or an exit code */
int run_model(struct cli *cli, const struct run_options *o, const struct target_list *targets,
	      const struct arguments *a, struct times *times, struct model_run *m);

/** run_stream - run it on frames; returns an exit code */
int run_stream(struct cli *cli, const char *file, struct expectations *e, struct model_run *m);

/** run_model_failed - print why the model in @file failed, and return the exit code for it */
int run_model_failed(struct cli *cli, const char *file);

/** run_model_take_outputs - take the outputs of the last run to the host; a status */
int run_model_take_outputs(struct model_run *m);

/** run_model_fini - drop the model and its outputs */
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
		"CONFIG_EXECUTORS\n",
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
	return CLI_UNAVAILABLE; /* not reached: none was opened */
}

static inline int run_stream(struct cli *cli, const char *file, struct expectations *e,
			     struct model_run *m)
{
	(void)cli;
	(void)file;
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
