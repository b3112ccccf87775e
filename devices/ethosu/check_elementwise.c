/* SPDX-License-Identifier: MIT */
/* Check element-wise operations: their operands, scalars and scales. */
#include "devices/ethosu/check.h"

static const uint8_t of_ofm_scale[] = { ETHOSU_OFM_SCALE, END };
static const uint8_t of_ifm2[] = { ETHOSU_IFM2_BROADCAST, ETHOSU_IFM2_PRECISION,
				   ETHOSU_IFM2_ZERO_POINT, END };
static const uint8_t of_scalar_old[] = { ETHOSU_IFM2_SCALAR, END };
static const uint8_t of_scalar_u85[] = { ETHOSU_OP_SCALAR, END };
static const uint8_t of_elementwise_u85[] = { ETHOSU_IFM_BROADCAST, END };
static const uint8_t of_addition[] = { ETHOSU_OPA_SCALE, ETHOSU_OPB_SCALE, END };

static bool is_elementwise(const struct checker *k, unsigned int kind)
{
	if (kind <= ETHOSU_SHL)
		return true;
	return k->product == ETHOSU_PRODUCT_U85 &&
	       (kind <= ETHOSU_DIV ||
		(kind >= ETHOSU_COMPARE_FIRST && kind <= ETHOSU_COMPARE_LAST) ||
		(kind >= ETHOSU_AND && kind <= ETHOSU_NOT) || kind == ETHOSU_AND_NOT);
}

static bool has_one_operand(unsigned int kind)
{
	return kind == ETHOSU_LRELU || kind == ETHOSU_ABS || kind == ETHOSU_CLZ ||
	       kind == ETHOSU_NOT;
}

/* An operand has the extents of the output, or 1 along axes that are repeated. */
static int touch_operand(struct checker *k, const struct ethosu_map *m, unsigned int broadcast)
{
	struct check_box b;

	check_output_box(k, &b);
	if (broadcast & ETHOSU_BROADCAST_H)
		b.height = 1;
	if (broadcast & ETHOSU_BROADCAST_W)
		b.width = 1;
	if (broadcast & ETHOSU_BROADCAST_C)
		b.depth = 1;
	return check_touch_map(k, m, &b);
}

static int first_operand(struct checker *k)
{
	unsigned int broadcast;
	int err;

	if (k->product != ETHOSU_PRODUCT_U85)
		return touch_operand(k, &ethosu_ifm, 0);
	err = check_need(k, of_elementwise_u85);
	if (err)
		return err;
	broadcast = param(k, ETHOSU_IFM_BROADCAST);
	return broadcast & ETHOSU_SCALAR_U85 ? check_need(k, of_scalar_u85)
					     : touch_operand(k, &ethosu_ifm, broadcast);
}

static int second_operand(struct checker *k)
{
	const bool u85 = k->product == ETHOSU_PRODUCT_U85;
	const unsigned int scalar = u85 ? ETHOSU_SCALAR_U85 : ETHOSU_IFM2_SCALAR_OLD;
	int err;

	err = check_need(k, of_ifm2);
	if (err)
		return err;
	if (param(k, ETHOSU_IFM2_BROADCAST) & scalar)
		return check_need(k, u85 ? of_scalar_u85 : of_scalar_old);
	return touch_operand(k, &ethosu_ifm2, param(k, ETHOSU_IFM2_BROADCAST));
}

int check_elementwise(struct checker *k)
{
	const unsigned int kind = k->op.param;
	int err;

	if (!is_elementwise(k, kind))
		return FAULT(k, "OP_ELEMENTWISE of kind %u, which Ethos-%s does not have", kind,
			     ethosu_product_name(k->product));
	err = check_need(k, of_ofm_scale);
	if (!err && (kind == ETHOSU_ADD || kind == ETHOSU_SUB))
		err = check_need(k, of_addition);
	if (!err)
		err = first_operand(k);
	return err || has_one_operand(kind) ? err : second_operand(k);
}
