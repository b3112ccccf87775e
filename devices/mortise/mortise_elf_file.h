/* SPDX-License-Identifier: MIT */
/* Headers of the ELF files that hold device code: of 32 or 64 bits, little-endian. */
#ifndef DEVICES_MORTISE_MORTISE_ELF_FILE_H
#define DEVICES_MORTISE_MORTISE_ELF_FILE_H

#include <tenon/value.h>

/* e_type of what is linked, and the index of a symbol's section where the symbol is a number */
#define ELF_EXECUTABLE	     2
#define ELF_SECTION_ABSOLUTE 0xfff1

/* kinds and flags of segments and sections */
#define ELF_SEGMENT_LOAD      1
#define ELF_SEGMENT_EXECUTE   1U
#define ELF_SEGMENT_WRITE     2U
#define ELF_SECTION_PROGBITS  1
#define ELF_SECTION_RELA      4
#define ELF_SECTION_NOBITS    8
#define ELF_SECTION_REL	      9
#define ELF_SECTION_ALLOCATED 2U

/**
 * struct mortise_elf_table - headers in the file; checked to be within it
 * @offset: of the first, in bytes from the start of the file
 * @count: how many
 * @step: bytes from one to the next
 */
struct mortise_elf_table {
	uint64_t offset;
	uint64_t count;
	uint64_t step;
};

/**
 * struct mortise_elf_file - an ELF file being read
 * @bytes: the whole file
 * @path: for messages
 * @wide: 64-bit
 * @type: e_type
 * @machine: e_machine
 * @flags: e_flags
 * @section_names: index of the section with the names of sections
 * @segments: program headers
 * @sections: section headers; none if they are not within the file
 */
struct mortise_elf_file {
	struct tenon_slice bytes;
	const char *path;
	bool wide;
	uint16_t type;
	uint16_t machine;
	uint16_t section_names;
	uint32_t flags;
	struct mortise_elf_table segments;
	struct mortise_elf_table sections;
};

/**
 * struct mortise_segment - a program header; @file_size bytes of a loaded segment are within the file
 * @type: ELF_SEGMENT_LOAD, …
 * @flags: mask of ELF_SEGMENT_EXECUTE, …
 * @size: bytes in memory
 */
struct mortise_segment {
	uint32_t type, flags;
	uint64_t offset, address, file_size, size, align;
};

/**
 * struct mortise_section - a section header; nothing of it was checked
 * @name: offset in the section with the names
 * @type: ELF_SECTION_PROGBITS, …
 * @link: of relocations: the section with their symbols
 * @info: of relocations: the section that they are for
 * @flags: mask of ELF_SECTION_ALLOCATED, …
 * @step: bytes of an entry
 */
struct mortise_section {
	uint32_t name, type, link, info;
	uint64_t flags, address, offset, size, step;
};

/**
 * mortise_elf_open - read the header of an ELF file and find its tables
 * @elf: receives the result; there is nothing to free
 * @bytes: the file, which must outlive @elf
 * @path: for messages; must outlive @elf
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_UNSUPPORTED for another byte order; -TENON_E_TRUNCATED when the program headers or
 *	a loaded segment are outside the file.
 */
int mortise_elf_open(struct mortise_elf_file *elf, struct tenon_slice bytes, const char *path);

/** mortise_elf_within - test whether bytes are within the file */
static inline bool mortise_elf_within(const struct mortise_elf_file *elf, uint64_t offset,
				      uint64_t size)
{
	return offset <= elf->bytes.size && size <= elf->bytes.size - offset;
}

/** mortise_elf_number - read a number of at most eight bytes; the caller has checked that they exist */
static inline uint64_t mortise_elf_number(const void *at, unsigned int size)
{
	const unsigned char *p = at;
	uint64_t v = 0;
	unsigned int i;

	for (i = 0; i < size; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

/** mortise_elf_word - read a number that is as wide as an address; the caller has checked that it exists */
static inline uint64_t mortise_elf_word(const struct mortise_elf_file *elf, const void *at)
{
	return mortise_elf_number(at, elf->wide ? 8 : 4);
}

/** mortise_elf_segment - read a program header; @index is less than @elf->segments.count */
struct mortise_segment mortise_elf_segment(const struct mortise_elf_file *elf, uint64_t index);

/** mortise_elf_section - read a section header; @index is less than @elf->sections.count */
struct mortise_section mortise_elf_section(const struct mortise_elf_file *elf, uint64_t index);

/** mortise_elf_section_is - test the name of a section; false where the name does not lie in the file */
bool mortise_elf_section_is(const struct mortise_elf_file *elf, const struct mortise_section *s,
			    const char *name);

#endif /* DEVICES_MORTISE_MORTISE_ELF_FILE_H */
