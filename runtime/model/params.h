/* SPDX-License-Identifier: MIT */
/* Parameters as a list that readers of other formats fill. */
#ifndef RUNTIME_MODEL_PARAMS_H
#define RUNTIME_MODEL_PARAMS_H

/* Lists of named tensors in other formats. */

#include <tenon/backend/cursor.h>
#include <tenon/params.h>

#include "lib/plugin_api.h"

/* first bytes of a parameter file */
#define PARAMS_MAGIC UINT64_C(0xf7e58d4f05049cb7)

/* name prefix of tensors that only align the next one */
#define PARAMS_PADDING "tenon.padding."

/**
 * params_take - read the parameters in a factory's payload
 * @c: cursor at the count; moved past the last tensor
 * @keep: keeps the bytes alive; referenced; NULL when they outlive the parameters
 * @out: receives the parameters with one reference
 *
 * Return: as tenon_params_read().
 */
int params_take(struct tenon_cursor *c, struct tenon_object *keep, struct tenon_params **out)
	TO_PLUGINS(params_take);

#endif /* RUNTIME_MODEL_PARAMS_H */
