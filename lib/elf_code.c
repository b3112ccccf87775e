/* SPDX-License-Identifier: MIT */
/* Visit the parts of an ELF file that are code. */
#include "lib/elf.h"

/* Bytes of an executable section; false for another. */
static bool code_of_section(const struct elf_file *elf, uint64_t index, struct elf_code *out)
{
	const struct elf_section s = elf_section(elf, index);

	if (s.type != ELF_SECTION_PROGBITS || !(s.flags & ELF_SECTION_EXECUTE) ||
	    !elf_within(elf, s.offset, s.size))
		return false;
	out->address = elf->type == ELF_RELOCATABLE ? index << 48 : s.address;
	out->bytes = (struct tenon_slice){ elf->bytes.data + s.offset, (size_t)s.size };
	return s.size;
}

static bool code_of_segment(const struct elf_file *elf, uint64_t index, struct elf_code *out)
{
	const struct elf_segment s = elf_segment(elf, index);

	/* elf_open() saw that the file has its bytes */
	if (s.type != ELF_SEGMENT_LOAD || !(s.flags & ELF_SEGMENT_EXECUTE))
		return false;
	out->address = s.address;
	out->bytes = (struct tenon_slice){ elf->bytes.data + s.offset, (size_t)s.file_size };
	return s.file_size;
}

static bool has_code_sections(const struct elf_file *elf)
{
	struct elf_code code;
	uint64_t i;

	for (i = 0; i < elf->sections.count; i++)
		if (code_of_section(elf, i, &code))
			return true;
	return false;
}

bool elf_code(const struct elf_file *elf, uint64_t *index, struct elf_code *out)
{
	while (*index < elf->sections.count)
		if (code_of_section(elf, (*index)++, out))
			return true;
	/* segments are numbered behind the sections */
	if (has_code_sections(elf))
		return false;
	while (*index - elf->sections.count < elf->segments.count)
		if (code_of_segment(elf, (*index)++ - elf->sections.count, out))
			return true;
	return false;
}
