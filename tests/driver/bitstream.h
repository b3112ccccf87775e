/* SPDX-License-Identifier: MIT */
/* A small bitstream with its header, for tests of the loader. */
#ifndef TESTS_DRIVER_BITSTREAM_H
#define TESTS_DRIVER_BITSTREAM_H

#include <stdint.h>
#include <string.h>
#include <tenon/uapi/bitstream.h>

#define BITSTREAM_TEXT "the bytes of a bitstream"
#define BITSTREAM_SIZE (sizeof(BITSTREAM_TEXT) - 1)

/* printf 'the bytes of a bitstream' | xxhsum -H128 */
static const uint8_t bitstream_hash[TENON_BITSTREAM_HASH] = { 0x47, 0xad, 0x24, 0x59, 0x29, 0x0b,
							      0xe0, 0x9c, 0x42, 0x27, 0xdb, 0x81,
							      0x8f, 0xcf, 0xf3, 0xd0 };

struct bitstream {
	struct tenon_bitstream_header header;
	char bytes[BITSTREAM_SIZE];
};

static inline void bitstream_fill(struct bitstream *b)
{
	memset(b, 0, sizeof(*b));
	b->header = (struct tenon_bitstream_header){
		.magic = TENON_BITSTREAM_MAGIC,
		.major = TENON_BITSTREAM_MAJOR,
		.size = BITSTREAM_SIZE,
		.part = "xc7z020clg400-1",
		.loader = "fpga_manager",
		.firmware = "npu.bit.bin",
	};
	memcpy(b->header.hash, bitstream_hash, sizeof(bitstream_hash));
	memcpy(b->bytes, BITSTREAM_TEXT, BITSTREAM_SIZE);
}

#endif /* TESTS_DRIVER_BITSTREAM_H */
