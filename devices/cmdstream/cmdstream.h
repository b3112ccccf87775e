/* SPDX-License-Identifier: MIT */
/* Read, check and list command streams of any accelerator, without a device. */
#ifndef DEVICES_CMDSTREAM_CMDSTREAM_H
#define DEVICES_CMDSTREAM_CMDSTREAM_H

/*
 * <tenon/uapi/cmdstream.h> defines the bytes. cmdstream_read() checks all that does not depend on
 * the accelerator and gives a view of them; struct cmdstream_target adds what only a backend knows:
 * the configuration of its device, and a walk through its code. cmdstream_check() runs that walk,
 * which names each address and each range that the code accesses, so that a stream that passed
 * stays inside the memory that a job binds to its regions.
 */

#include <stdbool.h>
#include <tenon/backend/cursor.h>
#include <tenon/buffer.h>
#include <tenon/uapi/cmdstream.h>

struct tenon_device;

/**
 * struct cmdstream - a checked view of a payload; nothing is copied but the regions
 * @name: of the payload, for errors
 * @place: offset of the code in the payload, for errors
 * @target: name of the accelerator
 * @config: @config_count configuration words
 * @code: code of all kernels
 * @constants: data of constant regions
 * @regions: @region_count regions
 * @relocations: @relocation_count entries, as in the payload; read by cmdstream_relocation()
 * @kernels: @kernel_count entries, as in the payload; read by cmdstream_kernel()
 */
struct cmdstream {
	const char *name;
	uint64_t place;
	struct tenon_slice target;
	uint32_t config[TENON_CMDSTREAM_WORDS];
	uint32_t config_count;
	uint32_t region_count;
	struct tenon_slice code;
	struct tenon_slice constants;
	struct tenon_cmdstream_region regions[TENON_CMDSTREAM_REGIONS];
	struct tenon_slice relocations;
	size_t relocation_count;
	struct tenon_slice kernels;
	size_t kernel_count;
};

/**
 * struct cmdstream_kernel - a kernel of a stream
 * @name: name
 * @offset: where its code begins
 * @size: bytes of it
 * @arguments: the region of each of @argument_count arguments
 * @first: number of its first relocation
 * @relocation_count: relocations inside its code
 */
struct cmdstream_kernel {
	struct tenon_slice name;
	uint64_t offset;
	uint64_t size;
	uint32_t arguments[TENON_CMDSTREAM_ARGUMENTS];
	uint32_t argument_count;
	size_t first;
	size_t relocation_count;
};

/**
 * cmdstream_read - read a payload and check its tables
 * @c: cursor at the payload's first byte; moved behind the payload on success
 * @out: receives a view of the bytes
 *
 * Return: 0; -TENON_E_FORMAT, -TENON_E_TRUNCATED, -TENON_E_UNSUPPORTED with the offset.
 */
int cmdstream_read(struct tenon_cursor *c, struct cmdstream *out);

/** cmdstream_kernel - read an entry of the kernel table, which cmdstream_read() has checked */
int cmdstream_kernel(const struct cmdstream *s, size_t index, struct cmdstream_kernel *out);

/** cmdstream_next_kernel - read the entry at @c, a cursor that began at s->kernels, and move on */
int cmdstream_next_kernel(const struct cmdstream *s, struct tenon_cursor *c,
			  struct cmdstream_kernel *out);

/** cmdstream_relocation - read a relocation, which cmdstream_read() has checked */
struct tenon_cmdstream_relocation cmdstream_relocation(const struct cmdstream *s, size_t index);

/** cmdstream_relocation_at - find the relocation that begins at byte @at of a kernel's code; false for none */
bool cmdstream_relocation_at(const struct cmdstream *s, const struct cmdstream_kernel *k,
			     uint64_t at, struct tenon_cmdstream_relocation *out);

/* "input", "output", "scratch", "constant" */
const char *cmdstream_region_name(uint32_t kind);

/* ---- what a target adds */

/* most setters of a target */
#define CMDSTREAM_SETTERS 256

struct cmdstream_walk;
struct cmdstream_view;

/**
 * struct cmdstream_target - an accelerator that runs command streams
 * @name: as in the payload; also the name of the backend
 * @unit: offset and size of a kernel's code are multiples of it
 * @alignment: of all memory that its backend allocates
 * @setter: name of CMDSTREAM_SETTER(n), something that must have been seen before an operation
 *	that needs it: "IFM_REGION". The bits before it, one for each region, say that the region
 *	holds data.
 * @check: compare the configuration words with a device
 *	(Return: 0; -TENON_E_UNSUPPORTED with both in the message.)
 * @walk: go through the code of a kernel from walk->code, and call cmdstream_address(),
 *	cmdstream_access(), cmdstream_set() and cmdstream_need() for what each operation does.
 *	Works without a device. (Return: 0; negative, with the offset in the message.)
 * @show: print the operation at view->code as a line, and move behind it; may be NULL. The code was
 *	not checked. (Return: false for bytes that are no operation.)
 */
struct cmdstream_target {
	const char *name;
	uint32_t unit;
	uint32_t alignment;
	const char *(*setter)(uint32_t n);
	int (*check)(struct tenon_device *device, const struct cmdstream *s);
	int (*walk)(struct cmdstream_walk *walk);
	bool (*show)(struct cmdstream_view *view);
};

/* the bits of struct cmdstream_walk.set that a target names come behind those of the regions */
#define CMDSTREAM_SETTER(n) (TENON_CMDSTREAM_REGIONS + (n))

/**
 * struct cmdstream_walk - the state of a walk through a kernel's code
 * @stream: the stream
 * @target: its target
 * @kernel: the kernel
 * @code: cursor over its code, for the target
 * @bound: regions that this kernel may name: its arguments, scratch and constants
 * @used: regions that it does name
 * @set: bitmap of what has been set so far
 * @taken: relocations that belong to an address so far
 */
struct cmdstream_walk {
	const struct cmdstream *stream;
	const struct cmdstream_target *target;
	const struct cmdstream_kernel *kernel;
	struct tenon_cursor code;
	uint64_t bound;
	uint64_t used;
	uint64_t set[CMDSTREAM_SETTERS / 64];
	size_t taken;
};

/**
 * struct cmdstream_place - a place in a region that the code names
 * @region: number of the region
 * @offset: bytes from its start
 * @at: where the code names it: offset in the kernel's code
 */
struct cmdstream_place {
	uint32_t region;
	uint64_t offset;
	uint64_t at;
};

/**
 * cmdstream_check - check the code of a kernel
 * @s: stream
 * @target: its target
 * @kernel: from cmdstream_kernel()
 * @used: receives the regions that the code names; may be NULL
 *
 * Return: 0; negative, with payload, offset, what was found and expected in the message.
 */
int cmdstream_check(const struct cmdstream *s, const struct cmdstream_target *target,
		    const struct cmdstream_kernel *kernel, uint64_t *used);

/**
 * cmdstream_error - raise an error about the code
 * @walk: walk
 * @at: offset in the kernel's code
 * @status: negative
 * @format: what is wrong, what is expected and a remedy
 *
 * Return: @status.
 */
int cmdstream_error(const struct cmdstream_walk *walk, uint64_t at, int status, const char *format,
		    ...) TENON_PRINTF(4, 5);

/** cmdstream_is_relocated - test whether a relocation begins at a byte of the kernel's code */
bool cmdstream_is_relocated(const struct cmdstream_walk *walk, uint64_t at);

/**
 * cmdstream_address - take the relocation of a field that holds an address
 * @walk: walk
 * @at: offset of the field in the kernel's code; each field is taken once
 * @width: bytes of it
 * @what: "to of copy"
 * @out: receives the place that it will name
 *
 * Return: 0; -TENON_E_FORMAT when no relocation of this width begins there, or its region is no
 *	argument of this kernel.
 */
int cmdstream_address(struct cmdstream_walk *walk, uint64_t at, uint32_t width, const char *what,
		      struct cmdstream_place *out);

/**
 * cmdstream_access - note an access
 * @walk: walk
 * @place: from cmdstream_address()
 * @size: bytes; UINT64_MAX for a size that does not fit in 64 bits. 0 also names the region.
 * @access: TENON_REGION_READ or _WRITE
 * @align: of the address: a power of two
 * @what: as in cmdstream_address()
 *
 * What is read must have been written: an input or a constant, or a region to which an earlier
 * operation wrote.
 *
 * Return: 0; -TENON_E_FORMAT.
 */
int cmdstream_access(struct cmdstream_walk *walk, const struct cmdstream_place *place,
		     uint64_t size, uint32_t access, uint32_t align, const char *what);

/** cmdstream_set - note that a setter was seen: a region's number, or CMDSTREAM_SETTER() */
void cmdstream_set(struct cmdstream_walk *walk, uint32_t setter);

/**
 * cmdstream_need - check that a setter was seen
 * @walk: walk
 * @setter: as in cmdstream_set()
 * @at: offset of the operation in the kernel's code
 * @what: name of the operation
 *
 * Return: 0; -TENON_E_FORMAT with the names of both.
 */
int cmdstream_need(const struct cmdstream_walk *walk, uint32_t setter, uint64_t at,
		   const char *what);

/**
 * struct cmdstream_view - a kernel that is printed
 * @stream: the stream
 * @kernel: the kernel
 * @code: cursor over its code, for the target
 * @out: receives the text
 */
struct cmdstream_view {
	const struct cmdstream *stream;
	const struct cmdstream_kernel *kernel;
	struct tenon_cursor code;
	struct tenon_buffer *out;
};

/** cmdstream_relocated - find the place whose address a field at byte @at of the kernel's code becomes */
bool cmdstream_relocated(const struct cmdstream_view *v, uint64_t at, struct cmdstream_place *out);

/* saturating arithmetic: UINT64_MAX stands for all that does not fit */
static inline uint64_t cmdstream_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t cmdstream_multiply(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* @rows of @width bytes that begin @stride apart: all that is between the first and the last byte */
static inline uint64_t cmdstream_rows(uint64_t rows, uint64_t stride, uint64_t width)
{
	return rows ? cmdstream_add(cmdstream_multiply(rows - 1, stride), width) : 0;
}

#endif /* DEVICES_CMDSTREAM_CMDSTREAM_H */
