/* SPDX-License-Identifier: MIT */
/* Read the headers of entries, one after the other. The directory at the end is not needed. */
#include "lib/stored_zip.h"

#include "lib/brief_errors.h"

#define LOCAL_ENTRY   0x04034b50
#define CENTRAL_ENTRY 0x02014b50
#define ENCRYPTED     1
#define STREAMED      8
#define ZIP64	      1
#define LONG_SIZE     UINT32_MAX

/**
 * struct header - of an entry
 * @flags: of zip
 * @method: of its compression; 0 for none
 * @stored: bytes in the archive
 * @size: bytes of the contents
 */
struct header {
	uint16_t flags;
	uint16_t method;
	uint64_t stored;
	uint64_t size;
};

/* Sizes of 64 bits, in a field behind the name. */
static int read_long_sizes(struct tenon_cursor extra, struct header *h)
{
	uint16_t id = 0, size = 0;
	int err = 0;

	while (!err && id != ZIP64) {
		err = tenon_cursor_u16(&extra, &id);
		err = err ? err : tenon_cursor_u16(&extra, &size);
		if (!err && id != ZIP64)
			err = tenon_cursor_skip(&extra, size);
	}
	if (!err && size < 16)
		return tenon_cursor_error(&extra, -TENON_E_FORMAT, "a ZIP64 field of %u bytes",
					  size);
	err = err ? err : tenon_cursor_u64(&extra, &h->size);
	return err ? err : tenon_cursor_u64(&extra, &h->stored);
}

/* Read the header behind its signature. */
static int read_header(struct tenon_cursor *c, struct header *h, struct stored_entry *out)
{
	struct tenon_slice extra;
	uint16_t name_size, extra_size;
	uint32_t stored = 0, size = 0;
	int err = tenon_cursor_skip(c, 2);

	err = err ? err : tenon_cursor_u16(c, &h->flags);
	err = err ? err : tenon_cursor_u16(c, &h->method);
	/* time and date */
	err = err ? err : tenon_cursor_skip(c, 4);
	err = err ? err : tenon_cursor_u32(c, &out->crc);
	err = err ? err : tenon_cursor_u32(c, &stored);
	err = err ? err : tenon_cursor_u32(c, &size);
	err = err ? err : tenon_cursor_u16(c, &name_size);
	err = err ? err : tenon_cursor_u16(c, &extra_size);
	err = err ? err : tenon_cursor_bytes(c, name_size, &out->name);
	err = err ? err : tenon_cursor_bytes(c, extra_size, &extra);
	h->stored = stored;
	h->size = size;
	if (err || stored != LONG_SIZE || size != LONG_SIZE)
		return err;
	return read_long_sizes(tenon_cursor_of(extra.data, extra.size, c->name,
					       tenon_cursor_place(c) - extra_size),
			       h);
}

int stored_entry_next(struct tenon_cursor *c, const char *writer, struct stored_entry *out)
{
	const struct tenon_cursor first = *c;
	struct tenon_slice bytes;
	struct header h = { 0 };
	uint32_t signature;
	int err = tenon_cursor_u32(c, &signature);

	if (err)
		return err;
	if (signature == CENTRAL_ENTRY) {
		c->at = c->end;
		return 0;
	}
	if (signature != LOCAL_ENTRY)
		return tenon_cursor_error(&first, -TENON_E_FORMAT,
					  "0x%08x where an entry of the archive begins", signature);
	err = read_header(c, &h, out);
	if (!err && (h.flags & (ENCRYPTED | STREAMED) || h.method || h.stored != h.size))
		err = tenon_cursor_error(&first, -TENON_E_UNSUPPORTED,
					 "an entry that is compressed, encrypted or was streamed; "
					 "%s stores entries as they are",
					 writer);
	err = err ? err : tenon_cursor_bytes(c, h.size, &bytes);
	if (err)
		return err;
	out->contents = tenon_cursor_of(bytes.data, bytes.size, c->name,
					tenon_cursor_place(c) - bytes.size);
	return 1;
}

uint32_t stored_crc(struct tenon_slice bytes)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < bytes.size; i++) {
		crc ^= (uint8_t)bytes.data[i];
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}
