/* SPDX-License-Identifier: MIT */
/* Bitstreams with a header that names the loader they are for. */
#ifndef DRIVER_FPGA_BITSTREAM_H
#define DRIVER_FPGA_BITSTREAM_H

/*
 * <tenon/uapi/bitstream.h> has the bytes. Reading one checks its header alone, so that it can be listed anywhere; its
 * contents are checked before they are loaded.
 */

#include <tenon/backend/cursor.h>
#include <tenon/uapi/bitstream.h>

#include "driver/fpga/fpga.h"

#define FPGA_LOADER "fpga_manager"

/* bytes of a path of firmware, with a prefix */
#define FPGA_PATH 512

/**
 * struct fpga_bitstream - what was read; slices point into the payload
 * @part: the FPGA that it is for
 * @loader: what loads it
 * @region: what it replaces; empty for all logic
 * @firmware: the file that the loader reads
 * @hash: of @bytes, TENON_BITSTREAM_HASH bytes
 * @bytes: as the vendor's tools wrote them
 */
struct fpga_bitstream {
	struct tenon_slice part;
	struct tenon_slice loader;
	struct tenon_slice region;
	struct tenon_slice firmware;
	const uint8_t *hash;
	struct tenon_slice bytes;
};

/**
 * fpga_bitstream_read - read a payload of kind "bitstream"
 * @c: moved past it
 * @out: what it holds; as long as the bytes
 *
 * Return: 0; -TENON_E_FORMAT, -TENON_E_TRUNCATED, -TENON_E_UNSUPPORTED with the offset.
 */
int fpga_bitstream_read(struct tenon_cursor *c, struct fpga_bitstream *out);

/**
 * fpga_bitstream_path - path of the file that the kernel reads for a bitstream
 * @root: prefix of /lib/firmware; "" except in tests
 * @b: what fpga_bitstream_read() found
 * @path: receives it; @room bytes
 * @room: bytes of @path
 *
 * Return: 0; -TENON_E_VALUE where the header names a file that is not below /lib/firmware, or the path is too long.
 */
int fpga_bitstream_path(const char *root, const struct fpga_bitstream *b, char *path, size_t room);

/**
 * fpga_bitstream_check - check that a bitstream is whole, and for an FPGA manager
 * @b: what fpga_bitstream_read() found
 *
 * Return: 0; -TENON_E_UNSUPPORTED for another loader; -TENON_E_FORMAT when the bytes do not have the hash; -TENON_E_VALUE
 *	where the header names a file that is not below /lib/firmware.
 */
int fpga_bitstream_check(const struct fpga_bitstream *b);

/**
 * fpga_bitstream_check_file - check that the file that the kernel reads has the bytes of a bitstream
 * @path: from fpga_bitstream_path()
 * @b: what fpga_bitstream_read() found
 *
 * Return: 0; -TENON_E_IO when the file cannot be read; -TENON_E_VALUE when it differs.
 */
int fpga_bitstream_check_file(const char *path, const struct fpga_bitstream *b);

/**
 * fpga_bitstream_load - load one by an FPGA manager
 * @f: the manager
 * @root: prefix of /lib/firmware; "" except in tests
 * @b: what fpga_bitstream_read() found
 *
 * The kernel reads the file @b->firmware below /lib/firmware; it has to hold the same bytes ("tenon unpack" writes them).
 *
 * Return: 0 when the logic operates; as fpga_bitstream_check() and fpga_bitstream_check_file(); else fpga_load().
 */
int fpga_bitstream_load(struct fpga *f, const char *root, const struct fpga_bitstream *b);

#endif /* DRIVER_FPGA_BITSTREAM_H */
