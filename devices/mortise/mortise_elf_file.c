/* SPDX-License-Identifier: MIT */
/* Read the header, the segments and the sections of an ELF file. */
#include "devices/mortise/mortise_elf_file.h"

#include <inttypes.h>
#include <string.h>
#include <tenon/error.h>

/* bytes of the three kinds of headers */
#define HEADER_SIZE(elf)  ((elf)->wide ? 64U : 52U)
#define SEGMENT_SIZE(elf) ((elf)->wide ? 56U : 32U)
#define SECTION_SIZE(elf) ((elf)->wide ? 64U : 40U)

static uint64_t number(const struct mortise_elf_file *elf, uint64_t at, unsigned int size)
{
	return mortise_elf_number(elf->bytes.data + at, size);
}

/* A field of the size of an address; its offset differs between files of 32 and 64 bits. */
static uint64_t word(const struct mortise_elf_file *elf, uint64_t at, unsigned int narrow,
		     unsigned int wide)
{
	return mortise_elf_word(elf, elf->bytes.data + at + (elf->wide ? wide : narrow));
}

static bool is_within(const struct mortise_elf_file *elf, const struct mortise_elf_table *t,
		      uint64_t smallest)
{
	if (!t->count)
		return true;
	return t->step >= smallest && mortise_elf_within(elf, t->offset, t->count * t->step);
}

struct mortise_segment mortise_elf_segment(const struct mortise_elf_file *elf, uint64_t index)
{
	const uint64_t at = elf->segments.offset + index * elf->segments.step;

	return (struct mortise_segment){
		.type = (uint32_t)number(elf, at, 4),
		.flags = (uint32_t)number(elf, at + (elf->wide ? 4 : 24), 4),
		.offset = word(elf, at, 4, 8),
		.address = word(elf, at, 8, 16),
		.file_size = word(elf, at, 16, 32),
		.size = word(elf, at, 20, 40),
		.align = word(elf, at, 28, 48),
	};
}

struct mortise_section mortise_elf_section(const struct mortise_elf_file *elf, uint64_t index)
{
	const uint64_t at = elf->sections.offset + index * elf->sections.step;

	return (struct mortise_section){
		.name = (uint32_t)number(elf, at, 4),
		.type = (uint32_t)number(elf, at + 4, 4),
		.link = (uint32_t)number(elf, at + (elf->wide ? 40 : 24), 4),
		.info = (uint32_t)number(elf, at + (elf->wide ? 44 : 28), 4),
		.flags = word(elf, at, 8, 8),
		.address = word(elf, at, 12, 16),
		.offset = word(elf, at, 16, 24),
		.size = word(elf, at, 20, 32),
		.step = word(elf, at, 36, 56),
	};
}

static int check_identity(struct mortise_elf_file *elf)
{
	const char *ident = elf->bytes.data;

	if (elf->bytes.size < 4 || memcmp(ident, "\177ELF", 4))
		return tenon_error(-TENON_E_FORMAT, "%s: not an ELF file", elf->path);
	if (elf->bytes.size < 16 || ident[4] < 1 || ident[4] > 2 || ident[5] < 1 || ident[5] > 2)
		return tenon_error(-TENON_E_FORMAT, "%s: an ELF file of neither 32 nor 64 bits",
				   elf->path);
	elf->wide = ident[4] == 2;
	if (elf->bytes.size < HEADER_SIZE(elf))
		return tenon_error(-TENON_E_TRUNCATED,
				   "%s: %zu bytes are less than an ELF header: it is truncated",
				   elf->path, elf->bytes.size);
	if (ident[5] == 2)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: the most significant byte is first; want little-endian",
				   elf->path);
	return 0;
}

static int check_segments(const struct mortise_elf_file *elf)
{
	struct mortise_segment s;
	uint64_t i;

	if (!is_within(elf, &elf->segments, SEGMENT_SIZE(elf)))
		return tenon_error(-TENON_E_TRUNCATED,
				   "%s: %" PRIu64 " program headers of %" PRIu64
				   " bytes at 0x%" PRIx64
				   " lie outside the file of %zu bytes: it is truncated",
				   elf->path, elf->segments.count, elf->segments.step,
				   elf->segments.offset, elf->bytes.size);
	for (i = 0; i < elf->segments.count; i++) {
		s = mortise_elf_segment(elf, i);
		if (s.type == ELF_SEGMENT_LOAD && !mortise_elf_within(elf, s.offset, s.file_size))
			return tenon_error(-TENON_E_TRUNCATED,
					   "%s: segment %" PRIu64 " of %" PRIu64
					   " bytes at 0x%" PRIx64
					   " lies outside the file of %zu bytes: it is truncated",
					   elf->path, i, s.file_size, s.offset, elf->bytes.size);
	}
	return 0;
}

int mortise_elf_open(struct mortise_elf_file *elf, struct tenon_slice bytes, const char *path)
{
	unsigned int half;
	int err;

	memset(elf, 0, sizeof(*elf));
	elf->bytes = bytes;
	elf->path = path;
	err = check_identity(elf);
	if (err)
		return err;
	/* where the fields begin that are the same in both sizes */
	half = elf->wide ? 52 : 40;
	elf->type = (uint16_t)number(elf, 16, 2);
	elf->machine = (uint16_t)number(elf, 18, 2);
	elf->flags = (uint32_t)number(elf, half - 4, 4);
	elf->segments.offset = word(elf, 0, 28, 32);
	elf->sections.offset = word(elf, 0, 32, 40);
	elf->segments.step = number(elf, half + 2, 2);
	elf->segments.count = number(elf, half + 4, 2);
	elf->sections.step = number(elf, half + 6, 2);
	elf->sections.count = number(elf, half + 8, 2);
	elf->section_names = (uint16_t)number(elf, half + 10, 2);
	if (!is_within(elf, &elf->sections, SECTION_SIZE(elf)))
		elf->sections.count = 0;
	return check_segments(elf);
}

/* The contents of a section; empty for one without contents in the file. */
static struct tenon_slice section_bytes(const struct mortise_elf_file *elf,
					const struct mortise_section *s)
{
	if (s->type == ELF_SECTION_NOBITS || !mortise_elf_within(elf, s->offset, s->size))
		return (struct tenon_slice){ "", 0 };
	return (struct tenon_slice){ elf->bytes.data + s->offset, (size_t)s->size };
}

bool mortise_elf_section_is(const struct mortise_elf_file *elf, const struct mortise_section *s,
			    const char *name)
{
	const size_t length = strlen(name) + 1;
	struct mortise_section holder;
	struct tenon_slice names;

	if (elf->section_names >= elf->sections.count)
		return false;
	holder = mortise_elf_section(elf, elf->section_names);
	names = section_bytes(elf, &holder);
	return s->name < names.size && length <= names.size - s->name &&
	       !memcmp(names.data + s->name, name, length);
}
