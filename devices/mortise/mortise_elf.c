/* SPDX-License-Identifier: MIT */
/* Read, check and relocate ELF executables for the board's processor. */
#include "devices/mortise/mortise_elf.h"

#include <inttypes.h>
#include <string.h>
#include <tenon/backend/cursor.h>
#include <tenon/error.h>
#include <tenon/string.h>
#include <tenon/uapi/mortise_kernel.h>

/* e_flags of code that the firmware can call */
#define RISCV_FLOAT_ABI 0x6U
#define RISCV_RVE	0x8U
#define ARM_HARD_FLOAT	0x400U

/* pages that a host can give access to */
#define PAGE 4096U

static struct tenon_cursor cursor_of(const struct mortise_elf *elf, uint64_t offset)
{
	const struct tenon_slice bytes = elf->file.bytes;
	struct tenon_cursor c = tenon_cursor_of(bytes.data, bytes.size, elf->file.path, 0);

	c.at += offset < bytes.size ? offset : bytes.size;
	return c;
}

/* ---- the header */

static int check_machine(const struct tenon_cursor *c, const struct mortise_elf_file *elf)
{
	const uint32_t flags = elf->flags;
	bool known;

	switch (elf->machine) {
	case MORTISE_MACHINE_RISCV:
		if (flags & RISCV_FLOAT_ABI)
			return tenon_cursor_error(
				c, -TENON_E_UNSUPPORTED,
				"the code passes floats in registers of their own; compile "
				"with -mabi=%s",
				elf->wide ? "lp64" : "ilp32");
		if (flags & RISCV_RVE)
			return tenon_cursor_error(c, -TENON_E_UNSUPPORTED,
						  "the code is for cores with 16 registers");
		return 0;
	case MORTISE_MACHINE_ARM:
		if (flags & ARM_HARD_FLOAT)
			return tenon_cursor_error(
				c, -TENON_E_UNSUPPORTED,
				"the code passes floats in registers of their own; compile "
				"with -mfloat-abi=soft");
		known = !elf->wide;
		break;
	case MORTISE_MACHINE_HEXAGON:
		known = !elf->wide;
		break;
	default:
		known = elf->wide && (elf->machine == MORTISE_MACHINE_X86_64 ||
				      elf->machine == MORTISE_MACHINE_AARCH64);
	}
	return known ? 0
		     : tenon_cursor_error(c, -TENON_E_UNSUPPORTED,
					  "machine %u of %u bits; mortise runs on riscv, arm and "
					  "hexagon (32 bits), x86-64 and aarch64",
					  elf->machine, elf->wide ? 64 : 32);
}

static int check_header(const struct mortise_elf *elf)
{
	const struct tenon_cursor c = cursor_of(elf, 0);

	if (elf->file.type != ELF_EXECUTABLE)
		return tenon_cursor_error(
			&c, -TENON_E_FORMAT,
			"ELF file of type %u; want an executable (2), linked with "
			"--emit-relocs",
			elf->file.type);
	return check_machine(&c, &elf->file);
}

/* ---- segments */

static uint64_t page_of(const struct mortise_elf *elf)
{
	/* code of these counts in pages: the low bits of an address stay */
	return elf->file.machine == MORTISE_MACHINE_AARCH64 ||
			       elf->file.machine == MORTISE_MACHINE_X86_64
		       ? PAGE
		       : 64;
}

static int check_segment(const struct mortise_elf *elf, const struct tenon_cursor *c,
			 const struct mortise_segment *s)
{
	uint64_t most = elf->file.wide ? UINT64_MAX : UINT32_MAX;

	if (s->file_size > s->size || s->size > MORTISE_IMAGE_MOST)
		return tenon_cursor_error(c, -TENON_E_FORMAT,
					  "a segment of 0x%" PRIx64 " bytes, 0x%" PRIx64
					  " of them in the "
					  "file; at most 0x%" PRIx64 " are allowed",
					  s->size, s->file_size, MORTISE_IMAGE_MOST);
	if (s->address > most - s->size)
		return tenon_cursor_error(c, -TENON_E_OVERFLOW,
					  "a segment of 0x%" PRIx64 " bytes at address 0x%" PRIx64,
					  s->size, s->address);
	if ((s->align & (s->align - 1)) || s->align > MORTISE_IMAGE_MOST)
		return tenon_cursor_error(c, -TENON_E_FORMAT, "a segment aligned to 0x%" PRIx64,
					  s->align);
	return 0;
}

static int read_segments(struct mortise_elf *elf)
{
	const struct tenon_cursor c = cursor_of(elf, elf->file.segments.offset);
	uint64_t lowest = UINT64_MAX, end = 0, i;
	struct mortise_segment s;
	int err;

	elf->align = page_of(elf);
	for (i = 0; i < elf->file.segments.count; i++) {
		s = mortise_elf_segment(&elf->file, i);
		if (s.type != ELF_SEGMENT_LOAD || !s.size)
			continue;
		err = check_segment(elf, &c, &s);
		if (err)
			return err;
		if (elf->segment_count == MORTISE_SEGMENTS_MOST)
			return tenon_cursor_error(&c, -TENON_E_UNSUPPORTED, "more than %u segments",
						  MORTISE_SEGMENTS_MOST);
		if (s.align > elf->align)
			elf->align = s.align;
		elf->segments[elf->segment_count++] = s;
		lowest = s.address < lowest ? s.address : lowest;
		end = s.address + s.size > end ? s.address + s.size : end;
	}
	elf->address = lowest & ~(elf->align - 1);
	elf->size = end - elf->address;
	if (!elf->segment_count || elf->size > MORTISE_IMAGE_MOST)
		return tenon_cursor_error(&c, -TENON_E_FORMAT,
					  "%u segments that span 0x%" PRIx64 " bytes",
					  elf->segment_count, elf->segment_count ? elf->size : 0);
	return 0;
}

/* ---- sections */

static int check_table(struct mortise_elf *elf, const struct mortise_section *s)
{
	struct tenon_cursor c = cursor_of(elf, s->offset);

	if (s->type != ELF_SECTION_PROGBITS || !mortise_elf_within(&elf->file, s->offset, s->size))
		return tenon_cursor_error(&c, -TENON_E_TRUNCATED,
					  "the section .mortise is not in the file");
	if (!s->size || s->size % sizeof(struct mortise_entry) ||
	    s->size / sizeof(struct mortise_entry) > MORTISE_KERNELS_MOST)
		return tenon_cursor_error(&c, -TENON_E_FORMAT,
					  "the section .mortise has 0x%" PRIx64
					  " bytes; want entries of 0x%zx",
					  s->size, sizeof(struct mortise_entry));
	elf->table = (struct tenon_slice){ elf->file.bytes.data + s->offset, (size_t)s->size };
	elf->entry_count = (uint32_t)(s->size / sizeof(struct mortise_entry));
	return 0;
}

/* Addresses that a linker made for the code of Hexagon; it leaves no relocations for them. */
static int check_addresses(struct mortise_elf *elf, const struct mortise_section *s)
{
	struct tenon_cursor c = cursor_of(elf, s->offset);

	if (elf->file.machine != MORTISE_MACHINE_HEXAGON || !(s->flags & ELF_SECTION_ALLOCATED))
		return 0;
	if (s->address < elf->address || s->address - elf->address > elf->size ||
	    elf->size - (s->address - elf->address) < s->size || s->size % 4)
		return tenon_cursor_error(&c, -TENON_E_FORMAT,
					  "the section .got has 0x%" PRIx64 " bytes at 0x%" PRIx64
					  ", outside the image",
					  s->size, s->address);
	elf->got_address = s->address;
	elf->got_size = s->size;
	return 0;
}

static int find_table(struct mortise_elf *elf)
{
	const struct tenon_cursor c = cursor_of(elf, elf->file.sections.offset);
	struct mortise_section s;
	uint64_t i;
	int err = 0;

	if (elf->file.section_names >= elf->file.sections.count)
		return tenon_cursor_error(&c, -TENON_E_FORMAT,
					  "%" PRIu64 " section headers in the file of 0x%zx bytes, "
					  "and their names in section %u",
					  elf->file.sections.count, elf->file.bytes.size,
					  elf->file.section_names);
	for (i = 0; i < elf->file.sections.count && !err; i++) {
		s = mortise_elf_section(&elf->file, i);
		if (!elf->entry_count && mortise_elf_section_is(&elf->file, &s, ".mortise"))
			err = check_table(elf, &s);
		else if (mortise_elf_section_is(&elf->file, &s, ".got"))
			err = check_addresses(elf, &s);
	}
	if (err || elf->entry_count)
		return err;
	return tenon_cursor_error(
		&c, -TENON_E_FORMAT,
		"no section .mortise: kernels are offered with MORTISE_KERNEL() of "
		"<tenon/uapi/mortise_kernel.h>");
}

int mortise_elf_read(struct tenon_slice bytes, const char *name, struct mortise_elf *out)
{
	int err;

	memset(out, 0, sizeof(*out));
	err = mortise_elf_open(&out->file, bytes, name);
	if (!err)
		err = check_header(out);
	if (!err)
		err = read_segments(out);
	return err ? err : find_table(out);
}

/* ---- the table of kernels */

static int take_text(struct tenon_cursor *c, size_t size, const char *what, struct tenon_slice *out)
{
	int err = tenon_cursor_bytes(c, size, out);

	if (err)
		return err;
	if (!memchr(out->data, 0, size))
		return tenon_cursor_error(c, -TENON_E_FORMAT, "a kernel's %s have no end", what);
	out->size = strlen(out->data);
	return 0;
}

static bool is_code(const struct mortise_elf *elf, uint64_t address)
{
	uint32_t i;

	for (i = 0; i < elf->segment_count; i++) {
		const struct mortise_segment *s = &elf->segments[i];

		if ((s->flags & ELF_SEGMENT_EXECUTE) && address >= s->address &&
		    address - s->address < s->size)
			return true;
	}
	return false;
}

int mortise_elf_kernel(const struct mortise_elf *elf, uint32_t index,
		       struct mortise_elf_kernel *out)
{
	uint64_t place = (uint64_t)(elf->table.data - elf->file.bytes.data) +
			 index * sizeof(struct mortise_entry);
	struct tenon_cursor c = cursor_of(elf, place);
	int err;

	if ((err = take_text(&c, MORTISE_NAME_SIZE, "name", &out->name)) ||
	    (err = take_text(&c, MORTISE_TYPES_SIZE, "types", &out->types)) ||
	    (err = take_text(&c, MORTISE_TAGS_SIZE, "tags", &out->tags)) ||
	    (err = tenon_cursor_u64(&c, &out->function)))
		return err;
	if (!elf->file.wide)
		out->function &= UINT32_MAX;
	if (!out->name.size)
		return tenon_cursor_error(&c, -TENON_E_FORMAT, "kernel %u has no name", index);
	if (!is_code(elf, out->function & ~(uint64_t)1))
		return tenon_cursor_error(&c, -TENON_E_FORMAT,
					  "kernel %s is at 0x%" PRIx64 ", where no code is",
					  out->name.data, out->function);
	return 0;
}

/* ---- moving */

/* enum change - what moving the image does to a relocated place */
enum change {
	CHANGE_NOTHING, /* counts from the place itself, or is part of such a sequence */
	CHANGE_WORD,	/* an address of 32 bits */
	CHANGE_LONG,	/* of 64 */
	CHANGE_UPPER, /* the upper 26 bits of an address, in the fields of Hexagon's constant extender */
	CHANGE_REFUSED,
};

/* numbers of relocations that hold an address; ranges of those that count from where they are, or hold low bits that stay */
struct relocations {
	uint32_t machine;
	uint16_t words[2], wide, upper;
	struct {
		uint16_t first, last;
	} relative[8];
};

static const struct relocations machines[] = {
	/* BRANCH to CALL_PLT; PCREL; ADD8 to SUB64; ALIGN to RVC_JUMP; RELAX to 32_PCREL; ULEB128 */
	{ MORTISE_MACHINE_RISCV,
	  { 1, 0 },
	  2,
	  0,
	  { { 16, 19 }, { 23, 25 }, { 33, 40 }, { 43, 45 }, { 51, 57 }, { 60, 61 } } },
	/* REL32; THM_CALL; CALL, JUMP24, THM_JUMP24; V4BX; PREL31; THM_JUMP19; THM_JUMP11 and 8 */
	{ MORTISE_MACHINE_ARM,
	  { 2, 38 },
	  0,
	  0,
	  { { 3, 3 }, { 10, 10 }, { 28, 30 }, { 40, 40 }, { 42, 42 }, { 51, 51 }, { 102, 103 } } },
	/* 32; 32_6_X; branches; wider ones, lower 6 bits of constants, 32_PCREL; 6_PCREL_X to GOT_11_X */
	{ MORTISE_MACHINE_HEXAGON,
	  { 6, 0 },
	  0,
	  17,
	  { { 1, 3 }, { 14, 16 }, { 18, 31 }, { 65, 71 } } },
	/* PC32; PLT32; PC64 */
	{ MORTISE_MACHINE_X86_64, { 0, 0 }, 1, 0, { { 2, 2 }, { 4, 4 }, { 24, 24 } } },
	/* PREL; pages and offsets in them; branches; wider loads and stores */
	{ MORTISE_MACHINE_AARCH64,
	  { 0, 0 },
	  257,
	  0,
	  { { 260, 262 }, { 273, 280 }, { 282, 286 }, { 299, 299 } } },
};

static enum change change_of(uint32_t machine, uint32_t type)
{
	const struct relocations *r = machines;
	size_t i;

	/* mortise_elf_read() knows the same machines */
	while (r->machine != machine)
		r++;
	if (!type)
		return CHANGE_NOTHING;
	if (type == r->words[0] || type == r->words[1])
		return CHANGE_WORD;
	if (type == r->wide)
		return CHANGE_LONG;
	if (type == r->upper)
		return CHANGE_UPPER;
	for (i = 0; i < sizeof(r->relative) / sizeof(r->relative[0]); i++)
		if (type >= r->relative[i].first && type <= r->relative[i].last)
			return CHANGE_NOTHING;
	return CHANGE_REFUSED;
}

/* Is a symbol a number or missing, and so no place in the image. */
static int symbol_moves(const struct mortise_elf *elf, const struct mortise_section *symbols,
			uint64_t index, bool *moves)
{
	const struct mortise_elf_file *file = &elf->file;
	const struct tenon_cursor c = cursor_of(elf, symbols->offset);
	uint64_t step = file->wide ? 24 : 16, section;

	if (!mortise_elf_within(file, symbols->offset, symbols->size) ||
	    index >= symbols->size / step)
		return tenon_cursor_error(&c, -TENON_E_TRUNCATED,
					  "a relocation names symbol %" PRIu64
					  "; there are %" PRIu64,
					  index, symbols->size / step);
	section = mortise_elf_number(c.at + index * step + (file->wide ? 6 : 14), 2);
	/* not a weak symbol that nothing defines */
	*moves = section != 0 && section != ELF_SECTION_ABSOLUTE;
	return 0;
}

/* A constant extender has 14 bits of its number in the low half of the word, 12 in the high half. */
static uint32_t extended(uint32_t word, uint32_t distance)
{
	uint32_t number = (word & 0x3fff) | (word >> 2 & 0x3ffc000);

	/* images move by multiples of 64: the lower 6 bits stay */
	number += distance >> 6;
	return (word & 0xf000c000) | (number & 0x3fff) | (number & 0x3ffc000) << 2;
}

/* What moving does to an image. */
struct move {
	const struct mortise_elf *elf;
	const struct mortise_section *symbols;
	uint64_t distance;
	uint8_t *image;
};

static int apply(const struct move *m, const struct tenon_cursor *c, uint64_t place, uint32_t type,
		 uint64_t symbol)
{
	const struct mortise_elf *elf = m->elf;
	enum change change = change_of(elf->file.machine, type);
	size_t size = change == CHANGE_LONG ? 8 : 4;
	uint64_t word = 0;
	bool moves = false;
	int err;

	if (change == CHANGE_NOTHING)
		return 0;
	if (change == CHANGE_REFUSED)
		return tenon_cursor_error(
			c, -TENON_E_UNSUPPORTED,
			"relocation %u at 0x%" PRIx64 " cannot be moved; compile with %s", type,
			place,
			elf->file.machine == MORTISE_MACHINE_RISCV    ? "-mcmodel=medany -fno-pic"
			: elf->file.machine == MORTISE_MACHINE_X86_64 ? "-fPIE -fvisibility=hidden"
								      : "-Os");
	if (place < elf->address || place - elf->address > elf->size ||
	    elf->size - (place - elf->address) < size)
		return tenon_cursor_error(c, -TENON_E_FORMAT,
					  "a relocation at 0x%" PRIx64 ", outside the image",
					  place);
	err = symbol_moves(elf, m->symbols, symbol, &moves);
	if (err || !moves)
		return err;
	/* little-endian, as every host that this is built for */
	memcpy(&word, m->image + (place - elf->address), size);
	word = change == CHANGE_UPPER ? extended((uint32_t)word, (uint32_t)m->distance)
				      : word + m->distance;
	memcpy(m->image + (place - elf->address), &word, size);
	return 0;
}

static int apply_section(const struct move *m, const struct mortise_section *s)
{
	const struct mortise_elf_file *elf = &m->elf->file;
	uint64_t width = elf->wide ? 8 : 4, step = width * (s->type == ELF_SECTION_RELA ? 3 : 2);
	struct tenon_cursor c = cursor_of(m->elf, s->offset);
	uint64_t i, place, info;
	int err = 0;

	if (!mortise_elf_within(elf, s->offset, s->size) || s->step != step)
		return tenon_cursor_error(&c, -TENON_E_TRUNCATED,
					  "0x%" PRIx64 " bytes of relocations of 0x%" PRIx64
					  " at 0x%" PRIx64,
					  s->size, s->step, s->offset);
	for (i = 0; i < s->size / step && !err; i++, c.at += step) {
		place = mortise_elf_word(elf, c.at);
		info = mortise_elf_word(elf, c.at + width);
		err = apply(m, &c, place, elf->wide ? (uint32_t)info : info & 0xff,
			    elf->wide ? info >> 32 : info >> 8);
	}
	return err;
}

/* Relocations of what is in memory; those of debug information are not of interest. */
static int apply_all(struct move *m)
{
	const struct mortise_elf_file *elf = &m->elf->file;
	struct mortise_section s, symbols;
	uint64_t i;
	int err;

	for (i = 0; i < elf->sections.count; i++) {
		s = mortise_elf_section(elf, i);
		if (s.type != ELF_SECTION_RELA && s.type != ELF_SECTION_REL)
			continue;
		if (s.info >= elf->sections.count || s.link >= elf->sections.count)
			return tenon_error(-TENON_E_FORMAT,
					   "%s: section %" PRIu64
					   " has relocations for section %u with "
					   "symbols of section %u; there are %" PRIu64 " sections",
					   elf->path, i, s.info, s.link, elf->sections.count);
		symbols = mortise_elf_section(elf, s.link);
		m->symbols = &symbols;
		if (!(mortise_elf_section(elf, s.info).flags & ELF_SECTION_ALLOCATED))
			continue;
		err = apply_section(m, &s);
		if (err)
			return err;
	}
	return 0;
}

/* 0 is the address of a weak symbol that nothing defines. */
static void move_addresses(const struct move *m)
{
	uint8_t *at = m->image + (m->elf->got_address - m->elf->address);
	uint64_t i;
	uint32_t word;

	for (i = 0; i < m->elf->got_size; i += sizeof(word)) {
		memcpy(&word, at + i, sizeof(word));
		word += word ? (uint32_t)m->distance : 0;
		memcpy(at + i, &word, sizeof(word));
	}
}

int mortise_elf_place(const struct mortise_elf *elf, uint64_t address, uint8_t *image)
{
	struct move m = { elf, NULL, address - elf->address, image };
	uint32_t i;

	memset(image, 0, (size_t)elf->size);
	for (i = 0; i < elf->segment_count; i++) {
		const struct mortise_segment *s = &elf->segments[i];

		memcpy(image + (s->address - elf->address), elf->file.bytes.data + s->offset,
		       (size_t)s->file_size);
	}
	if (elf->got_size)
		move_addresses(&m);
	return apply_all(&m);
}
