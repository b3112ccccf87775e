/* SPDX-License-Identifier: MIT */
/* Register the lists of global functions, and check their arguments. */
#include "runtime/library/globals.h"

#include <stdbool.h>

#include "lib/brief_errors.h"
#include "lib/option.h"
#include "runtime/core/registry.h"
#include "runtime/library/context.h"

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

int abi_register_globals(void)
{
	static bool done;
	int err;

	if (__atomic_load_n(&done, __ATOMIC_ACQUIRE))
		return 0;
	/* Two threads may run this: each name is registered by one of them. */
	err = registry_add_list(abi_device_globals);
	if (OPTION_ON(TVM_FFI_COMPAT)) {
		if (!err)
			err = registry_add_list(abi_attribute_globals);
		if (!err)
			err = registry_add_list(abi_module_globals);
		if (!err)
			err = registry_add_list(abi_container_globals);
		if (!err)
			err = loader_register_globals();
	}
	if (!err)
		__atomic_store_n(&done, true, __ATOMIC_RELEASE);
	return err;
}
