/* SPDX-License-Identifier: MIT */
/* Read, check and relocate ELF executables for the board's processor. */
#include "devices/mortise/mortise_elf.h"

#include <inttypes.h>
#include <string.h>
#include <tenon/string.h>
#include <tenon/uapi/mortise_kernel.h>

#include "lib/brief_errors.h"

#define ELF_EXECUTABLE	 2
#define ELF_CURRENT	 1
#define SEGMENT_LOAD	 1
#define SECTION_PROGBITS 1
#define FLAG_EXECUTE	 1U
#define FLAG_WRITE	 2U

/* e_flags of code that the firmware can call */
#define RISCV_FLOAT_ABI 0x6U
#define RISCV_RVE	0x8U
#define ARM_HARD_FLOAT	0x400U

/* pages that a host can give access to */
#define PAGE 4096U

static struct tenon_cursor cursor_of(const struct mortise_elf *elf, uint64_t offset)
{
	struct tenon_cursor c = tenon_cursor_of(elf->bytes.data, elf->bytes.size, elf->name, 0);

	c.at += offset < elf->bytes.size ? offset : elf->bytes.size;
	return c;
}

/* A field that is as wide as an address. */
static int read_word(struct tenon_cursor *c, bool wide, uint64_t *out)
{
	uint32_t narrow = 0;
	int err;

	if (wide)
		return tenon_cursor_u64(c, out);
	err = tenon_cursor_u32(c, &narrow);
	*out = narrow;
	return err;
}

static bool within(const struct mortise_elf *elf, uint64_t offset, uint64_t size)
{
	return offset <= elf->bytes.size && size <= elf->bytes.size - offset;
}

/* ---- the header */

static int check_machine(const struct tenon_cursor *c, struct mortise_elf *elf, uint32_t flags)
{
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
	default:
		known = elf->wide && (elf->machine == MORTISE_MACHINE_X86_64 ||
				      elf->machine == MORTISE_MACHINE_AARCH64);
	}
	return known ? 0
		     : tenon_cursor_error(c, -TENON_E_UNSUPPORTED,
					  "machine %u of %u bits; mortise runs on riscv, arm (32 "
					  "bits), x86-64 "
					  "and aarch64",
					  elf->machine, elf->wide ? 64 : 32);
}

struct header {
	uint64_t segments;
	uint16_t segment_size, segment_count;
	uint16_t section_size, section_names;
};

static int read_identity(struct tenon_cursor *c, struct mortise_elf *elf)
{
	struct tenon_slice identity;
	int err = tenon_cursor_bytes(c, 16, &identity);

	if (err)
		return err;
	if (memcmp(identity.data, "\177ELF", 4))
		return tenon_cursor_error(c, -TENON_E_FORMAT, "no ELF file");
	if ((identity.data[4] != 1 && identity.data[4] != 2) || identity.data[5] != 1 ||
	    identity.data[6] != ELF_CURRENT)
		return tenon_cursor_error(c, -TENON_E_UNSUPPORTED,
					  "ELF of class %u, byte order %u; want 32 or 64 bits and "
					  "little-endian",
					  identity.data[4] & 0xffU, identity.data[5] & 0xffU);
	elf->wide = identity.data[4] == 2;
	return 0;
}

static int read_header(struct mortise_elf *elf, struct header *h)
{
	struct tenon_cursor c = cursor_of(elf, 0);
	uint16_t type = 0, machine = 0, size, sections = 0;
	uint32_t version, flags = 0;
	uint64_t entry;
	int err = read_identity(&c, elf);

	if (err)
		return err;
	if ((err = tenon_cursor_u16(&c, &type)) || (err = tenon_cursor_u16(&c, &machine)) ||
	    (err = tenon_cursor_u32(&c, &version)) || (err = read_word(&c, elf->wide, &entry)) ||
	    (err = read_word(&c, elf->wide, &h->segments)) ||
	    (err = read_word(&c, elf->wide, &elf->sections)) ||
	    (err = tenon_cursor_u32(&c, &flags)) || (err = tenon_cursor_u16(&c, &size)) ||
	    (err = tenon_cursor_u16(&c, &h->segment_size)) ||
	    (err = tenon_cursor_u16(&c, &h->segment_count)) ||
	    (err = tenon_cursor_u16(&c, &h->section_size)) ||
	    (err = tenon_cursor_u16(&c, &sections)) ||
	    (err = tenon_cursor_u16(&c, &h->section_names)))
		return err;
	elf->machine = machine;
	elf->section_count = sections;
	if (type != ELF_EXECUTABLE)
		return tenon_cursor_error(
			&c, -TENON_E_FORMAT,
			"ELF file of type %u; want an executable (2), linked with "
			"--emit-relocs",
			type);
	return check_machine(&c, elf, flags);
}

/* ---- segments */

static uint64_t page_of(const struct mortise_elf *elf)
{
	/* code of these counts in pages: the low bits of an address stay */
	return elf->machine == MORTISE_MACHINE_AARCH64 || elf->machine == MORTISE_MACHINE_X86_64
		       ? PAGE
		       : 64;
}

static int check_segment(const struct mortise_elf *elf, const struct tenon_cursor *c,
			 const struct mortise_segment *s, uint64_t align)
{
	uint64_t most = elf->wide ? UINT64_MAX : UINT32_MAX;

	if (s->file_size > s->size || s->size > MORTISE_IMAGE_MOST)
		return tenon_cursor_error(c, -TENON_E_FORMAT,
					  "a segment of 0x%" PRIx64 " bytes, 0x%" PRIx64
					  " of them in the "
					  "file; at most 0x%" PRIx64 " are allowed",
					  s->size, s->file_size, MORTISE_IMAGE_MOST);
	if (!within(elf, s->offset, s->file_size))
		return tenon_cursor_error(c, -TENON_E_TRUNCATED,
					  "a segment of 0x%" PRIx64 " bytes at 0x%" PRIx64
					  ", the file has 0x%zx",
					  s->file_size, s->offset, elf->bytes.size);
	if (s->address > most - s->size)
		return tenon_cursor_error(c, -TENON_E_OVERFLOW,
					  "a segment of 0x%" PRIx64 " bytes at address 0x%" PRIx64,
					  s->size, s->address);
	if ((align & (align - 1)) || align > MORTISE_IMAGE_MOST)
		return tenon_cursor_error(c, -TENON_E_FORMAT, "a segment aligned to 0x%" PRIx64,
					  align);
	return 0;
}

static int read_segment(struct mortise_elf *elf, struct tenon_cursor c)
{
	struct mortise_segment s = { 0 };
	uint32_t type = 0, flags = 0;
	uint64_t physical, align = 0;
	int err;

	err = tenon_cursor_u32(&c, &type);
	if (!err && elf->wide)
		err = tenon_cursor_u32(&c, &flags);
	if (err || (err = read_word(&c, elf->wide, &s.offset)) ||
	    (err = read_word(&c, elf->wide, &s.address)) ||
	    (err = read_word(&c, elf->wide, &physical)) ||
	    (err = read_word(&c, elf->wide, &s.file_size)) ||
	    (err = read_word(&c, elf->wide, &s.size)))
		return err;
	if (!elf->wide)
		err = tenon_cursor_u32(&c, &flags);
	if (err || (err = read_word(&c, elf->wide, &align)))
		return err;
	if (type != SEGMENT_LOAD || !s.size)
		return 0;
	err = check_segment(elf, &c, &s, align);
	if (err)
		return err;
	if (elf->segment_count == MORTISE_SEGMENTS_MOST)
		return tenon_cursor_error(&c, -TENON_E_UNSUPPORTED, "more than %u segments",
					  MORTISE_SEGMENTS_MOST);
	if (align > elf->align)
		elf->align = align;
	s.flags = (flags & FLAG_EXECUTE ? MORTISE_SEGMENT_EXECUTE : 0) |
		  (flags & FLAG_WRITE ? MORTISE_SEGMENT_WRITE : 0);
	elf->segments[elf->segment_count++] = s;
	return 0;
}

static int read_segments(struct mortise_elf *elf, const struct header *h)
{
	uint64_t least = elf->wide ? 56 : 32, lowest = UINT64_MAX, end = 0;
	struct tenon_cursor c = cursor_of(elf, h->segments);
	uint32_t i;
	int err;

	elf->align = page_of(elf);
	if (h->segment_size < least || !within(elf, h->segments, 0))
		return tenon_cursor_error(&c, -TENON_E_FORMAT,
					  "program headers of %u bytes at 0x%" PRIx64,
					  h->segment_size, h->segments);
	for (i = 0; i < h->segment_count; i++) {
		err = read_segment(elf, c);
		if (!err)
			err = tenon_cursor_skip(&c, h->segment_size);
		if (err)
			return err;
	}
	for (i = 0; i < elf->segment_count; i++) {
		const struct mortise_segment *s = &elf->segments[i];

		lowest = s->address < lowest ? s->address : lowest;
		end = s->address + s->size > end ? s->address + s->size : end;
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

/**
 * struct section - a section header
 * @name: offset in the table of names
 * @link: of relocations: the section with their symbols
 * @info: of relocations: the section that they are for
 */
struct section {
	uint32_t name, type, link, info;
	uint64_t flags, address, offset, size, step;
};

#define SECTION_ALLOCATED 2U
#define SECTION_RELA	  4U
#define SECTION_REL	  9U

static uint64_t section_step(const struct mortise_elf *elf)
{
	return elf->wide ? 64 : 40;
}

/* @index is less than the count; all headers lie in the file */
static int read_section(const struct mortise_elf *elf, uint32_t index, struct section *s)
{
	struct tenon_cursor c = cursor_of(elf, elf->sections + index * section_step(elf));
	uint64_t align;
	int err;

	memset(s, 0, sizeof(*s));
	if ((err = tenon_cursor_u32(&c, &s->name)) || (err = tenon_cursor_u32(&c, &s->type)) ||
	    (err = read_word(&c, elf->wide, &s->flags)) ||
	    (err = read_word(&c, elf->wide, &s->address)) ||
	    (err = read_word(&c, elf->wide, &s->offset)) ||
	    (err = read_word(&c, elf->wide, &s->size)) || (err = tenon_cursor_u32(&c, &s->link)) ||
	    (err = tenon_cursor_u32(&c, &s->info)) || (err = read_word(&c, elf->wide, &align)) ||
	    (err = read_word(&c, elf->wide, &s->step)))
		return err;
	return 0;
}

/* Does a section have a name; false also where the name does not lie in the file. */
static bool is_named(const struct mortise_elf *elf, const struct section *names,
		     const struct section *s, const char *name)
{
	size_t size = strlen(name) + 1;

	return within(elf, names->offset, names->size) && s->name <= names->size &&
	       size <= names->size - s->name &&
	       !memcmp(elf->bytes.data + names->offset + s->name, name, size);
}

static int check_table(struct mortise_elf *elf, const struct section *s)
{
	struct tenon_cursor c = cursor_of(elf, s->offset);

	if (s->type != SECTION_PROGBITS || !within(elf, s->offset, s->size))
		return tenon_cursor_error(&c, -TENON_E_TRUNCATED,
					  "the section .mortise is not in the file");
	if (!s->size || s->size % sizeof(struct mortise_entry) ||
	    s->size / sizeof(struct mortise_entry) > MORTISE_KERNELS_MOST)
		return tenon_cursor_error(&c, -TENON_E_FORMAT,
					  "the section .mortise has 0x%" PRIx64
					  " bytes; want entries of 0x%zx",
					  s->size, sizeof(struct mortise_entry));
	elf->table = (struct tenon_slice){ elf->bytes.data + s->offset, (size_t)s->size };
	elf->entry_count = (uint32_t)(s->size / sizeof(struct mortise_entry));
	return 0;
}

static int find_table(struct mortise_elf *elf, const struct header *h)
{
	struct tenon_cursor c = cursor_of(elf, elf->sections);
	struct section names, s;
	uint32_t i;
	int err;

	if (h->section_size != section_step(elf) ||
	    !within(elf, elf->sections, elf->section_count * section_step(elf)) ||
	    h->section_names >= elf->section_count)
		return tenon_cursor_error(&c, -TENON_E_FORMAT,
					  "%u section headers of %u bytes at 0x%" PRIx64
					  ", names in section %u: the file has 0x%zx bytes",
					  elf->section_count, h->section_size, elf->sections,
					  h->section_names, elf->bytes.size);
	err = read_section(elf, h->section_names, &names);
	for (i = 0; i < elf->section_count && !err; i++) {
		err = read_section(elf, i, &s);
		if (!err && is_named(elf, &names, &s, ".mortise"))
			return check_table(elf, &s);
	}
	return err ? err
		   : tenon_cursor_error(
			     &c, -TENON_E_FORMAT,
			     "no section .mortise: kernels are offered with MORTISE_KERNEL() of "
			     "<tenon/uapi/mortise_kernel.h>");
}

int mortise_elf_read(struct tenon_slice bytes, const char *name, struct mortise_elf *out)
{
	struct header h = { 0 };
	int err;

	memset(out, 0, sizeof(*out));
	out->bytes = bytes;
	out->name = name;
	err = read_header(out, &h);
	if (!err)
		err = read_segments(out, &h);
	return err ? err : find_table(out, &h);
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

		if ((s->flags & MORTISE_SEGMENT_EXECUTE) && address >= s->address &&
		    address - s->address < s->size)
			return true;
	}
	return false;
}

int mortise_elf_kernel(const struct mortise_elf *elf, uint32_t index,
		       struct mortise_elf_kernel *out)
{
	uint64_t place = (uint64_t)(elf->table.data - elf->bytes.data) +
			 index * sizeof(struct mortise_entry);
	struct tenon_cursor c = cursor_of(elf, place);
	int err;

	if ((err = take_text(&c, MORTISE_NAME_SIZE, "name", &out->name)) ||
	    (err = take_text(&c, MORTISE_TYPES_SIZE, "types", &out->types)) ||
	    (err = take_text(&c, MORTISE_TAGS_SIZE, "tags", &out->tags)) ||
	    (err = tenon_cursor_u64(&c, &out->function)))
		return err;
	if (!elf->wide)
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
	CHANGE_REFUSED,
};

/* numbers of relocations that hold an address; ranges of those that count from where they are */
struct relocations {
	uint32_t machine;
	uint16_t words[2], wide;
	struct {
		uint16_t first, last;
	} relative[8];
};

static const struct relocations machines[] = {
	/* BRANCH to CALL_PLT; PCREL; ADD8 to SUB64; ALIGN to RVC_JUMP; RELAX to 32_PCREL; ULEB128 */
	{ MORTISE_MACHINE_RISCV,
	  { 1, 0 },
	  2,
	  { { 16, 19 }, { 23, 25 }, { 33, 40 }, { 43, 45 }, { 51, 57 }, { 60, 61 } } },
	/* REL32; THM_CALL; CALL, JUMP24, THM_JUMP24; V4BX; PREL31; THM_JUMP19; THM_JUMP11 and 8 */
	{ MORTISE_MACHINE_ARM,
	  { 2, 38 },
	  0,
	  { { 3, 3 }, { 10, 10 }, { 28, 30 }, { 40, 40 }, { 42, 42 }, { 51, 51 }, { 102, 103 } } },
	/* PC32; PLT32; PC64 */
	{ MORTISE_MACHINE_X86_64, { 0, 0 }, 1, { { 2, 2 }, { 4, 4 }, { 24, 24 } } },
	/* PREL; pages and offsets in them; branches; wider loads and stores */
	{ MORTISE_MACHINE_AARCH64,
	  { 0, 0 },
	  257,
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
	for (i = 0; i < sizeof(r->relative) / sizeof(r->relative[0]); i++)
		if (type >= r->relative[i].first && type <= r->relative[i].last)
			return CHANGE_NOTHING;
	return CHANGE_REFUSED;
}

/* Is a symbol a number or missing, and so no place in the image. */
static int symbol_moves(const struct mortise_elf *elf, const struct section *symbols,
			uint64_t index, bool *moves)
{
	uint64_t step = elf->wide ? 24 : 16;
	struct tenon_cursor c = cursor_of(elf, symbols->offset);
	uint16_t section = 0;
	int err;

	if (!within(elf, symbols->offset, symbols->size) || index >= symbols->size / step)
		return tenon_cursor_error(&c, -TENON_E_TRUNCATED,
					  "a relocation names symbol %" PRIu64
					  "; there are %" PRIu64,
					  index, symbols->size / step);
	err = tenon_cursor_skip(&c, index * step + (elf->wide ? 6 : 14));
	if (!err)
		err = tenon_cursor_u16(&c, &section);
	/* SHN_UNDEF, a weak symbol that nothing defines; SHN_ABS */
	*moves = section != 0 && section != 0xfff1;
	return err;
}

/* What moving does to an image. */
struct move {
	const struct mortise_elf *elf;
	const struct section *symbols;
	uint64_t distance;
	uint8_t *image;
};

static int apply(const struct move *m, const struct tenon_cursor *c, uint64_t place, uint32_t type,
		 uint64_t symbol)
{
	const struct mortise_elf *elf = m->elf;
	enum change change = change_of(elf->machine, type);
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
			elf->machine == MORTISE_MACHINE_RISCV	 ? "-mcmodel=medany -fno-pic"
			: elf->machine == MORTISE_MACHINE_X86_64 ? "-fPIE -fvisibility=hidden"
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
	word += m->distance;
	memcpy(m->image + (place - elf->address), &word, size);
	return 0;
}

static int apply_section(const struct move *m, const struct section *s)
{
	const struct mortise_elf *elf = m->elf;
	uint64_t step = (elf->wide ? 16 : 8) + (s->type == SECTION_RELA ? (elf->wide ? 8 : 4) : 0);
	struct tenon_cursor c = cursor_of(elf, s->offset), entry;
	uint64_t i, place, info = 0;
	int err = 0;

	if (!within(elf, s->offset, s->size) || s->step != step)
		return tenon_cursor_error(&c, -TENON_E_TRUNCATED,
					  "0x%" PRIx64 " bytes of relocations of 0x%" PRIx64
					  " at 0x%" PRIx64,
					  s->size, s->step, s->offset);
	for (i = 0; i < s->size / step && !err; i++) {
		entry = c;
		err = read_word(&entry, elf->wide, &place);
		if (!err)
			err = read_word(&entry, elf->wide, &info);
		if (!err)
			err = apply(m, &c, place, elf->wide ? (uint32_t)info : info & 0xff,
				    elf->wide ? info >> 32 : info >> 8);
		if (!err)
			err = tenon_cursor_skip(&c, step);
	}
	return err;
}

/* Relocations of what is in memory; those of debug information are not of interest. */
static int apply_all(struct move *m)
{
	const struct mortise_elf *elf = m->elf;
	struct section s, target, symbols;
	uint32_t i;
	int err;

	for (i = 0; i < elf->section_count; i++) {
		err = read_section(elf, i, &s);
		if (err)
			return err;
		if (s.type != SECTION_RELA && s.type != SECTION_REL)
			continue;
		if (s.info >= elf->section_count || s.link >= elf->section_count)
			return tenon_error(
				-TENON_E_FORMAT,
				"%s: section %u has relocations for section %u with symbols of "
				"section %u; there are %u sections",
				elf->name, i, s.info, s.link, elf->section_count);
		err = read_section(elf, s.info, &target);
		if (!err)
			err = read_section(elf, s.link, &symbols);
		m->symbols = &symbols;
		if (!err && (target.flags & SECTION_ALLOCATED))
			err = apply_section(m, &s);
		if (err)
			return err;
	}
	return 0;
}

int mortise_elf_place(const struct mortise_elf *elf, uint64_t address, uint8_t *image)
{
	struct move m = { elf, NULL, address - elf->address, image };
	uint32_t i;

	memset(image, 0, (size_t)elf->size);
	for (i = 0; i < elf->segment_count; i++) {
		const struct mortise_segment *s = &elf->segments[i];

		memcpy(image + (s->address - elf->address), elf->bytes.data + s->offset,
		       (size_t)s->file_size);
	}
	return apply_all(&m);
}
