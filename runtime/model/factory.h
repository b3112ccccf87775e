/* SPDX-License-Identifier: MIT */
/* Factories: files with a whole model for the graph or ahead-of-time executor. */
#ifndef RUNTIME_MODEL_FACTORY_H
#define RUNTIME_MODEL_FACTORY_H

/*
 * The root of a file with a model for the graph or ahead-of-time executor: a description, the
 * parameters, the model's name, and a function of that name, which creates an executor module. The
 * imports contain the code.
 */

#include <tenon/backend/module_kind.h>
#include <tenon/params.h>

#include "lib/brief_errors.h"
#include "lib/option.h"
#include "runtime/model/model.h"

/* 0 where programs use executors by tenon/model.h alone: the compiler leaves out the functions that TVM's host code calls */
#define HAS_EXECUTOR_FUNCTIONS OPTION_ON(EXECUTOR_FUNCTIONS)

static inline int executor_functions_off(void)
{
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "CONFIG_EXECUTOR_FUNCTIONS is off in this build: open the model by "
			   "tenon_model_open()");
}

/* Creates an executor module; the imports of @root contain the code. */
typedef int (*factory_make_fn)(struct tenon_module *root, const struct tenon_model_options *o,
			       struct tenon_module **out);

/**
 * struct factory - a factory module
 * @base: base module
 * @graph: true for the graph executor
 * @make: implementation of its function
 * @json: graph.json; empty for the ahead-of-time executor
 * @params: parameters; NULL after their removal
 * @name: name of the model, usually "default"
 * @bytes: the payload
 * @keep: keeps the payload alive
 */
struct factory {
	struct tenon_module base;
	bool graph;
	factory_make_fn make;
	struct tenon_slice json;
	struct tenon_params *params;
	struct tenon_slice name;
	struct tenon_slice bytes;
	struct tenon_object *keep;
};

/* Create a factory from a payload; as tenon_module_loader.load. */
int factory_load(bool graph, factory_make_fn make, struct tenon_cursor *c,
		 const struct tenon_payload *payload, struct tenon_module **out);

/**
 * factory_of - get a factory from a module
 * @m: a factory, or a payload module of such a kind, which is then parsed
 * @name: required name of the model; NULL for any
 * @out: receives the factory with one reference
 *
 * Return: 0; -TENON_E_NOT_FOUND for a model of another name; as tenon_module_save() and the loader.
 */
int factory_of(struct tenon_module *m, const char *name, struct factory **out);

/* Get the import with the code. Return: 0; -TENON_E_FORMAT when there is none. */
int factory_library(const struct tenon_module *m, struct tenon_module **out);

#endif /* RUNTIME_MODEL_FACTORY_H */
