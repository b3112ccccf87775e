/* SPDX-License-Identifier: MIT */
/*
 * Executors as modules for TVM's host code: functions set inputs, run, and return outputs. As in
 * TVM, inputs are selected by index or name, and an unknown name is ignored.
 */
#ifndef RUNTIME_MODEL_EXECUTOR_MODULE_H
#define RUNTIME_MODEL_EXECUTOR_MODULE_H

#include <tenon/backend/module_kind.h>

#include "runtime/model/method.h"
#include "runtime/model/model.h"

/**
 * struct executor_module - a model wrapped in a module
 * @base: kind "GraphExecutor" or "AotExecutor"
 * @model: the model
 * @methods: functions
 */
struct executor_module {
	struct tenon_module base;
	struct tenon_model *model;
	const struct method *methods;
};

/* Wrap a model in a module, which owns it; also consumed on failure. 0; -TENON_E_NOMEM. */
int executor_module_create(struct tenon_model *model, const char *kind,
			   const struct method *methods, struct tenon_module **out);

/* Get the model of an executor module; NULL for other modules. */
struct tenon_model *executor_module_model(const struct tenon_module *m);

/* Get the index of an input or output by @key; -1 for an unknown name. 0; a negative status. */
int executor_input_key(struct tenon_model *model, const struct tenon_value *key, int64_t *index);
int executor_output_key(struct tenon_model *model, const struct tenon_value *key, int64_t *index);

/* functions common to all executors */
METHOD_CALL(executor_set_input);
METHOD_CALL(executor_get_output);
METHOD_CALL(executor_run);
METHOD_CALL(executor_get_num_inputs);
METHOD_CALL(executor_get_num_outputs);
METHOD_CALL(executor_get_input_index);
METHOD_CALL(executor_get_input_name);
METHOD_CALL(executor_get_input_info);
METHOD_CALL(executor_get_output_info);
METHOD_CALL(executor_load_params);

#endif /* RUNTIME_MODEL_EXECUTOR_MODULE_H */
