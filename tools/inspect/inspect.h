/* SPDX-License-Identifier: MIT */
/* Output of tenon inspect. */
#ifndef TOOLS_INSPECT_INSPECT_H
#define TOOLS_INSPECT_INSPECT_H

#include <stdio.h>
#include <tenon/link.h>
#include <tenon/model.h>

#include "tools/cli/cli.h"

extern const struct cli_command inspect_command;

/** inspect_text - print what is in @file as text; @functions lists the functions too */
void inspect_text(const struct tenon_link_inspection *n, const char *file, bool functions,
		  FILE *out);

/** inspect_dot - print what is in @file as a graph for Graphviz */
void inspect_dot(const struct tenon_link_inspection *n, const char *file, FILE *out);

#ifdef CONFIG_JSON
/**
 * inspect_json - print what is in @file as JSON
 * @model: the model in it; NULL for none
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int inspect_json(const struct tenon_link_inspection *n, const char *file, struct tenon_model *model,
		 FILE *out);
#else
static inline int inspect_json(const struct tenon_link_inspection *n, const char *file,
			       struct tenon_model *model, FILE *out)
{
	return -TENON_E_UNSUPPORTED; /* unreachable: --json was refused */
}
#endif

#endif /* TOOLS_INSPECT_INSPECT_H */
