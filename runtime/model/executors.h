/* SPDX-License-Identifier: MIT */
/* The table of executors and the kinds of modules that are their models. */
#ifndef RUNTIME_MODEL_EXECUTORS_H
#define RUNTIME_MODEL_EXECUTORS_H

#include "runtime/model/model.h"

#include <tenon/backend/module_kind.h>

#include "lib/plugin.h"
#include "lib/plugin_api.h"

#define EXECUTOR_KINDS 2 /* kinds of one executor, at most */

/**
 * struct executor_row - an executor of this build
 * @plugin: plug-in with its struct executor; loaded from the start if built in
 * @kinds: kinds of modules that are its models
 * @loaders: loaders of these kinds; they open the plug-in
 */
struct executor_row {
	struct plugin plugin;
	const char *kinds[EXECUTOR_KINDS];
	struct tenon_module_loader loaders[EXECUTOR_KINDS];
};

/* executor_table.c: terminated by a row without a name */
extern struct executor_row executor_table[];

/* Test whether modules of a kind are models, for a built-in or plug-in executor. */
bool executor_has_kind(struct tenon_slice kind) TO_PLUGINS(executor_has_kind);

/* Test whether a kind's executor is a plug-in without a file; append the reason and the remedy. */
bool executor_plugin_missing(struct tenon_slice kind, struct tenon_buffer *out)
	TO_PLUGINS(executor_plugin_missing);

/* Append the kinds, for a message. */
void executor_kinds(struct tenon_buffer *out);

/* Open the executor of a kind. Return: 0; -TENON_E_UNSUPPORTED when its plug-in cannot be used. */
int executor_of_kind(struct tenon_slice kind, const struct executor **out);

/* Register the global functions that open their executor when they are called. */
int executors_register_functions(void);

/* Register the functions that programs for the Relax machine call; opens that executor. */
int executors_register_relax(void);

#endif /* RUNTIME_MODEL_EXECUTORS_H */
