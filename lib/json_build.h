/* SPDX-License-Identifier: MIT */
/* Building JSON by cJSON, with a failed allocation raised as an error. */
#ifndef LIB_JSON_BUILD_H
#define LIB_JSON_BUILD_H

/*
 * cJSON drops an item silently when memory runs out. These functions raise -TENON_E_NOMEM then, and so code that builds
 * a tree need not check each step: the function that prints it checks whether the thread ran out of memory
 * (error_ran_out()).
 */

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <tenon/buffer.h>
#include <tenon/string.h>

/** json_set - add a value to an object under a key; false on failure, which frees @value */
bool json_set(cJSON *object, const char *key, cJSON *value);

/** json_append - append a value to a list; false on failure, which frees @value */
bool json_append(cJSON *list, cJSON *value);

/** json_of_text - convert bytes to a JSON string; bytes that are no UTF-8 become U+FFFD */
cJSON *json_of_text(struct tenon_slice text);

/** json_of_int - convert an integer without loss */
cJSON *json_of_int(int64_t integer);

/**
 * json_build - append an object as text, indented and with a newline at its end
 * @fill: adds the members by the functions above
 * @context: passed to @fill
 * @out: nothing is appended on failure
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int json_build(void (*fill)(void *context, cJSON *root), void *context, struct tenon_buffer *out);

#endif /* LIB_JSON_BUILD_H */
