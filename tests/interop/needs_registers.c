/* SPDX-License-Identifier: MIT */
/* A module that has no constructor, and needs a library that has one which calls the runtime. */
#include <tenon/value.h>

int __tvm_ffi_fourteen(void *self, const struct tenon_value *args, int32_t count,
		       struct tenon_value *ret);

int __tvm_ffi_fourteen(void *self, const struct tenon_value *args, int32_t count,
		       struct tenon_value *ret)
{
	(void)self, (void)args, (void)count;
	*ret = tenon_arg_int(14);
	return 0;
}
