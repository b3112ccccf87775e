/* SPDX-License-Identifier: MIT */
/* Output of tenon inspect */
#ifndef TOOLS_INSPECT_INSPECT_H
#define TOOLS_INSPECT_INSPECT_H

#include <stdio.h>

#include "tools/cli/cli.h"
#include "tools/model/module_list.h"

extern const struct cli_command inspect_command;

/** inspect_text - print a tree as text; @functions lists the functions too */
void inspect_text(const struct module_list *l, bool functions, FILE *out);

/** inspect_dot - print a tree as a graph for Graphviz */
void inspect_dot(const struct module_list *l, FILE *out);

#ifdef CONFIG_JSON
/** inspect_json - print a tree as JSON, with hashes from the file @module; 0 or -TENON_E_NOMEM */
int inspect_json(const struct module_list *l, const char *module, FILE *out);
#else
static inline int inspect_json(const struct module_list *l, const char *module, FILE *out)
{
	(void)module;
	(void)l;
	(void)out;
	return -TENON_E_UNSUPPORTED; /* unreachable: --json was refused */
}
#endif

#endif /* TOOLS_INSPECT_INSPECT_H */
