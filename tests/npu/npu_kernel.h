/* SPDX-License-Identifier: MIT */
#ifndef TESTS_NPU_NPU_KERNEL_H
#define TESTS_NPU_NPU_KERNEL_H

/*
 * A named fake of Linux's driver "ethosu", behind driver/syscall: "the kernel's model". It was written from a
 * description of the kernel's calls, and shares neither the check of streams nor the kernel's rule with
 * devices/ethosu/; jobs run on the functional model. No Ethos-U was seen by it: it shows that a program keeps the rules
 * as they were read, and neither that these are right nor what hardware does.
 *
 * Time is the model's own: it passes in waits, and jobs end when it has come. So every schedule can be had, and a slow
 * machine changes none. Calls are not locked: one thread at a time.
 *
 * The node is /dev/accel/accel0 in the tree of tests/driver/tree.h. Use it below faulty_calls, which counts descriptors.
 */

#include <stdbool.h>
#include <stdint.h>

#include "driver/syscall/syscall.h"

#define NPU_NODE    "/dev/accel/accel0"
#define NPU_PAGE    UINT64_C(4096)
#define NPU_REGIONS 8
#define NPU_SECOND  UINT64_C(1000000000)

/* What comes of a job. */
enum npu_fate {
	NPU_DONE,
	NPU_HANGS,  /* it makes no progress: the kernel resets the device after 600 ms */
	NPU_FAULTS, /* the device reports an error when it should be done, and is reset */
	NPU_WRITES_AND_FAULTS, /* so, after all results were written */
};

/**
 * struct npu_kernel - knobs, and what was counted
 * @driver: name of the driver
 * @generation: of the rule for streams, 1 to 3
 * @id: register of the device
 * @config: likewise
 * @sram_size: bytes
 * @info_size: of what is told of the device: 12, or 16 in new kernels
 * @lacks: bytes that a buffer has less than it was asked for, as no kernel does
 * @cma: bytes of contiguous memory that are free
 * @now: the clock
 * @job_time: how long a job takes
 * @fates: what comes of each job, in the order of their end; NPU_DONE for those behind
 * @unplugged: the device is gone
 * @keeps_queue: a reset cancels the running job alone, not those that wait
 * @interrupts: how many calls a signal interrupts before one succeeds
 * @jobs: number of jobs that ended
 * @resets: number of resets
 * @refused: jobs that were refused
 * @left_handles: handles that a closed descriptor still had
 * @streams: streams that were handed over
 * @submits: calls of SUBMIT
 * @damaged: the kernel wrote outside of its own memory, as generation 1 does for some streams
 */
struct npu_kernel {
	const char *driver;
	unsigned int generation;
	uint32_t id;
	uint32_t config;
	uint32_t sram_size;
	uint32_t info_size;
	uint32_t lacks;
	uint64_t cma;
	uint64_t now;
	uint64_t job_time;
	const enum npu_fate *fates;
	unsigned int fate_count;
	bool unplugged;
	bool keeps_queue;
	unsigned int interrupts;
	unsigned int jobs;
	unsigned int resets;
	unsigned int refused;
	unsigned int left_handles;
	unsigned int streams;
	unsigned int submits;
	bool damaged;
};

extern struct npu_kernel npu;
extern const struct system_calls npu_calls;

/* A U65 of 256 MACs with 384 KiB of SRAM and 16 MiB of memory, of generation 3. */
void npu_start(void);

/* Objects, jobs and descriptors that exist; npu_start() drops them. */
unsigned int npu_left(void);

/* Another clock, with no job queued; it may be one that was. */
void npu_set_time(uint64_t now);

/* Let time pass. */
void npu_pass_time(uint64_t nanoseconds);

/* ---- npu_pass.c: the walk through a stream */

struct npu_pass {
	uint64_t size[NPU_REGIONS];
	bool written[NPU_REGIONS];
	bool damages; /* a kernel of generation 1 would write outside of its memory */
};

/* Return: 0; the errno. */
int npu_pass(const uint32_t *words, uint32_t bytes, unsigned int generation, uint32_t config,
	     struct npu_pass *out);

#endif /* TESTS_NPU_NPU_KERNEL_H */
