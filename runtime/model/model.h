/* SPDX-License-Identifier: MIT */
/*
 * The interface between executors and the public model API. model.c checks indices and implements
 * the parts of tenon/model.h that are common to all executors.
 */
#ifndef RUNTIME_MODEL_MODEL_H
#define RUNTIME_MODEL_MODEL_H

#include <tenon/model.h>

#include "lib/plugin_api.h"

/** struct model_ops - operations of an executor */
struct model_ops {
	/** @kind: name of the executor: "graph", "aot", "relax" */
	const char *kind;
	size_t (*input_count)(struct tenon_model *m);
	size_t (*output_count)(struct tenon_model *m);
	/** @input: describe an input; the index was checked */
	void (*input)(struct tenon_model *m, size_t index, struct tenon_port *out);
	/** @output: as @input; -TENON_E_NOMEM when a name cannot be allocated */
	int (*output)(struct tenon_model *m, size_t index, struct tenon_port *out);
	/**
	 * @find_input: index of the input with a name, or -1; raises no error. NULL: model.c
	 * compares the names one by one.
	 */
	int64_t (*find_input)(struct tenon_model *m, struct tenon_slice name);
	bool (*input_is_set)(struct tenon_model *m, size_t index);
	/** @set_input: check shape and dtype, and copy; the message need not name the input */
	int (*set_input)(struct tenon_model *m, size_t index, const struct tenon_value *value);
	/** @bind_input: check as @set_input, also device and alignment, and keep the tensor */
	int (*bind_input)(struct tenon_model *m, size_t index, struct tenon_tensor *tensor);
	/**
	 * @set_param: set an input from parameters, in place or with one copy. NULL: model.c makes
	 * a tensor and calls @bind_input.
	 */
	int (*set_param)(struct tenon_model *m, size_t index, struct tenon_params *params,
			 const struct tenon_param *param);
	/**
	 * @run: run once; refuses to run while inputs are not set. Errors get a frame with the
	 * operator's name.
	 */
	int (*run)(struct tenon_model *m);
	/** @run_profiled: separate, so that @run has no branch for profiling */
	int (*run_profiled)(struct tenon_model *m, const struct tenon_profiler *p);
	/** @output_value: get an owned value; the index was checked, and that the model ran */
	int (*output_value)(struct tenon_model *m, size_t index, struct tenon_value *out);
	/**
	 * @bounded: check that no run takes more memory from the heap than another, and none from
	 * malloc(); the error names what does. NULL when that is always so, or never
	 */
	int (*bounded)(struct tenon_model *m);
	/** @device_bytes: most bytes that the drivers of its devices have for it; NULL for none */
	uint64_t (*device_bytes)(struct tenon_model *m);
	/** @shared_bytes: planned memory where it is a dma-buf of its device; NULL for none */
	uint64_t (*shared_bytes)(struct tenon_model *m);
	/** @memory: may be NULL; @out is zeroed */
	void (*memory)(struct tenon_model *m, struct tenon_model_memory *out);
	/** @each_op: NULL when the model has no list of operators */
	int (*each_op)(struct tenon_model *m,
		       int (*visit)(void *context, size_t index, const struct tenon_op *op),
		       void *context);
	/** @value_count: may be NULL if @value is NULL too */
	size_t (*value_count)(struct tenon_model *m);
	/** @value: like @output */
	int (*value)(struct tenon_model *m, size_t index, struct tenon_model_value *out);
	/** @destroy: free everything including the struct, but not @root */
	void (*destroy)(struct tenon_model *m);
};

/**
 * struct tenon_model - common part of all models
 * @ops: the executor
 * @root: module it was created from; referenced by model_init(), dropped by tenon_model_close()
 * @describe: opened for inspection only; model.c refuses to run it
 * @ran: a run succeeded; maintained by model.c
 * @heap: memory that the caller gave; NULL for malloc()
 * @workspace: workspace in it
 */
struct tenon_model {
	const struct model_ops *ops;
	struct tenon_module *root;
	bool describe;
	bool ran;
	struct heap *heap;
	struct workspace *workspace;
};

/** model_init - initialise the common part; last step of an executor's create function */
void model_init(struct tenon_model *m, const struct model_ops *ops, struct tenon_module *root,
		const struct tenon_model_options *o) TO_PLUGINS(model_init);

/* tenon_module_get_function() that returns -TENON_E_NO_FUNCTION when it is missing. */
int model_needs_function(struct tenon_module *library, const char *name,
			 struct tenon_function **out) TO_PLUGINS(model_needs_function);

/**
 * struct executor - an executor; its plug-in hands it over
 *
 * Each executor's folder defines one, named <folder>_executor.
 */
struct executor {
	/**
	 * @create: create a model from a module of such a kind; to describe, also from any module
	 * whose saved bytes are of such a kind
	 *
	 * The options are never NULL. Errors as tenon_model_open(), but without the file's name.
	 */
	int (*create)(struct tenon_module *root, const struct tenon_model_options *o,
		      struct tenon_model **out);
	/** @in_regions: its models run without malloc() where the thread entered a heap (lib/heap.h) */
	bool in_regions;
	/**
	 * @devices_in_regions: so do those that use any device, but for what their drivers allocate: model_ops.device_bytes.
	 * Others with @shares_planned do on devices with TENON_DEVICE_STEADY
	 */
	bool devices_in_regions;
	/** @shares_planned: planned memory that is a dma-buf (heap_dmabuf()) is used by its devices, or refused by name */
	bool shares_planned;
};

#endif /* RUNTIME_MODEL_MODEL_H */
