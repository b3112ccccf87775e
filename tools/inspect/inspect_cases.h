/* SPDX-License-Identifier: MIT */
/* Cases for self-tests in a module's file, as text and JSON. */
#ifndef TOOLS_INSPECT_INSPECT_CASES_H
#define TOOLS_INSPECT_INSPECT_CASES_H

#include <stdio.h>
#include <tenon/link.h>

#include "lib/option.h"
#include "tools/json/json_value.h"

#if OPTION_ON(SELF_TEST)
/** inspect_cases_text - print a line for each case; nothing for a file without cases */
void inspect_cases_text(const struct tenon_link_inspection *n, const char *file, FILE *out);
#else
static inline void inspect_cases_text(const struct tenon_link_inspection *n, const char *file,
				      FILE *out)
{
}
#endif

#if defined(CONFIG_JSON) && OPTION_ON(SELF_TEST)
/** inspect_cases_json - add "cases" to an object; nothing for a file without cases */
void inspect_cases_json(const struct tenon_link_inspection *n, const char *file, cJSON *root);
#elif defined(CONFIG_JSON)
static inline void inspect_cases_json(const struct tenon_link_inspection *n, const char *file,
				      cJSON *root)
{
}
#endif

#endif /* TOOLS_INSPECT_INSPECT_CASES_H */
