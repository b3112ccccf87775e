/* SPDX-License-Identifier: MIT */
/* Runtime functions that compiled code of both generations calls. */
#include <tenon/backend/parallel.h>
#include <tenon/module.h>
#include <tenon/workspace.h>

#include "runtime/library/tvm_table.h"
#include "runtime/library/dso.h"

static DLDevice device_of(int type, int id)
{
	DLDevice device;

	device.device_type = type;
	device.device_id = id;
	return device;
}

void *abi_backend_alloc(int type, int id, uint64_t size, int dtype_code, int dtype_bits)
{
	return tenon_workspace_alloc(device_of(type, id), size);
}

int abi_backend_free(int type, int id, void *memory)
{
	return ffi_result(tenon_workspace_free(device_of(type, id), memory));
}

int abi_backend_launch(tenon_parallel_fn task, void *closure, int tasks)
{
	/* Older code requests all threads with 0, some with a negative number. */
	return tenon_parallel_launch(task, closure, tasks < 0 ? 0 : tasks);
}

int abi_backend_barrier(int task, struct tenon_parallel_env *env)
{
	return tenon_parallel_barrier(task, env);
}

int abi_ffi_env_lookup(void *context, const char *name, void **out)
{
	struct tenon_function *f;
	int err = dso_env_lookup(context, tenon_slice_of(name), &f);

	*out = f;
	return ffi_result(err);
}

int abi_backend_lookup(void *context, const char *name, void **out)
{
	return abi_ffi_env_lookup(context, name, out);
}

int abi_ffi_env_register_system(const char *name, void *symbol)
{
	return ffi_result(tenon_system_lib_register(name, symbol));
}

int abi_backend_register_system(const char *name, void *symbol)
{
	return abi_ffi_env_register_system(name, symbol);
}
