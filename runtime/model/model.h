/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_MODEL_MODEL_H
#define RUNTIME_MODEL_MODEL_H

/*
 * What an executor gives to the common face of models. model.c checks indices, and keeps the rest
 * of the contract of tenon/model.h that is the same for all.
 */

#include <tenon/model.h>

#include "lib/plugin_api.h"

/** struct model_ops - an executor */
struct model_ops {
	/** @kind: "graph", "aot", "relax" */
	const char *kind;
	size_t (*input_count)(struct tenon_model *m);
	size_t (*output_count)(struct tenon_model *m);
	/** @input: describe an input; the index was checked */
	void (*input)(struct tenon_model *m, size_t index, struct tenon_port *out);
	/** @output: as @input, but -TENON_E_NOMEM where a name is made for it and cannot be */
	int (*output)(struct tenon_model *m, size_t index, struct tenon_port *out);
	/**
	 * @find_input: number of the input with a name, or -1; raises nothing. NULL: names are
	 *	compared
	 * one by one, byte by byte.
	 */
	int64_t (*find_input)(struct tenon_model *m, struct tenon_slice name);
	bool (*input_is_set)(struct tenon_model *m, size_t index);
	/** @set_input: check shape and dtype, and copy; the message need not name the input */
	int (*set_input)(struct tenon_model *m, size_t index, const struct tenon_value *value);
	/** @bind_input: check as @set_input, device and alignment too, and keep the tensor */
	int (*bind_input)(struct tenon_model *m, size_t index, struct tenon_tensor *tensor);
	/**
	 * @set_param: set an input from parameters, in place or by one copy. NULL: model.c makes a
	 * tensor and calls @bind_input.
	 */
	int (*set_param)(struct tenon_model *m, size_t index, struct tenon_params *params,
			 const struct tenon_param *param);
	/**
	 * @run: run once; inputs that are not set are refused here. A failing op is named in a
	 * frame.
	 */
	int (*run)(struct tenon_model *m);
	/** @run_profiled: a function of its own, so that @run has no branch for it */
	int (*run_profiled)(struct tenon_model *m, const struct tenon_profiler *p);
	/** @output_value: an owned value; the index was checked, and that the model ran */
	int (*output_value)(struct tenon_model *m, size_t index, struct tenon_value *out);
	/** @memory: may be NULL; @out is zero */
	void (*memory)(struct tenon_model *m, struct tenon_model_memory *out);
	/** @each_op: may be NULL: the model has no list of operators */
	int (*each_op)(struct tenon_model *m,
		       int (*visit)(void *context, size_t index, const struct tenon_op *op),
		       void *context);
	/** @value_count: may be NULL, then @value is too */
	size_t (*value_count)(struct tenon_model *m);
	/** @value: as @output */
	int (*value)(struct tenon_model *m, size_t index, struct tenon_model_value *out);
	/** @destroy: release all, the struct itself included, but not @root */
	void (*destroy)(struct tenon_model *m);
};

/**
 * struct tenon_model - start of every executor's model
 * @ops: the executor
 * @root: module it was made of; referenced by model_init(), dropped by tenon_model_close()
 * @describe: opened to be looked at only; model.c refuses to run it
 * @ran: a run succeeded; kept by model.c
 */
struct tenon_model {
	const struct model_ops *ops;
	struct tenon_module *root;
	bool describe;
	bool ran;
};

/** model_init - fill the start of a model; for an executor's create function, as its last step */
void model_init(struct tenon_model *m, const struct model_ops *ops, struct tenon_module *root,
		const struct tenon_model_options *o) TO_PLUGINS(model_init);

/* tenon_module_get_function() of what a model calls: -TENON_E_NO_FUNCTION when it is missing. */
int model_needs_function(struct tenon_module *library, const char *name,
			 struct tenon_function **out) TO_PLUGINS(model_needs_function);

/**
 * struct executor - what an executor gives to the table of executors.c; a plug-in offers one
 *
 * Each folder has one, called <folder>_executor.
 */
struct executor {
	/** @loaders: of the kinds of modules that are its models, ended by NULL */
	const struct tenon_module_loader *const *loaders;
	/**
	 * @create: make a model of a module of such a kind; to describe, any module whose saved bytes are
	 * of such a kind
	 *
	 * The options are never NULL. Errors as tenon_model_open(), but without the file's name.
	 */
	int (*create)(struct tenon_module *root, const struct tenon_model_options *o,
		      struct tenon_model **out);
	/** @open_graph: tenon_model_open_graph(), with options that are never NULL; NULL for others */
	int (*open_graph)(struct tenon_module *library, struct tenon_slice graph,
			  struct tenon_params *params, const struct tenon_model_options *o,
			  struct tenon_model **out);
	/** @create_module: the function `tvm.graph_executor.create`; NULL for others */
	tenon_call_fn create_module;
};

#endif /* RUNTIME_MODEL_MODEL_H */
