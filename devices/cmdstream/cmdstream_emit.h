/* SPDX-License-Identifier: MIT */
/* Record a command stream while a program runs: regions, code, relocations. */
#ifndef DEVICES_CMDSTREAM_CMDSTREAM_EMIT_H
#define DEVICES_CMDSTREAM_CMDSTREAM_EMIT_H

/*
 * A program that decides at run time what the accelerator does *records* a stream: it declares
 * regions, emits code with relocations, and flushes. The result are the bytes of a payload, which
 * are read and checked like those of a compiler: there is one way to a command object. The bytes
 * can also be written to a file. cmdstream_read.c reads them.
 *
 * Functions that append return nothing: the first failure is kept, and cmdstream_flush() returns
 * it.
 */

#include <tenon/buffer.h>
#include <tenon/uapi/cmdstream.h>

/**
 * struct cmdstream_emitter - a stream that is being recorded
 * @code: code so far
 * @begin: where the kernel that is being recorded begins in @code
 * @reserved: bytes of code that may still be emitted
 * @regions, @constants, @relocations, @kernels: sections so far
 * @region_count: number of regions
 * @status: 0, or the first failure
 */
struct cmdstream_emitter {
	struct tenon_buffer code;
	struct tenon_buffer regions;
	struct tenon_buffer constants;
	struct tenon_buffer relocations;
	struct tenon_buffer kernels;
	size_t begin;
	size_t reserved;
	uint32_t region_count;
	int status;
};

/** cmdstream_emitter_init - begin a stream */
void cmdstream_emitter_init(struct cmdstream_emitter *e);

/** cmdstream_emitter_fini - release its memory */
void cmdstream_emitter_fini(struct cmdstream_emitter *e);

/**
 * cmdstream_region - declare a region
 * @e: stream
 * @region: kind, access, size and alignment; @data is set for constants
 * @bytes: @region->size bytes of a constant, copied; NULL for other kinds
 *
 * Return: number of the region.
 */
uint32_t cmdstream_region(struct cmdstream_emitter *e, const struct tenon_cmdstream_region *region,
			  const void *bytes);

/**
 * cmdstream_reserve - make room for an operation
 * @e: stream
 * @size: bytes of code that the operation emits; more is an error
 *
 * Return: 0; -TENON_E_NOMEM, -TENON_E_VALUE.
 */
int cmdstream_reserve(struct cmdstream_emitter *e, size_t size);

/** cmdstream_emit - append @size bytes of code */
void cmdstream_emit(struct cmdstream_emitter *e, const void *bytes, size_t size);

/**
 * cmdstream_reloc - append an address
 * @e: stream
 * @region: region that it is in
 * @offset: bytes from the region's start
 * @width: bytes of the address: 4 or 8
 */
void cmdstream_reloc(struct cmdstream_emitter *e, uint32_t region, uint64_t offset, uint32_t width);

/**
 * cmdstream_end_kernel - make a kernel of the code since the last one
 * @e: stream
 * @name: its name
 * @arguments: a region for each argument
 * @count: number of arguments
 */
void cmdstream_end_kernel(struct cmdstream_emitter *e, const char *name, const uint32_t *arguments,
			  uint32_t count);

/**
 * cmdstream_flush - end the stream
 * @e: stream; empty afterwards, so that the next one can be recorded
 * @target: accelerator that the code is for
 * @config: @config_count configuration words
 * @config_count: number of words
 * @out: receives the payload, appended
 *
 * tenon_program_read() and tenon_executable_create() make a command object of the payload.
 *
 * Return: 0; the first failure since the stream began.
 */
int cmdstream_flush(struct cmdstream_emitter *e, const char *target, const uint32_t *config,
		    uint32_t config_count, struct tenon_buffer *out);

#endif /* DEVICES_CMDSTREAM_CMDSTREAM_EMIT_H */
