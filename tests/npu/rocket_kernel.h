/* SPDX-License-Identifier: MIT */
#ifndef TESTS_NPU_ROCKET_KERNEL_H
#define TESTS_NPU_ROCKET_KERNEL_H

/*
 * A named fake of Linux's driver "rocket", behind driver/syscall: "the kernel's model". It was written from a description of
 * the kernel's calls and shares no code with devices/rocket/.
 *
 * It computes no convolution. A task records the registers that its words write; when it enables the DPU, each byte of
 * the result is the sum of the bytes that the registers of addresses name: of the input, of the weights (over and over),
 * and of the operand. So a test sees whether the right words arrived with the right addresses, and in the right order; it
 * does not see whether they are what an NPU needs. No RK3588 was seen by it.
 *
 * CPU and NPU have a copy of each buffer of their own: FINI_BO carries what the CPU wrote over, PREP_BO what the NPU wrote.
 * A buffer without these calls has old bytes.
 *
 * Time is the model's own: it passes in waits, and jobs end when it has come. Calls take a lock, so threads may make them.
 *
 * Nodes are /dev/accel/accelN in the tree of tests/driver/tree.h. Use it below faulty_calls, which counts descriptors.
 */

#include <stdbool.h>
#include <stdint.h>

#include "driver/syscall/syscall.h"

#define ROCKET_NODE   "/dev/accel/accel0"
#define ROCKET_NODES  4
#define ROCKET_PAGE   UINT64_C(4096)
#define ROCKET_SECOND UINT64_C(1000000000)

/* What comes of a job. */
enum rocket_fate {
	ROCKET_DONE,
	ROCKET_HANGS,	     /* no interrupt of the DPU: after 500 ms the kernel resets the core */
	ROCKET_WRITES_HANGS, /* so, after all results were written */
};

/**
 * struct rocket_kernel - knobs, and what was counted
 * @drivers: of each node; NULL where there is none
 * @memory: bytes that are free
 * @base: where the address space of a descriptor begins
 * @cores: number of cores
 * @now: the clock
 * @job_time: how long a task takes
 * @fates: what comes of each job that was taken, in order; ROCKET_DONE for those behind
 * @unplugged: the device is gone
 * @cancels_all: a reset ends all jobs that wait, not the one that hung alone
 * @interrupts: how many calls a signal interrupts before one succeeds
 * @drops: the next jobs are dropped, as if a task were wrong
 * @jobs: jobs that ended
 * @dropped: jobs that were dropped, for whatever reason
 * @tasks: tasks that ran
 * @resets: number of resets
 * @left_handles: handles that a closed descriptor still had
 * @submits: calls of SUBMIT
 * @most_at_once: of jobs
 */
struct rocket_kernel {
	const char *drivers[ROCKET_NODES];
	uint64_t memory;
	uint64_t base;
	unsigned int cores;
	uint64_t now;
	uint64_t job_time;
	const enum rocket_fate *fates;
	unsigned int fate_count;
	bool unplugged;
	bool cancels_all;
	unsigned int interrupts;
	unsigned int drops;
	unsigned int jobs;
	unsigned int dropped;
	unsigned int tasks;
	unsigned int resets;
	unsigned int left_handles;
	unsigned int submits;
	unsigned int most_at_once;
};

extern struct rocket_kernel rocket;
extern const struct system_calls rocket_calls;

/* One node with three cores and 64 MiB. */
void rocket_start(void);

/* Objects, jobs and descriptors that exist; rocket_start() drops them. */
unsigned int rocket_left(void);

/* Let time pass. */
void rocket_pass_time(uint64_t nanoseconds);

/* ---- of a task that ran */

#define ROCKET_RECORDS 64

struct rocket_record {
	uint32_t commands; /* address */
	uint32_t count;
	unsigned int core;
};

/* the first tasks that ran since rocket_start(), rocket.tasks of them if there is room */
extern struct rocket_record rocket_records[ROCKET_RECORDS];

#endif /* TESTS_NPU_ROCKET_KERNEL_H */
