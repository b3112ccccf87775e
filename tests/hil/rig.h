/* SPDX-License-Identifier: MIT */
/* Open a session on a board, and take memory on it, for the cases of tests/hil. */
#ifndef TESTS_HIL_RIG_H
#define TESTS_HIL_RIG_H

#include <stddef.h>
#include <stdint.h>

#include "driver/board/board.h"
#include "driver/ring/ring.h"

#define RIG_HEAP 0x100000U /* offset of memory that packets may read and write */
#define RIG_CODE 0x800000U /* offset of memory that packets may also execute */

/**
 * struct rig - a board with a session
 * @board: the board
 * @ring: its ring
 * @setup: of the session
 * @heap: host's address of the memory at RIG_HEAP
 * @heap_address: device's address of it
 */
struct rig {
	struct board *board;
	struct ring *ring;
	struct ring_setup setup;
	uint8_t *heap;
	uint64_t heap_address;
};

/* Begin on a board: RIG_HEAP to RIG_CODE is readable and writable, the rest executable too. */
void rig_open(struct rig *rig, const char *board);
void rig_close(struct rig *rig);

/* the setup that rig_open() uses, for a board that is open */
void rig_setup(struct rig *rig);
void rig_begin(struct rig *rig);

/* Overwrite a word behind the back of host and device: a race on purpose, which ThreadSanitizer does not see. */
void rig_scribble(uint32_t *word, uint32_t value);

/* Reset the board and begin a new session. */
void rig_reset(struct rig *rig);

/* absolute deadline from now */
uint64_t in_ms(uint64_t ms);

/* device's address of an offset in the heap */
uint64_t rig_at(const struct rig *rig, uint64_t offset);
uint32_t *rig_word(const struct rig *rig, uint64_t offset);

/* Emit a packet and wait for it; the status. */
int rig_run(struct rig *rig, const void *packet, size_t size);
#define RUN(rig, ...) rig_run(rig, &(__VA_ARGS__), sizeof(__VA_ARGS__))

/* the record of the fault that the ring was lost to */
struct mortise_fault rig_fault(struct rig *rig);

#endif /* TESTS_HIL_RIG_H */
