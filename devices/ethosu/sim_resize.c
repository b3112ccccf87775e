/* SPDX-License-Identifier: MIT */
/* The model's resized maps, by the rule of TOSA's RESIZE. */
#include "devices/ethosu/ethosu_take.h"
#include "devices/ethosu/sim.h"
#include "lib/brief_errors.h"

#define BILINEAR 0
#define NEAREST	 2

/* bits of setters */
#define NUMERATOR 0x7ff
#define WHOLE	  0xf
#define PART	  0x7ff
#define BLOCK(v)  ((v) >> 4 & 0x7ff)

/* results have so many bits behind the point before they are scaled */
#define POINT 16

/**
 * struct axis - positions of the output in the input, in steps of 1/@n
 * @n: parts of an element
 * @d: parts from one element of the output to the next
 * @offset: of the first
 * @size: elements of the input
 */
struct axis {
	int32_t n;
	int32_t d;
	int32_t offset;
	int32_t size;
};

/* What lies around an element of the output: the elements before and behind it, and parts from the first to it. */
struct spot {
	uint32_t at[2];
	int64_t part;
};

static int axis_of(const struct sim *s, unsigned int y, struct axis *a)
{
	const unsigned int step = ETHOSU_RESIZE_X + y, whole = sim_param(s, step) & WHOLE;
	const int32_t last = sim_param(s, ETHOSU_OFM_BLK_WIDTH_M1 + y);
	const uint32_t parts = s->state.word[step];
	const uint16_t offset = sim_param(s, y ? ETHOSU_RESIZE_Y_OFFSET : ETHOSU_RESIZE_X_OFFSET);

	a->n = (sim_param(s, ETHOSU_RESIZE_X_SCALE + y) & NUMERATOR) + 1;
	a->d = (int32_t)whole * a->n + (int32_t)(parts & PART);
	/* 12 bits with a sign */
	a->offset = (int32_t)(offset & 0x7ff) - (int32_t)(offset & 0x800);
	a->size = sim_param(s, ETHOSU_KERNEL_WIDTH_M1 + y) + 1;
	if ((int32_t)BLOCK(sim_param(s, step)) != last * a->d / a->n ||
	    (int32_t)(parts >> 16 & PART) != last * a->d % a->n)
		return sim_refuse(s, "blocks with other steps than their elements");
	return 0;
}

static uint32_t limited(int64_t at, int32_t size)
{
	return at < 0 ? 0 : at >= size ? (uint32_t)size - 1 : (uint32_t)at;
}

static struct spot spot_of(const struct axis *a, uint32_t i, bool nearest)
{
	const int64_t place = (int64_t)i * a->d + a->offset;
	int64_t at = place / a->n, part = place % a->n;

	if (part < 0) {
		part += a->n;
		at--;
	}
	if (nearest) {
		at += 2 * part >= a->n;
		part = 0;
	}
	return (struct spot){ { limited(at, a->size), limited(at + 1, a->size) }, part };
}

static int64_t value_at(const struct sim_box *in, uint32_t y, uint32_t x, uint32_t c)
{
	return in->data[((size_t)y * in->width + x) * in->depth + c];
}

static int64_t between(const struct sim_box *in, const struct spot *y, const struct spot *x,
		       int64_t n, uint32_t c, uint32_t row)
{
	return value_at(in, y->at[row], x->at[0], c) * (n - x->part) +
	       value_at(in, y->at[row], x->at[1], c) * x->part;
}

static void resize(const struct sim *s, const struct sim_box *in, const struct axis axes[2],
		   const struct sim_box *out)
{
	const struct sim_scale scale = sim_scale_of(s, ETHOSU_OFM_SCALE);
	const bool nearest = s->op.param == NEAREST;
	const int64_t n = axes[0].n;
	int32_t *to = out->data;
	struct spot x, y;
	uint32_t i, j, c;
	int64_t sum;

	for (i = 0; i < out->height; i++)
		for (j = 0; j < out->width; j++)
			for (c = 0; c < out->depth; c++) {
				y = spot_of(&axes[1], i, nearest);
				x = spot_of(&axes[0], j, nearest);
				sum = nearest ? value_at(in, y.at[0], x.at[0], c)
					      : between(in, &y, &x, n, c, 0) *
								(axes[1].n - y.part) +
							between(in, &y, &x, n, c, 1) * y.part;
				*to++ = sim_rescale((int64_t)((uint64_t)sum << POINT), scale,
						    sim_rounding(s));
			}
}

int sim_resize(struct sim *s)
{
	struct sim_box in = { .data = NULL }, out = { .data = NULL };
	struct axis axes[2];
	int err;

	if (s->op.param != BILINEAR && s->op.param != NEAREST)
		return sim_refuse(s, "a map that is repeated");
	sim_output_box(s, &out);
	in.width = sim_param(s, ETHOSU_KERNEL_WIDTH_M1) + 1u;
	in.height = sim_param(s, ETHOSU_KERNEL_HEIGHT_M1) + 1u;
	in.depth = sim_param(s, ETHOSU_IFM_DEPTH_M1) + 1u;
	if (in.depth != out.depth)
		return sim_refuse(s, "an output with another depth");
	err = axis_of(s, 0, &axes[0]);
	if (!err)
		err = axis_of(s, 1, &axes[1]);
	if (!err)
		err = sim_load(s, &ethosu_ifm, ETHOSU_IFM_ZERO_POINT, &in);
	if (!err)
		err = sim_box_make(s, &out);
	if (!err) {
		resize(s, &in, axes, &out);
		err = sim_store(s, &out);
	}
	heap_free(in.data);
	heap_free(out.data);
	return err;
}
