/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_MODEL_EXECUTORS_H
#define RUNTIME_MODEL_EXECUTORS_H

/* The table of executors: which kinds of modules are models. */

#include "runtime/model/model.h"

#include "lib/plugin_api.h"

/* Is a module of a kind a model, for an executor of this build or a plug-in? */
bool executor_has_kind(struct tenon_slice kind) TO_PLUGINS(executor_has_kind);

/* Write the kinds, for a message. */
void executor_kinds(struct tenon_buffer *out);

/* The executor for a kind that has one, opened. 0; -TENON_E_UNSUPPORTED when its plug-in cannot be used. */
int executor_of_kind(struct tenon_slice kind, const struct executor **out);

#endif /* RUNTIME_MODEL_EXECUTORS_H */
