/* SPDX-License-Identifier: MIT */
/* Write a zip file of one stored array. */
#include "tests/fuzz/npz_file.h"

#include <string.h>
#include <tenon/backend/buffer.h>

static uint32_t crc32_of(struct tenon_slice bytes)
{
	uint32_t crc = UINT32_MAX;
	size_t i;
	int bit;

	for (i = 0; i < bytes.size; i++) {
		crc ^= (uint8_t)bytes.data[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

static void put16(struct tenon_buffer *b, uint16_t v)
{
	tenon_buffer_u8(b, (uint8_t)v);
	tenon_buffer_u8(b, (uint8_t)(v >> 8));
}

/* from the version on, a local header and an entry of the directory are alike */
static void put_entry(struct tenon_buffer *b, uint32_t crc, size_t size, size_t name_size)
{
	put16(b, 20); /* version */
	put16(b, 0);  /* flags */
	put16(b, 0);  /* stored */
	put16(b, 0);  /* time */
	put16(b, 33); /* date */
	tenon_buffer_u32(b, crc);
	tenon_buffer_u32(b, (uint32_t)size);
	tenon_buffer_u32(b, (uint32_t)size);
	put16(b, (uint16_t)name_size);
	put16(b, 0); /* extra field */
}

void npz_file(const char *name, struct tenon_slice array, struct tenon_buffer *out)
{
	size_t n = strlen(name), start = out->size, directory;
	uint32_t crc = crc32_of(array);

	tenon_buffer_append(out, "PK\3\4", 4);
	put_entry(out, crc, array.size, n);
	tenon_buffer_append(out, name, n);
	tenon_buffer_append(out, array.data, array.size);
	directory = out->size;
	tenon_buffer_append(out, "PK\1\2", 4);
	put16(out, 20);
	put_entry(out, crc, array.size, n);
	put16(out, 0); /* comment */
	put16(out, 0); /* disk */
	put16(out, 0);
	tenon_buffer_u32(out, 0);
	tenon_buffer_u32(out, 0); /* place of the local header */
	tenon_buffer_append(out, name, n);
	tenon_buffer_append(out, "PK\5\6\0\0\0", 8);
	put16(out, 1);
	put16(out, 1);
	tenon_buffer_u32(out, (uint32_t)(out->size - 12 - directory));
	tenon_buffer_u32(out, (uint32_t)(directory - start));
	put16(out, 0);
}
