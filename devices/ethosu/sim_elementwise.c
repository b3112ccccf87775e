/* SPDX-License-Identifier: MIT */
/* Compute element-wise operations as the hardware rounds and scales them. */
#include <stdlib.h>

#include "devices/ethosu/ethosu_take.h"
#include "devices/ethosu/sim.h"
#include "lib/brief_errors.h"

/* IFM_PRECISION: which operand is scaled before an addition */
#define SCALED(precision) ((precision) >> 8 & 3)
#define SCALED_B	  2
/* bits that an operand is moved up by before an addition: for elements of 16 bits, and others */
#define ADD_BITS(bits)	  ((bits) == 1 ? 15 : 20)
#define BROADCAST_SWAPPED (1 << 6)

/* two operands; a broadcast axis has the extent 1 */
struct operands {
	struct sim_box a;
	struct sim_box b;
	unsigned int bits; /* log2 of the bytes of an element of the first */
};

static uint32_t along(unsigned int broadcast, unsigned int bit, uint32_t extent)
{
	return broadcast & bit ? 1 : extent;
}

static int load_scalar(struct sim *s, unsigned int zero_point, struct sim_box *b)
{
	const uint32_t zero = (uint32_t)(int16_t)sim_param(s, zero_point);
	int err;

	b->height = b->width = b->depth = 1;
	err = sim_box_make(s, b);
	if (err)
		return err;
	b->data[0] =
		(int32_t)((sim_is_u85(s) ? s->state.word[ETHOSU_OP_SCALAR]
					 : (uint32_t)(int16_t)sim_param(s, ETHOSU_IFM2_SCALAR)) -
			  zero);
	return 0;
}

static int load_second(struct sim *s, const struct sim_box *out, struct sim_box *b)
{
	const unsigned int broadcast = sim_param(s, ETHOSU_IFM2_BROADCAST);

	if (broadcast & (sim_is_u85(s) ? ETHOSU_SCALAR_U85 : ETHOSU_IFM2_SCALAR_OLD))
		return load_scalar(s, ETHOSU_IFM2_ZERO_POINT, b);
	b->height = along(broadcast, ETHOSU_BROADCAST_H, out->height);
	b->width = along(broadcast, ETHOSU_BROADCAST_W, out->width);
	b->depth = along(broadcast, ETHOSU_BROADCAST_C, out->depth);
	return sim_load(s, &ethosu_ifm2, ETHOSU_IFM2_ZERO_POINT, b);
}

static int load_first(struct sim *s, const struct sim_box *out, struct sim_box *a)
{
	const unsigned int broadcast = sim_is_u85(s) ? sim_param(s, ETHOSU_IFM_BROADCAST) : 0;

	if (broadcast & ETHOSU_SCALAR_U85)
		return load_scalar(s, ETHOSU_IFM_ZERO_POINT, a);
	a->height = along(broadcast, ETHOSU_BROADCAST_H, out->height);
	a->width = along(broadcast, ETHOSU_BROADCAST_W, out->width);
	a->depth = along(broadcast, ETHOSU_BROADCAST_C, out->depth);
	return sim_load(s, &ethosu_ifm, ETHOSU_IFM_ZERO_POINT, a);
}

static bool has_one_operand(const struct sim *s)
{
	return s->op.param == ETHOSU_CLZ || s->op.param == ETHOSU_ABS ||
	       s->op.param == ETHOSU_LRELU;
}

static int load(struct sim *s, const struct sim_box *out, struct operands *o)
{
	int err;

	o->bits = sim_param(s, ETHOSU_IFM_PRECISION) >> 2 & 3;
	err = load_first(s, out, &o->a);
	if (!err && !has_one_operand(s))
		err = load_second(s, out, &o->b);
	return err;
}

static int32_t at(const struct sim_box *b, uint32_t y, uint32_t x, uint32_t c)
{
	if (b->height == 1)
		y = 0;
	if (b->width == 1)
		x = 0;
	if (b->depth == 1)
		c = 0;
	return b->data[((size_t)y * b->width + x) * b->depth + c];
}

/* ---- sums */

static int64_t scale_operand(const struct sim *s, int32_t value, unsigned int up, bool scaled)
{
	struct sim_scale scale = sim_scale_of(s, ETHOSU_OPA_SCALE);

	if (!scaled)
		return (int64_t)value * (INT64_C(1) << (up - 1));
	scale.shift += up;
	return sim_rescale((int64_t)value * (INT64_C(1) << up), scale, 0);
}

static int32_t add(const struct sim *s, int32_t a, int32_t b, unsigned int bits, bool subtract)
{
	const unsigned int scaled = SCALED(sim_param(s, ETHOSU_IFM_PRECISION));
	int64_t left, right;

	if (sim_is_u85(s)) {
		left = sim_scale_operand_u85(s, a, ETHOSU_OPA_SCALE);
		right = sim_scale_operand_u85(s, b, ETHOSU_OPB_SCALE);
	} else if (scaled) {
		left = scale_operand(s, a, ADD_BITS(bits), scaled != SCALED_B);
		right = scale_operand(s, b, ADD_BITS(bits), scaled == SCALED_B);
	} else {
		left = (int64_t)a * (uint16_t)s->state.word[ETHOSU_OPA_SCALE];
		right = (int64_t)b * (uint16_t)s->state.word[ETHOSU_OPB_SCALE];
	}
	return sim_rescale(subtract ? left - right : left + right,
			   sim_scale_of(s, ETHOSU_OFM_SCALE), sim_rounding(s));
}

/* ---- others */

/* Of 32 bits, one operand is a multiplier of the other: of OFM_SCALE the shift alone counts. */
static int32_t multiply(const struct sim *s, int32_t a, int32_t b, bool wide)
{
	const struct sim_scale scale = sim_scale_of(s, ETHOSU_OFM_SCALE);
	const unsigned int rounding = sim_rounding(s);
	const int64_t product = (int64_t)a * b;

	if (!wide)
		return sim_rescale(product, scale, rounding);
	if (!rounding && scale.shift > 31)
		return sim_rescale(a, (struct sim_scale){ (uint32_t)b, scale.shift }, rounding);
	return sim_rescale(product, (struct sim_scale){ 1, scale.shift }, rounding);
}

static int32_t shift_right(int32_t a, int32_t b, unsigned int rounding)
{
	const unsigned int shift = (uint32_t)b & 63;
	const int64_t half = shift && rounding != 1 ? INT64_C(1) << (shift - 1) : 0;

	return (int32_t)(((int64_t)a + half) >> shift);
}

static int32_t shift_left(int32_t a, int32_t b)
{
	const unsigned int shift = (uint32_t)b & 63;

	return shift > 31 ? 0 : (int32_t)((uint32_t)a << shift);
}

static int32_t rescale(const struct sim *s, int32_t value)
{
	return sim_rescale(value, sim_scale_of(s, ETHOSU_OFM_SCALE), sim_rounding(s));
}

/* On U85 both halves have a scale of their own. */
static int32_t leaky(const struct sim *s, int32_t value)
{
	if (sim_is_u85(s))
		return rescale(s,
			       (int32_t)sim_scale_operand_u85(
				       s, value, value < 0 ? ETHOSU_OPB_SCALE : ETHOSU_OPA_SCALE));
	return value < 0 ? rescale(s, value) : value;
}

static int32_t compute(const struct sim *s, int32_t a, int32_t b, unsigned int bits)
{
	switch (s->op.param) {
	case ETHOSU_MUL:
		return multiply(s, a, b, bits == 2);
	case ETHOSU_ADD:
		return add(s, a, b, bits, false);
	case ETHOSU_SUB:
		return add(s, a, b, bits, true);
	case ETHOSU_LRELU:
		return leaky(s, a);
	case ETHOSU_ABS:
		return rescale(s, a < 0 ? (int32_t) - (uint32_t)a : a);
	case ETHOSU_MIN:
		return a < b ? a : b;
	case ETHOSU_MAX:
		return a > b ? a : b;
	case ETHOSU_CLZ:
		return a ? __builtin_clz((uint32_t)a) : 32;
	case ETHOSU_SHR:
		return shift_right(a, b, sim_rounding(s));
	default:
		return shift_left(a, b);
	}
}

static void run_elements(const struct sim *s, const struct operands *o, struct sim_box *out)
{
	const bool one = has_one_operand(s),
		   swapped = !one && !sim_is_u85(s) &&
			     sim_param(s, ETHOSU_IFM2_BROADCAST) & BROADCAST_SWAPPED;
	int32_t *to = out->data, a, b;
	uint32_t y, x, c;

	for (y = 0; y < out->height; y++)
		for (x = 0; x < out->width; x++)
			for (c = 0; c < out->depth; c++) {
				a = at(&o->a, y, x, c);
				b = one ? 0 : at(&o->b, y, x, c);
				*to++ = swapped ? compute(s, b, a, o->bits)
						: compute(s, a, b, o->bits);
			}
}

int sim_elementwise(struct sim *s)
{
	struct operands o = { .bits = 0 };
	struct sim_box out = { .data = NULL };
	int err;

	if (s->op.param > ETHOSU_SHL)
		return sim_refuse(s, "an operation on bits, a division or a comparison");
	sim_output_box(s, &out);
	err = load(s, &out, &o);
	if (!err)
		err = sim_box_make(s, &out);
	if (!err) {
		run_elements(s, &o, &out);
		err = sim_store(s, &out);
	}
	heap_free(o.a.data);
	heap_free(o.b.data);
	heap_free(out.data);
	return err;
}
