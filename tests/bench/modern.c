/* SPDX-License-Identifier: MIT */
/* A library of the modern calling convention, as small as a code generator's. */
#include <stdint.h>

struct value {
	int32_t type;
	uint32_t small;
	int64_t integer;
};

/* filled by the runtime that opens the library */
__attribute__((weak, visibility("default"))) void *__tvm_ffi__library_ctx;
__attribute__((weak, visibility("default"))) void (*__TVMFFIErrorSetRaisedFromCStr)(const char *,
										    const char *);

int __tvm_ffi_add_one(void *self, const struct value *args, int32_t count, struct value *ret)
{
	(void)self, (void)count;
	ret->type = 1;
	ret->small = 0;
	ret->integer = args[0].integer + 1;
	return 0;
}

int __tvm_ffi_look(void *self, const struct value *args, int32_t count, struct value *ret)
{
	(void)self, (void)count, (void)ret;
	return args[0].type != 7;
}

int __tvm_ffi_refuse(void *self, const struct value *args, int32_t count, struct value *ret)
{
	(void)self, (void)args, (void)count, (void)ret;
	__TVMFFIErrorSetRaisedFromCStr("ValueError", "refused");
	return -1;
}
