/* SPDX-License-Identifier: MIT */
/* One executable of Torq: its segments, bindings and host actions, read from a flatbuffer. */
#ifndef DEVICES_TORQ_TORQ_PROGRAM_H
#define DEVICES_TORQ_TORQ_PROGRAM_H

/*
 * Synaptics' compiler writes an executable as a flatbuffer with the identifier "SNPU". The NPU has two memories: *LRAM*,
 * its own, and *XRAM*, addresses of 32 bits that an IOMMU maps. A *segment* is a range of XRAM with code or data; a
 * *binding* is a range of XRAM where the memory of an argument is mapped; an *action* is what the host does next: copy,
 * start the NPU, wait for it.
 *
 * torq_program_read() follows the offsets of the tables. torq_check() (torq_check.h) decides whether a device may have the
 * program. Nothing is allocated: segments, bindings and actions are read where they are, each time.
 */

#include "lib/flatbuffer.h"

/** struct torq_segment - a range of XRAM; @data: its first contents; empty for none */
struct torq_segment {
	uint32_t address;
	uint32_t size;
	struct tenon_slice data;
};

/**
 * struct torq_binding - memory of an argument in XRAM
 * @argument: which
 * @address: first byte in XRAM
 * @offset: first byte in the argument
 * @size: bytes
 * @reads: the NPU reads it
 * @writes: it writes to it
 */
struct torq_binding {
	uint32_t argument;
	uint32_t address;
	uint32_t offset;
	uint32_t size;
	bool reads;
	bool writes;
};

/* where a buffer is; others are memories of the NPU's processor */
enum torq_memory { TORQ_LRAM, TORQ_XRAM };

/* as the schema counts them */
enum torq_action_kind {
	TORQ_COPY = 1,
	TORQ_START,
	TORQ_WAIT,
	TORQ_START_HOST,
	TORQ_WAIT_HOST,
	TORQ_ALLOCATE,
	TORQ_FREE,
};

#define TORQ_RANK 8

/* what moves a copy: nothing; the first number of 32 bits in an argument; one that IREE's virtual machine computes */
enum torq_move { TORQ_FIXED, TORQ_BY_ARGUMENT, TORQ_BY_CONSTANT };

/**
 * struct torq_copy - a copy by the host
 * @from: enum torq_memory, or another number
 * @to: likewise
 * @source: first byte
 * @target: first byte
 * @rank: dimensions
 * @shape: elements of each
 * @source_strides: bytes between elements
 * @target_strides: likewise
 * @element: bytes of an element
 * @move: what moves one side of it
 * @index: number of the argument, or of the constant, that does
 * @unit: bytes that an index of 1 moves it by
 * @moves_target: the target is moved, and not the source
 */
struct torq_copy {
	uint32_t from, to;
	uint32_t source, target;
	uint32_t rank;
	uint32_t shape[TORQ_RANK];
	uint32_t source_strides[TORQ_RANK];
	uint32_t target_strides[TORQ_RANK];
	uint32_t element;
	enum torq_move move;
	uint32_t index;
	uint32_t unit;
	bool moves_target;
};

/**
 * struct torq_action - what the host does
 * @kind: enum torq_action_kind, or another number
 * @copy: of TORQ_COPY
 * @start: of TORQ_START: where in LRAM the NPU begins
 * @function: of TORQ_START_HOST: its name in the host code
 * @memory: of TORQ_ALLOCATE: enum torq_memory, or another number
 * @address: of it
 * @size: of it
 */
struct torq_action {
	uint32_t kind;
	struct torq_copy copy;
	uint32_t start;
	struct tenon_slice function;
	uint32_t memory;
	uint64_t address;
	uint64_t size;
};

/**
 * struct torq_program - an executable
 * @file: name of the file, for messages
 * @name: of the executable
 * @runtime: version of the behaviour that it expects of a runtime
 * @hardware: number of the NPU that it was compiled for
 * @segments: torq_program_segment()
 * @bindings: torq_program_binding()
 * @actions: torq_program_action()
 * @host_code: an ELF file with the functions of TORQ_START_HOST; empty for none
 */
struct torq_program {
	const char *file;
	struct tenon_slice name;
	uint32_t runtime;
	uint32_t hardware;
	struct flatbuffer_vector segments;
	struct flatbuffer_vector bindings;
	struct flatbuffer_vector actions;
	struct tenon_slice host_code;
};

/** torq_program_is - test for the identifier of such a flatbuffer */
bool torq_program_is(struct tenon_slice bytes);

/**
 * torq_program_read - read an executable
 * @c: cursor over all of the flatbuffer
 * @out: receives what is in it
 *
 * Return: 0; -TENON_E_FORMAT and -TENON_E_TRUNCATED with the offset, as the functions below.
 */
int torq_program_read(const struct tenon_cursor *c, struct torq_program *out);

/** torq_program_segment - segment @index, below the count */
int torq_program_segment(const struct torq_program *p, uint32_t index, struct torq_segment *out);

/** torq_program_binding - binding @index, below the count */
int torq_program_binding(const struct torq_program *p, uint32_t index, struct torq_binding *out);

/** torq_program_action - action @index, below the count; -TENON_E_UNSUPPORTED for a copy of more than TORQ_RANK dimensions */
int torq_program_action(const struct torq_program *p, uint32_t index, struct torq_action *out);

#endif /* DEVICES_TORQ_TORQ_PROGRAM_H */
