/* SPDX-License-Identifier: MIT */
/*
 * A depthwise convolution, height x width x channels, padded so that the result has the size of the input over the
 * stride. Arguments: to, a, weights [kernel][kernel][channels], bias (int32), struct int8_scale, struct depthwise_shape.
 * A group computes one pixel of the result: group 0 is x, group 1 is y.
 */
#include <tenon/uapi/mortise_kernel.h>

#include "int8.h"

/**
 * struct depthwise_shape - in memory, as an argument
 * @height: of the input
 * @width: of the input
 * @channels: of input and result
 * @kernel: pixels of a side
 * @stride: pixels from result to result
 * @pad: rows above and columns left of the input
 * @a_zero: zero point of the input, which pads have too
 */
struct depthwise_shape {
	int32_t height;
	int32_t width;
	int32_t channels;
	int32_t kernel;
	int32_t stride;
	int32_t pad;
	int32_t a_zero;
};

int32_t depthwise_int8(const uint64_t *arguments, const struct mortise_group *group);

static int32_t sum_of(const struct depthwise_shape *s, const int8_t *a, const int8_t *weights,
		      int32_t y0, int32_t x0, int32_t channel)
{
	int32_t sum = 0, i, j;

	for (i = 0; i < s->kernel; i++)
		for (j = 0; j < s->kernel; j++) {
			int32_t y = y0 + i, x = x0 + j;

			if (y < 0 || y >= s->height || x < 0 || x >= s->width)
				continue;
			sum += (a[(y * s->width + x) * s->channels + channel] - s->a_zero) *
			       weights[(i * s->kernel + j) * s->channels + channel];
		}
	return sum;
}

int32_t depthwise_int8(const uint64_t *arguments, const struct mortise_group *group)
{
	int8_t *to = (int8_t *)(uintptr_t)arguments[0];
	const int8_t *a = (const int8_t *)(uintptr_t)arguments[1];
	const int8_t *weights = (const int8_t *)(uintptr_t)arguments[2];
	const int32_t *bias = (const int32_t *)(uintptr_t)arguments[3];
	const struct int8_scale *scale = (const struct int8_scale *)(uintptr_t)arguments[4];
	const struct depthwise_shape *s = (const struct depthwise_shape *)(uintptr_t)arguments[5];
	uint32_t pixel = group->group[1] * group->groups[0] + group->group[0];
	int32_t y = (int32_t)group->group[1] * s->stride - s->pad;
	int32_t x = (int32_t)group->group[0] * s->stride - s->pad;
	int32_t c;

	if (s->kernel < 1 || s->stride < 1 || s->channels < 1)
		return 1;
	for (c = 0; c < s->channels; c++)
		to[pixel * (uint32_t)s->channels + (uint32_t)c] =
			int8_scaled(scale, bias[c] + sum_of(s, a, weights, y, x, c));
	return 0;
}
MORTISE_KERNEL(depthwise_int8, "handle handle handle handle handle handle",
	       "blockIdx.x blockIdx.y");
