/* SPDX-License-Identifier: MIT */
/* A module that imports the runtime's names as plain externals, as code generators leave them. */
#include <stdint.h>
#include <tenon/value.h>

void TVMFFIErrorSetRaisedFromCStr(const char *kind, const char *message);
int __tvm_ffi_refuse(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret);

int __tvm_ffi_refuse(void *self, const struct tenon_value *args, int32_t count,
		     struct tenon_value *ret)
{
	(void)self, (void)args, (void)count, (void)ret;
	TVMFFIErrorSetRaisedFromCStr("IndexError", "refused in plain words");
	return -1;
}
