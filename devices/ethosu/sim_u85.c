/* SPDX-License-Identifier: MIT */
/* What U85 has besides U55 and U65: chains, outputs whose axes are exchanged, and what is not modelled. */
#include <stdlib.h>
#include <string.h>

#include "devices/ethosu/ethosu_take.h"
#include "devices/ethosu/sim.h"
#include "lib/brief_errors.h"

#define STORAGE(precision) ((precision) >> 14)
#define TILES_3X1	   1
#define CHAINED		   2
#define REVERSE(precision) ((precision) >> 9 & 3)
/* ACC_FORMAT: sums of 64 bits and more; sums that begin with others, and that are not written */
#define ACC_UNKNOWN (2 | 3 << 4 | 1 << 6)

bool sim_is_chained(const struct sim *s, const struct ethosu_map *m)
{
	return sim_is_u85(s) && STORAGE(sim_param(s, m->precision)) == CHAINED;
}

/* ---- what is not modelled */

static int check_map(const struct sim *s, const struct ethosu_map *m)
{
	return STORAGE(sim_param(s, m->precision)) == TILES_3X1
		       ? sim_refuse(s, "a map in three tiles below each other")
		       : 0;
}

static int check_rounding(const struct sim *s)
{
	switch (sim_param(s, ETHOSU_OFM_SCALE) >> 13) {
	case 2:
	case 6:
	case 7:
		return sim_refuse(s, "a rounding mode");
	default:
		return 0;
	}
}

static int check_window(const struct sim *s)
{
	if (s->op.id != ETHOSU_OP_POOL && s->op.id != ETHOSU_OP_RESIZE &&
	    sim_param(s, ETHOSU_WEIGHT_FORMAT) & ~(SIM_FAST | SIM_SPARSE))
		return sim_refuse(s, "a format of weights");
	return 0;
}

int sim_check_u85(const struct sim *s)
{
	const unsigned int output = sim_param(s, ETHOSU_OFM_PRECISION);
	int err;

	if (sim_param(s, ETHOSU_ACC_FORMAT) & ACC_UNKNOWN)
		return sim_refuse(s, "sums that go on from one operation to the next");
	if (REVERSE(output))
		return sim_refuse(s, "an output in reverse order");
	if (STORAGE(output) > CHAINED)
		return sim_refuse(s, "an operation without an output");
	err = check_map(s, &ethosu_ofm);
	if (!err)
		err = check_map(s, &ethosu_ifm);
	if (!err)
		err = check_rounding(s);
	if (err)
		return err;
	if (s->op.id != ETHOSU_OP_ELEMENTWISE)
		return check_window(s);
	return check_map(s, &ethosu_ifm2);
}

/* ---- chains: maps from one operation to a later one that are not in memory */

static struct sim_box *chain_of(struct sim *s, const struct ethosu_map *m)
{
	const unsigned int number = sim_param(s, m->region);

	if (number < SIM_CHAINS)
		return &s->chains[number];
	sim_refuse(s, "a chain with a number above 7");
	return NULL;
}

int sim_load_chain(struct sim *s, const struct ethosu_map *m, struct sim_box *b)
{
	const struct sim_box *chain = chain_of(s, m);
	int err;

	if (!chain)
		return -TENON_E_UNSUPPORTED;
	if (!chain->data)
		return tenon_cursor_error(&s->op.place, -TENON_E_FORMAT,
					  "%s: its %s is chain %u, which no operation computed",
					  ethosu_command_name(s->op.id), m->name,
					  sim_param(s, m->region));
	if (chain->height != b->height || chain->width != b->width || chain->depth != b->depth)
		return sim_refuse(s, "a chain with other extents than the operation's");
	err = sim_box_make(s, b);
	if (!err)
		memcpy(b->data, chain->data, sim_box_count(b) * sizeof(*b->data));
	return err;
}

int sim_store_chain(struct sim *s, const struct sim_box *b)
{
	struct sim_box *chain = chain_of(s, &ethosu_ofm);
	struct sim_box copy = *b;
	int err;

	if (!chain)
		return -TENON_E_UNSUPPORTED;
	err = sim_box_make(s, &copy);
	if (err)
		return err;
	memcpy(copy.data, b->data, sim_box_count(b) * sizeof(*b->data));
	heap_free(chain->data);
	*chain = copy;
	return 0;
}

void sim_free_chains(struct sim *s)
{
	unsigned int i;

	for (i = 0; i < SIM_CHAINS; i++)
		heap_free(s->chains[i].data);
}

/* ---- exchanged axes */

int sim_transpose(struct sim *s, const struct sim_box *b, struct sim_box *out)
{
	const uint32_t extents[3] = { b->height, b->width, b->depth };
	uint8_t axes[3];
	uint32_t at[3], i = 0;
	int err;

	ethosu_output_axes(sim_param(s, ETHOSU_OFM_PRECISION), axes);
	*out = (struct sim_box){ extents[axes[0]], extents[axes[1]], extents[axes[2]], NULL };
	err = sim_box_make(s, out);
	if (err)
		return err;
	for (at[axes[0]] = 0; at[axes[0]] < out->height; at[axes[0]]++)
		for (at[axes[1]] = 0; at[axes[1]] < out->width; at[axes[1]]++)
			for (at[axes[2]] = 0; at[axes[2]] < out->depth; at[axes[2]]++)
				out->data[i++] =
					b->data[((size_t)at[0] * b->width + at[1]) * b->depth +
						at[2]];
	return 0;
}

/* ---- scales of operands */

int64_t sim_scale_operand_u85(const struct sim *s, int32_t value, unsigned int id)
{
	const unsigned int up = sim_param(s, id) >> 6 & 31;
	struct sim_scale scale = sim_scale_of(s, id);

	scale.shift += up;
	return sim_rescale((int64_t)value * (INT64_C(1) << up), scale,
			   sim_param(s, id) >> 13 & 1 ? SIM_HALF_UP : SIM_DOUBLE);
}
