/* SPDX-License-Identifier: MIT */
/* What the files of the stream check share: its state, and a function for each operation. */
#ifndef DEVICES_ETHOSU_CHECK_H
#define DEVICES_ETHOSU_CHECK_H

#include "devices/ethosu/ethosu_check.h"
#include "devices/ethosu/ethosu_state.h"

/* tables start at multiples of so many bytes in the internal memory */
#define TABLE_PIECE  256
#define TABLE_PIECES (ETHOSU_TABLE_BYTES / TABLE_PIECE)

/**
 * struct checker - a check
 * @target: what the stream was compiled for
 * @product: its product
 * @sizes: bytes of each region
 * @out: extents so far
 * @state: setters
 * @op: the command that is checked
 * @transfers: number of OP_DMA_START so far
 * @complete: how many of them, the first ones, an OP_DMA_WAIT waited for
 * @loaded_by: of each piece of the internal memory, the number of the last transfer into it; 0 for none
 */
struct checker {
	const struct ethosu_target *target;
	uint32_t product;
	const uint64_t *sizes;
	struct ethosu_extents *out;
	struct ethosu_state state;
	struct ethosu_command op;
	uint64_t transfers;
	uint64_t complete;
	uint64_t loaded_by[TABLE_PIECES];
};

/* Raise an error at the command. */
#define FAULT(k, ...) tenon_cursor_error(&(k)->op.place, -TENON_E_FORMAT, __VA_ARGS__)

static inline uint16_t param(const struct checker *k, unsigned int id)
{
	return k->state.param[id];
}

static inline const char *op_name(const struct checker *k)
{
	return ethosu_command_name(k->op.id);
}

/* ---- setters that an operation needs: 0, or an error that names the first that was not there */

/* ends a list of setters; OP_STOP is none */
#define END ETHOSU_OP_STOP

int check_need_one(const struct checker *k, unsigned int id);
int check_need(const struct checker *k, const uint8_t *setters);
/** check_need_run - @count setters that follow each other */
int check_need_run(const struct checker *k, unsigned int first, unsigned int count);

/* ---- accesses: 0, or an error if the region has too few bytes */

/** struct check_box - extents of a feature map, or of a part of it */
struct check_box {
	uint32_t width;
	uint32_t height;
	uint32_t depth;
};

/** check_touch_bytes - bytes at an offset; none is no access */
int check_touch_bytes(struct checker *k, unsigned int region, uint64_t offset, uint64_t size,
		      bool write, const char *what);

/** check_touch_map - all of a feature map; the setters of its shape are there */
int check_touch_map(struct checker *k, const struct ethosu_map *m, const struct check_box *b);

/** check_output_box - extents of the output */
void check_output_box(const struct checker *k, struct check_box *b);

/* ---- checks of operations, called after that of their output; and of transfers */

int check_convolution(struct checker *k);
int check_pool(struct checker *k);
int check_elementwise(struct checker *k);
int check_resize(struct checker *k);
int check_dma(struct checker *k);

#endif /* DEVICES_ETHOSU_CHECK_H */
