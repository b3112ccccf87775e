/* SPDX-License-Identifier: MIT */
/* Sweep the code of an ELF file for extensions of its processor. */
#ifndef LINK_CODE_CODE_SCAN_H
#define LINK_CODE_CODE_SCAN_H

#include "lib/elf.h"
#include "link/code/code_machine.h"

/* levels of functions: those of struct code_machine, and one for keys that it does not have */
#define CODE_LEVEL_OTHER 5
#define CODE_LEVELS	 6

/**
 * struct code_use - where an extension is used
 * @function: the first function; empty if it has no name
 * @functions: how many functions
 */
struct code_use {
	struct tenon_slice function;
	uint64_t functions;
};

/**
 * struct code_scan - what the code of a file uses
 * @machine: its processor; NULL if its instructions are not known, and all else is empty
 * @uses: of code that is for processors of a level; 0 for code that all processors run
 * @at: where, by level and extension
 * @code: bytes that were read
 * @unknown: bytes of these that were no known instructions
 * @chooses: functions of the file ask what the processor has, so what a function uses may never be run
 */
struct code_scan {
	const struct code_machine *machine;
	uint64_t uses[CODE_LEVELS];
	struct code_use at[CODE_LEVELS][64];
	uint64_t code;
	uint64_t unknown;
	bool chooses;
};

/**
 * code_scan - read all code of a file
 * @elf: the file; its bytes are hostile
 * @scan: receives the result, which refers to the file's bytes; nothing to free
 *
 * Functions have their names from the symbols. Code between them is read, too. A level is that of the key behind a
 * function's name (runtime/library/processor_code.h); local functions have the level of their neighbours.
 *
 * Takes time in proportion to the file, whatever its tables say.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int code_scan(const struct elf_file *elf, struct code_scan *scan);

#endif /* LINK_CODE_CODE_SCAN_H */
