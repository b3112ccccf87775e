/* SPDX-License-Identifier: MIT */
/* Global functions that compiled code and foreign libraries call by name. */
#ifndef RUNTIME_LIBRARY_GLOBALS_H
#define RUNTIME_LIBRARY_GLOBALS_H

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
 * loader_register_globals - register the built-in loaders as global functions
 *
 * Foreign code looks up loaders by name. The work is done once.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int loader_register_globals(void);

/* Check that the number of arguments is in [@least, @most]. Return: 0; the error. */
int abi_check_count(const char *function, int32_t count, int32_t least, int32_t most);

#endif /* RUNTIME_LIBRARY_GLOBALS_H */
