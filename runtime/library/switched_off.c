/* SPDX-License-Identifier: MIT */
/* Stubs of public functions that this build leaves out. */
#include <tenon/backend/module_kind.h>
#include <tenon/module.h>

#include "lib/brief_errors.h"
#include "runtime/library/tvm_table.h"

#ifndef CONFIG_SYSTEM_LIB
int tenon_system_lib_register(const char *name, void *address)
{
	(void)address;
	return tenon_error(-TENON_E_UNSUPPORTED, "%s: CONFIG_SYSTEM_LIB is off in this build",
			   name);
}

int tenon_system_lib(const char *prefix, struct tenon_module **out)
{
	(void)prefix;
	*out = NULL;
	return tenon_error(-TENON_E_UNSUPPORTED, "CONFIG_SYSTEM_LIB is off in this build");
}
#endif

#ifndef CONFIG_TVM_FFI_COMPAT
const struct tenon_tvm_table *tenon_tvm_table(void)
{
	return NULL;
}
#endif

#ifndef CONFIG_MODULE_WRITE
int tenon_module_write_blob(struct tenon_module *root, enum tenon_generation generation,
			    struct tenon_buffer *out)
{
	(void)root;
	(void)generation;
	(void)out;
	return tenon_error(-TENON_E_UNSUPPORTED, "CONFIG_MODULE_WRITE is off in this build");
}
#endif

#ifndef CONFIG_ELF_INSPECT
int tenon_module_inspect(const char *path, struct tenon_module **out)
{
	*out = NULL;
	return tenon_error(-TENON_E_UNSUPPORTED, "%s: CONFIG_ELF_INSPECT is off in this build",
			   path);
}

int tenon_load_policy_set(tenon_load_policy policy, void *context)
{
	(void)policy;
	(void)context;
	return tenon_error(-TENON_E_UNSUPPORTED, "CONFIG_ELF_INSPECT is off in this build");
}
#endif
