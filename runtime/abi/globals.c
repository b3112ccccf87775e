/* SPDX-License-Identifier: MIT */
#include "runtime/abi/globals.h"

#include <pthread.h>
#include <stddef.h>

#include "runtime/abi/context.h"
#include "runtime/loader/loaders.h"

static pthread_once_t globals_once = PTHREAD_ONCE_INIT;

int abi_check_count(const char *function, int32_t count, int32_t least, int32_t most)
{
	if (count >= least && count <= most)
		return 0;
	if (least == most)
		return tenon_error(-TENON_E_TYPE, "%s: expected %d argument%s, found %d", function,
				   least, least == 1 ? "" : "s", count);
	return tenon_error(-TENON_E_TYPE, "%s: expected %d to %d arguments, found %d", function,
			   least, most, count);
}

static void register_list(const struct abi_global *list)
{
	/* a name that is taken stays its owner's; without memory it is missed when it is called */
	for (; list->name; list++)
		tenon_function_register_c(list->name, list->call, false);
}

static void register_all(void)
{
	register_list(abi_device_globals);
#ifdef CONFIG_TVM_FFI_COMPAT
	register_list(abi_module_globals);
	register_list(abi_container_globals);
	loader_register_globals();
#endif
	tenon_error_clear();
}

void abi_register_globals(void)
{
	pthread_once(&globals_once, register_all);
}
