/* SPDX-License-Identifier: MIT */
/* A module without constructors, one of whose functions calls a name that no library defines. */
#include <stdint.h>
#include <tenon/value.h>

int defined_by_no_library(void);
int __tvm_ffi_ask(void *self, const struct tenon_value *args, int32_t count,
		  struct tenon_value *ret);

int __tvm_ffi_ask(void *self, const struct tenon_value *args, int32_t count,
		  struct tenon_value *ret)
{
	(void)self, (void)args, (void)count, (void)ret;
	return defined_by_no_library();
}
