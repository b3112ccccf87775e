/* SPDX-License-Identifier: MIT */
/* Instructions of riscv64: words of 16 and 32 bits; of the extensions, vectors. */
#include "link/code/code_machine.h"

#if defined(__riscv) && __riscv_xlen == 64
#include <sys/auxv.h>
#endif

enum { V, EXTENSIONS };

/* Opcodes of operations on vectors; loads and stores of them share those of floating point, and have other widths. */
static bool is_vector(uint32_t word)
{
	const uint32_t opcode = word & 0x7f, width = word >> 12 & 7;

	if (opcode == 0x57)
		return true;
	return (opcode == 0x07 || opcode == 0x27) && (!width || width > 4);
}

static struct code_instruction read_instruction(const uint8_t *at, size_t size)
{
	struct code_instruction i = { 0 };
	uint32_t word;

	if (size < 2)
		return i;
	i.size = (at[0] & 3) == 3 ? 4 : 2;
	if (i.size > size || (at[0] & 0x1f) == 0x1f) {
		i.size = 0;
		return i;
	}
	if (i.size == 2) {
		/* the word of zeros is defined to be illegal */
		i.stops = !at[0] && !at[1];
		return i;
	}
	word = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
	i.uses = is_vector(word);
	/* UNIMP */
	i.stops = word == 0xc0001073;
	return i;
}

static const char *const names[EXTENSIONS] = { "v" };

static const struct code_level levels[] = { { "rv64gc", "rv64gc", 0 } };

#if defined(__riscv) && __riscv_xlen == 64
/* The kernel has a bit for each extension with one letter. */
static uint64_t here(void)
{
	return getauxval(AT_HWCAP) >> ('v' - 'a') & 1;
}
#endif

const struct code_machine code_riscv64 = {
	.names = names,
	.count = EXTENSIONS,
	.levels = levels,
	.level_count = 1,
	.align = 2,
	.read = read_instruction,
#if defined(__riscv) && __riscv_xlen == 64
	.here = here,
#endif
};
