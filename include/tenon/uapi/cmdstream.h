/* SPDX-License-Identifier: MIT */
#ifndef TENON_UAPI_CMDSTREAM_H
#define TENON_UAPI_CMDSTREAM_H

/**
 * DOC: command streams as bytes
 *
 * A *command stream* is code for an accelerator that a compiler has finished: packets or register
 * writes with holes where the addresses of tensors go. This file defines the bytes that hold one:
 * the payload of a module of kind "cmdstream", and a file NAME.cmdstream.
 *
 * Integers are little-endian; sizes and offsets are in bytes. The payload is struct
 * tenon_cmdstream_header and then sections. A section is struct tenon_cmdstream_section, its body,
 * and as many zero bytes as make the next section begin at a multiple of 8. Sections come in the
 * order of their tags, each at most once. TARGET, CODE, REGIONS and KERNELS must be there. A reader
 * rejects a tag that it does not know, so a new tag needs a new major version; the minor version
 * only names what the writer was.
 *
 * TARGET: which accelerator the code is for: a name, filled up with zero bytes to
 *	TENON_CMDSTREAM_NAME, and *configuration words* of 32 bits, whose meaning belongs to the
 *	target. The host compares them with the device before anything runs. For "mortise" they are
 *	the MORTISE_ABI that the packets need, and a mask of enum mortise_feature that the device
 *	must have. Other targets say in a header of their own what they mean.
 * CODE: the code of all kernels. Kernels may share some: together they have at most TENON_CMDSTREAM_SHARED times as many
 *	bytes as there are.
 * REGIONS: an array of struct tenon_cmdstream_region. A region is memory that the code accesses.
 *	Memory for inputs and outputs is an argument of a kernel; the host allocates scratch memory,
 *	and uploads constants once.
 * CONSTANTS: the data of constant regions.
 * RELOCATIONS: an array of struct tenon_cmdstream_relocation, ordered by offset. Before a run the
 *	host writes into the code, at each offset, the address of a region plus an addend.
 * KERNELS: one struct tenon_cmdstream_kernel after the other, each followed by the numbers of its
 *	arguments' regions (32 bits each), its name, and zero bytes up to a multiple of 8.
 */

#include <stdint.h>

#define TENON_CMDSTREAM_MAGIC 0x4d534354U /* "TCSM" */
#define TENON_CMDSTREAM_MAJOR 1
#define TENON_CMDSTREAM_MINOR 0

/* bytes of a target's name, filled up with zero bytes */
#define TENON_CMDSTREAM_NAME 16

/* most configuration words, regions, arguments of a kernel, kernels */
#define TENON_CMDSTREAM_WORDS	  16
#define TENON_CMDSTREAM_REGIONS	  64
#define TENON_CMDSTREAM_ARGUMENTS 64
#define TENON_CMDSTREAM_KERNELS	  4096

/* times that the code may be used, on average over its bytes */
#define TENON_CMDSTREAM_SHARED 16

/* largest alignment that a region may ask for */
#define TENON_CMDSTREAM_ALIGNMENT 4096

/**
 * struct tenon_cmdstream_header - begins a payload
 * @magic: TENON_CMDSTREAM_MAGIC
 * @major: TENON_CMDSTREAM_MAJOR
 * @minor: version of the writer
 * @size: bytes of the payload with this header
 */
struct tenon_cmdstream_header {
	uint32_t magic;
	uint16_t major;
	uint16_t minor;
	uint64_t size;
};

/** enum tenon_cmdstream_tag - what a section holds */
enum tenon_cmdstream_tag {
	TENON_CMDSTREAM_TARGET = 1,
	TENON_CMDSTREAM_CODE = 2,
	TENON_CMDSTREAM_REGION_TABLE = 3,
	TENON_CMDSTREAM_CONSTANTS = 4,
	TENON_CMDSTREAM_RELOCATIONS = 5,
	TENON_CMDSTREAM_KERNEL_TABLE = 6,
};

/**
 * struct tenon_cmdstream_section - begins a section
 * @tag: enum tenon_cmdstream_tag
 * @reserved: 0
 * @size: bytes of the body, without the zero bytes behind it
 */
struct tenon_cmdstream_section {
	uint32_t tag;
	uint32_t reserved;
	uint64_t size;
};

/** enum tenon_region_kind - whose memory a region is */
enum tenon_region_kind {
	TENON_REGION_INPUT = 1,	   /* an argument with data */
	TENON_REGION_OUTPUT = 2,   /* an argument that receives data */
	TENON_REGION_SCRATCH = 3,  /* memory of the host's choice, without data when a run begins */
	TENON_REGION_CONSTANT = 4, /* data of the payload */
};

/** enum tenon_region_access - what the code does to a region; a mask */
enum tenon_region_access {
	TENON_REGION_READ = 1,
	TENON_REGION_WRITE = 2,
};

/**
 * struct tenon_cmdstream_region - an entry of REGIONS
 * @kind: enum tenon_region_kind
 * @access: mask of enum tenon_region_access, not 0. Inputs are read, outputs written, constants
 *	only read. An input with TENON_REGION_WRITE is updated in place.
 * @size: bytes, not 0. Memory for an argument may be larger.
 * @data: of a constant: where its @size bytes begin in CONSTANTS; else 0
 * @alignment: of its address: a power of two, at most TENON_CMDSTREAM_ALIGNMENT
 * @reserved: 0
 */
struct tenon_cmdstream_region {
	uint32_t kind;
	uint32_t access;
	uint64_t size;
	uint64_t data;
	uint32_t alignment;
	uint32_t reserved;
};

/**
 * struct tenon_cmdstream_relocation - an entry of RELOCATIONS
 * @offset: in CODE: first byte that is overwritten
 * @addend: bytes from the start of the region; may be its size, for accesses of no bytes
 * @region: number in REGIONS
 * @width: bytes that are overwritten: 4 or 8. An address that does not fit is an error of the run.
 */
struct tenon_cmdstream_relocation {
	uint64_t offset;
	uint64_t addend;
	uint32_t region;
	uint32_t width;
};

/**
 * struct tenon_cmdstream_kernel - begins an entry of KERNELS
 * @offset: where its code begins in CODE
 * @size: bytes of it, not 0
 * @argument_count: number of its arguments, each an input or output region, none twice
 * @name_size: bytes of its name, not 0
 */
struct tenon_cmdstream_kernel {
	uint64_t offset;
	uint64_t size;
	uint32_t argument_count;
	uint32_t name_size;
};

#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(struct tenon_cmdstream_header) == 16, "the same everywhere");
_Static_assert(sizeof(struct tenon_cmdstream_section) == 16, "the same everywhere");
_Static_assert(sizeof(struct tenon_cmdstream_region) == 32, "the same everywhere");
_Static_assert(sizeof(struct tenon_cmdstream_relocation) == 24, "the same everywhere");
_Static_assert(sizeof(struct tenon_cmdstream_kernel) == 24, "the same everywhere");
#endif

#endif /* TENON_UAPI_CMDSTREAM_H */
