/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_MODEL_EXECUTORS_H
#define RUNTIME_MODEL_EXECUTORS_H

/* The table of executors: which kinds of modules are models. */

#include "runtime/model/model.h"

/**
 * struct model_maker - an executor
 * @kind: kind of a root module
 * @create: makes a model of it
 */
struct model_maker {
	const char *kind;
	int (*create)(struct tenon_module *root, const struct tenon_model_options *o,
		      struct tenon_model **out);
};

/* The maker for a kind; NULL. */
const struct model_maker *model_maker_of(struct tenon_slice kind);

/* Write the kinds, for a message. */
void model_maker_names(struct tenon_buffer *out);

#endif /* RUNTIME_MODEL_EXECUTORS_H */
