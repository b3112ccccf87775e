/* SPDX-License-Identifier: MIT */
#include "devices/rocket/rocket_walk.h"

#include <inttypes.h>
#include <string.h>

#include "devices/rocket/rocket_registers.h"
#include "lib/brief_errors.h"

/* byte of a word where its value begins */
#define VALUE 2

#define ADDRESS_BYTES 4

/**
 * struct task - a task so far
 * @walk: the walk
 * @begin: where it begins in the kernel's code
 * @at: the word
 * @value: of each register
 * @is_set: it was written
 * @is_placed: an address of a region was
 * @places: these
 */
struct task {
	struct cmdstream_walk *walk;
	uint64_t begin;
	uint64_t at;
	uint32_t value[ROCKET_REGISTERS];
	bool is_set[ROCKET_REGISTERS];
	bool is_placed[ROCKET_REGISTERS];
	struct cmdstream_place places[ROCKET_REGISTERS];
};

const char *rocket_setter(uint32_t n)
{
	(void)n;
	return "a register";
}

int rocket_check_config(const struct cmdstream *s)
{
	if (s->config_count != 1)
		return tenon_error(-TENON_E_FORMAT,
				   "%s: %u configuration words; rocket has one, the number of the "
				   "SoC",
				   s->name, s->config_count);
	if (s->config[0] != ROCKET_SOC_RK3588)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: register commands for SoC %u; Linux's driver rocket drives "
				   "RK%u. Compile it for that",
				   s->name, s->config[0], ROCKET_SOC_RK3588);
	return 0;
}

/* ---- what a task needs when its units start */

static const char *name_of(unsigned int at)
{
	return rocket_registers[rocket_register_index(at)].name;
}

static int need(const struct task *t, unsigned int at, const char *unit)
{
	if (t->is_set[rocket_register_index(at)])
		return 0;
	return cmdstream_error(t->walk, t->at, -TENON_E_FORMAT,
			       "%s works, and the task that begins at 0x%" PRIx64
			       " does not set its register 0x%04x (%s)",
			       unit, t->begin, at, name_of(at));
}

static uint32_t value_of(const struct task *t, unsigned int at)
{
	return t->value[rocket_register_index(at)];
}

/* An access of at least @size bytes at the address in a register. */
static int access_at(struct task *t, unsigned int at, uint64_t size, uint32_t access,
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

static int check_cna(struct task *t)
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

#define EXTENT(value)	 (((uint64_t)(value)&0x1fff) + 1)
#define CHANNELS(value)	 EXTENT((value) >> 16)
#define TO_MEMORY	 (2u << 1)	       /* of OUTPUT_MODE in FEATURE_MODE_CFG */
#define OTHER_FORMS	 (1u << 25 | 1u << 30) /* NONALIGN, TP_EN */
#define SURFACES_AT_ONCE (1u << 3)	       /* MC_SURF_OUT in DATA_FORMAT */

/* Bytes from the first to the last that the DPU writes, at least. */
static uint64_t result_bytes(const struct task *t)
{
	const uint64_t plane = EXTENT(value_of(t, ROCKET_DPU_DATA_CUBE_WIDTH)) *
			       EXTENT(value_of(t, ROCKET_DPU_DATA_CUBE_HEIGHT)) * ROCKET_ATOM;
	const uint64_t surfaces =
		(CHANNELS(value_of(t, ROCKET_DPU_DATA_CUBE_CHANNEL)) + ROCKET_ATOM - 1) /
		ROCKET_ATOM;

	if (value_of(t, ROCKET_DPU_FEATURE_MODE_CFG) & OTHER_FORMS ||
	    value_of(t, ROCKET_DPU_DATA_FORMAT) & SURFACES_AT_ONCE)
		return ROCKET_ATOM;
	return cmdstream_rows(surfaces, value_of(t, ROCKET_DPU_DST_SURF_STRIDE), plane);
}

static int check_dpu(struct task *t, uint32_t units)
{
	static const unsigned int sizes[] = { ROCKET_DPU_DATA_FORMAT, ROCKET_DPU_DST_SURF_STRIDE,
					      ROCKET_DPU_DATA_CUBE_WIDTH,
					      ROCKET_DPU_DATA_CUBE_HEIGHT,
					      ROCKET_DPU_DATA_CUBE_CHANNEL };
	int err = need(t, ROCKET_DPU_FEATURE_MODE_CFG, "DPU");
	size_t i;

	if (err)
		return err;
	if (!(value_of(t, ROCKET_DPU_FEATURE_MODE_CFG) & TO_MEMORY)) {
		if (units & ROCKET_UNIT_PPU)
			return 0;
		return cmdstream_error(t->walk, t->at, -TENON_E_FORMAT,
				       "the task that begins at 0x%" PRIx64
				       " has no result: DPU does not write to memory, and PPU does "
				       "not work",
				       t->begin);
	}
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && !err; i++)
		err = need(t, sizes[i], "DPU");
	return err ? err
		   : access_at(t, ROCKET_DPU_DST_BASE_ADDR, result_bytes(t), TENON_REGION_WRITE,
			       "DPU");
}

#define MAIN_OFF	(1u << 4) /* MRDMA_DISABLE in FEATURE_MODE_CFG */
#define OPERANDS_OFF	1u	  /* ERDMA_DISABLE in ERDMA_CFG */
#define DATA_USE(value) ((value) >> 1 & 15)

/* Each of its four readers has a switch. */
static int check_rdma(struct task *t)
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

static int check_units(struct task *t, uint32_t units)
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
	if (!err && units & ROCKET_UNIT_PPU)
		err = access_at(t, ROCKET_PPU_DST_BASE_ADDR, ROCKET_ATOM, TENON_REGION_WRITE,
				"PPU");
	return err;
}

/* ---- words */

static int write_register(struct task *t, uint64_t word)
{
	const unsigned int target = rocket_word_target(word), at = rocket_word_register(word);
	const struct rocket_register *r = rocket_register_of(target, at);
	const bool is_relocated = cmdstream_is_relocated(t->walk, t->at + VALUE);
	size_t i;
	int err;

	if (!r)
		return cmdstream_error(t->walk, t->at, -TENON_E_FORMAT,
				       "target 0x%04x has no register 0x%04x that commands write",
				       target, at);
	i = (size_t)(r - rocket_registers);
	t->value[i] = rocket_word_value(word);
	t->is_set[i] = true;
	t->is_placed[i] = false;
	if (r->is_address && (is_relocated || t->value[i])) {
		err = cmdstream_address(t->walk, t->at + VALUE, ADDRESS_BYTES, r->name,
					&t->places[i]);
		t->is_placed[i] = !err;
		return err;
	}
	if ((target == ROCKET_TARGET_PC || !*r->name) && t->value[i])
		return cmdstream_error(
			t->walk, t->at, -TENON_E_FORMAT, "register 0x%04x (%s) is 0x%x, want 0%s",
			at, r->name, t->value[i],
			target == ROCKET_TARGET_PC ? ": Linux starts each task, and none the next"
						   : "");
	return 0;
}

static int read_word(struct task *t, uint64_t *word)
{
	t->at = (uint64_t)(t->walk->code.at - t->walk->code.start);
	return tenon_cursor_u64(&t->walk->code, word);
}

/* The two last words. */
static int end_task(struct task *t, uint64_t word)
{
	int err;

	if (word != ROCKET_READY)
		return cmdstream_error(t->walk, t->at, -TENON_E_FORMAT,
				       "0x%016" PRIx64 " where 0x%016llx comes before the last "
				       "word of a task",
				       word, ROCKET_READY);
	err = read_word(t, &word);
	if (err)
		return err;
	if (rocket_word_target(word) != ROCKET_TARGET_ENABLE ||
	    rocket_word_register(word) != ROCKET_ENABLE)
		return cmdstream_error(t->walk, t->at, -TENON_E_FORMAT,
				       "0x%016" PRIx64 " where a task ends by enabling its units",
				       word);
	if ((t->at - t->begin) / ROCKET_WORD + 1 > ROCKET_TASK_MOST)
		return cmdstream_error(t->walk, t->begin, -TENON_E_FORMAT,
				       "a task of %" PRIu64 " words; the NPU counts to %u",
				       (t->at - t->begin) / ROCKET_WORD + 1, ROCKET_TASK_MOST);
	return check_units(t, rocket_word_value(word));
}

static int skip_padding(struct task *t)
{
	uint64_t word;
	int err;

	while ((t->walk->code.at - t->walk->code.start) % ROCKET_TASK_ALIGNMENT) {
		err = read_word(t, &word);
		if (err)
			return err;
		if (word)
			return cmdstream_error(t->walk, t->at, -TENON_E_FORMAT,
					       "0x%016" PRIx64 " where zero words fill up to a "
					       "multiple of %d bytes",
					       word, ROCKET_TASK_ALIGNMENT);
	}
	return 0;
}

static int walk_task(struct task *t)
{
	uint64_t word = 0;
	int err = read_word(t, &word);

	t->begin = t->at;
	if (!err && !word)
		return cmdstream_error(t->walk, t->at, -TENON_E_FORMAT,
				       "a task that begins with a zero word");
	while (!err) {
		if (rocket_word_target(word) == ROCKET_TARGET_READY ||
		    rocket_word_target(word) == ROCKET_TARGET_ENABLE)
			break;
		err = word ? write_register(t, word) : 0;
		err = err ? err : read_word(t, &word);
	}
	err = err ? err : end_task(t, word);
	return err ? err : skip_padding(t);
}

int rocket_walk(struct cmdstream_walk *walk)
{
	struct task t;
	int err = rocket_check_config(walk->stream);

	while (!err && tenon_cursor_left(&walk->code)) {
		memset(&t, 0, sizeof(t));
		t.walk = walk;
		err = walk_task(&t);
	}
	return err;
}
