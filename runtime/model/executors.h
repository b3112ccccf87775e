/* SPDX-License-Identifier: MIT */
/* The table of executors and the kinds of modules that are their models. */
#ifndef RUNTIME_MODEL_EXECUTORS_H
#define RUNTIME_MODEL_EXECUTORS_H

#include "runtime/model/model.h"

#include <tenon/backend/module_kind.h>

#include "lib/plugin.h"
#include "lib/plugin_api.h"

/* Test whether modules of a kind are models, for a built-in or plug-in executor. */
bool executor_has_kind(struct tenon_slice kind) TO_PLUGINS(executor_has_kind);

/* runtime/table/, with CONFIG_ERROR_MESSAGES: executors that this build lacks, ended by a row without an option */
extern const struct executor_absent {
	const char *option;
	const char *kinds; /* kinds of modules, each ended by NUL; the last one is empty */
} executors_absent[];

/* The option of the executor of a kind that this build lacks, for a message; NULL when the kind is no model. */
const char *executor_option(struct tenon_slice kind);

/* Append the kinds, for a message. */
void executor_kinds(struct tenon_buffer *out);

/* Open the executor of a kind. Return: 0; -TENON_E_UNSUPPORTED when its plug-in cannot be used. */
int executor_of_kind(struct tenon_slice kind, const struct executor **out);

#endif /* RUNTIME_MODEL_EXECUTORS_H */
