/* SPDX-License-Identifier: MIT */
/*
 * Host code of the model that stripes.c describes, as TVM's C backend would write it for a graph: an operator has its
 * inputs as arguments, then its output. conv and dense call device code where their tensors lie on a small core, and
 * compute on the host where these lie on the host; the other operators are for the host alone. The graph gives tensors
 * the shapes that it says, so operators do not check them.
 */
#include <math.h>

#include "launcher.h"

static void *data(const struct tenon_value *arg)
{
	const DLTensor *t = tensor(arg);

	return (char *)t->data + t->byte_offset;
}

static int64_t extent(const struct tenon_value *arg, int dimension)
{
	return tensor(arg)->shape[dimension];
}

static int is_on_host(const struct tenon_value *arg)
{
	return tensor(arg)->device.device_type == kDLCPU;
}

static int8_t clamp(int64_t value, int64_t least, int64_t most)
{
	return (int8_t)(value < least ? least : value > most ? most : value);
}

/* scale: multiplier, shift, zero point, least, most; what struct int8_scale of firmware/kernels/int8.h says */
static int8_t scaled(const int32_t *scale, int32_t sum)
{
	int64_t half = (int64_t)1 << (scale[1] - 1);

	return clamp((((int64_t)sum * scale[0] + half) >> scale[1]) + scale[2], scale[3], scale[4]);
}

/* image, float32 [height, width] in [-1, 1]; to: int8 [height, width, channels], the same in each channel */
OPERATOR(quantise)
{
	const float *from = data(&args[0]);
	int8_t *to = data(&args[1]);
	int64_t i, c, channels = extent(&args[1], 2);

	(void)self;
	(void)ret;
	if (count != 2)
		return -1;
	for (i = 0; i < extent(&args[0], 0) * extent(&args[0], 1); i++)
		for (c = 0; c < channels; c++)
			to[i * channels + c] = clamp(lrintf(from[i] * 127), -127, 127);
	return 0;
}

/* ---- a depthwise convolution: image, weight [3, 3, channels], bias, scale, shape; to */

static int32_t conv_at(const struct tenon_value *args, int64_t y, int64_t x, int64_t c)
{
	const int8_t *image = data(&args[0]), *weight = data(&args[1]);
	int64_t height = extent(&args[0], 0), width = extent(&args[0], 1),
		channels = extent(&args[0], 2);
	int32_t sum = ((const int32_t *)data(&args[2]))[c];
	int i;

	for (i = 0; i < 9; i++) {
		int64_t row = y + i / 3 - 1, column = x + i % 3 - 1;

		if (row >= 0 && row < height && column >= 0 && column < width)
			sum += image[(row * width + column) * channels + c] *
			       weight[i * channels + c];
	}
	return sum;
}

static int conv_on_host(const struct tenon_value *args)
{
	int64_t height = extent(&args[0], 0), width = extent(&args[0], 1),
		channels = extent(&args[0], 2);
	const int32_t *scale = data(&args[3]);
	int8_t *to = data(&args[5]);
	int64_t y, x, c;

	for (y = 0; y < height; y++)
		for (x = 0; x < width; x++)
			for (c = 0; c < channels; c++)
				*to++ = scaled(scale, conv_at(args, y, x, c));
	return 0;
}

OPERATOR(conv)
{
	/* the kernel's arguments, then its grid: columns and rows of the image */
	const struct tenon_value kernel[] = { args[5],
					      args[0],
					      args[1],
					      args[2],
					      args[3],
					      args[4],
					      tenon_arg_int(extent(&args[0], 1)),
					      tenon_arg_int(extent(&args[0], 0)) };

	(void)self;
	(void)ret;
	if (count != 6)
		return -1;
	return is_on_host(&args[5]) ? conv_on_host(args) : launch("depthwise_int8", kernel, 8);
}

/* image, int8 [height, width, channels]; to: [height / n, width / n, channels], means of squares */
OPERATOR(pool)
{
	const int8_t *from = data(&args[0]);
	int64_t width = extent(&args[0], 1), channels = extent(&args[0], 2);
	int64_t columns = extent(&args[1], 1), n = width / columns, i, k;
	int8_t *to = data(&args[1]);

	(void)self;
	(void)ret;
	if (count != 2)
		return -1;
	for (i = 0; i < extent(&args[1], 0) * columns * channels; i++) {
		int64_t y = i / channels / columns * n, x = i / channels % columns * n;
		int64_t sum = n * n / 2;

		for (k = 0; k < n * n; k++)
			sum += from[((y + k / n) * width + x + k % n) * channels + i % channels];
		to[i] = clamp(sum / (n * n), -128, 127);
	}
	return 0;
}

/* ---- a dense layer: vector, weight [rows, depth], bias, scale; to */

static int dense_on_host(const struct tenon_value *args)
{
	const int8_t *from = data(&args[0]), *weight = data(&args[1]);
	const int32_t *bias = data(&args[2]), *scale = data(&args[3]);
	int64_t rows = extent(&args[1], 0), depth = extent(&args[1], 1), n, k;
	int8_t *to = data(&args[4]);

	for (n = 0; n < rows; n++) {
		int32_t sum = bias[n];

		for (k = 0; k < depth; k++)
			sum += from[k] * weight[n * depth + k];
		to[n] = scaled(scale, sum);
	}
	return 0;
}

OPERATOR(dense)
{
	/* the kernel's arguments, then its grid: groups of one result each */
	const struct tenon_value kernel[] = { args[4],
					      args[0],
					      args[1],
					      args[2],
					      args[3],
					      tenon_arg_int(extent(&args[1], 1)),
					      tenon_arg_int(extent(&args[1], 0)),
					      tenon_arg_int(1) };

	(void)self;
	(void)ret;
	if (count != 5)
		return -1;
	return is_on_host(&args[4]) ? dense_on_host(args) : launch("dense_int8", kernel, 8);
}

/* ---- scores, int8 [classes] in sixteenths */

/* to: float32 [classes] */
OPERATOR(softmax)
{
	const int8_t *scores = data(&args[0]);
	float *to = data(&args[1]), sum = 0;
	int64_t i, n = extent(&args[0], 0);

	(void)self;
	(void)ret;
	if (count != 2)
		return -1;
	for (i = 0; i < n; i++) {
		to[i] = expf((float)scores[i] / 16);
		sum += to[i];
	}
	for (i = 0; i < n; i++)
		to[i] /= sum;
	return 0;
}

/* to: int32 [1] */
OPERATOR(argmax)
{
	const int8_t *scores = data(&args[0]);
	int32_t *to = data(&args[1]);
	int64_t i;

	(void)self;
	(void)ret;
	if (count != 2)
		return -1;
	*to = 0;
	for (i = 1; i < extent(&args[0], 0); i++)
		if (scores[i] > scores[*to])
			*to = (int32_t)i;
	return 0;
}
