/* SPDX-License-Identifier: MIT */
/* Check DMA transfers: their regions, lengths and dimensions. */
#include <inttypes.h>

#include "devices/ethosu/check.h"

/* DMA0_*_REGION: bits that have a meaning, and the number of dimensions */
#define DMA_REGION_BITS (7 | ETHOSU_DMA_INTERNAL)
#define DMA_MODE(param) ((param) >> 9 & 3)
#define DMA_MODE_BITS	(3 << 9)

static const uint8_t of_dma[] = { ETHOSU_DMA0_SRC_REGION, ETHOSU_DMA0_DST_REGION, ETHOSU_DMA0_SRC,
				  ETHOSU_DMA0_DST,	  ETHOSU_DMA0_LEN,	  END };
static const uint8_t of_dma_u85[] = { ETHOSU_DMA0_SIZE0, END };
static const uint8_t of_dma_2d[] = { ETHOSU_DMA0_SRC_STRIDE0, ETHOSU_DMA0_DST_STRIDE0, END };
static const uint8_t of_dma_3d[] = { ETHOSU_DMA0_SIZE1, ETHOSU_DMA0_SRC_STRIDE1,
				     ETHOSU_DMA0_DST_STRIDE1, END };

/* The number of bytes from the first to the last one of a transfer. */
static int transfer_size(const struct checker *k, unsigned int stride0, uint64_t *out)
{
	const unsigned int mode = DMA_MODE(param(k, ETHOSU_DMA0_SRC_REGION));
	unsigned int i;
	uint64_t stride;

	*out = ethosu_state_offset(&k->state, ETHOSU_DMA0_LEN);
	for (i = 0; i < mode && *out; i++) {
		stride = ethosu_state_offset(&k->state, stride0 + i);
		if (stride >> 39)
			return FAULT(k, "OP_DMA_START has a negative stride");
		/* sizes have 16 bits and strides 39, so the sum stays below 2^57 */
		*out += stride * (param(k, ETHOSU_DMA0_SIZE0 + i) - (uint64_t)1);
	}
	return 0;
}

static int touch_internal(struct checker *k, uint64_t offset, uint64_t size, bool write)
{
	uint64_t start, room = ethosu_table_memory(k->target, &start), i;

	if (offset < start || size > room || offset - start > room - size)
		return FAULT(k,
			     "OP_DMA_START uses %" PRIu64 " bytes at 0x%" PRIx64
			     " of the internal memory; tables are at 0x%" PRIx64 ", %" PRIu64
			     " bytes",
			     size, offset, start, room);
	offset -= start;
	for (i = offset / TABLE_PIECE; write && size && i * TABLE_PIECE < offset + size; i++)
		k->loaded_by[i] = k->transfers;
	return 0;
}

static int touch_side(struct checker *k, unsigned int region_setter, unsigned int offset_setter,
		      unsigned int stride0, bool write)
{
	const unsigned int region = param(k, region_setter);
	const uint64_t offset = ethosu_state_offset(&k->state, offset_setter);
	uint64_t size;
	int err;

	if (region & ~(DMA_REGION_BITS | (write ? 0 : DMA_MODE_BITS)))
		return FAULT(k, "%s is 0x%x, of which bits are not known",
			     ethosu_command_name(region_setter), region);
	err = transfer_size(k, stride0, &size);
	if (err)
		return err;
	if (region & ETHOSU_DMA_INTERNAL)
		return touch_internal(k, offset, size, write);
	return check_touch_bytes(k, region & (ETHOSU_REGIONS - 1), offset, size, write,
				 write ? "destination" : "source");
}

static int need_of_dma(const struct checker *k)
{
	const unsigned int mode = DMA_MODE(param(k, ETHOSU_DMA0_SRC_REGION));
	int err = check_need(k, of_dma);

	if (!err && k->product == ETHOSU_PRODUCT_U85)
		err = check_need(k, of_dma_u85);
	if (err || !mode)
		return err;
	if (k->product != ETHOSU_PRODUCT_U85 || mode > 2)
		return FAULT(
			k, "OP_DMA_START has %u dimensions, which have no known bound on Ethos-%s",
			mode + 1, ethosu_product_name(k->product));
	err = check_need(k, of_dma_2d);
	if (!err && mode > 1)
		err = check_need(k, of_dma_3d);
	if (!err && (!param(k, ETHOSU_DMA0_SIZE0) || (mode > 1 && !param(k, ETHOSU_DMA0_SIZE1))))
		err = FAULT(k, "OP_DMA_START repeats a transfer 0 times");
	return err;
}

int check_dma(struct checker *k)
{
	int err = need_of_dma(k);

	k->transfers++;
	if (!err)
		err = touch_side(k, ETHOSU_DMA0_SRC_REGION, ETHOSU_DMA0_SRC,
				 ETHOSU_DMA0_SRC_STRIDE0, false);
	if (!err)
		err = touch_side(k, ETHOSU_DMA0_DST_REGION, ETHOSU_DMA0_DST,
				 ETHOSU_DMA0_DST_STRIDE0, true);
	return err;
}
