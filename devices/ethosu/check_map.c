/* SPDX-License-Identifier: MIT */
/* Accesses: bytes, and feature maps in their tiles. */
#include <inttypes.h>

#include "devices/ethosu/check.h"

/* addresses have 40 bits */
#define ADDRESS_END	   (UINT64_C(1) << 40)
#define U85_STORAGE(param) ((param) >> 14)
#define U85_TILES_3X1	   1
#define U85_CHAINED	   2

/* An access of a region from its start to @end. */
static int touch(struct checker *k, unsigned int region, uint64_t end, bool write, const char *what)
{
	uint64_t *extent;

	if (region >= ETHOSU_REGIONS)
		return FAULT(k, "%s: region %u of the %s does not exist; there are 0 to %d",
			     op_name(k), region, what, ETHOSU_REGIONS - 1);
	if (end > ADDRESS_END)
		return FAULT(k, "%s: byte %" PRIu64 " of the %s is beyond 40 bits", op_name(k),
			     end - 1, what);
	if (end > k->sizes[region])
		return FAULT(k,
			     "%s needs %" PRIu64 " bytes of region %u for the %s; it has %" PRIu64,
			     op_name(k), end, region, what, k->sizes[region]);
	extent = write ? &k->out->write[region] : &k->out->read[region];
	if (end > *extent)
		*extent = end;
	return 0;
}

/* Bytes at an offset; none is no access. */
int check_touch_bytes(struct checker *k, unsigned int region, uint64_t offset, uint64_t size,
		      bool write, const char *what)
{
	return size ? touch(k, region, offset + size, write, what) : 0;
}

/* Bytes from the first element of a box to the end of its last. */
static uint64_t box_bytes(const uint64_t stride[3], const struct check_box *b, bool bricks,
			  uint64_t element)
{
	const uint64_t rows = (b->height - 1) * stride[1], last = b->depth - 1;
	uint64_t channels = last / 16 * stride[2] + last % 16 * element, before;

	if (!bricks)
		return rows + (b->width - 1) * stride[0] + last * element + element;
	/* where bricks overlap, the last channel of the brick before may lie behind the last of all */
	before = last >= 16 ? (last / 16 - 1) * stride[2] + 15 * element : 0;
	if (before > channels)
		channels = before;
	return rows + 16 * (uint64_t)(b->width - 1) * element + channels + element;
}

static bool is_chained(const struct checker *k, const struct ethosu_map *m)
{
	return k->product == ETHOSU_PRODUCT_U85 &&
	       U85_STORAGE(param(k, m->precision)) >= U85_CHAINED;
}

static uint32_t cut(uint32_t size, uint32_t from, uint32_t to)
{
	if (size <= from)
		return 0;
	return (size < to ? size : to) - from;
}

/* Divide a map into its tiles: two beside each other and two below, or three below each other. */
static void make_tiles(const struct checker *k, const struct ethosu_map *m,
		       const struct check_box *b, struct check_box tiles[4])
{
	const uint32_t w = param(k, m->width0) + 1u, h0 = param(k, m->width0 + 1) + 1u,
		       h1 = param(k, m->width0 + 2) + 1u, all = UINT32_MAX;
	const struct check_box none = { 0, 0, b->depth };
	unsigned int i;

	for (i = 0; i < 4; i++)
		tiles[i] = none;
	if (k->product == ETHOSU_PRODUCT_U85 &&
	    U85_STORAGE(param(k, m->precision)) == U85_TILES_3X1) {
		for (i = 0; i < 3; i++)
			tiles[i].width = b->width;
		tiles[0].height = cut(b->height, 0, h0 < h1 ? h0 : h1);
		tiles[1].height = h0 < h1 ? cut(b->height, h0, h1) : 0;
		tiles[2].height = cut(b->height, h1, all);
		return;
	}
	tiles[0].width = tiles[2].width = cut(b->width, 0, w);
	tiles[1].width = tiles[3].width = cut(b->width, w, all);
	tiles[0].height = cut(b->height, 0, h0);
	tiles[2].height = cut(b->height, h0, all);
	tiles[1].height = cut(b->height, 0, h1);
	tiles[3].height = cut(b->height, h1, all);
}

/* The extents of an output of U85 in memory, where its axes may be in another order. */
static int turn(const struct checker *k, const struct ethosu_map *m, const struct check_box *b,
		struct check_box *out)
{
	const uint32_t extents[3] = { b->height, b->width, b->depth };
	const unsigned int precision = param(k, ETHOSU_OFM_PRECISION);
	uint8_t axes[3];

	*out = *b;
	if (k->product != ETHOSU_PRODUCT_U85 || m != &ethosu_ofm)
		return 0;
	if (!ethosu_output_axes(precision, axes))
		return FAULT(k, "the output of %s has its axes in the unknown order %u", op_name(k),
			     precision >> 11 & 7);
	*out = (struct check_box){ extents[axes[1]], extents[axes[0]], extents[axes[2]] };
	return 0;
}

static int read_strides(const struct checker *k, const struct ethosu_map *m, bool bricks,
			uint64_t stride[3])
{
	static const char axes[] = "XYC";
	unsigned int i;

	for (i = 0; i < 3; i++) {
		stride[i] = ethosu_state_offset(&k->state, m->stride_x + i);
		/* bricks have no stride of elements, rows of elements none of bricks */
		if (stride[i] >> 39 && i != (bricks ? 0 : 2))
			return FAULT(k, "the %s of %s has a negative stride %c", m->name,
				     op_name(k), axes[i]);
	}
	return 0;
}

/* Setters that say where a map lies. */
static int need_place(const struct checker *k, const struct ethosu_map *m)
{
	int err = check_need_one(k, m->region);

	if (!err)
		err = check_need_run(k, m->base0, 4);
	if (!err)
		err = check_need_run(k, m->stride_x, 3);
	return err ? err : check_need_run(k, m->width0, 3);
}

/* All of a feature map; the setters of its shape are there. */
int check_touch_map(struct checker *k, const struct ethosu_map *m, const struct check_box *b)
{
	const unsigned int precision = param(k, m->precision), format = precision >> 6 & 3;
	const uint64_t element = UINT64_C(1) << (precision >> m->size_bit & 3);
	uint64_t stride[3];
	struct check_box tiles[4], turned;
	unsigned int i;
	int err;

	if (is_chained(k, m))
		return 0;
	err = need_place(k, m);
	if (!err && format > ETHOSU_NHCWB16)
		err = FAULT(k, "the %s of %s has the unknown format %u", m->name, op_name(k),
			    format);
	if (!err)
		err = read_strides(k, m, format == ETHOSU_NHCWB16, stride);
	if (err)
		return err;
	err = turn(k, m, b, &turned);
	if (err)
		return err;
	make_tiles(k, m, &turned, tiles);
	for (i = 0; i < 4 && !err; i++)
		if (tiles[i].width && tiles[i].height)
			err = touch(k, param(k, m->region),
				    ethosu_state_offset(&k->state, m->base0 + i) +
					    box_bytes(stride, &tiles[i], format == ETHOSU_NHCWB16,
						      element),
				    m == &ethosu_ofm, m->name);
	return err;
}

void check_output_box(const struct checker *k, struct check_box *b)
{
	b->width = param(k, ETHOSU_OFM_WIDTH_M1) + 1u;
	b->height = param(k, ETHOSU_OFM_HEIGHT_M1) + 1u;
	b->depth = param(k, ETHOSU_OFM_DEPTH_M1) + 1u;
}
