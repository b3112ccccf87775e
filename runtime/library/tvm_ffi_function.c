/* SPDX-License-Identifier: MIT */
/* tvm-ffi: functions and values. */
#include "lib/brief_errors.h"
#include "runtime/library/tvm_table.h"
#include "runtime/core/registry.h"

int abi_ffi_function_call(void *function, struct tenon_value *args, int32_t count,
			  struct tenon_value *ret)
{
	return tenon_function_call(function, args, count, ret);
}

int abi_ffi_function_create(void *self, tenon_call_fn call, void (*deleter)(void *self), void **out)
{
	struct tenon_function *f;
	int err = tenon_function_create(self, call, deleter, &f);

	*out = f;
	return ffi_result(err);
}

int abi_ffi_function_get_global(const struct tenon_slice *name, void **out)
{
	struct tenon_function *f;
	int err = tenon_function_find_slice(*name, &f);

	*out = f;
	return ffi_result(err);
}

int abi_ffi_function_set_global(const struct tenon_slice *name, void *function, int replace)
{
	return ffi_result(registry_set(*name, function, replace));
}

int abi_ffi_function_set_global_method(const struct type_method *method, int replace)
{
	if (method->method.type != TENON_TYPE_FUNCTION)
		return ffi_result(tenon_error(-TENON_E_TYPE,
					      "global function \"%.*s\": expected a "
					      "function, found %s",
					      (int)method->name.size, method->name.data,
					      tenon_type_key(method->method.type)));
	return abi_ffi_function_set_global(&method->name, method->method.as.object, replace);
}

int abi_ffi_value_own(const struct tenon_value *view, struct tenon_value *owned)
{
	return ffi_result(tenon_value_own(view, owned));
}
