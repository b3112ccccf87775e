/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_MODEL_EXECUTOR_MODULE_H
#define RUNTIME_MODEL_EXECUTOR_MODULE_H

/*
 * Executors as TVM's host code knows them: modules whose functions set inputs, run, and give outputs.
 * The conventions are TVM's: inputs by number or name, and a name that is unknown is passed over.
 */

#include <tenon/backend/module_kind.h>

#include "runtime/model/method.h"
#include "runtime/model/model.h"

/**
 * struct executor_module - a model as a module
 * @base: kind "GraphExecutor" or "AotExecutor"
 * @model: the model
 * @methods: functions
 */
struct executor_module {
	struct tenon_module base;
	struct tenon_model *model;
	const struct method *methods;
};

/* Make a module of a model, which it takes over; on failure too. 0; -TENON_E_NOMEM. */
int executor_module_create(struct tenon_model *model, const char *kind,
			   const struct method *methods, struct tenon_module **out);

/* The model of a module made here; NULL for every other one. */
struct tenon_model *executor_module_model(const struct tenon_module *m);

/* Number of the input or output that @key names; -1 when the name is unknown. 0; a negative status. */
int executor_input_key(struct tenon_model *model, const struct tenon_value *key, int64_t *index);
int executor_output_key(struct tenon_model *model, const struct tenon_value *key, int64_t *index);

/* functions that are the same for all executors */
int executor_set_input(struct tenon_module *m, const struct tenon_value *args, int32_t count,
		       struct tenon_value *ret);
int executor_get_output(struct tenon_module *m, const struct tenon_value *args, int32_t count,
			struct tenon_value *ret);
int executor_run(struct tenon_module *m, const struct tenon_value *args, int32_t count,
		 struct tenon_value *ret);
int executor_get_num_inputs(struct tenon_module *m, const struct tenon_value *args, int32_t count,
			    struct tenon_value *ret);
int executor_get_num_outputs(struct tenon_module *m, const struct tenon_value *args, int32_t count,
			     struct tenon_value *ret);
int executor_get_input_index(struct tenon_module *m, const struct tenon_value *args, int32_t count,
			     struct tenon_value *ret);
int executor_get_input_name(struct tenon_module *m, const struct tenon_value *args, int32_t count,
			    struct tenon_value *ret);
int executor_get_input_info(struct tenon_module *m, const struct tenon_value *args, int32_t count,
			    struct tenon_value *ret);
int executor_get_output_info(struct tenon_module *m, const struct tenon_value *args, int32_t count,
			     struct tenon_value *ret);
int executor_load_params(struct tenon_module *m, const struct tenon_value *args, int32_t count,
			 struct tenon_value *ret);

#endif /* RUNTIME_MODEL_EXECUTOR_MODULE_H */
