/* SPDX-License-Identifier: MIT */
/* What host code in a module's file needs of the processor, as text and JSON. */
#ifndef TOOLS_INSPECT_INSPECT_CODE_H
#define TOOLS_INSPECT_INSPECT_CODE_H

#include <stdio.h>
#include <tenon/link.h>

#include "tools/json/json_value.h"

#ifdef CONFIG_LINK
/** inspect_code_text - print what code_text() does; nothing for host code that all processors run, or a file without any */
void inspect_code_text(const struct tenon_link_inspection *n, const char *file, FILE *out);
#else
static inline void inspect_code_text(const struct tenon_link_inspection *n, const char *file,
				     FILE *out)
{
}
#endif

#if defined(CONFIG_JSON) && defined(CONFIG_LINK)
/** inspect_code_json - add "processor" to an object; nothing for a file without host code */
void inspect_code_json(const struct tenon_link_inspection *n, const char *file, cJSON *root);
#elif defined(CONFIG_JSON)
static inline void inspect_code_json(const struct tenon_link_inspection *n, const char *file,
				     cJSON *root)
{
}
#endif

#endif /* TOOLS_INSPECT_INSPECT_CODE_H */
