/* SPDX-License-Identifier: MIT */
/* The payload format "mortise": a kernel table and images for several machines. */
#ifndef DEVICES_MORTISE_MORTISE_PAYLOAD_H
#define DEVICES_MORTISE_MORTISE_PAYLOAD_H

/*
 * A payload is the word "mortise", a kernel table as TVM writes it, and a string with the program: a list of
 * images (a u64 count, and a string each), ELF files as <tenon/uapi/mortise_kernel.h> describes them, at most one for
 * each machine. A file *.mortise is one such ELF file, or several in an archive of ar(1); its table of kernels is that of
 * the images.
 */

#include <string.h>
#include <tenon/backend/payload_format.h>

#include "devices/mortise/mortise_elf.h"

/* images of a payload */
#define MORTISE_IMAGES_MOST 16

extern const char *const mortise_payload_kinds[];
extern const struct tenon_payload_format *const mortise_payload_formats[];

/* what an archive of ar(1) begins with */
#define MORTISE_ARCHIVE "!<arch>\n"

static inline bool mortise_is_archive(struct tenon_slice bytes)
{
	return bytes.size >= strlen(MORTISE_ARCHIVE) &&
	       !memcmp(bytes.data, MORTISE_ARCHIVE, strlen(MORTISE_ARCHIVE));
}

/** mortise_pack - the payload for a file *.mortise; see tenon_payload_format.pack */
int mortise_pack(const struct tenon_payload_file *file, struct tenon_cursor *program,
		 struct tenon_slice table, struct tenon_buffer *out);

/** mortise_show_stream - a command stream as text; see tenon_payload_format.show */
int mortise_show_stream(const struct tenon_payload_info *info, struct tenon_buffer *out);

/**
 * mortise_payload_image - find the image for a machine
 * @code: program of a payload
 * @label: for messages
 * @machine: enum mortise_machine
 * @wide: of 64 bits
 * @elf: receives it
 *
 * Return: 0; -TENON_E_UNSUPPORTED with the machines that there are; as mortise_elf_read().
 */
int mortise_payload_image(struct tenon_slice code, const char *label, uint32_t machine, bool wide,
			  struct mortise_elf *elf);

#endif /* DEVICES_MORTISE_MORTISE_PAYLOAD_H */
