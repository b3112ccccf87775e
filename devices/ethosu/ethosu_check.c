/* SPDX-License-Identifier: MIT */
/* Walk through a stream and check each operation's setters, tables and transfers. */
#include "devices/ethosu/ethosu_check.h"

#include <string.h>

#include "devices/ethosu/check.h"
#include "lib/brief_errors.h"

/* ---- setters that an operation needs */

static const uint8_t of_all[] = { ETHOSU_OFM_WIDTH_M1,
				  ETHOSU_OFM_HEIGHT_M1,
				  ETHOSU_OFM_DEPTH_M1,
				  ETHOSU_OFM_PRECISION,
				  ETHOSU_OFM_ZERO_POINT,
				  ETHOSU_OFM_BLK_WIDTH_M1,
				  ETHOSU_OFM_BLK_HEIGHT_M1,
				  ETHOSU_OFM_BLK_DEPTH_M1,
				  ETHOSU_ACTIVATION,
				  ETHOSU_ACTIVATION_MIN,
				  ETHOSU_ACTIVATION_MAX,
				  ETHOSU_ACC_FORMAT,
				  ETHOSU_BLOCKDEP,
				  ETHOSU_IFM_PRECISION,
				  ETHOSU_IFM_ZERO_POINT,
				  ETHOSU_IFM_UPSCALE,
				  END };
static const uint8_t of_old[] = { ETHOSU_IFM_IB_END, ETHOSU_AB_START, END };

int check_need_one(const struct checker *k, unsigned int id)
{
	if (k->state.seen[id])
		return 0;
	return FAULT(k, "%s needs %s, which no command before it sets", op_name(k),
		     ethosu_command_name(id));
}

int check_need(const struct checker *k, const uint8_t *setters)
{
	int err = 0;

	for (; *setters != END && !err; setters++)
		err = check_need_one(k, *setters);
	return err;
}

/* @count setters that follow each other */
int check_need_run(const struct checker *k, unsigned int first, unsigned int count)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < count && !err; i++)
		err = check_need_one(k, first + i);
	return err;
}

/* ---- operations */

/* On U55 and U65, a table has 256 entries as wide as those of the output; of 16 bits it has 512 with their slopes. */
static unsigned int table_pieces(const struct checker *k)
{
	const unsigned int bits = param(k, ETHOSU_OFM_PRECISION) >> 1 & 3;

	if (k->product == ETHOSU_PRODUCT_U85)
		return ethosu_table_bytes(param(k, ETHOSU_ACTIVATION) & ETHOSU_ACTIVATION_KIND) /
		       TABLE_PIECE;
	return bits == 1 ? TABLE_PIECES : 1u << bits;
}

/* Check that the table in use was loaded, and that the stream waited for the transfer. */
static int check_table(const struct checker *k, unsigned int number)
{
	const unsigned int pieces = table_pieces(k), first = number * pieces;
	unsigned int i;

	if (!pieces)
		return FAULT(k, "%s has ACTIVATION 0x%x, which is not known", op_name(k),
			     param(k, ETHOSU_ACTIVATION));
	if (first + pieces > TABLE_PIECES)
		return FAULT(k, "%s uses table %u of %u bytes; the internal memory has %u",
			     op_name(k), number, pieces * TABLE_PIECE, ETHOSU_TABLE_BYTES);
	for (i = first; i < first + pieces; i++) {
		if (!k->loaded_by[i])
			return FAULT(k,
				     "%s uses table %u, and no OP_DMA_START before it loads all of "
				     "it into the internal memory",
				     op_name(k), number);
		if (k->loaded_by[i] > k->complete)
			return FAULT(k,
				     "%s uses table %u, which may still be on its way: no "
				     "OP_DMA_WAIT waits for its OP_DMA_START",
				     op_name(k), number);
	}
	return 0;
}

static int check_activation(const struct checker *k)
{
	const unsigned int activation = param(k, ETHOSU_ACTIVATION),
			   kind = activation & ETHOSU_ACTIVATION_KIND;

	if (k->product == ETHOSU_PRODUCT_U85)
		return kind ? check_table(k, activation >> 5 & 7) : 0;
	return kind >= ETHOSU_ACTIVATION_TABLE ? check_table(k, kind - ETHOSU_ACTIVATION_TABLE) : 0;
}

/* An OP_DMA_WAIT leaves the last of its number running. */
static void wait_for_transfers(struct checker *k, uint64_t running)
{
	if (k->transfers > running && k->transfers - running > k->complete)
		k->complete = k->transfers - running;
}

/* What all operations on feature maps have in common; the rest is checked by @rest. */
static int check_operation(struct checker *k, int (*rest)(struct checker *))
{
	struct check_box out;
	int err;

	err = check_need(k, of_all);
	if (!err && k->product != ETHOSU_PRODUCT_U85)
		err = check_need(k, of_old);
	if (!err)
		err = check_activation(k);
	if (err)
		return err;
	check_output_box(k, &out);
	err = check_touch_map(k, &ethosu_ofm, &out);
	return err ? err : rest(k);
}

static int unbounded(const struct checker *k)
{
	return FAULT(k, "%s: what it reads and runs has no known bound", op_name(k));
}

static int check_command(struct checker *k)
{
	switch (k->op.id) {
	case ETHOSU_OP_CONV:
	case ETHOSU_OP_DEPTHWISE:
		return check_operation(k, check_convolution);
	case ETHOSU_OP_POOL:
		return check_operation(k, check_pool);
	case ETHOSU_OP_ELEMENTWISE:
		return check_operation(k, check_elementwise);
	case ETHOSU_OP_DMA_START:
		return check_dma(k);
	case ETHOSU_OP_DMA_WAIT:
		wait_for_transfers(k, k->op.param);
		return 0;
	case ETHOSU_OP_RESIZE:
		return check_operation(k, check_resize);
	case ETHOSU_OP_BRANCH:
	case ETHOSU_DMA0_IDX_REGION:
	case ETHOSU_DMA0_IDX:
	case ETHOSU_DMA0_IDX_MAX:
	case ETHOSU_DMA0_IDX_SKIP1:
		return unbounded(k);
	default:
		if (!ethosu_command_is_operation(k->op.id))
			ethosu_state_set(&k->state, &k->op);
		return 0;
	}
}

static int check_all(struct checker *k, struct tenon_cursor *c)
{
	int err;

	do {
		if (!tenon_cursor_left(c))
			return tenon_cursor_error(c, -TENON_E_TRUNCATED,
						  "the stream ends without OP_STOP");
		err = ethosu_command_next(c, k->product, &k->op);
		if (!err)
			err = check_command(k);
		if (err)
			return err;
		k->out->commands++;
		if (k->op.id <= ETHOSU_OP_DMA_START)
			k->out->operations[k->op.id]++;
	} while (k->op.id != ETHOSU_OP_STOP);
	if (tenon_cursor_left(c))
		return tenon_cursor_error(c, -TENON_E_FORMAT, "%zu bytes follow OP_STOP",
					  tenon_cursor_left(c));
	return 0;
}

int ethosu_check(struct tenon_cursor stream, const struct ethosu_target *target,
		 const uint64_t sizes[ETHOSU_REGIONS], struct ethosu_extents *out)
{
	static const uint64_t unlimited[ETHOSU_REGIONS] = {
		ETHOSU_UNLIMITED, ETHOSU_UNLIMITED, ETHOSU_UNLIMITED, ETHOSU_UNLIMITED,
		ETHOSU_UNLIMITED, ETHOSU_UNLIMITED, ETHOSU_UNLIMITED, ETHOSU_UNLIMITED,
	};
	struct checker k = { .target = target,
			     .product = ethosu_product_of(target),
			     .sizes = sizes ? sizes : unlimited,
			     .out = out };

	memset(out, 0, sizeof(*out));
	return check_all(&k, &stream);
}
