/* SPDX-License-Identifier: MIT */
/* A library of the calling convention of TVM 0.8 to 0.19, as small as a code generator's. */
#include <stdint.h>

__attribute__((weak, visibility("default"))) void *__tvm_module_ctx;

int empty(void *args, int *codes, int count, void *ret, int *ret_code, void *resource)
{
	(void)args, (void)codes, (void)count, (void)ret, (void)ret_code, (void)resource;
	return 0;
}

int add_one(void *args, int *codes, int count, void *ret, int *ret_code, void *resource)
{
	(void)codes, (void)count, (void)resource;
	*(int64_t *)ret = *(const int64_t *)args + 1;
	*ret_code = 0;
	return 0;
}

int look(void *args, int *codes, int count, void *ret, int *ret_code, void *resource)
{
	(void)args, (void)count, (void)ret, (void)ret_code, (void)resource;
	return codes[0] != 7;
}
