/* SPDX-License-Identifier: MIT */
#ifndef TENON_UAPI_BITSTREAM_H
#define TENON_UAPI_BITSTREAM_H

/**
 * DOC: bitstreams as bytes
 *
 * A bitstream is what an FPGA becomes before a model can run on it. This file defines the payload of a module of kind
 * "bitstream", and a file NAME.bitstream: struct tenon_bitstream_header, then the bytes as the vendor's tools wrote
 * them. Integers are little-endian; texts are filled up with zero bytes, and end with one.
 */

#include <stdint.h>

#define TENON_BITSTREAM_MAGIC 0x53544254U /* "TBTS" */
#define TENON_BITSTREAM_MAJOR 1
#define TENON_BITSTREAM_MINOR 0
#define TENON_BITSTREAM_HASH  16

/**
 * struct tenon_bitstream_header - begins a payload
 * @magic: TENON_BITSTREAM_MAGIC
 * @major: TENON_BITSTREAM_MAJOR
 * @minor: version of the writer
 * @size: bytes of the bitstream behind this header, more than 0
 * @hash: XXH3 of them, 128 bits, the most significant byte first: what "xxhsum -H128" prints
 * @part: the FPGA that it is for, as its vendor writes it: "LFE5U-85F-6BG381C"
 * @loader: what loads it: "fpga_manager" for the kernel's FPGA manager
 * @region: what it replaces, as the loader names it: "region0"; empty for all logic
 * @firmware: the file that the loader reads, below /lib/firmware for "fpga_manager": "npu.bit.bin"
 */
struct tenon_bitstream_header {
	uint32_t magic;
	uint16_t major;
	uint16_t minor;
	uint64_t size;
	uint8_t hash[TENON_BITSTREAM_HASH];
	char part[64];
	char loader[32];
	char region[32];
	char firmware[128];
};

#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(struct tenon_bitstream_header) == 288, "the same everywhere");
#endif

#endif /* TENON_UAPI_BITSTREAM_H */
