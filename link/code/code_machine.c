/* SPDX-License-Identifier: MIT */
/* The table of kinds of processors. */
#include "link/code/code_machine.h"

#define ELF_X86_64  62
#define ELF_AARCH64 183
#define ELF_RISCV   243

const struct code_machine *code_machine_find(uint16_t elf_machine, bool wide)
{
	if (!wide)
		return NULL;
	switch (elf_machine) {
	case ELF_X86_64:
		return &code_x86_64;
	case ELF_AARCH64:
		return &code_aarch64;
	case ELF_RISCV:
		return &code_riscv64;
	default:
		return NULL;
	}
}

const struct code_machine *code_machine_here(void)
{
	if (code_x86_64.here)
		return &code_x86_64;
	if (code_aarch64.here)
		return &code_aarch64;
	return code_riscv64.here ? &code_riscv64 : NULL;
}

const struct code_level *code_machine_needed(const struct code_machine *machine, uint64_t uses,
					     uint64_t *more)
{
	const struct code_level *l = machine->levels;
	const uint64_t any = l[machine->level_count - 1].has;

	*more = uses & ~any;
	while (uses & any & ~l->has)
		l++;
	return l;
}

const struct code_level *code_machine_best(const struct code_machine *machine, uint64_t has)
{
	const struct code_level *l = machine->levels;
	unsigned int i;

	for (i = 1; i < machine->level_count && !(machine->levels[i].has & ~has); i++)
		l = &machine->levels[i];
	return l;
}
