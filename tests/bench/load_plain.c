/* SPDX-License-Identifier: MIT */
/* The same with a name of the runtime as a plain external, as TVM's compiler leaves it in every module. */
#include "load.c"

void TVMFFIErrorSetRaisedFromCStr(const char *kind, const char *message);

int __tvm_ffi_refuse(void *self, const struct value *args, int32_t count, struct value *ret)
{
	(void)self, (void)args, (void)count, (void)ret;
	TVMFFIErrorSetRaisedFromCStr("ValueError", "refused");
	return -1;
}
