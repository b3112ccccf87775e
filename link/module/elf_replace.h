/* SPDX-License-Identifier: MIT */
/* Exchange the contents of symbols in a shared object without a linker. */
#ifndef LINK_MODULE_ELF_REPLACE_H
#define LINK_MODULE_ELF_REPLACE_H

/*
 * New contents replace the old in their place where there is room. Otherwise they are appended in a
 * segment of their own, which the dynamic linker maps behind all others: code, data, relocations
 * and the addresses of all other symbols stay as they are. The symbol gets the new address and
 * size. A later exchange extends that segment.
 *
 * There is no room for one more program header. One of notes (PT_NOTE) becomes that of the segment: the
 * notes stay, and tools find them by their section. A file without such a header gets a new table of
 * headers in the segment; strip and similar tools damage it, because they put the table at the
 * beginning again. A section header describes the contents for these tools.
 */

#include "lib/elf.h"
#include <tenon/buffer.h>

/**
 * struct elf_content - new contents of a symbol
 * @symbol: name of a dynamic symbol
 * @room: bytes that it occupies in the file; 0: the size of the symbol
 * @bytes: its new contents; without data, so many bytes that the caller writes itself
 */
struct elf_content {
	const char *symbol;
	uint64_t room;
	struct tenon_slice bytes;
};

/* most symbols that are exchanged at once */
#define ELF_CONTENTS_MOST 4

/**
 * elf_replace - append a copy of a shared object with other contents of some symbols
 * @elf: the file
 * @contents: @count contents, at most ELF_CONTENTS_MOST
 * @count: how many
 * @out: an empty buffer; receives the new file
 * @gap: receives where in @out contents without data belong, of which there is at most one; NULL when
 *	there is none
 *
 * Contents that are shorter than before are followed by zeros.
 *
 * Return: 0; -TENON_E_NOT_FOUND for a symbol that the file does not define; -TENON_E_UNSUPPORTED
 *	for a file that is no shared object or has too many headers; -TENON_E_FORMAT; -TENON_E_NOMEM.
 */
int elf_replace(const struct elf_file *elf, const struct elf_content *contents, size_t count,
		struct tenon_buffer *out, size_t *gap);

#endif /* LINK_MODULE_ELF_REPLACE_H */
