/* SPDX-License-Identifier: MIT */
/* Find and read the firmware of an emulated or attached board. */
#ifndef DRIVER_BOARD_FIRMWARE_FILE_H
#define DRIVER_BOARD_FIRMWARE_FILE_H

/*
 * An image is searched in the folders of TENON_FIRMWARE_PATH, which have colons between them; in firmware/ (build) and
 * tenon/firmware/ (installation) beside libtenon.so; then in the configured installation folder.
 */

#include <limits.h>
#include <stdint.h>

/**
 * firmware_file_find - find an image
 * @name: "mortise-rv32.elf"
 * @path: receives its path
 *
 * Return: 0; -TENON_E_DEVICE, naming all files that were tried and the remedy.
 */
int firmware_file_find(const char *name, char path[PATH_MAX]);

/**
 * struct firmware_file - what is known of an image without running it
 * @size: bytes of the file
 * @abi: as in struct mortise_image; 0 when the file does not say it
 * @version: likewise
 * @hash: XXH128 of the file in hexadecimal; empty without CONFIG_KERNEL_CACHE, which has that hash
 */
struct firmware_file {
	uint64_t size;
	uint32_t abi;
	uint32_t version;
	char hash[33];
};

/** firmware_file_read - describe an image; 0, -TENON_E_IO, -TENON_E_NOMEM */
int firmware_file_read(const char *path, struct firmware_file *out);

#endif /* DRIVER_BOARD_FIRMWARE_FILE_H */
