/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_LIBRARY_GLOBALS_H
#define RUNTIME_LIBRARY_GLOBALS_H

/* Global functions that compiled code and foreign libraries call by name. */

#include <tenon/function.h>

struct abi_global {
	const char *name;
	tenon_call_fn call;
};

/* Each list ends with a NULL name. */
extern const struct abi_global abi_device_globals[];
extern const struct abi_global abi_module_globals[];
extern const struct abi_global abi_container_globals[];

/**
 * loader_register_globals - give the built-in loaders their global names too
 *
 * So that foreign code, which looks loaders up by name, finds them. Does its work once.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int loader_register_globals(void);

/* Is the number of arguments in [@least, @most]? Else the error to return. */
int abi_check_count(const char *function, int32_t count, int32_t least, int32_t most);

#endif /* RUNTIME_LIBRARY_GLOBALS_H */
