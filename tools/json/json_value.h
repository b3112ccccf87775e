/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_JSON_JSON_VALUE_H
#define TOOLS_JSON_JSON_VALUE_H

/**
 * DOC: any value as JSON
 *
 * Objects are written by walking their fields (tenon/visit.h), so a kind of module that this command
 * has never heard of is written as fully as its own.
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

#include <stdbool.h>
#include <stdio.h>

#include <tenon/module.h>

#ifdef CONFIG_JSON

#include <cjson/cJSON.h>

#define json_available true

/**
 * json_prepare - make an allocation of cJSON that fails raise -TENON_E_NOMEM
 *
 * cJSON drops what it has no memory for and goes on. With this, json_print() knows, and callers that
 * build a tree need not look at each step.
 */
void json_prepare(void);

/** json_set - put a value into an object under a key; frees @value if that fails */
void json_set(cJSON *object, const char *key, cJSON *value);

/** json_append - put a value at the end of a list; frees @value if that fails */
void json_append(cJSON *list, cJSON *value);

/** json_of_value - a value as JSON; NULL without memory */
cJSON *json_of_value(const struct tenon_value *value);

/** json_of_tensor - a tensor as JSON; NULL without memory */
cJSON *json_of_tensor(const DLTensor *dl);

/** json_of_text - bytes as a JSON string */
cJSON *json_of_text(struct tenon_slice text);

/** json_of_real - a double; no finite one loses a bit */
cJSON *json_of_real(double real);

/** json_of_int - an integer; none loses a bit */
cJSON *json_of_int(int64_t integer);

/**
 * json_print - write a tree and free it
 *
 * Return: 0; -TENON_E_NOMEM, nothing written, when memory ran out in any part of the run: members may be
 *	missing from the tree then.
 */
int json_print(cJSON *json, FILE *out);

#else

#define json_available false

static inline void json_prepare(void)
{
}

#endif

#endif /* TOOLS_JSON_JSON_VALUE_H */
