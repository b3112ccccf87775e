/* SPDX-License-Identifier: MIT */
/* Global functions that compiled code and foreign libraries call by name. */
#ifndef RUNTIME_LIBRARY_GLOBALS_H
#define RUNTIME_LIBRARY_GLOBALS_H

#include <tenon/function.h>

#include "lib/brief_errors.h"
#include "lib/plugin.h"
#include "runtime/core/arguments.h"

/* Each list ends with a NULL name. */
extern const struct global_function abi_device_globals[];
extern const struct global_function abi_attribute_globals[];
extern const struct global_function abi_module_globals[];
extern const struct global_function abi_container_globals[];

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

/* Read the first two arguments of a global function. Return: 0; the error, with the function's name. */
static inline int abi_two_ints(const char *function, const struct tenon_value *args, int64_t *a,
			       int64_t *b)
{
	int err = tenon_value_int(&args[0], a);

	if (!err)
		err = tenon_value_int(&args[1], b);
	return err ? tenon_error_in(err, "%s", function) : 0;
}

/* thread_globals.c, system_lib_global.c */
PACKED_CALL(abi_config_threadpool);
PACKED_CALL(abi_system_lib);

#endif /* RUNTIME_LIBRARY_GLOBALS_H */
