/* SPDX-License-Identifier: MIT */
/* Put a section that is not loaded into a linked file. */
#ifndef LINK_MODULE_ELF_SECTION_H
#define LINK_MODULE_ELF_SECTION_H

#include <tenon/buffer.h>

#include "lib/elf.h"

/**
 * elf_put_section - append a copy of a file with a section that no loader maps
 * @elf: the file
 * @name: of the section; one of that name gets the new contents, and its old ones stay in the file without use
 * @bytes: contents
 * @out: an empty buffer; receives the file
 *
 * Contents, names of sections and section headers are appended: all else stays where it is.
 *
 * Return: 0; -TENON_E_UNSUPPORTED for a file whose section headers were stripped; -TENON_E_NOMEM.
 */
int elf_put_section(const struct elf_file *elf, const char *name, struct tenon_slice bytes,
		    struct tenon_buffer *out);

#endif /* LINK_MODULE_ELF_SECTION_H */
