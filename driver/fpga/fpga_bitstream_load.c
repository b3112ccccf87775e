/* SPDX-License-Identifier: MIT */
/* Check the hash of a bitstream and the file that the kernel reads, and load it. */
#include <stdio.h>
#include <string.h>
#include <tenon/error.h>
#include <tenon/string.h>

#include "driver/fpga/fpga_bitstream.h"
#include "driver/fpga/fpga_private.h"
#include "lib/brief_errors.h"
#include "lib/disk_cache.h"
#include "lib/file_map.h"

/* bytes of the name of a file in the header, its zero included */
#define FIRMWARE_ROOM sizeof(((struct tenon_bitstream_header *)0)->firmware)

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

int fpga_bitstream_check_file(const char *path, const struct fpga_bitstream *b)
{
	struct tenon_slice file;
	size_t at = 0;
	int err = file_map_open(path, &file);

	if (err)
		return tenon_error_in(
			err, "the kernel loads the bitstream from this file; write it there");
	while (at < file.size && at < b->bytes.size && file.data[at] == b->bytes.data[at])
		at++;
	if (at < file.size || at < b->bytes.size)
		err = tenon_error(-TENON_E_VALUE,
				  "%s differs from the bitstream of the module (at byte %zu); "
				  "write the module's there",
				  path, at);
	file_map_close(&file);
	return err;
}

/* The file as the loader names it. */
static int firmware_name(const struct fpga_bitstream *b, char *name, size_t room)
{
	snprintf(name, room, "%.*s", (int)b->firmware.size, b->firmware.data);
	return fpga_check_firmware(name);
}

int fpga_bitstream_path(const char *root, const struct fpga_bitstream *b, char *path, size_t room)
{
	char name[FIRMWARE_ROOM];
	int err = firmware_name(b, name, sizeof(name));

	if (!err && snprintf(path, room, "%s/lib/firmware/%s", root, name) >= (int)room)
		err = tenon_error(-TENON_E_VALUE, "%s: the path is too long", root);
	return err;
}

int fpga_bitstream_check(const struct fpga_bitstream *b)
{
	char name[FIRMWARE_ROOM];
	int err;

	if (!tenon_slice_equal(b->loader, tenon_slice_of(FPGA_LOADER)))
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "the bitstream for %.*s is loaded by \"%.*s\"; here is \"%s\"",
				   (int)b->part.size, b->part.data, (int)b->loader.size,
				   b->loader.data, FPGA_LOADER);
	err = firmware_name(b, name, sizeof(name));
	return err ? err : check_hash(b);
}

int fpga_bitstream_load(struct fpga *f, const char *root, const struct fpga_bitstream *b)
{
	char name[FIRMWARE_ROOM], path[FPGA_PATH];
	int err = fpga_bitstream_check(b);

	err = err ? err : fpga_bitstream_path(root, b, path, sizeof(path));
	err = err ? err : fpga_bitstream_check_file(path, b);
	err = err ? err : firmware_name(b, name, sizeof(name));
	return err ? err : fpga_load(f, name, b->region.size > 0);
}
