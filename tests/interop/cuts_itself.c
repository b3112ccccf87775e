/* SPDX-License-Identifier: MIT */
/* A module that cuts off its own file while it runs, as cp(1) over it does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <unistd.h>
#include <tenon/value.h>

int __tvm_ffi_cut(void *self, const struct tenon_value *args, int32_t count,
		  struct tenon_value *ret);

int __tvm_ffi_cut(void *self, const struct tenon_value *args, int32_t count,
		  struct tenon_value *ret)
{
	Dl_info own;

	(void)self, (void)args, (void)count;
	*ret = tenon_arg_int(dladdr((void *)__tvm_ffi_cut, &own) && !truncate(own.dli_fname, 0));
	return 0;
}
