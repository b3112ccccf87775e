/* SPDX-License-Identifier: MIT */
/* Resized maps of U85: the extents of the window are those of the input, and positions outside of it are its edge. */
#include "devices/ethosu/check.h"

/* bilinear, by repetition, nearest */
#define MODE_MOST 2

static const uint8_t of_resize[] = { ETHOSU_IFM_DEPTH_M1,
				     ETHOSU_KERNEL_WIDTH_M1,
				     ETHOSU_KERNEL_HEIGHT_M1,
				     ETHOSU_OFM_SCALE,
				     ETHOSU_RESIZE_X_SCALE,
				     ETHOSU_RESIZE_Y_SCALE,
				     ETHOSU_RESIZE_X_OFFSET,
				     ETHOSU_RESIZE_Y_OFFSET,
				     ETHOSU_RESIZE_X,
				     ETHOSU_RESIZE_Y,
				     END };

int check_resize(struct checker *k)
{
	struct check_box in;
	int err;

	if (k->op.param > MODE_MOST)
		return FAULT(k, "OP_RESIZE of kind %u; 0 to %d are known", k->op.param, MODE_MOST);
	err = check_need(k, of_resize);
	if (err)
		return err;
	if (param(k, ETHOSU_IFM_UPSCALE))
		return FAULT(k, "OP_RESIZE has IFM_UPSCALE %u, want 0",
			     param(k, ETHOSU_IFM_UPSCALE));
	in = (struct check_box){ param(k, ETHOSU_KERNEL_WIDTH_M1) + 1u,
				 param(k, ETHOSU_KERNEL_HEIGHT_M1) + 1u,
				 param(k, ETHOSU_IFM_DEPTH_M1) + 1u };
	return check_touch_map(k, &ethosu_ifm, &in);
}
