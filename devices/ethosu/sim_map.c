/* SPDX-License-Identifier: MIT */
/* Feature maps in memory, and values of the model. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "devices/ethosu/ethosu_take.h"
#include "devices/ethosu/sim.h"
#include "lib/brief_errors.h"
#include "lib/cursor_fast.h"

/* a stream may walk through the same byte again and again: values of a map, at most */
#define VALUES_MOST (UINT64_C(1) << 28)

int sim_box_make(struct sim *s, struct sim_box *b)
{
	uint64_t count = (uint64_t)b->height * b->width;
	int err;

	b->data = NULL;
	if (count > VALUES_MOST || count * b->depth > VALUES_MOST)
		return sim_refuse(s, "a map of more than 2^28 elements");
	err = sim_spend(s, count * b->depth);
	if (err)
		return err;
	b->data = ethosu_take((size_t)(count * b->depth) * sizeof(*b->data));
	return b->data ? 0 : tenon_error(-TENON_E_NOMEM, "no memory for a feature map");
}

/* where elements of a map are */
struct layout {
	unsigned int region;
	unsigned int element; /* bytes */
	bool bricks;
	bool is_signed;
	uint32_t width0;
	uint32_t height0;
	uint32_t height1;
	uint64_t base[4];
	uint64_t stride[3];
};

static int layout_of(const struct sim *s, const struct ethosu_map *m, struct layout *l)
{
	const unsigned int precision = sim_param(s, m->precision);
	unsigned int i;

	l->region = sim_param(s, m->region);
	l->element = 1u << (precision >> m->size_bit & 3);
	l->bricks = (precision >> 6 & 3) == ETHOSU_NHCWB16;
	l->is_signed = precision & 1;
	l->width0 = sim_param(s, m->width0) + 1u;
	l->height0 = sim_param(s, m->width0 + 1) + 1u;
	l->height1 = sim_param(s, m->width0 + 2) + 1u;
	for (i = 0; i < 4; i++)
		l->base[i] = ethosu_state_offset(&s->state, m->base0 + i);
	for (i = 0; i < 3; i++)
		l->stride[i] = ethosu_state_offset(&s->state, m->stride_x + i);
	return l->element == 8 ? sim_refuse(s, "a map with elements of 64 bits") : 0;
}

/* Offset of the first channel of an element, in its tile. */
static uint64_t place(const struct layout *l, uint32_t y, uint32_t x)
{
	unsigned int tile = 0;

	if (x >= l->width0) {
		x -= l->width0;
		tile = 1;
	}
	if (y >= (tile ? l->height1 : l->height0)) {
		y -= tile ? l->height1 : l->height0;
		tile += 2;
	}
	return l->base[tile] + y * l->stride[1] +
	       (l->bricks ? (uint64_t)16 * x * l->element : x * l->stride[0]);
}

static int32_t get(const struct layout *l, const uint8_t *at)
{
	if (l->element == 1)
		return l->is_signed ? (int8_t)*at : *at;
	if (l->element == 2)
		return l->is_signed ? (int16_t)load_u16(at) : load_u16(at);
	return (int32_t)load_u32(at);
}

static void put(const struct layout *l, uint8_t *at, int32_t value)
{
	const uint16_t half = htole16((uint16_t)value);
	const uint32_t word = htole32((uint32_t)value);

	if (l->element == 1)
		*at = (uint8_t)value;
	else if (l->element == 2)
		memcpy(at, &half, sizeof(half));
	else
		memcpy(at, &word, sizeof(word));
}

/* Read or write one element of a map: its channels, in runs that lie together. */
static int copy_element(struct sim *s, const struct layout *l, uint32_t y, uint32_t x,
			uint32_t depth, int32_t *values, bool write)
{
	const uint64_t start = place(l, y, x);
	uint32_t c, i, run;
	uint8_t *at;

	for (c = 0; c < depth; c += run) {
		run = l->bricks && depth - c > 16 ? 16 : depth - c;
		at = sim_range(s, l->region, start + (l->bricks ? c / 16 * l->stride[2] : 0),
			       (uint64_t)run * l->element, write);
		if (!at)
			return -TENON_E_USAGE;
		for (i = 0; i < run; i++, at += l->element) {
			if (write)
				put(l, at, values[c + i]);
			else
				values[c + i] = get(l, at);
		}
	}
	return 0;
}

static int load_memory(struct sim *s, const struct ethosu_map *m, struct sim_box *b)
{
	struct layout l;
	uint32_t y, x;
	int err;

	err = layout_of(s, m, &l);
	if (!err)
		err = sim_box_make(s, b);
	for (y = 0; y < b->height && !err; y++)
		for (x = 0; x < b->width && !err; x++)
			err = copy_element(s, &l, y, x, b->depth,
					   b->data + ((size_t)y * b->width + x) * b->depth, false);
	return err;
}

int sim_load(struct sim *s, const struct ethosu_map *m, unsigned int zero_point, struct sim_box *b)
{
	const int32_t zero = (int16_t)sim_param(s, zero_point);
	size_t i, count;
	int err;

	b->data = NULL;
	err = sim_is_chained(s, m) ? sim_load_chain(s, m, b) : load_memory(s, m, b);
	if (err)
		return err;
	count = sim_box_count(b);
	for (i = 0; i < count; i++)
		b->data[i] = (int32_t)((uint32_t)b->data[i] - (uint32_t)zero);
	return 0;
}

void sim_output_box(const struct sim *s, struct sim_box *b)
{
	b->height = sim_param(s, ETHOSU_OFM_HEIGHT_M1) + 1u;
	b->width = sim_param(s, ETHOSU_OFM_WIDTH_M1) + 1u;
	b->depth = sim_param(s, ETHOSU_OFM_DEPTH_M1) + 1u;
}

/* ---- results */

static int store_memory(struct sim *s, const struct layout *l, const struct sim_box *b)
{
	uint32_t y, x;
	int err = 0;

	for (y = 0; y < b->height && !err; y++)
		for (x = 0; x < b->width && !err; x++)
			err = copy_element(s, l, y, x, b->depth,
					   b->data + ((size_t)y * b->width + x) * b->depth, true);
	return err;
}

int sim_store(struct sim *s, const struct sim_box *b)
{
	const size_t count = sim_box_count(b);
	struct sim_activation a;
	struct sim_box turned = { .data = NULL };
	struct layout l;
	size_t i;
	int err;

	err = layout_of(s, &ethosu_ofm, &l);
	if (!err)
		err = sim_activation_of(s, l.element, &a);
	if (err)
		return err;
	for (i = 0; i < count; i++)
		b->data[i] = sim_activate(&a, b->data[i]);
	if (!sim_is_u85(s))
		return store_memory(s, &l, b);
	if (sim_is_chained(s, &ethosu_ofm))
		return sim_store_chain(s, b);
	err = sim_transpose(s, b, &turned);
	if (!err)
		err = store_memory(s, &l, &turned);
	heap_free(turned.data);
	return err;
}

/* ---- scales */

/* The high half of the doubled product, rounded to nearest, ties away from zero as the reference implementation does it. */
static int32_t doubling_high(int32_t a, int32_t b)
{
	const int64_t product = (int64_t)a * b;
	const int64_t nudge = product >= 0 ? INT64_C(1) << 30 : 1 - (INT64_C(1) << 30);

	if (a == INT32_MIN && b == INT32_MIN)
		return INT32_MAX;
	return (int32_t)((product + nudge) / (INT64_C(1) << 31));
}

/* Divide by a power of two, rounded to nearest, ties away from zero. */
static int32_t divide_by_power(int32_t value, unsigned int shift)
{
	const int64_t half = shift ? INT64_C(1) << (shift - 1) : 0;

	return (int32_t)(value >= 0 ? (value + half) >> shift : -((half - value) >> shift));
}

static int32_t half_up(int64_t value, uint32_t multiplier, unsigned int shift)
{
	const uint64_t product = (uint64_t)value * multiplier;

	if (!shift)
		return (int32_t)product;
	/* an operand of U85 may be shifted by more than a word has */
	if (shift > 63)
		return 0;
	return (int32_t)((int64_t)(product + (UINT64_C(1) << (shift - 1))) >> shift);
}

enum sim_rounding sim_rounding(const struct sim *s)
{
	static const uint8_t modes_u85[8] = {
		[1] = SIM_HALF_UP, [3] = SIM_AWAY, [4] = SIM_TO_ZERO, [5] = SIM_DOWN
	};

	return sim_is_u85(s) ? modes_u85[sim_param(s, ETHOSU_OFM_SCALE) >> 13]
			     : sim_param(s, ETHOSU_OFM_PRECISION) >> 14;
}

static int32_t to_zero(int64_t value, uint32_t multiplier, unsigned int shift)
{
	const int64_t product = (int64_t)((uint64_t)value * multiplier);

	return (int32_t)(product < 0 && shift ? -(int64_t)(-(uint64_t)product >> shift)
					      : product >> shift);
}

static int32_t away(int64_t value, uint32_t multiplier, unsigned int shift)
{
	const int64_t product = (int64_t)((uint64_t)value * multiplier);
	const uint64_t half = shift ? UINT64_C(1) << (shift - 1) : 0,
		       size = product < 0 ? -(uint64_t)product : (uint64_t)product,
		       rounded = (size + half) >> shift;

	return (int32_t)(product < 0 ? -rounded : rounded);
}

int32_t sim_rescale(int64_t value, struct sim_scale scale, enum sim_rounding rounding)
{
	if (rounding == SIM_DOWN)
		return (int32_t)((int64_t)((uint64_t)value * scale.multiplier) >> scale.shift);
	if (rounding == SIM_TO_ZERO)
		return to_zero(value, scale.multiplier, scale.shift);
	if (rounding == SIM_AWAY)
		return away(value, scale.multiplier, scale.shift);
	if (rounding == SIM_DOUBLE && scale.shift > 31)
		return divide_by_power(doubling_high((int32_t)value, (int32_t)scale.multiplier),
				       scale.shift - 31);
	return half_up(value, scale.multiplier, scale.shift);
}
