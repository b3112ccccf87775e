/* SPDX-License-Identifier: MIT */
/* The fast format of weights: values of 8 bits, or indices of 2 or 4 bits into a table. */

#include "devices/ethosu/ethosu_weights.h"
#include "lib/brief_errors.h"

#define HEADER_BYTES 32
/* places in the header, in bits */
#define RAW	 0
#define SMALL	 1
#define OFFSET	 104
#define TABLE	 112
#define ENTRIES	 16
#define ENTRY	 9
#define RAW_BITS 8

static uint32_t bits_at(const uint8_t *bytes, uint64_t at, unsigned int count)
{
	uint32_t value = 0;
	unsigned int i;

	for (i = 0; i < count; i++, at++)
		value |= (uint32_t)(bytes[at / 8] >> at % 8 & 1) << i;
	return value;
}

/* An entry has its sign in the lowest bit. */
static void read_table(const uint8_t *bytes, int16_t table[ENTRIES])
{
	uint32_t value;
	unsigned int i;

	for (i = 0; i < ENTRIES; i++) {
		value = bits_at(bytes, TABLE + i * ENTRY, ENTRY);
		table[i] = (int16_t)(value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1));
	}
}

int ethosu_weights_decode_fast(struct tenon_slice bytes, size_t count, int16_t *out)
{
	const uint8_t *data = (const uint8_t *)bytes.data;
	int16_t table[ENTRIES];
	unsigned int width;
	int32_t offset;
	size_t i;

	if (bytes.size < HEADER_BYTES)
		return tenon_error(-TENON_E_TRUNCATED, "weights: %zu bytes, and a header has %d",
				   bytes.size, HEADER_BYTES);
	width = bits_at(data, RAW, 1) ? RAW_BITS : bits_at(data, SMALL, 1) ? 2 : 4;
	if (count > (bytes.size - HEADER_BYTES) * (uint64_t)8 / width)
		return tenon_error(-TENON_E_TRUNCATED,
				   "weights: %zu of %u bits are needed, and there are %zu bytes",
				   count, width, bytes.size - HEADER_BYTES);
	read_table(data, table);
	offset = (int8_t)bits_at(data, OFFSET, RAW_BITS);
	for (i = 0; i < count; i++) {
		const uint32_t v = bits_at(data, HEADER_BYTES * 8 + (uint64_t)i * width, width);

		out[i] = width == RAW_BITS ? (int16_t)((int8_t)v - offset) : table[v];
	}
	return 0;
}
