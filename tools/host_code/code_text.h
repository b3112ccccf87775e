/* SPDX-License-Identifier: MIT */
/* What host code needs of the processor, as text and as JSON. */
#ifndef TOOLS_HOST_CODE_CODE_TEXT_H
#define TOOLS_HOST_CODE_CODE_TEXT_H

#include <stdio.h>
#include <tenon/link.h>

/** code_text - print lines: what the code needs and, where this machine lacks it, a warning and the remedy */
void code_text(const struct tenon_link_processor *processor, FILE *out);

#ifdef CONFIG_JSON
#include "lib/json_build.h"

/** code_json - the same as an object; NULL if out of memory */
cJSON *code_json(const struct tenon_link_processor *processor);
#endif

#endif /* TOOLS_HOST_CODE_CODE_TEXT_H */
