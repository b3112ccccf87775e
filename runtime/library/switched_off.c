/* SPDX-License-Identifier: MIT */
/* Stubs of public functions that this build leaves out. */
#include <tenon/backend/module_kind.h>
#include <tenon/module.h>

#include "lib/switched_off.h"
#include "runtime/library/tvm_table.h"

/* clang-format off */

#ifndef CONFIG_SYSTEM_LIB
#define OFF_REASON tenon_error(-TENON_E_UNSUPPORTED, "CONFIG_SYSTEM_LIB is off in this build")
OFF(tenon_system_lib_register, (const char *name, void *address))
OFF_OUT(tenon_system_lib, *out = NULL, (const char *prefix, struct tenon_module **out))
#endif

#ifndef CONFIG_TVM_FFI_COMPAT
OFF_VALUE(const struct tenon_tvm_table *, tenon_tvm_table, NULL, (void))
#endif

#ifndef CONFIG_INSPECT
#undef OFF_REASON
#define OFF_REASON tenon_error(-TENON_E_UNSUPPORTED, "CONFIG_INSPECT is off in this build")
OFF(tenon_module_write_blob, (struct tenon_module *root, enum tenon_generation generation, struct tenon_buffer *out))
OFF_OUT(tenon_module_inspect, *out = NULL, (const char *path, struct tenon_module **out))
OFF(tenon_load_policy_set, (tenon_load_policy policy, void *context))
#endif
