/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_MODEL_FACTORY_H
#define RUNTIME_MODEL_FACTORY_H

/**
 * DOC: factories
 *
 * The root of a file with a model for the graph or the ahead-of-time executor: a description, the
 * parameters, the model's name, and the function of that name, which makes an executor module. The
 * code is in its imports.
 */

#include <tenon/backend/module_kind.h>
#include <tenon/params.h>

#include "runtime/model/model.h"

/* What a factory's function makes: an executor module; @root holds the imports. */
typedef int (*factory_make_fn)(struct tenon_module *root, const struct tenon_model_options *o,
			       struct tenon_module **out);

/**
 * struct factory - a factory
 * @base: the module
 * @graph: it is for the graph executor
 * @make: its function
 * @json: graph.json; empty for the ahead-of-time executor
 * @params: parameters; NULL when they were removed
 * @name: of the model, "default"
 * @bytes: the payload
 * @keep: what holds it
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

/* Make a factory of a payload; as tenon_module_loader.load. */
int factory_load(bool graph, factory_make_fn make, struct tenon_cursor *c,
		 const struct tenon_payload *payload, struct tenon_module **out);

/**
 * factory_of - a module as a factory
 * @m: a factory; or a module of such a kind that was only listed, whose bytes are read then
 * @name: what the model must be called; NULL when any will do
 * @out: receives the factory with one reference
 *
 * Return: 0; -TENON_E_NOT_FOUND for a model of another name; as tenon_module_save() and the loader.
 */
int factory_of(struct tenon_module *m, const char *name, struct factory **out);

/* The import with the code. 0; -TENON_E_FORMAT when there is none. */
int factory_library(const struct tenon_module *m, struct tenon_module **out);

#endif /* RUNTIME_MODEL_FACTORY_H */
