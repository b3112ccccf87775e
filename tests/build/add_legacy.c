/* SPDX-License-Identifier: MIT */
/* The same of TVM 0.8 to 0.19. */
#include <tenon/dlpack.h>

union legacy_value {
	int64_t integer;
	double real;
	void *pointer;
};

void *__tvm_module_ctx;
int add(union legacy_value *args, int *codes, int count, union legacy_value *ret, int *ret_code,
	void *resource);

int add(union legacy_value *args, int *codes, int count, union legacy_value *ret, int *ret_code,
	void *resource)
{
	const DLTensor *a = args[0].pointer, *b = args[1].pointer, *c = args[2].pointer;
	int64_t i;

	(void)ret;
	(void)ret_code;
	(void)resource;
	if (count != 3 || codes[0] != 7 || !__tvm_module_ctx)
		return -1;
	for (i = 0; i < c->shape[0]; i++)
		((float *)c->data)[i] = ((const float *)a->data)[i] + ((const float *)b->data)[i];
	return 0;
}
