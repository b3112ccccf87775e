/* SPDX-License-Identifier: MIT */
/* Execute the commands of a stream one after the other on memory of the process. */
#include "devices/ethosu/ethosu_take.h"
#include "devices/ethosu/ethosu_sim.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "devices/ethosu/sim.h"
#include "lib/brief_errors.h"

int sim_refuse(const struct sim *s, const char *what)
{
	return tenon_cursor_error(&s->op.place, -TENON_E_UNSUPPORTED,
				  "%s: %s, which the model of Ethos-U does not have",
				  ethosu_command_name(s->op.id), what);
}

int sim_spend(struct sim *s, uint64_t work)
{
	if (work > s->work)
		return tenon_cursor_error(&s->op.place, -TENON_E_TIMEOUT,
					  "%s: more work than the run may take",
					  ethosu_command_name(s->op.id));
	s->work -= work;
	return 0;
}

uint8_t *sim_range(struct sim *s, unsigned int region, uint64_t offset, uint64_t size, bool write)
{
	uint64_t *extent;

	if (region >= ETHOSU_REGIONS || offset > s->memory->size[region] ||
	    size > s->memory->size[region] - offset) {
		tenon_cursor_error(&s->op.place, -TENON_E_USAGE,
				   "%s leaves region %u at byte %" PRIu64
				   ", and the check did not see it: please report this stream",
				   ethosu_command_name(s->op.id), region, offset);
		return NULL;
	}
	extent = write ? &s->touched.write[region] : &s->touched.read[region];
	if (size && offset + size > *extent)
		*extent = offset + size;
	return s->memory->base[region] + offset;
}

/* ---- transfers */

static uint8_t *side(struct sim *s, unsigned int region_setter, uint64_t offset, uint64_t size,
		     bool write)
{
	const unsigned int region = sim_param(s, region_setter);

	if (region & ETHOSU_DMA_INTERNAL)
		return s->table + (offset - s->table_start);
	return sim_range(s, region & (ETHOSU_REGIONS - 1), offset, size, write);
}

static int transfer_row(struct sim *s, uint64_t from_offset, uint64_t to_offset, uint64_t size)
{
	const uint8_t *from = side(s, ETHOSU_DMA0_SRC_REGION, from_offset, size, false);
	uint8_t *to = from ? side(s, ETHOSU_DMA0_DST_REGION, to_offset, size, true) : NULL;

	if (!to)
		return -TENON_E_USAGE;
	memmove(to, from, (size_t)size);
	return sim_spend(s, 1 + size);
}

/* U85 repeats a transfer along two axes more. */
static int transfer(struct sim *s)
{
	const struct ethosu_state *t = &s->state;
	const uint64_t size = ethosu_state_offset(t, ETHOSU_DMA0_LEN),
		       from = ethosu_state_offset(t, ETHOSU_DMA0_SRC),
		       to = ethosu_state_offset(t, ETHOSU_DMA0_DST);
	const unsigned int axes = sim_param(s, ETHOSU_DMA0_SRC_REGION) >> 9 & 3;
	const uint32_t rows = axes ? sim_param(s, ETHOSU_DMA0_SIZE0) : 1,
		       planes = axes > 1 ? sim_param(s, ETHOSU_DMA0_SIZE1) : 1;
	uint32_t y, z;
	int err = 0;

	for (z = 0; z < planes && size && !err; z++)
		for (y = 0; y < rows && !err; y++)
			err = transfer_row(
				s,
				from + y * ethosu_state_offset(t, ETHOSU_DMA0_SRC_STRIDE0) +
					z * ethosu_state_offset(t, ETHOSU_DMA0_SRC_STRIDE1),
				to + y * ethosu_state_offset(t, ETHOSU_DMA0_DST_STRIDE0) +
					z * ethosu_state_offset(t, ETHOSU_DMA0_DST_STRIDE1),
				size);
	return err;
}

/* ---- streams */

static int run_command(struct sim *s)
{
	int err;

	if (sim_is_u85(s) && ethosu_command_is_operation(s->op.id) &&
	    s->op.id < ETHOSU_OP_DMA_START && s->op.id >= ETHOSU_OP_CONV) {
		err = sim_check_u85(s);
		if (err)
			return err;
	}
	switch (s->op.id) {
	case ETHOSU_OP_CONV:
		return sim_convolution(s);
	case ETHOSU_OP_DEPTHWISE:
		return sim_depthwise(s);
	case ETHOSU_OP_POOL:
		return sim_pool(s);
	case ETHOSU_OP_ELEMENTWISE:
		return sim_elementwise(s);
	case ETHOSU_OP_RESIZE:
		return sim_resize(s);
	case ETHOSU_OP_DMA_START:
		return transfer(s);
	default:
		if (!ethosu_command_is_operation(s->op.id))
			ethosu_state_set(&s->state, &s->op);
		return 0;
	}
}

static int run_stream(struct sim *s, struct tenon_cursor *c)
{
	int err = 0;

	while (!err && tenon_cursor_left(c)) {
		err = ethosu_command_next(c, ethosu_product_of(s->target), &s->op);
		if (!err)
			err = run_command(s);
	}
	return err;
}

int ethosu_sim_run(struct tenon_cursor stream, const struct ethosu_target *target,
		   const struct ethosu_memory *memory, uint64_t work,
		   struct ethosu_extents *touched)
{
	struct ethosu_extents extents;
	struct sim *s;
	int err;

	err = ethosu_check(stream, target, memory->size, &extents);
	if (err)
		return err;
	s = ethosu_take_zeroed(1, sizeof(*s));
	if (!s)
		return tenon_error(-TENON_E_NOMEM, "no memory for the model of Ethos-U");
	s->target = target;
	s->memory = memory;
	s->work = work ? work : UINT64_MAX;
	ethosu_table_memory(target, &s->table_start);
	err = run_stream(s, &stream);
	if (touched)
		*touched = s->touched;
	sim_free_chains(s);
	heap_free(s);
	return err;
}
