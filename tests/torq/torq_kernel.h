/* SPDX-License-Identifier: MIT */
/*
 * A named fake of Synaptics' kernel driver with its NPU, behind driver/syscall: "the kernel's model".
 *
 * Its calls and their errors were written from the vendor's source; it shares no code with devices/torq/.
 *
 * It computes nothing. Its NPU *replays*: a record (record.py) has the jobs of a run of the vendor's model, each with
 * the memory that it found and what it left. A job of a program gets the results of a record if it begins at the same
 * place and finds the same bytes in LRAM, in the program's memory and in its bindings, as the driver has mapped them.
 * Otherwise it ends with another interrupt than the program waits for. So a right result means that each byte was
 * where the vendor's runtime puts it. It does not show what silicon does with them.
 *
 * It also has a heap of dma-bufs, which are memfds. Use it below faulty_calls.
 */
#ifndef TESTS_TORQ_TORQ_KERNEL_H
#define TESTS_TORQ_TORQ_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/syscall/syscall.h"

#define TORQ_RECORDS 32

/* what comes of a job; TORQ_NOTHING: it ends well, whatever it finds, and leaves memory as it is */
enum torq_fate { TORQ_REPLAYS, TORQ_HANGS, TORQ_OTHER_INTERRUPT, TORQ_NOTHING };

/**
 * struct torq_kernel_model - knobs, and what was counted
 * @hardware: number of the NPU
 * @fates: of the jobs that follow, in their order; TORQ_REPLAYS for those behind
 * @fate_count: number of these
 * @busy: so many starts find another program's network active
 * @interrupts: so many calls a signal interrupts
 * @jobs: jobs that ran
 * @unknown: those that no record has
 * @damaged: a write to LRAM went beyond it
 * @attached: bindings so far
 * @accesses: of the CPU to dma-bufs so far
 * @open_accesses: those that have not ended
 */
struct torq_kernel_model {
	uint32_t hardware;
	const enum torq_fate *fates;
	unsigned int fate_count;
	unsigned int busy;
	unsigned int interrupts;
	unsigned int jobs;
	unsigned int unknown;
	bool damaged;
	unsigned int attached;
	unsigned int accesses;
	int open_accesses;
};

extern struct torq_kernel_model torq;
extern const struct system_calls torq_calls;

/* Begin anew: no record, no network. Nodes are in the tree of tests/driver/tree.h. */
void torq_start(void);

/* Replay the runs of a record, too. */
void torq_replay(const char *path);

/* Number of networks, bindings and descriptors of the node that exist. */
unsigned int torq_left(void);

#endif /* TESTS_TORQ_TORQ_KERNEL_H */
