/* SPDX-License-Identifier: MIT */
/* A function of a Relax executable as a model. */
#ifndef RUNTIME_RELAX_RELAX_MODEL_H
#define RUNTIME_RELAX_RELAX_MODEL_H

#include "runtime/model/model.h"
#include "runtime/relax/relax.h"
#include "runtime/relax/relax_describe.h"

/**
 * struct relax_slot - a parameter, or an item of a tuple parameter
 * @value: owned; None if not set
 * @fact: what is known about it
 * @first: for a tuple, index of the slot of its first item; the others follow
 * @count: for a tuple, how many
 * @tuple: has items; the next run makes @value from them
 * @set: has a value, or is a tuple
 * @copied: @value is a copy that the model owns
 */
struct relax_slot {
	struct tenon_value value;
	uint32_t fact;
	uint32_t first;
	uint32_t count;
	bool tuple;
	bool set;
	bool copied;
};

/** struct relax_input - an input: a slot without items */
struct relax_input {
	uint32_t slot;
	struct tenon_slice name;
	char *own_name; /* "pair.0"; NULL if the executable has the name */
};

/**
 * struct relax_model - the model
 * @base: its common part
 * @x: executable; referenced
 * @machine: virtual machine; NULL when opened for inspection only
 * @function: entry number
 * @description: what is known without a run
 * @slots: slots of parameters, then of tuple items
 * @inputs: in parameter order, with tuples replaced by their items
 * @arguments: arguments of a call; borrowed from @slots
 * @result: result of the last run; owned
 * @outputs: values in @result with tuples flattened; borrowed
 * @expected: facts of outputs that are known before a run
 * @expected_count: how many
 * @names: of outputs and values, created on request
 */
struct relax_model {
	struct tenon_model base;
	struct relax_executable *x;
	struct relax_vm *machine;
	uint32_t function;
	struct relax_description description;
	struct relax_slot *slots;
	uint32_t slot_count;
	struct relax_input *inputs;
	uint32_t input_count;
	struct tenon_value *arguments;
	struct tenon_value result;
	struct tenon_value *outputs;
	uint32_t output_count;
	uint32_t output_room;
	uint32_t *expected;
	uint32_t expected_count;
	char **names;
	uint32_t name_count;
};

/* executor.create */
int relax_model_create(struct tenon_module *root, const struct tenon_model_options *o,
		       struct tenon_model **out);

/* relax_model_input.c */
int relax_model_make_inputs(struct relax_model *m);
int relax_model_set_input(struct tenon_model *model, size_t index, const struct tenon_value *value);
int relax_model_bind_input(struct tenon_model *model, size_t index, struct tenon_tensor *tensor);

/* Use a parameter in place if the model runs on the host, else copy it. */
int relax_model_set_param(struct tenon_model *model, size_t index, struct tenon_params *params,
			  const struct tenon_param *param);
/* Build the arguments of a call. -TENON_E_USAGE, naming the input, when one is not set. */
int relax_model_gather(struct relax_model *m);

/* relax_model_ops.c */
void relax_model_port(const struct relax_fact *f, struct tenon_port *out);
/* Make a name like "output3" or "t12", valid as long as the model. 0; -TENON_E_NOMEM. */
int relax_model_name(struct relax_model *m, const char *prefix, uint32_t number,
		     struct tenon_slice *out);
int relax_model_each_op(struct tenon_model *model,
			int (*visit)(void *context, size_t index, const struct tenon_op *op),
			void *context);
size_t relax_model_value_count(struct tenon_model *model);
int relax_model_value(struct tenon_model *model, size_t index, struct tenon_model_value *out);
int relax_model_run_profiled(struct tenon_model *model, const struct tenon_profiler *p);

int relax_model_run(struct tenon_model *model);

/* relax_bounded.c: model_ops.bounded */
int relax_model_bounded(struct tenon_model *model);

#endif /* RUNTIME_RELAX_RELAX_MODEL_H */
