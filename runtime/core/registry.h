/* SPDX-License-Identifier: MIT */
/* Global functions by name, for the rooms that register or list them. */
#ifndef RUNTIME_CORE_REGISTRY_H
#define RUNTIME_CORE_REGISTRY_H

#include <tenon/function.h>

/* tenon_function_register() for a name that is not NUL-terminated. */
int registry_set(struct tenon_slice name, struct tenon_function *function, bool replace);

/**
 * struct registry_source - global functions that are registered at the first lookup
 * @names: names that a plug-in has, terminated by one without data; NULL for functions of the library itself,
 *	which are registered at the first lookup that finds nothing
 * @fill: register them, once; opens the plug-in. Must not look up functions of this source, and
 *	does not replace existing functions
 * @filled: @fill was successful
 * @refusal: why @fill failed: it is not tried again
 */
struct registry_source {
	const struct tenon_slice *names;
	int (*fill)(void);
	bool filled;
	char *refusal;
};

/* registry_sources.c: terminated by a row without @fill */
extern struct registry_source registry_sources[];

/* tenon_function_find_slice() among the functions that are registered now. */
void registry_find(struct tenon_slice name, struct tenon_function **out);

/* tenon_function_each() of the functions that are registered now. */
int registry_each(int (*visit)(void *context, const char *name, struct tenon_function *function),
		  void *context);

/* Changes with every registration; shows whether opening a library registered anything. */
uint64_t registry_generation(void);

/* Count a registration made elsewhere, whose library must stay loaded like a function's. */
void registry_changed(void);

#endif /* RUNTIME_CORE_REGISTRY_H */
