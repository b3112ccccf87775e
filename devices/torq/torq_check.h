/* SPDX-License-Identifier: MIT */
/* What an executable touches, and whether a device may have it. */
#ifndef DEVICES_TORQ_TORQ_CHECK_H
#define DEVICES_TORQ_TORQ_CHECK_H

/*
 * The code of segments is not read: what it makes the NPU do with XRAM is confined by the IOMMU, which maps the program's
 * memory and its bindings, by whole pages, and nothing else. What the host does is not confined, so it is checked here: the
 * kernel's driver compares no address in LRAM with its size, and behind LRAM are the registers of the NPU.
 *
 * Bindings begin at pages of their own, as torq-compile lays them out: so each can be mapped where it is.
 */

#include "devices/torq/torq_program.h"

/* bytes of LRAM of the one NPU that is known, SL2610, and its number */
#define TORQ_LRAM_SIZE (UINT32_C(512) << 10)
#define TORQ_HARDWARE  0
#define TORQ_RUNTIME   2
#define TORQ_PAGE      UINT64_C(4096)
#define TORQ_ARGUMENTS 64
/* the NPU reads a piece of code in units of so many bytes, also its last */
#define TORQ_CODE_UNIT 640
/* most memory of a program: a file of a few bytes may name addresses that are far apart */
#define TORQ_MEMORY_MOST (UINT64_C(1) << 30)

/**
 * struct torq_argument - what a program does with an argument
 * @size: bytes that it touches; 0 for an argument without a binding that moves no copy
 * @reads: bindings of it are read
 * @writes: bindings of it are written
 * @is_index: its first number of 32 bits moves copies
 */
struct torq_argument {
	uint64_t size;
	bool reads;
	bool writes;
	bool is_index;
};

/**
 * struct torq_extents - what a program touches
 * @base: first byte of the program's own memory in XRAM, at a page
 * @end: behind its last byte, at a page; @base for a program without memory
 * @initial: bytes of segments with contents
 * @arguments: of a call
 * @argument_count: how many
 * @starts: how often the NPU is started
 * @copies: how often the host copies
 * @copied: bytes that it copies
 * @elements: of these copies
 */
struct torq_extents {
	uint64_t base;
	uint64_t end;
	uint64_t initial;
	struct torq_argument arguments[TORQ_ARGUMENTS];
	uint32_t argument_count;
	uint32_t starts;
	uint32_t copies;
	uint64_t copied;
	uint64_t elements;
};

/**
 * torq_check - check an executable
 * @p: the executable
 * @out: receives what it touches
 *
 * Return: 0; -TENON_E_FORMAT for what contradicts itself or leaves its memory; -TENON_E_UNSUPPORTED for what is not done
 *	here: programs of the host, copies that IREE's virtual machine moves, memories of the NPU's processor, other
 *	versions and hardware; else as torq_program_read().
 */
int torq_check(const struct torq_program *p, struct torq_extents *out);

/**
 * torq_copy_move - move a copy that passed the check to where an argument says
 * @copy: the copy, which an argument moves
 * @index: what the argument has
 * @bindings: of the program
 * @count: how many
 * @out: receives the same copy, moved
 *
 * Return: 0; -TENON_E_VALUE when it would leave the binding that it begins in.
 */
int torq_copy_move(const struct torq_copy *copy, int32_t index, const struct torq_binding *bindings,
		   uint32_t count, struct torq_copy *out);

/**
 * torq_copy_next - the place of an element of a copy
 * @copy: the copy
 * @index: of the element: all zeroes for the first; moved to the next one
 * @source: receives its offset from the first byte
 * @target: likewise
 *
 * Return: whether the element is there; false behind the last.
 */
bool torq_copy_next(const struct torq_copy *copy, uint32_t index[TORQ_RANK], uint64_t *source,
		    uint64_t *target);

#endif /* DEVICES_TORQ_TORQ_CHECK_H */
