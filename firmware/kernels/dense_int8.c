/* SPDX-License-Identifier: MIT */
/*
 * A dense layer: to[n] = scaled(bias[n] + sum over k of a[k] * weights[n][k]). Arguments: to, a, weights, bias (int32),
 * struct int8_scale, k. A group computes group->threads[0] results; the grid has groups enough for all of them, exactly.
 */
#include <tenon/uapi/mortise_kernel.h>

#include "int8.h"

int32_t dense_int8(const uint64_t *arguments, const struct mortise_group *group);

int32_t dense_int8(const uint64_t *arguments, const struct mortise_group *group)
{
	int8_t *to = (int8_t *)(uintptr_t)arguments[0];
	const int8_t *a = (const int8_t *)(uintptr_t)arguments[1];
	const int8_t *weights = (const int8_t *)(uintptr_t)arguments[2];
	const int32_t *bias = (const int32_t *)(uintptr_t)arguments[3];
	const struct int8_scale *scale = (const struct int8_scale *)(uintptr_t)arguments[4];
	uint32_t depth = (uint32_t)arguments[5];
	uint32_t first = group->group[0] * group->threads[0], n, k;

	for (n = first; n < first + group->threads[0]; n++) {
		int32_t sum = bias[n];

		for (k = 0; k < depth; k++)
			sum += a[k] * weights[n * depth + k];
		to[n] = int8_scaled(scale, sum);
	}
	return 0;
}
MORTISE_KERNEL(dense_int8, "handle handle handle handle handle int32", "blockIdx.x threadIdx.x");
