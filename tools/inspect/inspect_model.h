/* SPDX-License-Identifier: MIT */
/* Description of a whole model for tenon inspect. */
#ifndef TOOLS_INSPECT_INSPECT_MODEL_H
#define TOOLS_INSPECT_INSPECT_MODEL_H

#include <stdio.h>
#include <tenon/model.h>

#include "tools/json/json_value.h"

/* bytes of a type as text */
#define INSPECT_TYPE_ROOM 160

#ifdef CONFIG_EXECUTORS
/** inspect_type - write a type: "1x?x64xfloat32", or "?" if it is known only after a run; returns @text */
const char *inspect_type(const struct tenon_port *port, char text[INSPECT_TYPE_ROOM]);

/** inspect_model_text - inputs, outputs and memory; with @all operators and parameters too */
void inspect_model_text(struct tenon_model *model, bool all, FILE *out);

/** inspect_model_choice - list the models of a file that has several and no default */
void inspect_model_choice(struct tenon_module *root, FILE *out);

/** inspect_model_dot - print operators and the values between them, as a graph for Graphviz */
void inspect_model_dot(struct tenon_model *model, const char *file, FILE *out);

#ifdef CONFIG_JSON
/** inspect_model_json - full description; NULL if out of memory */
cJSON *inspect_model_json(struct tenon_model *model);
#endif
#else
static inline void inspect_model_text(struct tenon_model *model, bool all, FILE *out)
{
}

static inline void inspect_model_choice(struct tenon_module *root, FILE *out)
{
}

static inline void inspect_model_dot(struct tenon_model *model, const char *file, FILE *out)
{
}
#endif

#endif /* TOOLS_INSPECT_INSPECT_MODEL_H */
