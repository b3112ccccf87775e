/* SPDX-License-Identifier: MIT */
/* Device code of mortise: ELF executables that are placed in the window. */
#ifndef DEVICES_MORTISE_MORTISE_ELF_H
#define DEVICES_MORTISE_MORTISE_ELF_H

/*
 * Reads the ELF executables that <tenon/uapi/mortise_kernel.h> describes, checks them, and moves them to another
 * address. Every byte is foreign: nothing outside the file is read, nothing outside the image is written.
 */

#include "devices/mortise/mortise_elf_file.h"

#define MORTISE_SEGMENTS_MOST 16

/* kernels of an image */
#define MORTISE_KERNELS_MOST 1024

/* an image is not larger than this in memory */
#define MORTISE_IMAGE_MOST (UINT64_C(64) << 20)

/**
 * struct mortise_elf - device code that was checked
 * @file: the file, little-endian, of a machine in enum mortise_machine; its bytes and path must outlive this
 * @address: as linked: a multiple of @align
 * @size: bytes of the image in memory
 * @align: by which an image can be moved: a power of two
 * @segments: the @segment_count that are loaded
 * @table: the section ".mortise"
 * @entry_count: kernels in it, at least 1
 * @got_address: of a table of addresses without relocations, the section ".got" of Hexagon; in the image
 * @got_size: bytes of it; may be 0
 */
struct mortise_elf {
	struct mortise_elf_file file;
	uint64_t address;
	uint64_t size;
	uint64_t align;
	struct mortise_segment segments[MORTISE_SEGMENTS_MOST];
	uint32_t segment_count;
	struct tenon_slice table;
	uint32_t entry_count;
	uint64_t got_address;
	uint64_t got_size;
};

/**
 * struct mortise_elf_kernel - an entry of the table
 * @name: not empty
 * @types: dtypes, separated by spaces
 * @tags: launch tags, separated by spaces
 * @function: address as linked, in a segment that can be executed; with bit 0 set on Cortex-M
 */
struct mortise_elf_kernel {
	struct tenon_slice name;
	struct tenon_slice types;
	struct tenon_slice tags;
	uint64_t function;
};

/**
 * mortise_elf_read - read and check the headers of device code
 * @bytes: the file
 * @name: of it, for messages
 * @out: receives what was read; nothing needs to be given back
 *
 * Return: 0; -TENON_E_FORMAT, -TENON_E_TRUNCATED, -TENON_E_OVERFLOW; -TENON_E_UNSUPPORTED for a machine or an ABI
 *	that no firmware has.
 */
int mortise_elf_read(struct tenon_slice bytes, const char *name, struct mortise_elf *out);

/** mortise_elf_kernel - read an entry of the table; @index is less than entry_count. 0; -TENON_E_FORMAT */
int mortise_elf_kernel(const struct mortise_elf *elf, uint32_t index,
		       struct mortise_elf_kernel *out);

/**
 * mortise_elf_place - make the image for an address
 * @elf: device code
 * @address: where the device will see it: @elf->address plus a multiple of @elf->align
 * @image: @elf->size bytes that receive it
 *
 * Return: 0; -TENON_E_FORMAT, -TENON_E_TRUNCATED; -TENON_E_UNSUPPORTED for a relocation that cannot be applied, with
 *	how to compile without it.
 */
int mortise_elf_place(const struct mortise_elf *elf, uint64_t address, uint8_t *image);

#endif /* DEVICES_MORTISE_MORTISE_ELF_H */
