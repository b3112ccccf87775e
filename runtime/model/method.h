/* SPDX-License-Identifier: MIT */
/* Module functions written in C: a table, and the conversion of its rows to functions. */
#ifndef RUNTIME_MODEL_METHOD_H
#define RUNTIME_MODEL_METHOD_H

#include <tenon/module.h>

/* Declare or define the implementation of a method; @ret is None at entry. */
#define METHOD_CALL(name)                                                                          \
	int name(struct tenon_module *m, const struct tenon_value *args, int32_t count,            \
		 struct tenon_value *ret)

/**
 * struct method - a function of a module
 * @name: name; NULL ends a table
 * @fn: implementation
 * @least: smallest number of arguments
 * @most: largest number of arguments; negative for no limit
 */
struct method {
	const char *name;
	METHOD_CALL((*fn));
	int32_t least;
	int32_t most;
};

/* Create a function for a method; it references the module. Return: 0; -TENON_E_NOMEM. */
int method_function(struct tenon_module *m, const struct method *method,
		    struct tenon_function **out);

/* get_function and each_function for a module whose functions are a table */
int method_find(struct tenon_module *m, const struct method *table, struct tenon_slice name,
		struct tenon_function **out);
int method_each(const struct method *table, int (*visit)(void *context, struct tenon_slice name),
		void *context);

/* Parse devices: one value each, or with @pairs two integers, type and id. */
int method_devices(const struct tenon_value *args, int32_t count, bool pairs, DLDevice *out,
		   size_t *out_count);
#define METHOD_DEVICES_MOST 8

#endif /* RUNTIME_MODEL_METHOD_H */
