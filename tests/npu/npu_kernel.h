/* SPDX-License-Identifier: MIT */
/*
 * A named fake of Linux with one driver of an NPU, "ethosu" or "rocket", behind driver/syscall: "the kernel's model".
 *
 * It was written from descriptions of the kernel's calls, and has seen no NPU. It shows that a program keeps the rules
 * as they were read; it does not show that these are right, or what hardware does.
 *
 * With "ethosu" it shares neither the check of streams nor the kernel's rule with devices/ethosu/; jobs run on the
 * functional model.
 *
 * With "rocket" it shares no code with devices/rocket/, and computes no convolution. A task records the registers that
 * its words write. When it enables the DPU, each byte of the result is the sum of the bytes at the addresses in those
 * registers: of the input, of the weights (over and over), and of the operand. So a test sees whether the right words
 * arrived with the right addresses, in the right order; it does not see whether they are what an NPU needs. CPU and
 * NPU each have their own copy of a buffer: FINI_BO carries over what the CPU wrote, PREP_BO what the NPU wrote.
 * Without these calls a buffer has old bytes.
 *
 * The model has a clock of its own: it advances in waits, and a job ends when the clock reaches its end. So a test can
 * make any schedule, whatever the speed of the machine. Calls and the functions below take a lock, so threads may make
 * them; code that sets a knob does not.
 *
 * Nodes are /dev/accel/accelN in the tree of tests/driver/tree.h. Use it below faulty_calls, which counts descriptors.
 */
#ifndef TESTS_NPU_NPU_KERNEL_H
#define TESTS_NPU_NPU_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/syscall/syscall.h"

#define NPU_NODE    "/dev/accel/accel0"
#define NPU_NODES   4
#define NPU_PAGE    UINT64_C(4096)
#define NPU_REGIONS 8
#define NPU_SECOND  UINT64_C(1000000000)

/* What comes of a job. */
enum npu_fate {
	NPU_DONE,
	NPU_HANGS, /* it makes no progress: the kernel resets the device, or the core, after a while */
	NPU_FAULTS, /* the device reports an error when it should be done, and is reset */
	NPU_WRITES_AND_FAULTS, /* so, after all results were written */
	NPU_WRITES_AND_HANGS,  /* all results are written, and no interrupt follows */
};

/**
 * struct npu_kernel - knobs, and what was counted
 * @drivers: name of the driver of each node; NULL where there is none
 * @memory: bytes that are free
 * @cores: how many jobs run at a time
 * @now: the clock
 * @job_time: how long a job takes, or each of its tasks
 * @fates: what comes of each job, in the order of their submission; NPU_DONE for those behind
 * @fate_count: number of these
 * @unplugged: the device is gone
 * @cancels_all: a reset ends all jobs that wait, not the one that failed alone
 * @interrupts: how many calls a signal interrupts before one succeeds
 * @jobs: jobs that ended
 * @resets: number of resets
 * @left_handles: handles that a closed descriptor still had
 * @submits: calls of SUBMIT
 * @most_at_once: of jobs
 * @generation: of ethosu's rule for streams, 1 to 3
 * @id: register of an Ethos-U
 * @config: likewise
 * @sram_size: bytes that an Ethos-U has
 * @info_size: of what is told of an Ethos-U: 12, or 16 in new kernels
 * @lacks: bytes by which a buffer of ethosu is smaller than the program asked; no real kernel does that
 * @refused: jobs that ethosu refused
 * @streams: streams that ethosu was handed
 * @damaged: ethosu wrote outside of its own memory, as generation 1 does for some streams
 * @base: where the address space of a descriptor of rocket begins
 * @drops: rocket drops the next jobs, as if a task were wrong
 * @dropped: jobs that rocket dropped, for whatever reason
 * @tasks: tasks of rocket that ran
 */
struct npu_kernel {
	const char *drivers[NPU_NODES];
	uint64_t memory;
	unsigned int cores;
	uint64_t now;
	uint64_t job_time;
	const enum npu_fate *fates;
	unsigned int fate_count;
	bool unplugged;
	bool cancels_all;
	unsigned int interrupts;
	unsigned int jobs;
	unsigned int resets;
	unsigned int left_handles;
	unsigned int submits;
	unsigned int most_at_once;

	unsigned int generation;
	uint32_t id;
	uint32_t config;
	uint32_t sram_size;
	uint32_t info_size;
	uint32_t lacks;
	unsigned int refused;
	unsigned int streams;
	bool damaged;

	uint64_t base;
	unsigned int drops;
	unsigned int dropped;
	unsigned int tasks;
};

extern struct npu_kernel npu;
extern const struct system_calls npu_calls;

/* Node 0 is a U65 of 256 MACs with 384 KiB of SRAM and 16 MiB of memory; the driver is of generation 3. */
void npu_start(void);

/* Node 0 is an RK3588 with three cores and 64 MiB. */
void npu_start_rocket(void);

/* Number of objects, jobs and descriptors that exist; npu_start() drops them. */
unsigned int npu_left(void);

/* Set the clock, also back; no job may be queued. */
void npu_set_time(uint64_t now);

/* Advance the clock, and end the jobs whose end it reaches. */
void npu_pass_time(uint64_t nanoseconds);

/*
 * Let the jobs that follow take so long that waits of programs do not advance the clock to their end; count the
 * submissions from 0.
 */
void npu_hold_jobs(void);

/* Advance the clock to the end of all held jobs; later ones end at once. */
void npu_end_jobs(void);

/* Wait, at most ten seconds of the machine's clock, until so many jobs were submitted. Return: whether they were. */
bool npu_await_submits(unsigned int count);

/* Number of jobs that ended; safe while other threads make calls. */
unsigned int npu_ended(void);

/* ---- npu_pass.c: ethosu's walk through a stream */

struct npu_pass {
	uint64_t size[NPU_REGIONS];
	bool written[NPU_REGIONS];
	bool damages; /* a kernel of generation 1 would write outside of its memory */
};

/* Return: 0; the errno. */
int npu_pass(const uint32_t *words, uint32_t bytes, unsigned int generation, uint32_t config,
	     struct npu_pass *out);

/* ---- npu_rocket.c: a task that ran */

#define NPU_RECORDS 64

struct npu_record {
	uint32_t commands; /* address */
	uint32_t count;
	unsigned int core;
};

/* the first tasks that ran since npu_start_rocket(), npu.tasks of them if there is room */
extern struct npu_record npu_records[NPU_RECORDS];

#endif /* TESTS_NPU_NPU_KERNEL_H */
