/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_MODEL_EXECUTORS_H
#define RUNTIME_MODEL_EXECUTORS_H

/* The table of executors: which kinds of modules are models. */

#include "runtime/model/model.h"

#include <tenon/backend/module_kind.h>

#include "lib/plugin.h"
#include "lib/plugin_api.h"

#define EXECUTOR_KINDS 2 /* of one executor, at most */

/**
 * struct executor_row - an executor of this build
 * @plugin: offers a struct executor; it is there from the start where the executor is built in
 * @kinds: of modules that are its models
 * @loaders: of these kinds; they open the plug-in
 */
struct executor_row {
	struct plugin plugin;
	const char *kinds[EXECUTOR_KINDS];
	struct tenon_module_loader loaders[EXECUTOR_KINDS];
};

/* executor_table.c: a row each, ended by one without a name */
extern struct executor_row executor_table[];

/* Is a module of a kind a model, for an executor of this build or a plug-in? */
bool executor_has_kind(struct tenon_slice kind) TO_PLUGINS(executor_has_kind);

/* Write the kinds, for a message. */
void executor_kinds(struct tenon_buffer *out);

/* The executor for a kind that has one, opened. 0; -TENON_E_UNSUPPORTED when its plug-in cannot be used. */
int executor_of_kind(struct tenon_slice kind, const struct executor **out);

#endif /* RUNTIME_MODEL_EXECUTORS_H */
