/* SPDX-License-Identifier: MIT */
/* Operations with a window: convolutions and pools; streams of weights. */
#include <inttypes.h>

#include "devices/ethosu/check.h"

/* KERNEL_STRIDE: bits that have a meaning */
#define STRIDE_BITS 0x027f
#define PAD_MOST    127

static const uint8_t of_window[] = {
	ETHOSU_IFM_DEPTH_M1,	 ETHOSU_IFM_PAD_TOP,	ETHOSU_IFM_PAD_LEFT,
	ETHOSU_IFM_PAD_RIGHT,	 ETHOSU_IFM_PAD_BOTTOM, ETHOSU_KERNEL_WIDTH_M1,
	ETHOSU_KERNEL_HEIGHT_M1, ETHOSU_KERNEL_STRIDE,	END
};
static const uint8_t of_weights[] = { ETHOSU_WEIGHT_REGION,
				      ETHOSU_WEIGHT_BASE,
				      ETHOSU_WEIGHT_LENGTH,
				      ETHOSU_SCALE_REGION,
				      ETHOSU_SCALE_BASE,
				      ETHOSU_SCALE_LENGTH,
				      END };
static const uint8_t of_scales[] = { ETHOSU_SCALE_REGION, ETHOSU_SCALE_BASE, ETHOSU_SCALE_LENGTH,
				     END };
static const uint8_t of_weights_u85[] = { ETHOSU_WEIGHT_FORMAT, END };
static const uint8_t of_second_core[] = { ETHOSU_WEIGHT1_BASE, ETHOSU_WEIGHT1_LENGTH,
					  ETHOSU_SCALE1_BASE, ETHOSU_SCALE1_LENGTH, END };
static const uint8_t of_ofm_scale[] = { ETHOSU_OFM_SCALE, END };

/* Extent of the input of an operation with a window along one axis; 0 or less if there is none. */
static int64_t input_size(const struct checker *k, int64_t output, unsigned int stride,
			  unsigned int window, unsigned int before, unsigned int after)
{
	const int64_t size = (output - 1) * stride + window - before - after;

	return param(k, ETHOSU_IFM_UPSCALE) && size > 0 ? (size + 1) / 2 : size;
}

static int check_form(const struct checker *k)
{
	unsigned int i;

	for (i = ETHOSU_IFM_PAD_TOP; i <= ETHOSU_IFM_PAD_BOTTOM; i++)
		if (param(k, i) > PAD_MOST)
			return FAULT(k, "%s has %s %u, %d at most", op_name(k),
				     ethosu_command_name(i), param(k, i), PAD_MOST);
	if (param(k, ETHOSU_KERNEL_STRIDE) & ~STRIDE_BITS)
		return FAULT(k, "%s has KERNEL_STRIDE 0x%x, of which 0x%x is known", op_name(k),
			     param(k, ETHOSU_KERNEL_STRIDE), STRIDE_BITS);
	if (param(k, ETHOSU_IFM_UPSCALE) > 2)
		return FAULT(k, "%s has IFM_UPSCALE %u; 0 to 2 are known", op_name(k),
			     param(k, ETHOSU_IFM_UPSCALE));
	return 0;
}

static int input_of_window(struct checker *k)
{
	int64_t width, height;
	struct check_box out, in;
	int err;

	err = check_need(k, of_window);
	if (!err)
		err = check_form(k);
	if (err)
		return err;
	check_output_box(k, &out);
	width = input_size(k, out.width, ethosu_stride_x(&k->state),
			   param(k, ETHOSU_KERNEL_WIDTH_M1) + 1u, param(k, ETHOSU_IFM_PAD_LEFT),
			   param(k, ETHOSU_IFM_PAD_RIGHT));
	height = input_size(k, out.height, ethosu_stride_y(&k->state),
			    param(k, ETHOSU_KERNEL_HEIGHT_M1) + 1u, param(k, ETHOSU_IFM_PAD_TOP),
			    param(k, ETHOSU_IFM_PAD_BOTTOM));
	if (width <= 0 || height <= 0)
		return FAULT(k,
			     "the input of %s has %" PRIi64 " columns and %" PRIi64
			     " rows by its output, window and padding",
			     op_name(k), width, height);
	in = (struct check_box){ (uint32_t)width, (uint32_t)height,
				 param(k, ETHOSU_IFM_DEPTH_M1) + 1u };
	return check_touch_map(k, &ethosu_ifm, &in);
}

/* ---- weights and scales */

/* a stream of weights or scales: its setters */
struct weight_stream {
	const char *what;
	uint8_t base;
	uint8_t length;
	uint8_t region;
};

static int touch_stream(struct checker *k, const struct weight_stream *s)
{
	const uint32_t length = k->state.word[s->length];
	int err;

	if (!k->state.seen[s->length] || !length)
		return 0;
	err = check_need_one(k, s->base);
	return err ? err
		   : check_touch_bytes(k, param(k, s->region),
				       ethosu_state_offset(&k->state, s->base), length, false,
				       s->what);
}

static const struct weight_stream weights_old[] = {
	{ "weights", ETHOSU_WEIGHT_BASE, ETHOSU_WEIGHT_LENGTH, ETHOSU_WEIGHT_REGION },
	{ "weights of the second core", ETHOSU_WEIGHT1_BASE, ETHOSU_WEIGHT1_LENGTH,
	  ETHOSU_WEIGHT_REGION },
};
static const struct weight_stream weights_u85[] = {
	{ "weights", ETHOSU_WEIGHT_BASE, ETHOSU_WEIGHT_LENGTH, ETHOSU_WEIGHT_REGION },
	{ "second stream of weights", ETHOSU_WEIGHT1_BASE, ETHOSU_WEIGHT1_LENGTH,
	  ETHOSU_WEIGHT_REGION },
	{ "third stream of weights", ETHOSU_WEIGHT2_BASE, ETHOSU_WEIGHT2_LENGTH,
	  ETHOSU_WEIGHT_REGION },
	{ "fourth stream of weights", ETHOSU_WEIGHT3_BASE, ETHOSU_WEIGHT3_LENGTH,
	  ETHOSU_WEIGHT_REGION },
};
static const struct weight_stream scales[] = {
	{ "scales", ETHOSU_SCALE_BASE, ETHOSU_SCALE_LENGTH, ETHOSU_SCALE_REGION },
	{ "scales of the second core", ETHOSU_SCALE1_BASE, ETHOSU_SCALE1_LENGTH,
	  ETHOSU_SCALE_REGION },
};

static int touch_scales(struct checker *k)
{
	int err;

	if (param(k, ETHOSU_OFM_PRECISION) & ETHOSU_OFM_GLOBAL_SCALE)
		return 0;
	err = touch_stream(k, &scales[0]);
	if (!err && k->product == ETHOSU_PRODUCT_U65)
		err = touch_stream(k, &scales[1]);
	return err;
}

static int touch_weights(struct checker *k)
{
	const bool u85 = k->product == ETHOSU_PRODUCT_U85;
	const struct weight_stream *s = u85 ? weights_u85 : weights_old;
	const unsigned int decoders = ethosu_streams(k->target), count = u85 ? ETHOSU_STREAMS : 2;
	unsigned int i;
	int err;

	err = check_need(k, of_weights);
	if (!err && u85)
		err = check_need(k, of_weights_u85);
	if (!err && param(k, ETHOSU_PARALLEL_MODE))
		err = check_need(k, of_second_core);
	/* in the fast format the other streams have no bytes and no base */
	for (i = 1; u85 && i < decoders && !err; i++)
		err = check_need_one(k, s[i].length);
	for (i = 0; i < count && !err; i++)
		err = touch_stream(k, &s[i]);
	return err ? err : touch_scales(k);
}

int check_convolution(struct checker *k)
{
	int err;

	if (k->op.param)
		return FAULT(k,
			     "%s with the parameter 0x%x: weights from a feature map have no known "
			     "bound",
			     op_name(k), k->op.param);
	err = input_of_window(k);
	return err ? err : touch_weights(k);
}

int check_pool(struct checker *k)
{
	const unsigned int most = k->product == ETHOSU_PRODUCT_U85 ? 7 : 2;
	int err;

	if (k->op.param > most)
		return FAULT(k, "OP_POOL of kind %u; 0 to %u are known", k->op.param, most);
	err = check_need(k, of_ofm_scale);
	if (!err)
		err = input_of_window(k);
	if (err || k->product != ETHOSU_PRODUCT_U85 ||
	    param(k, ETHOSU_OFM_PRECISION) & ETHOSU_OFM_GLOBAL_SCALE)
		return err;
	err = check_need(k, of_scales);
	return err ? err : touch_scales(k);
}
