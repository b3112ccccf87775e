/* SPDX-License-Identifier: MIT */
/* What the model does with the words of a task: see npu_kernel.h. Its numbers are its own. */
#include <string.h>

#include "tests/npu/npu_objects.h"
#include "tests/unit/suite.h"

#define WINDOWS	 0x8000
#define ENABLE	 0x0081
#define CNA	 1u
#define DPU	 8u
#define DPU_RDMA 16u
#define ATOM	 16

static uint32_t registers[WINDOWS / 4];

static uint32_t reg(unsigned int at)
{
	return registers[at / 4];
}

/* bytes at an address that a register holds; none if no unit uses it */
struct source {
	const uint8_t *bytes;
	uint64_t left;
};

static bool find(const struct npu_file *file, bool used, unsigned int at, struct source *out)
{
	*out = (struct source){ NULL, 0 };
	if (!used)
		return true;
	out->bytes = rocket_find(file, reg(at), &out->left);
	return out->bytes != NULL;
}

static uint8_t byte_of(const struct source *s, uint64_t at)
{
	return at < s->left ? s->bytes[at] : 0;
}

/* The sum of what the units read, at the places of atoms of 16 channels. */
static bool compute(const struct npu_file *file, uint32_t units)
{
	const uint64_t plane =
		((uint64_t)(reg(0x4030) & 0x1fff) + 1) * ((reg(0x4034) & 0x1fff) + 1) * ATOM;
	const uint64_t surfaces = ((reg(0x403c) >> 16 & 0x1fff) + ATOM) / ATOM;
	const uint32_t weight_bytes = reg(0x1030);
	struct source feature, weights, operand;
	uint64_t s, i, left;
	uint8_t *to;

	if (!find(file, units & CNA, 0x1070, &feature) ||
	    !find(file, units & CNA && weight_bytes, 0x1110, &weights) ||
	    !find(file, units & DPU_RDMA && !(reg(0x5044) & 16), 0x5018, &operand))
		return false;
	for (s = 0; s < surfaces; s++) {
		to = rocket_find(file, reg(0x4020) + s * reg(0x4024), &left);
		if (!to || left < plane)
			return false;
		for (i = 0; i < plane; i++)
			to[i] = (uint8_t)(byte_of(&feature, s * plane + i) +
					  (weights.bytes ? byte_of(&weights, i % weight_bytes)
							 : 0) +
					  byte_of(&operand, s * plane + i));
	}
	return true;
}

bool rocket_run_task(const struct npu_file *file, const struct npu_task *task)
{
	uint64_t left, word, i;
	const uint8_t *at = rocket_find(file, task->commands, &left);

	/* garbage from the task before: a task sets what it uses */
	memset(registers, 0x5a, sizeof(registers));
	if (!at || task->commands % 64 || left / 8 < task->count)
		return false;
	for (i = 0; i < task->count; i++) {
		memcpy(&word, at + 8 * i, sizeof(word));
		if (word >> 48 == ENABLE)
			return word >> 16 & DPU && compute(file, (uint32_t)(word >> 16));
		if ((word & 0xffff) < WINDOWS)
			registers[(word & 0xffff) / 4] = (uint32_t)(word >> 16);
	}
	/* no unit began */
	return false;
}
