/* SPDX-License-Identifier: MIT */
/* Convolution, depthwise convolution and pooling. */
#include <stdlib.h>
#include <string.h>

#include "devices/ethosu/ethosu_take.h"
#include "devices/ethosu/sim.h"
#include "lib/brief_errors.h"

enum { POOL_MAX, POOL_AVERAGE, POOL_SUM, POOL_WINDOW_SUM, POOL_MIN = 5 };
/* KERNEL_STRIDE: windows in parts of 4 by 4 */
#define PARTS_4X4 (1 << 5)

/* largest value of an input of 8 bits without its zero point */
#define VALUE_MOST 511
/*
 * products with 16-bit weights whose sum fits into 32 bits: with inputs up to VALUE_MOST, and of 16
 * bits
 */
#define PART	  (INT32_MAX / (VALUE_MOST * INT16_MAX))
#define PART_WIDE 1

/* ---- the input */

/* A map of twice the extents: each element four times, or once with zeros around it. */
static int upscale(struct sim *s, uint32_t height, uint32_t width, struct sim_box *b)
{
	const unsigned int mode = sim_param(s, ETHOSU_IFM_UPSCALE);
	struct sim_box big = { height, width, b->depth, NULL };
	const size_t bytes = (size_t)b->depth * sizeof(*b->data);
	uint32_t y, x;
	int32_t *to;
	int err;

	err = sim_box_make(s, &big);
	if (err)
		return err;
	for (y = 0; y < height; y++)
		for (x = 0; x < width; x++) {
			to = big.data + ((size_t)y * width + x) * b->depth;
			if (mode == 2 && (y % 2 || x % 2))
				memset(to, 0, bytes);
			else
				memcpy(to,
				       b->data + ((size_t)(y / 2) * b->width + x / 2) * b->depth,
				       bytes);
		}
	heap_free(b->data);
	*b = big;
	return 0;
}

/* The window of the operation, and its input; free @input->data. */
static int window_of(struct sim *s, struct sim_window *k, struct sim_box *input)
{
	const unsigned int bits = sim_param(s, ETHOSU_KERNEL_STRIDE);
	uint32_t height, width;
	int err;

	input->data = NULL;
	if (bits & PARTS_4X4)
		return sim_refuse(s, "a window in parts of 4 by 4");
	k->stride_x = ethosu_stride_x(&s->state);
	k->stride_y = ethosu_stride_y(&s->state);
	k->dilation_x = 1 + (bits >> 3 & 1);
	k->dilation_y = 1 + (bits >> 4 & 1);
	k->width = sim_param(s, ETHOSU_KERNEL_WIDTH_M1) / k->dilation_x + 1;
	k->height = sim_param(s, ETHOSU_KERNEL_HEIGHT_M1) / k->dilation_y + 1;
	k->left = sim_param(s, ETHOSU_IFM_PAD_LEFT);
	k->top = sim_param(s, ETHOSU_IFM_PAD_TOP);
	/* the check has seen that these are above 0 */
	width = sim_param(s, ETHOSU_OFM_WIDTH_M1) * k->stride_x +
		sim_param(s, ETHOSU_KERNEL_WIDTH_M1) + 1 - k->left -
		sim_param(s, ETHOSU_IFM_PAD_RIGHT);
	height = sim_param(s, ETHOSU_OFM_HEIGHT_M1) * k->stride_y +
		 sim_param(s, ETHOSU_KERNEL_HEIGHT_M1) + 1 - k->top -
		 sim_param(s, ETHOSU_IFM_PAD_BOTTOM);
	*input = (struct sim_box){ height, width, sim_param(s, ETHOSU_IFM_DEPTH_M1) + 1u, NULL };
	if (sim_param(s, ETHOSU_IFM_UPSCALE)) {
		input->height = (height + 1) / 2;
		input->width = (width + 1) / 2;
	}
	err = sim_load(s, &ethosu_ifm, ETHOSU_IFM_ZERO_POINT, input);
	if (!err && sim_param(s, ETHOSU_IFM_UPSCALE))
		err = upscale(s, height, width, input);
	return err;
}

/* Position in the input of an element of the window; false in the padding. */
static bool input_at(const struct sim_box *in, const struct sim_window *k, uint32_t y, uint32_t x,
		     uint32_t ky, uint32_t kx, size_t *at)
{
	const int64_t iy = (int64_t)y * k->stride_y + ky * k->dilation_y - k->top,
		      ix = (int64_t)x * k->stride_x + kx * k->dilation_x - k->left;

	if (iy < 0 || ix < 0 || iy >= in->height || ix >= in->width)
		return false;
	*at = ((size_t)iy * in->width + (size_t)ix) * in->depth;
	return true;
}

/* ---- convolution */

static int64_t dot(const int16_t *a, const int16_t *b, uint32_t count, uint32_t part_most)
{
	int64_t total = 0;
	uint32_t i, part;
	int32_t sum;

	while (count) {
		part = count < part_most ? count : part_most;
		sum = 0;
		for (i = 0; i < part; i++)
			sum += a[i] * b[i];
		total += sum;
		a += part;
		b += part;
		count -= part;
	}
	return total;
}

/* values of a map without their zero points, in 16 bits */
struct narrow {
	int16_t *values;
	uint32_t part; /* products whose sum fits into 32 bits */
};

static int narrow(const struct sim *s, const struct sim_box *in, struct narrow *n)
{
	const unsigned int bits = sim_param(s, ETHOSU_IFM_PRECISION) >> 2 & 3;
	const int32_t most = bits ? INT16_MAX : VALUE_MOST;
	const size_t count = sim_box_count(in);
	size_t i;

	if (bits > 1)
		return sim_refuse(s, "weights on a map with elements of more than 16 bits");
	n->part = bits ? PART_WIDE : PART;
	n->values = ethosu_take(count * sizeof(*n->values));
	if (!n->values)
		return tenon_error(-TENON_E_NOMEM, "no memory for a feature map");
	for (i = 0; i < count; i++) {
		if (in->data[i] < -most - (bits ? 1 : 0) || in->data[i] > most)
			return sim_refuse(s, "a zero point of more than 8 bits");
		n->values[i] = (int16_t)in->data[i];
	}
	return 0;
}

/* The sum of one element of the output. */
static int64_t sum_at(const struct sim_box *in, const struct narrow *n, const struct sim_window *k,
		      const int16_t *weights, uint32_t y, uint32_t x)
{
	uint32_t ky, kx;
	int64_t sum = 0;
	size_t at;

	for (ky = 0; ky < k->height; ky++)
		for (kx = 0; kx < k->width; kx++)
			if (input_at(in, k, y, x, ky, kx, &at))
				sum += dot(n->values + at,
					   weights + ((size_t)ky * k->width + kx) * in->depth,
					   in->depth, n->part);
	return sum;
}

static void convolve(const struct sim *s, const struct sim_box *in, const struct narrow *n,
		     const struct sim_window *k, const struct sim_weights *w, struct sim_box *out)
{
	const size_t each = (size_t)k->height * k->width * in->depth;
	const unsigned int rounding = sim_rounding(s);
	uint32_t y, x, c;
	int32_t *to = out->data;

	for (y = 0; y < out->height; y++)
		for (x = 0; x < out->width; x++)
			for (c = 0; c < out->depth; c++)
				*to++ = sim_rescale(sum_at(in, n, k, w->values + c * each, y, x) +
							    w->bias[c],
						    w->scales[c], rounding);
}

static void convolve_depthwise(const struct sim *s, const struct sim_box *in,
			       const struct narrow *n, const struct sim_window *k,
			       const struct sim_weights *w, struct sim_box *out)
{
	const size_t each = (size_t)k->height * k->width;
	uint32_t y, x, c, e;
	int64_t sum;
	size_t at;

	for (y = 0; y < out->height; y++)
		for (x = 0; x < out->width; x++)
			for (c = 0; c < out->depth; c++) {
				sum = w->bias[c];
				for (e = 0; e < each; e++)
					if (input_at(in, k, y, x, e / k->width, e % k->width, &at))
						sum += (int32_t)n->values[at + c] *
						       w->values[c * each + e];
				out->data[((size_t)y * out->width + x) * out->depth + c] =
					sim_rescale(sum, w->scales[c], sim_rounding(s));
			}
}

/* Products of an operation; the values of a box are at most 2^28, a window has at most 2^32 elements. */
static uint64_t work_of(const struct sim_window *k, const struct sim_box *out, uint32_t inputs)
{
	const uint64_t elements = (uint64_t)k->width * k->height;
	uint64_t work;

	return __builtin_mul_overflow(elements * inputs, (uint64_t)sim_box_count(out), &work)
		       ? UINT64_MAX
		       : work;
}

static int run_weights(struct sim *s, bool depthwise)
{
	struct sim_box in, out;
	struct sim_weights w = { NULL, NULL, NULL };
	struct sim_window k;
	struct narrow n = { NULL, 0 };
	int err;

	out.data = NULL;
	sim_output_box(s, &out);
	err = window_of(s, &k, &in);
	if (!err && depthwise && in.depth != out.depth)
		err = sim_refuse(s, "an output of another depth than the input");
	if (!err)
		err = narrow(s, &in, &n);
	if (!err)
		err = sim_weights_load(s, &k, out.depth, depthwise ? 1 : in.depth, &w);
	if (!err)
		err = sim_box_make(s, &out);
	if (!err)
		err = sim_spend(s, work_of(&k, &out, depthwise ? 1 : in.depth));
	if (!err) {
		if (depthwise)
			convolve_depthwise(s, &in, &n, &k, &w, &out);
		else
			convolve(s, &in, &n, &k, &w, &out);
		err = sim_store(s, &out);
	}
	sim_weights_fini(&w);
	heap_free(n.values);
	heap_free(out.data);
	heap_free(in.data);
	return err;
}

int sim_convolution(struct sim *s)
{
	return run_weights(s, false);
}

int sim_depthwise(struct sim *s)
{
	return run_weights(s, true);
}

/* ---- pooling */

/* Divide, rounded to nearest, ties away from zero. */
static int32_t average(int64_t sum, uint32_t count)
{
	const int64_t half = count / 2;

	return (int32_t)((sum >= 0 ? sum + half : sum - half) / (int64_t)count);
}

static int64_t pool_step(unsigned int kind, int64_t result, int32_t value)
{
	switch (kind) {
	case POOL_MAX:
		return value > result ? value : result;
	case POOL_MIN:
		return value < result ? value : result;
	default:
		return result + value;
	}
}

/* U85 has 2^30 >> 30 for it. */
static bool is_one(struct sim_scale scale)
{
	return scale.shift < 32 && scale.multiplier == UINT32_C(1) << scale.shift;
}

/* One channel of the output; padding does not count. */
static int32_t pool_at(const struct sim *s, const struct sim_box *in, const struct sim_window *k,
		       uint32_t y, uint32_t x, uint32_t c)
{
	const struct sim_scale scale = sim_scale_of(s, ETHOSU_OFM_SCALE);
	int64_t result = s->op.param == POOL_MAX   ? INT32_MIN
			 : s->op.param == POOL_MIN ? INT32_MAX
						   : 0;
	uint32_t ky, kx, count = 0;
	size_t at;

	for (ky = 0; ky < k->height; ky++)
		for (kx = 0; kx < k->width; kx++) {
			if (!input_at(in, k, y, x, ky, kx, &at))
				continue;
			count++;
			result = pool_step(s->op.param, result, in->data[at + c]);
		}
	if (!count)
		return 0;
	if (s->op.param == POOL_AVERAGE && is_one(scale))
		return average(result, count);
	return sim_rescale(result, scale, sim_rounding(s));
}

static int64_t sum_of_channels(const struct sim_box *in, uint32_t y, uint32_t x)
{
	const int32_t *at = in->data + ((size_t)y * in->width + x) * in->depth;
	int64_t sum = 0;
	uint32_t c;

	for (c = 0; c < in->depth; c++)
		sum += at[c];
	return sum;
}

static int check_pool(const struct sim *s, const struct sim_window *k, const struct sim_box *in,
		      const struct sim_box *out)
{
	if (s->op.param > POOL_WINDOW_SUM && s->op.param != POOL_MIN)
		return sim_refuse(s, "the place of the largest element, or a pool of nothing");
	if (sim_is_u85(s) && !(sim_param(s, ETHOSU_OFM_PRECISION) & ETHOSU_OFM_GLOBAL_SCALE))
		return sim_refuse(s, "a pool with a scale of each channel");
	if (sim_is_u85(s) && s->op.param == POOL_AVERAGE &&
	    !is_one(sim_scale_of(s, ETHOSU_OFM_SCALE)))
		return sim_refuse(s, "an average with a scale");
	if (s->op.param != POOL_SUM)
		return in->depth == out->depth
			       ? 0
			       : sim_refuse(s, "an output of another depth than the input");
	return out->depth == 1 && k->width == 1 && k->height == 1 && in->height == out->height &&
			       in->width == out->width
		       ? 0
		       : sim_refuse(s, "a sum over more than the channels");
}

int sim_pool(struct sim *s)
{
	struct sim_box in, out;
	struct sim_window k;
	uint32_t y, x, c;
	int32_t *to;
	int err;

	out.data = NULL;
	sim_output_box(s, &out);
	err = window_of(s, &k, &in);
	if (!err)
		err = check_pool(s, &k, &in, &out);
	if (!err)
		err = sim_box_make(s, &out);
	if (!err)
		err = sim_spend(s, s->op.param == POOL_SUM ? in.depth : work_of(&k, &out, 1));
	to = out.data;
	for (y = 0; y < out.height && !err; y++)
		for (x = 0; x < out.width; x++)
			for (c = 0; c < out.depth; c++)
				*to++ = s->op.param == POOL_SUM
						? sim_rescale(sum_of_channels(&in, y, x),
							      sim_scale_of(s, ETHOSU_OFM_SCALE),
							      sim_rounding(s))
						: pool_at(s, &in, &k, y, x, c);
	if (!err)
		err = sim_store(s, &out);
	heap_free(out.data);
	heap_free(in.data);
	return err;
}
