/* SPDX-License-Identifier: MIT */
/* Instructions of a kind of processor: how long each is, and which extension of the processor it needs. */
#ifndef LINK_CODE_CODE_MACHINE_H
#define LINK_CODE_CODE_MACHINE_H

/*
 * Extensions are numbers below 64, their sets are words with a bit for each. Reading an instruction allocates nothing and
 * calls nothing of the C library, so a signal handler may do it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct code_level - a name for a set of extensions that compilers have
 * @name: "x86-64-v3"
 * @key: the same as symbols of modules have it, "x86_64_v3"
 * @has: extensions that a processor of this level has at least; those of lesser levels, too
 */
struct code_level {
	const char *name;
	const char *key;
	uint64_t has;
};

/**
 * struct code_instruction - an instruction that was read
 * @size: bytes; 0 if it is none that is known
 * @uses: extensions that it needs; 0 for what all processors of the kind have
 * @asks: it asks what the processor has
 * @stops: compilers write it where code must not go on
 */
struct code_instruction {
	unsigned int size;
	uint64_t uses;
	bool asks;
	bool stops;
};

/**
 * struct code_machine - a kind of processor
 * @names: of extensions, as compilers take them behind -m or +
 * @count: how many
 * @levels: @level_count levels, the least first; the first has no extension
 * @level_count: how many
 * @align: where code goes on behind what is no instruction, in bytes
 * @read: read the instruction at @at, of which @size bytes are there, 1 or more
 * @here: extensions of this machine; NULL if this machine is of another kind
 */
struct code_machine {
	const char *const *names;
	unsigned int count;
	const struct code_level *levels;
	unsigned int level_count;
	unsigned int align;
	struct code_instruction (*read)(const uint8_t *at, size_t size);
	uint64_t (*here)(void);
};

/** code_machine_find - the kind of processor of an ELF file; NULL if its instructions are not known here */
const struct code_machine *code_machine_find(uint16_t elf_machine, bool wide);

/** code_machine_here - the kind of processor of this program; NULL if it is not known */
const struct code_machine *code_machine_here(void);

/**
 * code_machine_needed - name the processor that code needs, as compilers take it
 * @machine: its kind
 * @uses: extensions that the code uses
 * @more: receives those of them that the returned level does not have
 *
 * Return: the least level with all of @uses that any level has.
 */
const struct code_level *code_machine_needed(const struct code_machine *machine, uint64_t uses,
					     uint64_t *more);

/** code_machine_best - the greatest level that a processor with these extensions has all of */
const struct code_level *code_machine_best(const struct code_machine *machine, uint64_t has);

extern const struct code_machine code_x86_64, code_aarch64, code_riscv64;

#endif /* LINK_CODE_CODE_MACHINE_H */
