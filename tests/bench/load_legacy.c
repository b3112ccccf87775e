/* SPDX-License-Identifier: MIT */
/* One function of the legacy calling convention, to be opened and closed. */
#include <stdint.h>

__attribute__((weak, visibility("default"))) void *__tvm_module_ctx;

int add_one(void *args, int *codes, int count, void *ret, int *ret_code, void *resource)
{
	(void)codes, (void)count, (void)resource;
	*(int64_t *)ret = *(const int64_t *)args + 1;
	*ret_code = 0;
	return 0;
}
