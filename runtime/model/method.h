/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_MODEL_METHOD_H
#define RUNTIME_MODEL_METHOD_H

/* Functions of modules that are written in C: a table, and what turns a line of it into a function. */

#include <tenon/module.h>

/**
 * struct method - a function of a module
 * @name: its name; NULL ends a table
 * @fn: what it does; @ret is None
 * @least: arguments it takes at least
 * @most: and at most; negative for any number
 */
struct method {
	const char *name;
	int (*fn)(struct tenon_module *m, const struct tenon_value *args, int32_t count,
		  struct tenon_value *ret);
	int32_t least;
	int32_t most;
};

/* Make a function of a method; it holds the module. 0; -TENON_E_NOMEM. */
int method_function(struct tenon_module *m, const struct method *method,
		    struct tenon_function **out);

/* tenon_module_ops.get_function and each_function of a module whose functions are a table. */
int method_find(struct tenon_module *m, const struct method *table, struct tenon_slice name,
		struct tenon_function **out);
int method_each(const struct method *table, int (*visit)(void *context, struct tenon_slice name),
		void *context);

/* Devices as arguments: each one value, or (@pairs) type and id as two integers. */
int method_devices(const struct tenon_value *args, int32_t count, bool pairs, DLDevice *out,
		   size_t *out_count);
#define METHOD_DEVICES_MOST 8

#endif /* RUNTIME_MODEL_METHOD_H */
