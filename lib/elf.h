/* SPDX-License-Identifier: MIT */
/* Read the symbols of an ELF file of any machine without loading it. */
#ifndef LIB_ELF_H
#define LIB_ELF_H

/*
 * Reads the symbols of a shared object without loading it: 32 and 64 bits, both byte orders, with
 * section headers or, if these are stripped, from the dynamic segment. Allocates nothing, and never
 * reads outside the file, even if it is malformed.
 */

#include <tenon/value.h>

/* e_type */
#define ELF_RELOCATABLE 1
#define ELF_EXECUTABLE	2
#define ELF_SHARED	3

/* special section indices: common symbols, which are merged like weak ones, and absolute ones */
#define ELF_SECTION_RESERVED 0xff00
#define ELF_SECTION_ABSOLUTE 0xfff1

/* kinds and flags of segments and sections */
#define ELF_SEGMENT_LOAD      1
#define ELF_SEGMENT_DYNAMIC   2
#define ELF_SEGMENT_EXECUTE   1U
#define ELF_SEGMENT_WRITE     2U
#define ELF_SECTION_PROGBITS  1
#define ELF_SECTION_SYMTAB    2
#define ELF_SECTION_RELA      4
#define ELF_SECTION_NOBITS    8
#define ELF_SECTION_REL	      9
#define ELF_SECTION_DYNSYM    11
#define ELF_SECTION_ALLOCATED 2U
#define ELF_SECTION_EXECUTE   4U

/* symbol kinds */
#define ELF_SYMBOL_OBJECT   1
#define ELF_SYMBOL_FUNCTION 2

/**
 * struct elf_table - a table in the file; checked to be within it
 * @offset: of the first entry, in bytes from the start of the file
 * @count: entries
 * @step: bytes from one entry to the next
 */
struct elf_table {
	uint64_t offset;
	uint64_t count;
	uint64_t step;
};

/**
 * struct elf_file - an ELF file being read
 * @bytes: the whole file
 * @path: for messages
 * @wide: 64-bit
 * @big: most significant byte first
 * @lost_sections: it has section headers, but they are not within the file. It can be loaded
 * @type: ELF_RELOCATABLE, ELF_EXECUTABLE or ELF_SHARED
 * @machine: e_machine
 * @flags: e_flags
 * @section_names: index of the section with the names of sections
 * @segments: program headers
 * @sections: section headers
 * @symbols: dynamic symbols (of a relocatable file: all); none when @symbols.count is 0
 * @names: their string table, with a @step of 1; empty, or ends with NUL
 * @dynamic: the dynamic segment
 */
struct elf_file {
	struct tenon_slice bytes;
	const char *path;
	bool wide;
	bool big;
	bool lost_sections;
	uint16_t type;
	uint16_t machine;
	uint16_t section_names;
	uint32_t flags;
	struct elf_table segments;
	struct elf_table sections;
	struct elf_table symbols;
	struct elf_table names;
	struct elf_table dynamic;
};

/**
 * struct elf_segment - a program header; @file_size bytes of a loaded segment are within the file
 * @type: ELF_SEGMENT_LOAD, …
 * @flags: mask of ELF_SEGMENT_EXECUTE, …
 * @size: bytes in memory
 */
struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, address, file_size, size, align;
};

/**
 * struct elf_section - a section header; nothing of it was checked
 * @name: offset in the section with the names
 * @type: ELF_SECTION_PROGBITS, …
 * @flags: mask of ELF_SECTION_ALLOCATED, …
 * @link: of symbols: the section with their names; of relocations: that with their symbols
 * @info: of relocations: the section that they are for
 * @step: bytes of an entry
 */
struct elf_section {
	uint32_t name, type, link, info;
	uint64_t flags, address, offset, size, step;
};

/**
 * struct elf_symbol - a symbol
 * @name: in the file's bytes
 * @value: address; in a relocatable file, offset in its section
 * @size: bytes
 * @kind: ELF_SYMBOL_OBJECT, ELF_SYMBOL_FUNCTION or another
 * @section: index of its section
 * @defined: defined in this file; otherwise imported
 * @global: global or weak
 * @weak: weak
 */
struct elf_symbol {
	struct tenon_slice name;
	uint64_t value;
	uint64_t size;
	unsigned int kind;
	unsigned int section;
	bool defined;
	bool global;
	bool weak;
};

/** file_is_elf - test for the ELF magic number */
static inline bool file_is_elf(struct tenon_slice bytes)
{
	return bytes.size >= 4 && bytes.data[0] == 0x7f && bytes.data[1] == 'E' &&
	       bytes.data[2] == 'L' && bytes.data[3] == 'F';
}

/**
 * elf_open - read the headers of an ELF file and find its symbols
 * @elf: receives the result; there is nothing to free
 * @bytes: the file, which must outlive @elf
 * @path: for messages; must outlive @elf
 *
 * Return: 0; -TENON_E_FORMAT; -TENON_E_TRUNCATED when a table or a loaded segment is outside the file.
 */
int elf_open(struct elf_file *elf, struct tenon_slice bytes, const char *path);

/** elf_within - test whether bytes are within the file */
static inline bool elf_within(const struct elf_file *elf, uint64_t offset, uint64_t size)
{
	return offset <= elf->bytes.size && size <= elf->bytes.size - offset;
}

/** elf_number - read a number of at most eight bytes; the caller has checked that they exist */
static inline uint64_t elf_number(const struct elf_file *elf, const void *at, unsigned int size)
{
	const unsigned char *p = at;
	uint64_t v = 0;
	unsigned int i;

	for (i = 0; i < size; i++)
		v |= (uint64_t)p[i] << 8 * (elf->big ? size - 1 - i : i);
	return v;
}

/** elf_word - read a number that is as wide as an address; the caller has checked that it exists */
static inline uint64_t elf_word(const struct elf_file *elf, const void *at)
{
	return elf_number(elf, at, elf->wide ? 8 : 4);
}

/** elf_segment - read a program header; @index is less than @elf->segments.count */
struct elf_segment elf_segment(const struct elf_file *elf, uint64_t index);

/** elf_section - read a section header; @index is less than @elf->sections.count */
struct elf_section elf_section(const struct elf_file *elf, uint64_t index);

/**
 * elf_symbol - read one symbol
 * @elf: the file
 * @index: less than @elf->symbols.count
 * @symbol: receives it; its name is empty if it is outside the string table
 */
void elf_symbol(const struct elf_file *elf, uint64_t index, struct elf_symbol *symbol);

/**
 * elf_symbol_bytes - find the bytes of a symbol in the file
 * @elf: the file
 * @symbol: a defined symbol
 * @out: receives the slice of the file; up to the end of the segment if the symbol has no size
 *
 * Return: 0; -TENON_E_TRUNCATED; -TENON_E_FORMAT when no part of the file is loaded there.
 */
int elf_symbol_bytes(const struct elf_file *elf, const struct elf_symbol *symbol,
		     struct tenon_slice *out);

/** elf_section_is - test the name of a section; false where the name does not lie in the file */
bool elf_section_is(const struct elf_file *elf, const struct elf_section *s, const char *name);

/**
 * elf_find_section - find a section by its name
 * @elf: the file
 * @name: its name
 * @out: receives its bytes in the file
 *
 * Return: whether it is there, with contents within the file.
 */
bool elf_find_section(const struct elf_file *elf, const char *name, struct tenon_slice *out);

/**
 * elf_all_symbols - replace the dynamic symbols by all symbols, local ones too
 * @elf: the file; stays as it is if it was stripped of them, or if their table is damaged
 */
void elf_all_symbols(struct elf_file *elf);

/**
 * struct elf_code - a part of the file that the processor executes
 * @address: of its first byte; in a relocatable file, its section in the upper 16 bits
 * @bytes: the part
 */
struct elf_code {
	uint64_t address;
	struct tenon_slice bytes;
};

/**
 * elf_code - visit executable sections, or if there are none, executable segments
 * @elf: the file
 * @index: 0 for the first; moved on
 * @out: receives the next
 *
 * The parts may overlap, if the file says so.
 *
 * Return: false when there are no more.
 */
bool elf_code(const struct elf_file *elf, uint64_t *index, struct elf_code *out);

/**
 * elf_needed - list the libraries that the file needs
 * @elf: the file
 * @index: 0 for the first
 *
 * Return: a NUL-terminated name in the file's bytes; NULL when there are no more.
 */
const char *elf_needed(const struct elf_file *elf, unsigned int index);

/** elf_is_program - test for an executable: also for one that is position independent, as a library is */
bool elf_is_program(const struct elf_file *elf);

/**
 * elf_machine_name - name of the machine of a file
 * @elf: the file
 *
 * Return: a static string such as "aarch64", "x86-64", "riscv64"; "machine 4711" in a buffer of
 *	the calling thread for an unknown one.
 */
const char *elf_machine_name(const struct elf_file *elf);

/**
 * elf_check_loadable - find out why dlopen() rejects a file
 * @path: the file
 *
 * Call it after dlopen() has failed: it checks for reasons that the user can repair.
 *
 * Return: 0 when it finds no reason; else the raised reason: -TENON_E_IO, -TENON_E_FORMAT,
 *	-TENON_E_TRUNCATED, -TENON_E_UNSUPPORTED for another machine, -TENON_E_NOT_FOUND for a
 *	library that the file needs.
 */
#ifdef CONFIG_INSPECT
int elf_check_loadable(const char *path);

/**
 * elf_check_opening - check a library before dlopen() opens it
 * @path: the file
 * @inert: receives whether dlopen() runs no constructors, neither of the library nor of libraries
 *	that it needs; false if unknown
 *
 * A truncated library is rejected: the dynamic linker maps the segments and writes to them, which
 * raises SIGBUS past the end of the file. A named pipe is rejected, too: dlopen() waits for a writer. Reads only headers and the
 * dynamic section.
 *
 * Return: 0, also for a file that dlopen() rejects itself; -TENON_E_TRUNCATED; -TENON_E_IO for a pipe.
 */
int elf_check_opening(const char *path, bool *inert);
#else
static inline int elf_check_opening(const char *path, bool *inert)
{
	*inert = false;
	return 0;
}

static inline int elf_check_loadable(const char *path)
{
	return 0;
}
#endif

#endif /* LIB_ELF_H */
