/* SPDX-License-Identifier: MIT */
/* Any value as JSON. */
#ifndef TOOLS_JSON_JSON_VALUE_H
#define TOOLS_JSON_JSON_VALUE_H

#include <stdbool.h>
#include <stdio.h>
#include <tenon/module.h>

#include "tools/tensor/compare.h"

/*
 * Objects are written by visiting their fields (tenon/visit.h), so unknown kinds of modules are
 * written as fully as known ones.
 *
 *	None, bools, numbers    null, true, 3, 2.5; "nan", "inf", "-inf" as strings
 *	strings                 strings; bytes that are no UTF-8 become U+FFFD
 *	bytes                   {"bytes": size, "hex": "00ff…"}, the first 1024
 *	tensors                 {"shape": […], "dtype": "float32", "values": […]}, values row-major and
 *	                        flat, the first 4096 with "truncated": true, where there are more
 *	arrays, shapes          […]
 *	maps                    {…}; keys that are no strings are written as print_value() does
 *	other objects           {"type": key, each field by its name}
 */

/**
 * json_prepare - make failed cJSON allocations raise -TENON_E_NOMEM
 *
 * cJSON silently drops an item when memory is short. With this, json_print() detects it, so that
 * code that builds a tree need not check each step.
 */
void json_prepare(void);

#ifdef CONFIG_JSON

#include "lib/json_build.h"

/** json_of_value - convert a value to JSON; NULL if out of memory */
cJSON *json_of_value(const struct tenon_value *value);

/** json_of_tensor - convert a tensor to JSON; NULL if out of memory */
cJSON *json_of_tensor(const DLTensor *dl);

/** json_of_real - convert a double without loss if it is finite */
cJSON *json_of_real(double real);

/**
 * json_print - write a tree and free it
 *
 * Return: 0; -TENON_E_NOMEM, with nothing written, when memory ran out during the run: members of
 * the tree may be missing.
 */
int json_print(cJSON *json, FILE *out);

/** json_print_line - as json_print(), on one line */
int json_print_line(cJSON *json, FILE *out);

/** json_of_comparison - what was compared, and where it differs; NULL if out of memory */
cJSON *json_of_comparison(const struct comparison *c);

#endif

#endif /* TOOLS_JSON_JSON_VALUE_H */
