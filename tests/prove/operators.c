/* SPDX-License-Identifier: MIT */
/*
 * Operators on 32-bit integers for random graphs, in the calling convention of TVM 0.8 to 0.19. PLANTED makes one of them
 * wrong for few numbers.
 */
#include <tenon/dlpack.h>

union legacy_value {
	int64_t integer;
	double real;
	void *pointer;
};

void *__tvm_module_ctx;

static int64_t elements(const DLTensor *t)
{
	int64_t n = 1;
	int i;

	for (i = 0; i < t->ndim; i++)
		n *= t->shape[i];
	return n;
}

/* numbers wrap around */
#define OPERATOR(name, expression)                                                                 \
	int name(union legacy_value *args, int *codes, int count, union legacy_value *ret,         \
		 int *ret_code, void *resource);                                                   \
	int name(union legacy_value *args, int *codes, int count, union legacy_value *ret,         \
		 int *ret_code, void *resource)                                                    \
	{                                                                                          \
		const DLTensor *first = args[0].pointer, *second = args[1].pointer;                \
		const DLTensor *result = args[2].pointer;                                          \
		int64_t i, n = elements(result);                                                   \
                                                                                                   \
		(void)codes;                                                                       \
		(void)ret;                                                                         \
		(void)ret_code;                                                                    \
		(void)resource;                                                                    \
		if (count != 3)                                                                    \
			return -1;                                                                 \
		for (i = 0; i < n; i++) {                                                          \
			uint32_t a = ((const uint32_t *)first->data)[i];                           \
			uint32_t b = ((const uint32_t *)second->data)[i];                          \
                                                                                                   \
			((uint32_t *)result->data)[i] = (expression);                              \
		}                                                                                  \
		return 0;                                                                          \
	}

OPERATOR(add, a + b)
OPERATOR(subtract, a - b)
OPERATOR(multiply, a *b)
#ifdef PLANTED
OPERATOR(either, (a & 15) == 15 ? a + b : a ^ b)
#else
OPERATOR(either, a ^ b)
#endif
