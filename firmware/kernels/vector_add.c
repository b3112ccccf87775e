/* SPDX-License-Identifier: MIT */
/*
 * to[i] = a[i] + b[i] for int32: a first function to copy. Arguments: to, a, b, count. A group of the grid adds
 * group->threads[0] elements.
 */
#include <tenon/uapi/mortise_kernel.h>

int32_t vector_add(const uint64_t *arguments, const struct mortise_group *group);

int32_t vector_add(const uint64_t *arguments, const struct mortise_group *group)
{
	int32_t *to = (int32_t *)(uintptr_t)arguments[0];
	const int32_t *a = (const int32_t *)(uintptr_t)arguments[1];
	const int32_t *b = (const int32_t *)(uintptr_t)arguments[2];
	uint32_t count = (uint32_t)arguments[3];
	uint32_t i, at;

	for (i = 0; i < group->threads[0]; i++) {
		at = group->group[0] * group->threads[0] + i;
		if (at < count)
			to[at] = (int32_t)((uint32_t)a[at] + (uint32_t)b[at]);
	}
	return 0;
}
MORTISE_KERNEL(vector_add, "handle handle handle int32", "blockIdx.x threadIdx.x");
