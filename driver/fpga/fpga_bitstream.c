/* SPDX-License-Identifier: MIT */
/* Read the header of a bitstream file, check its hash, and load its contents. */
#include "driver/fpga/fpga_bitstream.h"

#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <tenon/error.h>
#include <tenon/string.h>

#include "driver/fpga/fpga_private.h"
#include "lib/brief_errors.h"
#include "lib/disk_cache.h"

#define PIECE 4096

/* ---- reading */

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

/* ---- loading */

static int check_hash(const struct fpga_bitstream *b)
{
	struct disk_cache_key key;

	disk_cache_key(&b->bytes, 1, &key);
	if (memcmp(key.bytes, b->hash, TENON_BITSTREAM_HASH))
		return tenon_error(
			-TENON_E_FORMAT,
			"the bitstream for %.*s is damaged: its bytes do not have the hash "
			"that it names. Copy it again",
			(int)b->part.size, b->part.data);
	return 0;
}

static int compare(const struct system_calls *calls, int fd, const char *path,
		   const struct fpga_bitstream *b)
{
	char piece[PIECE];
	size_t at, n;
	int err;

	for (at = 0; at < b->bytes.size; at += n) {
		n = b->bytes.size - at < PIECE ? b->bytes.size - at : PIECE;
		err = system_read_whole(calls, fd, path, at, piece, n);
		if (err && err != -TENON_E_TRUNCATED)
			return err;
		if (err || memcmp(piece, b->bytes.data + at, n))
			break;
	}
	if (at < b->bytes.size || calls->pread(fd, piece, 1, (off_t)at) == 1)
		return tenon_error(
			-TENON_E_VALUE,
			"%s differs from the bitstream of the module (at byte %llu); write "
			"the module's there",
			path, (unsigned long long)at);
	return 0;
}

/* The kernel reads the file, not our bytes: they have to be the same. */
static int check_file(const struct system_calls *calls, const char *path,
		      const struct fpga_bitstream *b)
{
	int fd = system_open(calls, path, O_RDONLY), err;

	if (fd < 0)
		return tenon_error_in(
			fd, "the kernel loads the bitstream from this file; write it there");
	err = compare(calls, fd, path, b);
	system_close(calls, &fd);
	return err;
}

int fpga_bitstream_load(struct fpga *f, const char *root, const struct fpga_bitstream *b)
{
	char name[sizeof(((struct tenon_bitstream_header *)0)->firmware)], path[PATH_MAX];
	int err;

	if (!tenon_slice_equal(b->loader, tenon_slice_of(FPGA_LOADER)))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "the bitstream for %.*s is loaded by \"%.*s\"; here is \"%s\"",
				   (int)b->part.size, b->part.data, (int)b->loader.size,
				   b->loader.data, FPGA_LOADER);
	snprintf(name, sizeof(name), "%.*s", (int)b->firmware.size, b->firmware.data);
	err = fpga_check_firmware(name);
	if (!err)
		err = check_hash(b);
	if (!err &&
	    snprintf(path, sizeof(path), "%s/lib/firmware/%s", root, name) >= (int)sizeof(path))
		err = tenon_error(-TENON_E_VALUE, "%s: the path is too long", root);
	if (!err)
		err = check_file(f->calls, path, b);
	return err ? err : fpga_load(f, name, b->region.size > 0);
}
