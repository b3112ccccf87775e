/* SPDX-License-Identifier: MIT */
/*
 * A named fake of an Ethos-U55 or U65 behind UIO: "the model of the registers".
 *
 * It was written from a description of the registers, and has seen no hardware. It shares no code with devices/ethosu/
 * but the functional model, which runs its jobs.
 *
 * Registers and memory are files that both sides map. The model looks at them in each system call of the other side,
 * and does nothing in between: so it needs no thread, and a test can make any schedule. Of a register that is written
 * twice between two calls it sees the second value alone, as slow hardware does.
 *
 * The node is /dev/uio0 in the tree of tests/driver/tree.h: map 0 has the registers, map 1 memory. /dev/udmabuf0 is a
 * u-dma-buf. Use it below faulty_calls.
 */
#ifndef TESTS_NPU_NPU_REGISTERS_H
#define TESTS_NPU_NPU_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/syscall/syscall.h"

#define NPU_REGISTERS_MEMORY	  0x40000000 /* address of map 1 */
#define NPU_REGISTERS_MEMORY_SIZE 0x20000
#define NPU_REGISTERS_BUFFER	  0x50000000 /* and of the u-dma-buf */
#define NPU_REGISTERS_BUFFER_SIZE 0x20000

/* What comes of a job. */
enum npu_end {
	NPU_END_DONE,
	NPU_END_SILENT, /* done, but its interrupt is lost */
	NPU_END_STRAY,	/* done, after an interrupt of another device on the same line */
	NPU_END_HANGS,	/* no end and no interrupt */
	NPU_END_BUS,	/* an abort on AXI M1, for weights */
	NPU_END_PARSE,
	NPU_END_WEIGHTS,
	NPU_END_ECC,
	NPU_END_EARLY,	  /* an interrupt before the end */
	NPU_END_VANISHES, /* all registers read as ones from then on */
};

/**
 * struct npu_registers - knobs, and what was counted
 * @id: register; call npu_registers_power() when it was changed
 * @config: likewise
 * @ends: what comes of each job, in their order; NPU_END_DONE for those behind
 * @end_count: number of these
 * @has_interrupt: reads and writes of the node work
 * @is_secure: a reset does not lead out of the secure state
 * @stuck_resets: this many resets do not end; likewise
 * @jobs: number of jobs that were started
 * @resets: number of resets
 * @counted: interrupts that the kernel counted
 * @ports: REGIONCFG at the last job
 * @first: lowest address that the last job was given
 */
struct npu_registers {
	uint32_t id;
	uint32_t config;
	const enum npu_end *ends;
	unsigned int end_count;
	bool has_interrupt;
	bool is_secure;
	unsigned int stuck_resets;
	unsigned int jobs;
	unsigned int resets;
	uint32_t counted;
	uint32_t ports;
	uint64_t first;
};

extern struct npu_registers npu_registers;
extern const struct system_calls npu_registers_calls;

/* A U65 of 256 MACs; makes the files in the tree. */
void npu_registers_start(void);

/* Switch it off and on. */
void npu_registers_power(void);

/* The memory of map 1. */
uint8_t *npu_registers_memory(void);

/* End a job of somebody else, which raises the interrupt. */
void npu_registers_raise(void);

/* Return: the interrupt of a job that ended was not cleared. */
bool npu_registers_is_raised(void);

/* Unmap what npu_registers_start() mapped. */
void npu_registers_stop(void);

#endif /* TESTS_NPU_NPU_REGISTERS_H */
