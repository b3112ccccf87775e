/* SPDX-License-Identifier: MIT */
/* Write the register commands of a sample network for rocket. */
#include "tests/npu/rocket_stream.h"

#include <string.h>

#define READS	(TENON_REGION_READ)
#define WRITES	(TENON_REGION_WRITE)
#define PLANE	128
#define WIDTH	4
#define HEIGHT	2
#define CHANNEL 20

static void emit_number(struct cmdstream_emitter *e, uint64_t value, size_t size)
{
	uint8_t bytes[8];
	size_t i;

	for (i = 0; i < size; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	cmdstream_emit(e, bytes, size);
}

void put_word(struct cmdstream_emitter *e, unsigned int target, unsigned int at, uint32_t value)
{
	cmdstream_reserve(e, ROCKET_WORD);
	emit_number(e, ROCKET_COMMAND(target, at, value), ROCKET_WORD);
}

void put_address(struct cmdstream_emitter *e, unsigned int target, unsigned int at, uint32_t region,
		 uint64_t offset)
{
	cmdstream_reserve(e, ROCKET_WORD);
	emit_number(e, at, 2);
	cmdstream_reloc(e, region, offset, 4);
	emit_number(e, target, 2);
}

void put_convolution(struct cmdstream_emitter *e, uint32_t from, uint32_t to)
{
	put_word(e, ROCKET_TARGET_CNA, 0x1004, 0xe);
	put_word(e, ROCKET_TARGET_CNA, 0x1040, 0x21);
	put_word(e, ROCKET_TARGET_CNA, 0x1030, SAMPLE_WEIGHED);
	put_address(e, ROCKET_TARGET_CNA, 0x1070, from, 0);
	put_address(e, ROCKET_TARGET_CNA, 0x1110, SAMPLE_WEIGHTS, 0);
	put_word(e, ROCKET_TARGET_CORE, 0x3010, 1);
	put_word(e, ROCKET_TARGET_CORE, 0x3030, 0);
	put_word(e, ROCKET_TARGET_DPU, 0x400c, 0x1e4);
	put_word(e, ROCKET_TARGET_DPU, 0x4010, 0);
	put_address(e, ROCKET_TARGET_DPU, 0x4020, to, 0);
	put_word(e, ROCKET_TARGET_DPU, 0x4024, PLANE);
	put_word(e, ROCKET_TARGET_DPU, 0x4030, WIDTH - 1);
	put_word(e, ROCKET_TARGET_DPU, 0x4034, HEIGHT - 1);
	put_word(e, ROCKET_TARGET_DPU, 0x4038, 0);
	put_word(e, ROCKET_TARGET_DPU, 0x403c, (CHANNEL - 1) << 16 | 31);
	put_word(e, ROCKET_TARGET_DPU, 0x4050, 0x126);
	put_word(e, ROCKET_TARGET_DPU, 0x4058, 31);
	put_word(e, ROCKET_TARGET_DPU, 0x405c, (HEIGHT - 1) << 16 | (WIDTH - 1));
	put_word(e, ROCKET_TARGET_DPU, 0x40c0, 2 * PLANE);
	put_word(e, ROCKET_TARGET_DPU_RDMA, 0x5018, 0);
	put_word(e, ROCKET_TARGET_DPU_RDMA, 0x501c, 0);
	put_word(e, ROCKET_TARGET_DPU_RDMA, 0x5028, 0);
	put_word(e, ROCKET_TARGET_DPU_RDMA, 0x5034, 1);
	put_word(e, ROCKET_TARGET_DPU_RDMA, 0x5044, 0x7810);
}

void put_end(struct cmdstream_emitter *e, uint32_t units)
{
	put_word(e, ROCKET_TARGET_PC, 0x0010, 0);
	put_word(e, ROCKET_TARGET_PC, 0x0014, 0);
	put_word(e, ROCKET_TARGET_READY, 0, 0);
	put_word(e, ROCKET_TARGET_ENABLE, ROCKET_ENABLE, units);
	while (!e->status && e->code.size % ROCKET_TASK_ALIGNMENT)
		put_word(e, 0, 0, 0);
}

void put_regions(struct cmdstream_emitter *e)
{
	struct tenon_cmdstream_region r = { .kind = TENON_REGION_INPUT,
					    .access = READS,
					    .size = SAMPLE_BYTES,
					    .alignment = ROCKET_ATOM };
	uint8_t weights[SAMPLE_WEIGHED];
	size_t i;

	for (i = 0; i < sizeof(weights); i++)
		weights[i] = SAMPLE_WEIGHT(i);
	cmdstream_region(e, &r, NULL);
	r.kind = TENON_REGION_CONSTANT;
	r.size = sizeof(weights);
	cmdstream_region(e, &r, weights);
	r.kind = TENON_REGION_OUTPUT;
	r.access = WRITES;
	r.size = SAMPLE_BYTES;
	cmdstream_region(e, &r, NULL);
	r.kind = TENON_REGION_SCRATCH;
	r.access = READS | WRITES;
	cmdstream_region(e, &r, NULL);
}

int end_sample(struct cmdstream_emitter *e, struct tenon_buffer *out)
{
	static const uint32_t arguments[] = { SAMPLE_INPUT, SAMPLE_OUTPUT };
	static const uint32_t config[] = { ROCKET_SOC_RK3588 };
	int err;

	cmdstream_end_kernel(e, "main", arguments, 2);
	err = cmdstream_flush(e, "rocket", config, 1, out);
	cmdstream_emitter_fini(e);
	return err;
}

int sample_stream(unsigned int tasks, struct tenon_buffer *out)
{
	struct cmdstream_emitter e;

	cmdstream_emitter_init(&e);
	put_regions(&e);
	put_convolution(&e, SAMPLE_INPUT, tasks == 1 ? SAMPLE_OUTPUT : SAMPLE_BETWEEN);
	put_end(&e, SAMPLE_UNITS);
	if (tasks > 1) {
		put_convolution(&e, SAMPLE_BETWEEN, SAMPLE_OUTPUT);
		put_end(&e, SAMPLE_UNITS);
	}
	return end_sample(&e, out);
}
