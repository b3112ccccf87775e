/* SPDX-License-Identifier: MIT */
/* One function of the modern calling convention, to be opened and closed. */
#include <stdint.h>

struct value {
	int32_t type;
	uint32_t small;
	int64_t integer;
};

__attribute__((weak, visibility("default"))) void *__tvm_ffi__library_ctx;

int __tvm_ffi_add_one(void *self, const struct value *args, int32_t count, struct value *ret)
{
	(void)self, (void)count;
	ret->type = 1;
	ret->small = 0;
	ret->integer = args[0].integer + 1;
	return 0;
}
