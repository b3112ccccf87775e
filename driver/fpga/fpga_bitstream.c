/* SPDX-License-Identifier: MIT */
/* Read the header of a bitstream. */
#include "driver/fpga/fpga_bitstream.h"

#include <string.h>
#include <tenon/error.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"

/* A text of @size bytes with zeroes at its end; @needed: it must not be empty. */
static int read_name(struct tenon_cursor *c, size_t size, const char *what, bool needed,
		     struct tenon_slice *out)
{
	const struct tenon_cursor from = *c;
	bool is_bad;
	size_t i;
	int err = tenon_cursor_bytes(c, size, out);

	if (err)
		return err;
	out->size = strnlen(out->data, size);
	is_bad = out->size == size;
	for (i = out->size; i < size; i++)
		is_bad |= out->data[i] != 0;
	if (is_bad)
		return tenon_cursor_error(
			&from, -TENON_E_FORMAT,
			"the %s of a bitstream has to be filled up with zero bytes", what);
	for (i = 0; i < out->size; i++)
		if (out->data[i] < ' ' || out->data[i] > '~')
			return tenon_cursor_error(&from, -TENON_E_FORMAT,
						  "byte 0x%02x in the %s of a bitstream",
						  (unsigned char)out->data[i], what);
	if (needed && !out->size)
		return tenon_cursor_error(&from, -TENON_E_FORMAT, "a bitstream without a %s", what);
	return 0;
}

static int read_start(struct tenon_cursor *c, uint64_t *size)
{
	const struct tenon_cursor from = *c;
	uint32_t magic = 0;
	uint16_t major = 0, minor;
	int err = tenon_cursor_u32(c, &magic);

	if (!err && magic != TENON_BITSTREAM_MAGIC)
		return tenon_cursor_error(&from, -TENON_E_FORMAT,
					  "no bitstream: it begins with 0x%08x, not with 0x%08x",
					  magic, TENON_BITSTREAM_MAGIC);
	if (!err)
		err = tenon_cursor_u16(c, &major);
	if (!err)
		err = tenon_cursor_u16(c, &minor);
	if (!err && major != TENON_BITSTREAM_MAJOR)
		return tenon_cursor_error(&from, -TENON_E_UNSUPPORTED,
					  "a bitstream of version %u; this build reads version %d",
					  major, TENON_BITSTREAM_MAJOR);
	return err ? err : tenon_cursor_u64(c, size);
}

int fpga_bitstream_read(struct tenon_cursor *c, struct fpga_bitstream *out)
{
	struct tenon_slice hash = { NULL, 0 };
	struct tenon_cursor from;
	uint64_t size = 0;
	int err;

	memset(out, 0, sizeof(*out));
	err = read_start(c, &size);
	err = err ? err : tenon_cursor_bytes(c, TENON_BITSTREAM_HASH, &hash);
	err = err ? err : read_name(c, 64, "part", true, &out->part);
	err = err ? err : read_name(c, 32, "loader", true, &out->loader);
	err = err ? err : read_name(c, 32, "region", false, &out->region);
	err = err ? err : read_name(c, 128, "firmware", false, &out->firmware);
	if (err)
		return err;
	from = *c;
	if (!size)
		return tenon_cursor_error(&from, -TENON_E_FORMAT, "a bitstream of no bytes");
	out->hash = (const uint8_t *)hash.data;
	return tenon_cursor_bytes(c, size, &out->bytes);
}
