/* SPDX-License-Identifier: MIT */
/* Comparisons of tensors as JSON. */
#ifndef TOOLS_JSON_JSON_COMPARISON_H
#define TOOLS_JSON_JSON_COMPARISON_H

#include <cjson/cJSON.h>

#include "tools/tensor/compare.h"

/** json_of_comparison - what was compared, and where it differs; NULL if out of memory */
cJSON *json_of_comparison(const struct comparison *c);

#endif /* TOOLS_JSON_JSON_COMPARISON_H */
