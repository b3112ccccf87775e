/* SPDX-License-Identifier: MIT */
/* Compute region sizes by the rule of Linux's driver, command by command. */
#include "devices/ethosu/ethosu_linux.h"

#include <inttypes.h>
#include <string.h>
#include <tenon/error.h>

#include "devices/ethosu/ethosu_state.h"
#include "lib/brief_errors.h"

#define UNSET UINT64_MAX

#define POOL_NONE	 4
#define STORAGE(bits)	 ((bits) >> 14)
#define TILES_2X2	 0
#define TILES_3X1	 1
#define FORMAT(bits)	 ((bits) >> 6 & 3)
#define WEIGHTS_OF_IFM2	 1
#define DMA_MODE(region) ((region) >> 9 & 3)

/* A parameter or offset that the stream did not set has all bits set, as in Linux. */
struct walk {
	const struct ethosu_target *device;
	enum ethosu_linux generation;
	struct ethosu_state s;
	struct ethosu_command op;
	struct ethosu_linux_extents *out;
};

#define REFUSE(w, why)                                                                             \
	tenon_cursor_error(&(w)->op.place, -TENON_E_UNSUPPORTED,                                   \
			   "%s: Linux refuses it (generation %d of its rule): %s",                 \
			   ethosu_command_name((w)->op.id), (int)(w)->generation, why)

static uint16_t number(const struct walk *w, unsigned int id)
{
	return w->s.seen[id] ? w->s.param[id] : UINT16_MAX;
}

static uint64_t offset(const struct walk *w, unsigned int id)
{
	if (!w->s.seen[id])
		return UNSET;
	return w->generation == ETHOSU_LINUX_FIRST ? w->s.word[id] : ethosu_state_offset(&w->s, id);
}

static uint32_t length(const struct walk *w, unsigned int id)
{
	return w->s.seen[id] ? w->s.word[id] : UINT32_MAX;
}

/* A pad is kept in 8 bits, of which two of them use 7. */
static uint32_t pad(const struct walk *w, unsigned int id)
{
	const bool narrow = id == ETHOSU_IFM_PAD_TOP || id == ETHOSU_IFM_PAD_LEFT;

	return w->s.seen[id] ? number(w, id) & (narrow ? 0x7f : 0xff) : 0xff;
}

static void grow(const struct walk *w, unsigned int region, uint64_t end)
{
	if (w->out->size[region] < end)
		w->out->size[region] = end;
}

/* ---- feature maps */

/* Find the tile of an element, and its place there. */
static unsigned int tile_of(const struct walk *w, const struct ethosu_map *m, uint32_t *x,
			    uint32_t *y)
{
	const uint32_t width0 = number(w, m->width0) + 1u;
	const uint32_t height0 = number(w, m->width0 + 1) + 1u;
	const uint32_t height1 = number(w, m->width0 + 2) + 1u;
	const unsigned int storage = STORAGE(number(w, m->precision));
	unsigned int tile = 0;

	if (storage == TILES_2X2 && *x >= width0) {
		*x -= width0;
		tile = 1;
	}
	if (storage == TILES_2X2 && *y >= (tile ? height1 : height0)) {
		*y -= tile ? height1 : height0;
		tile += 2;
	}
	if (storage == TILES_3X1 && *y >= height1) {
		*y -= height1;
		tile = 2;
	} else if (storage == TILES_3X1 && *y >= height0) {
		*y -= height0;
		tile = 1;
	}
	return tile;
}

/* Count a map by its last element alone. */
static int add_map(const struct walk *w, const struct ethosu_map *m, uint32_t x, uint32_t y,
		   uint32_t c)
{
	const uint16_t precision = number(w, m->precision);
	const unsigned int tile = tile_of(w, m, &x, &y);
	uint64_t at = offset(w, m->base0 + tile);

	if (!w->s.seen[m->region])
		return REFUSE(w, "a map without a region");
	/* generation 1 uses seven bits, and writes behind its table */
	if (w->generation == ETHOSU_LINUX_FIRST && m == &ethosu_ifm &&
	    (w->s.param[m->region] & 0x7f) >= ETHOSU_REGIONS)
		return REFUSE(w, "an input in a region above 7");
	if (at == UNSET)
		return REFUSE(w, "a map without a base for the tile of its last element");
	at += y * offset(w, m->stride_x + 1);
	if (FORMAT(precision) == 0)
		at += x * offset(w, m->stride_x) + c;
	else if (FORMAT(precision) == ETHOSU_NHCWB16)
		at += c / 16 * offset(w, m->stride_x + 2) +
		      (uint32_t)((16 * x + c % 16) << (precision >> 1 & 3));
	grow(w, w->s.param[m->region] & 7, at + 1);
	return at == UNSET ? REFUSE(w, "a map that ends at the last address") : 0;
}

static int add_output(const struct walk *w)
{
	const int err = add_map(w, &ethosu_ofm, number(w, ETHOSU_OFM_WIDTH_M1),
				number(w, ETHOSU_OFM_HEIGHT_M1), number(w, ETHOSU_OFM_DEPTH_M1));

	if (!err)
		w->out->written[w->s.param[ETHOSU_OFM_REGION] & 7] = true;
	return err;
}

/* ---- operations with a window */

/* Last row or column of the input: of the last one of the output, by stride, size of the window, and pads. */
static int32_t last_of(uint16_t output_m1, uint32_t stride, uint16_t window_m1, uint32_t pads)
{
	return (int32_t)(output_m1 * stride + window_m1 - pads);
}

static int add_input(const struct walk *w)
{
	const uint32_t across = pad(w, ETHOSU_IFM_PAD_LEFT) + pad(w, ETHOSU_IFM_PAD_RIGHT);
	const uint32_t down = pad(w, ETHOSU_IFM_PAD_TOP) + pad(w, ETHOSU_IFM_PAD_BOTTOM);
	int32_t x, y;

	if (number(w, ETHOSU_KERNEL_STRIDE) == UINT16_MAX)
		return REFUSE(w, "no stride of the window");
	x = last_of(number(w, ETHOSU_OFM_WIDTH_M1), ethosu_stride_x(&w->s),
		    number(w, ETHOSU_KERNEL_WIDTH_M1), across);
	y = last_of(number(w, ETHOSU_OFM_HEIGHT_M1), ethosu_stride_y(&w->s),
		    number(w, ETHOSU_KERNEL_HEIGHT_M1), down);
	if (w->generation >= ETHOSU_LINUX_SECOND && (x < 0 || y < 0))
		return REFUSE(w, "an input of a negative size");
	return add_map(w, &ethosu_ifm, (uint32_t)x, (uint32_t)y, number(w, ETHOSU_IFM_DEPTH_M1));
}

/* Weights or scales of the first core: its region, base and length. */
static int add_bytes(const struct walk *w, unsigned int region, unsigned int base,
		     unsigned int bytes)
{
	const uint64_t at = offset(w, base);

	if (!w->s.seen[region] || at == UNSET || length(w, bytes) == UINT32_MAX)
		return REFUSE(w, "weights or scales without a region, base or length");
	grow(w, w->s.param[region] & 7, at + length(w, bytes));
	return 0;
}

static int add_convolution(const struct walk *w, bool input, bool weights, bool from_ifm2)
{
	int err = input ? add_input(w) : 0;

	if (!err && from_ifm2)
		err = add_map(w, &ethosu_ifm2, number(w, ETHOSU_IFM_DEPTH_M1), 0,
			      number(w, ETHOSU_OFM_DEPTH_M1));
	if (!err && weights && !from_ifm2)
		err = add_bytes(w, ETHOSU_WEIGHT_REGION, ETHOSU_WEIGHT_BASE, ETHOSU_WEIGHT_LENGTH);
	if (!err && !(number(w, ETHOSU_OFM_PRECISION) & ETHOSU_OFM_GLOBAL_SCALE))
		err = add_bytes(w, ETHOSU_SCALE_REGION, ETHOSU_SCALE_BASE, ETHOSU_SCALE_LENGTH);
	return err ? err : add_output(w);
}

/* ---- element-wise operations */

static int add_broadcast(const struct walk *w, const struct ethosu_map *m, unsigned int broadcast)
{
	const uint8_t one = (uint8_t)number(w, broadcast);

	return add_map(w, m, one & ETHOSU_BROADCAST_W ? 0 : number(w, ETHOSU_OFM_WIDTH_M1),
		       one & ETHOSU_BROADCAST_H ? 0 : number(w, ETHOSU_OFM_HEIGHT_M1),
		       one & ETHOSU_BROADCAST_C ? 0 : number(w, ETHOSU_OFM_DEPTH_M1));
}

/* Generation 1 knows the scalars of U85 alone. */
static bool second_is_scalar(const struct walk *w)
{
	const uint8_t bits = (uint8_t)number(w, ETHOSU_IFM2_BROADCAST);

	if (w->generation > ETHOSU_LINUX_FIRST &&
	    ethosu_product_of(w->device) == ETHOSU_PRODUCT_U65)
		return bits & ETHOSU_IFM2_SCALAR_OLD;
	return bits == ETHOSU_SCALAR_U85;
}

static bool has_second(unsigned int mode)
{
	return mode != ETHOSU_LRELU && mode != ETHOSU_ABS && mode != ETHOSU_CLZ &&
	       mode != ETHOSU_NOT;
}

static int add_elementwise(const struct walk *w)
{
	int err = 0;

	if ((uint8_t)number(w, ETHOSU_IFM_BROADCAST) != ETHOSU_SCALAR_U85)
		err = add_broadcast(w, &ethosu_ifm, ETHOSU_IFM_BROADCAST);
	if (!err && has_second(w->op.param) && !second_is_scalar(w))
		err = add_broadcast(w, &ethosu_ifm2, ETHOSU_IFM2_BROADCAST);
	return err ? err : add_output(w);
}

/* ---- DMA */

/* Repeat a transfer; a stride is added to its length, as signed number of 40 bits. Return: false on an overflow. */
static bool repeat(const struct walk *w, uint64_t *bytes, uint64_t stride, uint16_t times)
{
	const uint64_t sign = UINT64_C(1) << 39;
	const uint64_t step = stride == UNSET ? stride : (stride ^ sign) - sign;
	uint64_t total;

	if (w->generation == ETHOSU_LINUX_THIRD && (int64_t)step < 0 && -step > *bytes)
		return false;
	*bytes += step;
	if (__builtin_mul_overflow(*bytes, times, &total) && w->generation == ETHOSU_LINUX_THIRD)
		return false;
	*bytes = total;
	return true;
}

/* @region, @place: setters of one side; @strides: of its strides, 0 if the product has none */
static int add_side(const struct walk *w, unsigned int region, unsigned int place,
		    const unsigned int strides[2])
{
	const unsigned int mode =
		w->s.seen[ETHOSU_DMA0_SRC_REGION]
			? DMA_MODE((unsigned int)w->s.param[ETHOSU_DMA0_SRC_REGION])
			: 0;
	const bool strict = w->generation == ETHOSU_LINUX_THIRD;
	uint64_t bytes = offset(w, ETHOSU_DMA0_LEN), end;

	if (strict && bytes == UNSET)
		return REFUSE(w, "DMA without a length");
	if (mode >= 1 && !repeat(w, &bytes, strides[0] ? offset(w, strides[0]) : UNSET,
				 number(w, ETHOSU_DMA0_SIZE0)))
		return REFUSE(w, "DMA that overflows");
	if (mode == 2 && !repeat(w, &bytes, strides[1] ? offset(w, strides[1]) : UNSET,
				 number(w, ETHOSU_DMA0_SIZE1)))
		return REFUSE(w, "DMA that overflows");
	if (strict && bytes == UNSET)
		return REFUSE(w, "DMA that overflows");
	/* a side without a region counts as the internal memory */
	if (!w->s.seen[region] || w->s.param[region] & ETHOSU_DMA_INTERNAL)
		return 0;
	if (__builtin_add_overflow(bytes, offset(w, place), &end) && strict)
		return REFUSE(w, "DMA that overflows");
	grow(w, w->s.param[region] & 7, end);
	return 0;
}

static int add_dma(const struct walk *w)
{
	static const unsigned int none[2] = { 0, 0 };
	static const unsigned int skips[2] = { ETHOSU_DMA0_SKIP0, ETHOSU_DMA0_SKIP1 };
	static const unsigned int source[2] = { ETHOSU_DMA0_SRC_STRIDE0, ETHOSU_DMA0_SRC_STRIDE1 };
	static const unsigned int target[2] = { ETHOSU_DMA0_DST_STRIDE0, ETHOSU_DMA0_DST_STRIDE1 };
	const bool u85 = ethosu_product_of(w->device) == ETHOSU_PRODUCT_U85;
	int err;

	err = add_side(w, ETHOSU_DMA0_SRC_REGION, ETHOSU_DMA0_SRC, u85 ? source : skips);
	if (!err)
		err = add_side(w, ETHOSU_DMA0_DST_REGION, ETHOSU_DMA0_DST, u85 ? target : none);
	if (!err && w->s.seen[ETHOSU_DMA0_DST_REGION] &&
	    !(w->s.param[ETHOSU_DMA0_DST_REGION] & ETHOSU_DMA_INTERNAL))
		w->out->written[w->s.param[ETHOSU_DMA0_DST_REGION] & 7] = true;
	return err;
}

/* ---- the walk */

static int add(struct walk *w)
{
	switch (w->op.id) {
	case ETHOSU_OP_CONV:
	case ETHOSU_OP_DEPTHWISE:
		return add_convolution(w, true, true, w->op.param & WEIGHTS_OF_IFM2);
	case ETHOSU_OP_POOL:
		return add_convolution(w, w->op.param != POOL_NONE, false, false);
	case ETHOSU_OP_ELEMENTWISE:
		return add_elementwise(w);
	case ETHOSU_OP_DMA_START:
		return add_dma(w);
	case ETHOSU_OP_RESIZE:
		return w->generation == ETHOSU_LINUX_THIRD ? REFUSE(w, "it has no bound") : 0;
	default:
		ethosu_state_set(&w->s, &w->op);
		return 0;
	}
}

int ethosu_linux_check(struct tenon_cursor stream, const struct ethosu_target *device,
		       enum ethosu_linux generation, struct ethosu_linux_extents *out)
{
	struct walk w = { .device = device, .generation = generation, .out = out };
	int err = 0;

	memset(out, 0, sizeof(*out));
	while (!err && tenon_cursor_left(&stream)) {
		err = ethosu_command_next(&stream, (enum ethosu_product)ethosu_product_of(device),
					  &w.op);
		err = err ? err : add(&w);
	}
	return err;
}

int ethosu_linux_sees(const struct ethosu_extents *exact,
		      const struct ethosu_linux_extents *by_linux, const char *name)
{
	unsigned int i;

	for (i = 0; i < ETHOSU_REGIONS; i++) {
		const uint64_t touched =
			exact->read[i] > exact->write[i] ? exact->read[i] : exact->write[i];

		if (touched && !by_linux->size[i])
			return tenon_error(-TENON_E_UNSUPPORTED,
					   "%s: the stream touches %" PRIu64
					   " bytes of region %u, and Linux does not see that: it "
					   "would run it without that memory",
					   name, touched, i);
	}
	return 0;
}
