/* SPDX-License-Identifier: MIT */
/* A module that imports a name of no runtime's. */
#include <stdint.h>
#include <tenon/value.h>

int TVMFFINoSuchFunction(void);
int __tvm_ffi_ask(void *self, const struct tenon_value *args, int32_t count,
		  struct tenon_value *ret);

int __tvm_ffi_ask(void *self, const struct tenon_value *args, int32_t count,
		  struct tenon_value *ret)
{
	(void)self, (void)args, (void)count, (void)ret;
	return TVMFFINoSuchFunction();
}
