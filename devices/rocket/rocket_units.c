/* SPDX-License-Identifier: MIT */
/* What a task must have set when its units start, and how far they write. */
#include <inttypes.h>

#include "devices/rocket/rocket_task.h"

static const char *name_of(unsigned int at)
{
	return rocket_registers[rocket_register_index(at)].name;
}

static int need(const struct rocket_task *t, unsigned int at, const char *unit)
{
	if (t->is_set[rocket_register_index(at)])
		return 0;
	return cmdstream_error(t->walk, t->at, -TENON_E_FORMAT,
			       "%s works, and the task that begins at 0x%" PRIx64
			       " does not set its register 0x%04x (%s)",
			       unit, t->begin, at, name_of(at));
}

static uint32_t value_of(const struct rocket_task *t, unsigned int at)
{
	return t->value[rocket_register_index(at)];
}

/* An access of at least @size bytes at the address in a register. */
static int access_at(struct rocket_task *t, unsigned int at, uint64_t size, uint32_t access,
		     const char *unit)
{
	const size_t i = rocket_register_index(at);
	int err = need(t, at, unit);

	if (!err && !t->is_placed[i])
		err = cmdstream_error(t->walk, t->at, -TENON_E_FORMAT,
				      "%s works with register 0x%04x (%s), which is 0 and has no "
				      "relocation",
				      unit, at, name_of(at));
	return err ? err
		   : cmdstream_access(t->walk, &t->places[i], size, access, ROCKET_ATOM,
				      name_of(at));
}

#define WEIGHT_REUSE (1u << 13)

static int check_cna(struct rocket_task *t)
{
	uint64_t weights;
	int err = need(t, ROCKET_CNA_CBUF_CON0, "CNA");

	if (!err)
		err = need(t, ROCKET_CNA_WEIGHT_SIZE0, "CNA");
	if (!err)
		err = access_at(t, ROCKET_CNA_FEATURE_DATA_ADDR, 1, TENON_REGION_READ, "CNA");
	if (err)
		return err;
	weights = value_of(t, ROCKET_CNA_CBUF_CON0) & WEIGHT_REUSE
			  ? 0
			  : value_of(t, ROCKET_CNA_WEIGHT_SIZE0);
	return access_at(t, ROCKET_CNA_DCOMP_ADDR0, weights, TENON_REGION_READ, "CNA");
}

/* ---- results: cubes of surfaces, which are planes of atoms */

/**
 * struct cube - what a unit writes
 * @width: pixels of a line, each an atom
 * @height: lines
 * @notch: atoms between the end of a line and the next
 * @surfaces: number of planes
 * @stride: bytes from a surface to the next one of its group
 * @group: surfaces of a group
 * @add: bytes from a group to the next
 */
struct cube {
	uint64_t width;
	uint64_t height;
	uint64_t notch;
	uint64_t surfaces;
	uint64_t stride;
	uint64_t group;
	uint64_t add;
};

#define FIELD(value)  ((uint64_t)(value)&0x1fff)
#define HIGH(value)   FIELD((value) >> 16)
#define MORE_OF(a, b) ((a) > (b) ? (a) : (b))
#define LESS_OF(a, b) ((a) < (b) ? (a) : (b))
#define PRECISIONS    8

/* Bytes of an element; 0 for formats that share a byte or have no name. */
static const uint8_t element_bytes[PRECISIONS] = { 1, 2, 2, 2, 4, 4, 0, 0 };

/* Bytes from the first to the last that a unit writes. */
static uint64_t cube_bytes(const struct cube *c)
{
	const uint64_t last = c->surfaces - 1;
	const uint64_t row = (c->width + c->notch) * ROCKET_ATOM;
	const uint64_t plane = cmdstream_rows(c->height, row, c->width * ROCKET_ATOM);
	const uint64_t grouped = cmdstream_add(cmdstream_multiply(last / c->group, c->add),
					       cmdstream_multiply(c->group - 1, c->stride));
	const uint64_t even = cmdstream_multiply(last, c->stride);

	return cmdstream_add(last < c->group ? even : MORE_OF(even, grouped), plane);
}

static int set_surfaces(struct rocket_task *t, uint64_t channels, unsigned int precision,
			unsigned int at, struct cube *c)
{
	if (!element_bytes[precision])
		return cmdstream_error(t->walk, t->at, -TENON_E_UNSUPPORTED,
				       "register 0x%04x (%s) chooses precision %u, whose extents "
				       "are not known",
				       at, name_of(at), precision);
	c->surfaces = (channels * element_bytes[precision] + ROCKET_ATOM - 1) / ROCKET_ATOM;
	return 0;
}

static int need_all(const struct rocket_task *t, const unsigned int *at, size_t count,
		    const char *unit)
{
	size_t i;
	int err = 0;

	for (i = 0; i < count && !err; i++)
		err = need(t, at[i], unit);
	return err;
}

static int refuse_form(const struct rocket_task *t, unsigned int at, uint32_t bits)
{
	if (!(value_of(t, at) & bits))
		return 0;
	return cmdstream_error(t->walk, t->at, -TENON_E_UNSUPPORTED,
			       "register 0x%04x (%s) is 0x%x: with its bits 0x%x, where results go "
			       "is not known; want 0 there",
			       at, name_of(at), value_of(t, at), value_of(t, at) & bits);
}

#define TO_MEMORY	 (2u << 1)	       /* of OUTPUT_MODE in FEATURE_MODE_CFG */
#define OTHER_FORMS	 (1u << 25 | 1u << 30) /* NONALIGN, TP_EN */
#define SURFACES_AT_ONCE (1u << 3)	       /* MC_SURF_OUT in DATA_FORMAT */

static int need_equal(const struct rocket_task *t, unsigned int at, uint32_t want)
{
	if (value_of(t, at) == want)
		return 0;
	return cmdstream_error(t->walk, t->at, -TENON_E_FORMAT,
			       "register 0x%04x (%s) is 0x%x, and the cube makes it 0x%x", at,
			       name_of(at), value_of(t, at), want);
}

/* The write DMA has size registers of its own: they must agree with the cube's. */
static int check_write_sizes(const struct rocket_task *t)
{
	const uint32_t height = FIELD(value_of(t, ROCKET_DPU_DATA_CUBE_HEIGHT));
	int err = need_equal(t, ROCKET_DPU_WDMA_SIZE_0,
			     FIELD(value_of(t, ROCKET_DPU_DATA_CUBE_CHANNEL)));

	return err ? err
		   : need_equal(t, ROCKET_DPU_WDMA_SIZE_1,
				height << 16 | FIELD(value_of(t, ROCKET_DPU_DATA_CUBE_WIDTH)));
}

/* The smallest of three; a group more costs more room. */
static uint64_t group_of(uint32_t value)
{
	return 1 + LESS_OF(LESS_OF(value >> 2 & 7, value >> 5 & 7), value >> 8 & 7);
}

static int dpu_cube(struct rocket_task *t, struct cube *out)
{
	const uint32_t notch = value_of(t, ROCKET_DPU_DATA_CUBE_NOTCH_ADDR);
	const uint32_t channel = value_of(t, ROCKET_DPU_DATA_CUBE_CHANNEL);

	*out = (struct cube){ .width = FIELD(value_of(t, ROCKET_DPU_DATA_CUBE_WIDTH)) + 1,
			      .height = FIELD(value_of(t, ROCKET_DPU_DATA_CUBE_HEIGHT)) + 1,
			      .notch = MORE_OF(FIELD(notch), HIGH(notch)),
			      .stride = value_of(t, ROCKET_DPU_DST_SURF_STRIDE),
			      .group = group_of(value_of(t, ROCKET_DPU_BS_OW_CFG)),
			      .add = value_of(t, ROCKET_DPU_SURFACE_ADD) };
	/* channels of the network, padded to what the unit writes */
	return set_surfaces(t, MORE_OF(FIELD(channel), HIGH(channel)) + 1,
			    value_of(t, ROCKET_DPU_DATA_FORMAT) >> 29, ROCKET_DPU_DATA_FORMAT, out);
}

static int check_dpu_results(struct rocket_task *t)
{
	static const unsigned int sizes[] = {
		ROCKET_DPU_DATA_FORMAT,	      ROCKET_DPU_DST_SURF_STRIDE,
		ROCKET_DPU_DATA_CUBE_WIDTH,   ROCKET_DPU_DATA_CUBE_HEIGHT,
		ROCKET_DPU_DATA_CUBE_CHANNEL, ROCKET_DPU_DATA_CUBE_NOTCH_ADDR,
		ROCKET_DPU_WDMA_SIZE_0,	      ROCKET_DPU_WDMA_SIZE_1,
		ROCKET_DPU_BS_OW_CFG,	      ROCKET_DPU_SURFACE_ADD
	};
	struct cube cube;
	int err = need_all(t, sizes, sizeof(sizes) / sizeof(sizes[0]), "DPU");

	if (!err)
		err = refuse_form(t, ROCKET_DPU_FEATURE_MODE_CFG, OTHER_FORMS);
	if (!err)
		err = refuse_form(t, ROCKET_DPU_DATA_FORMAT, SURFACES_AT_ONCE);
	if (!err)
		err = check_write_sizes(t);
	if (!err)
		err = dpu_cube(t, &cube);
	return err ? err
		   : access_at(t, ROCKET_DPU_DST_BASE_ADDR, cube_bytes(&cube), TENON_REGION_WRITE,
			       "DPU");
}

static int check_dpu(struct rocket_task *t, uint32_t units)
{
	int err = need(t, ROCKET_DPU_FEATURE_MODE_CFG, "DPU");

	if (err)
		return err;
	if (value_of(t, ROCKET_DPU_FEATURE_MODE_CFG) & TO_MEMORY)
		return check_dpu_results(t);
	if (units & ROCKET_UNIT_PPU)
		return 0;
	return cmdstream_error(t->walk, t->at, -TENON_E_FORMAT,
			       "the task that begins at 0x%" PRIx64
			       " has no result: DPU does not write to memory, and PPU does "
			       "not work",
			       t->begin);
}

#define POSITIONS                                                                                  \
	(1u << 30) /* INDEX_EN in OPERATION_MODE_CFG: those of the elements that were chosen, too */
#define NOT_BURSTS (~15u) /* all of MISC_CTRL but the length of bursts */
#define PART	   15u	  /* of a stride: bits that are not of a number of atoms */

static int check_ppu(struct rocket_task *t)
{
	static const unsigned int sizes[] = { ROCKET_PPU_DATA_CUBE_OUT_WIDTH,
					      ROCKET_PPU_DATA_CUBE_OUT_HEIGHT,
					      ROCKET_PPU_DATA_CUBE_OUT_CHANNEL,
					      ROCKET_PPU_OPERATION_MODE_CFG,
					      ROCKET_PPU_DST_SURF_STRIDE,
					      ROCKET_PPU_DATA_FORMAT,
					      ROCKET_PPU_MISC_CTRL };
	struct cube cube = { .group = 1 };
	int err = need_all(t, sizes, sizeof(sizes) / sizeof(sizes[0]), "PPU");

	if (!err)
		err = refuse_form(t, ROCKET_PPU_OPERATION_MODE_CFG, POSITIONS);
	if (!err)
		err = refuse_form(t, ROCKET_PPU_MISC_CTRL, NOT_BURSTS);
	if (err)
		return err;
	cube.width = FIELD(value_of(t, ROCKET_PPU_DATA_CUBE_OUT_WIDTH)) + 1;
	cube.height = FIELD(value_of(t, ROCKET_PPU_DATA_CUBE_OUT_HEIGHT)) + 1;
	cube.notch = HIGH(value_of(t, ROCKET_PPU_OPERATION_MODE_CFG));
	cube.stride = cube.add = value_of(t, ROCKET_PPU_DST_SURF_STRIDE);
	err = set_surfaces(t, FIELD(value_of(t, ROCKET_PPU_DATA_CUBE_OUT_CHANNEL)) + 1,
			   value_of(t, ROCKET_PPU_DATA_FORMAT) & 7, ROCKET_PPU_DATA_FORMAT, &cube);
	/* some take it for bytes, and some for atoms; of one surface it does not matter */
	if (!err && cube.surfaces > 1)
		err = refuse_form(t, ROCKET_PPU_DST_SURF_STRIDE, PART);
	return err ? err
		   : access_at(t, ROCKET_PPU_DST_BASE_ADDR, cube_bytes(&cube), TENON_REGION_WRITE,
			       "PPU");
}

/* ---- what is read */

#define MAIN_OFF	(1u << 4) /* MRDMA_DISABLE in FEATURE_MODE_CFG */
#define OPERANDS_OFF	1u	  /* ERDMA_DISABLE in ERDMA_CFG */
#define DATA_USE(value) ((value) >> 1 & 15)

/* Each of its four readers has a switch. */
static int check_rdma(struct rocket_task *t)
{
	static const unsigned int switches[] = { ROCKET_RDMA_FEATURE_MODE_CFG,
						 ROCKET_RDMA_BRDMA_CFG, ROCKET_RDMA_NRDMA_CFG,
						 ROCKET_RDMA_ERDMA_CFG };
	size_t i;
	int err = 0;

	for (i = 0; i < sizeof(switches) / sizeof(switches[0]) && !err; i++)
		err = need(t, switches[i], "DPU_RDMA");
	if (!err && !(value_of(t, ROCKET_RDMA_FEATURE_MODE_CFG) & MAIN_OFF))
		err = access_at(t, ROCKET_RDMA_SRC_BASE_ADDR, 1, TENON_REGION_READ, "DPU_RDMA");
	if (!err && DATA_USE(value_of(t, ROCKET_RDMA_BRDMA_CFG)))
		err = access_at(t, ROCKET_RDMA_BS_BASE_ADDR, 1, TENON_REGION_READ, "DPU_RDMA");
	if (!err && DATA_USE(value_of(t, ROCKET_RDMA_NRDMA_CFG)))
		err = access_at(t, ROCKET_RDMA_BN_BASE_ADDR, 1, TENON_REGION_READ, "DPU_RDMA");
	if (!err && !(value_of(t, ROCKET_RDMA_ERDMA_CFG) & OPERANDS_OFF))
		err = access_at(t, ROCKET_RDMA_EW_BASE_ADDR, 1, TENON_REGION_READ, "DPU_RDMA");
	return err;
}

int rocket_check_units(struct rocket_task *t, uint32_t units)
{
	int err = 0;

	if (units & ~(uint32_t)ROCKET_UNITS)
		return cmdstream_error(t->walk, t->at, -TENON_E_FORMAT,
				       "units 0x%x are enabled; there are 0x%x", units,
				       (unsigned int)ROCKET_UNITS);
	if (!(units & ROCKET_UNIT_DPU))
		return cmdstream_error(t->walk, t->at, -TENON_E_UNSUPPORTED,
				       "units 0x%x work, without the DPU (0x%x): Linux would wait "
				       "for that in vain, and reset the NPU",
				       units, (unsigned int)ROCKET_UNIT_DPU);
	/* what is read was written before: readers first */
	if (units & ROCKET_UNIT_CNA)
		err = check_cna(t);
	if (!err && units & ROCKET_UNIT_DPU_RDMA)
		err = check_rdma(t);
	if (!err && units & ROCKET_UNIT_PPU_RDMA)
		err = access_at(t, ROCKET_PPU_RDMA_SRC_BASE_ADDR, 1, TENON_REGION_READ, "PPU_RDMA");
	if (!err)
		err = check_dpu(t, units);
	return err || !(units & ROCKET_UNIT_PPU) ? err : check_ppu(t);
}
