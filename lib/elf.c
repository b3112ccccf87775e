/* SPDX-License-Identifier: MIT */
/* Find the symbols and dependencies of an ELF file by its sections or dynamic segment. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <tenon/error.h>
#include <tenon/string.h>
#include "lib/elf.h"
#include "lib/brief_errors.h"

#define DYNAMIC_NEEDED	 1
#define DYNAMIC_HASH	 4
#define DYNAMIC_STRTAB	 5
#define DYNAMIC_SYMTAB	 6
#define DYNAMIC_STRSZ	 10
#define DYNAMIC_GNU_HASH 0x6ffffef5
#define DYNAMIC_FLAGS_1	 0x6ffffffb
#define FLAG_1_PIE	 0x08000000

/* the caller has checked that the bytes exist */
static uint64_t number(const struct elf_file *elf, uint64_t offset, unsigned int size)
{
	return elf_number(elf, elf->bytes.data + offset, size);
}

/* a field of the size of an address; its offset differs between 32-bit and 64-bit files */
static uint64_t word(const struct elf_file *elf, uint64_t at, unsigned int narrow,
		     unsigned int wide)
{
	return elf->wide ? number(elf, at + wide, 8) : number(elf, at + narrow, 4);
}

static uint64_t entry(const struct elf_table *t, uint64_t index)
{
	return t->offset + index * t->step;
}

static int check_table(const struct elf_file *elf, struct elf_table *t, uint64_t smallest,
		       const char *what)
{
	if (!t->count)
		return 0;
	if (t->step < smallest)
		return tenon_error(-TENON_E_FORMAT,
				   "%s: %s of %" PRIu64 " bytes each, want at least %" PRIu64,
				   elf->path, what, t->step, smallest);
	if (t->count > elf->bytes.size / t->step || !elf_within(elf, t->offset, t->count * t->step))
		return tenon_error(-TENON_E_TRUNCATED,
				   "%s: %" PRIu64 " %s of %" PRIu64 " bytes at 0x%" PRIx64
				   " lie outside the file of %zu bytes: it is truncated",
				   elf->path, t->count, what, t->step, t->offset, elf->bytes.size);
	return 0;
}

struct elf_segment elf_segment(const struct elf_file *elf, uint64_t index)
{
	uint64_t at = entry(&elf->segments, index);

	return (struct elf_segment){
		.type = (uint32_t)number(elf, at, 4),
		.flags = (uint32_t)number(elf, at + (elf->wide ? 4 : 24), 4),
		.offset = word(elf, at, 4, 8),
		.address = word(elf, at, 8, 16),
		.file_size = word(elf, at, 16, 32),
		.size = word(elf, at, 20, 40),
		.align = word(elf, at, 28, 48),
	};
}

struct elf_section elf_section(const struct elf_file *elf, uint64_t index)
{
	uint64_t at = entry(&elf->sections, index);

	return (struct elf_section){
		.name = (uint32_t)number(elf, at, 4),
		.type = (uint32_t)number(elf, at + 4, 4),
		.flags = word(elf, at, 8, 8),
		.address = word(elf, at, 12, 16),
		.offset = word(elf, at, 16, 24),
		.size = word(elf, at, 20, 32),
		.link = (uint32_t)number(elf, at + (elf->wide ? 40 : 24), 4),
		.info = (uint32_t)number(elf, at + (elf->wide ? 44 : 28), 4),
		.step = word(elf, at, 36, 56),
	};
}

/*
 * Find the file offset of an address, and the bytes from there to the end of its segment. check_segments() saw that the
 * file has them.
 */
static bool locate(const struct elf_file *elf, uint64_t address, uint64_t *offset, uint64_t *left)
{
	struct elf_segment s;
	uint64_t i;

	for (i = 0; i < elf->segments.count; i++) {
		s = elf_segment(elf, i);
		if (s.type != ELF_SEGMENT_LOAD || address < s.address ||
		    address - s.address >= s.file_size)
			continue;
		*offset = s.offset + (address - s.address);
		*left = s.file_size - (address - s.address);
		return true;
	}
	return false;
}

static int read_header(struct elf_file *elf)
{
	const unsigned char *ident = (const unsigned char *)elf->bytes.data;
	unsigned int half = 0;
	int err;

	if (!file_is_elf(elf->bytes))
		return tenon_error(-TENON_E_FORMAT, "%s: not an ELF file", elf->path);
	if (elf->bytes.size < 16 || ident[4] < 1 || ident[4] > 2 || ident[5] < 1 || ident[5] > 2)
		return tenon_error(-TENON_E_FORMAT, "%s: an ELF file of neither 32 nor 64 bits",
				   elf->path);
	elf->wide = ident[4] == 2;
	elf->big = ident[5] == 2;
	if (!elf_within(elf, 0, elf->wide ? 64 : 52))
		return tenon_error(-TENON_E_TRUNCATED,
				   "%s: %zu bytes are less than an ELF header: it is truncated",
				   elf->path, elf->bytes.size);

	half = elf->wide ? 52 : 40;
	elf->type = (uint16_t)number(elf, 16, 2);
	elf->machine = (uint16_t)number(elf, 18, 2);
	elf->flags = (uint32_t)number(elf, half - 4, 4);
	elf->segments.offset = word(elf, 0, 28, 32);
	elf->sections.offset = word(elf, 0, 32, 40);
	elf->segments.step = number(elf, half + 2, 2);
	elf->segments.count = number(elf, half + 4, 2);
	elf->sections.step = number(elf, half + 6, 2);
	elf->sections.count = elf->sections.offset ? number(elf, half + 8, 2) : 0;
	elf->section_names = (uint16_t)number(elf, half + 10, 2);

	err = check_table(elf, &elf->segments, elf->wide ? 56 : 32, "program headers");
	if (err)
		return err;
	/* a library without section headers still loads: only relocatable files need them */
	err = check_table(elf, &elf->sections, elf->wide ? 64 : 40, "section headers");
	if (err && elf->type != ELF_RELOCATABLE) {
		tenon_error_clear();
		elf->sections.count = 0;
		elf->lost_sections = true;
		err = 0;
	}
	return err;
}

/* Find the symbols by the section headers: a table and the strings it links to. */
static int symbols_from_sections(struct elf_file *elf, uint32_t want)
{
	struct elf_section symbols, names;
	uint64_t i;
	int err;

	for (i = 0; i < elf->sections.count; i++) {
		symbols = elf_section(elf, i);
		if (symbols.type != want)
			continue;
		if (symbols.link >= elf->sections.count)
			return tenon_error(-TENON_E_FORMAT,
					   "%s: symbols name string table %u of %" PRIu64
					   " sections",
					   elf->path, symbols.link, elf->sections.count);
		names = elf_section(elf, symbols.link);
		elf->symbols.step = elf->wide ? 24 : 16;
		elf->symbols.offset = symbols.offset;
		elf->symbols.count = symbols.size / elf->symbols.step;
		elf->names = (struct elf_table){ names.offset, names.size, 1 };
		err = check_table(elf, &elf->symbols, elf->symbols.step, "symbols");
		if (!err)
			err = check_table(elf, &elf->names, 1, "characters of symbol names");
		return err;
	}
	return 0;
}

/* The dynamic segment has no symbol count: compute it from the hash table. */
static uint64_t count_by_gnu_hash(const struct elf_file *elf, uint64_t address)
{
	uint64_t at, left, buckets, first, bloom, chain, last = 0, i, n;

	if (!locate(elf, address, &at, &left) || left < 16)
		return 0;
	buckets = number(elf, at, 4);
	first = number(elf, at + 4, 4);
	bloom = number(elf, at + 8, 4) * (elf->wide ? 8 : 4);
	if (left - 16 < bloom || (left - 16 - bloom) / 4 < buckets)
		return 0;
	chain = at + 16 + bloom + buckets * 4;
	left -= 16 + bloom + buckets * 4;
	for (i = 0; i < buckets; i++) {
		n = number(elf, at + 16 + bloom + i * 4, 4);
		if (n > last)
			last = n;
	}
	if (last < first)
		return first;
	for (i = last - first; i < left / 4; i++) {
		if (number(elf, chain + i * 4, 4) & 1)
			return first + i + 1;
	}
	return 0;
}

static uint64_t count_by_hash(const struct elf_file *elf, uint64_t address)
{
	uint64_t at, left;

	if (!locate(elf, address, &at, &left) || left < 8)
		return 0;
	return number(elf, at + 4, 4);
}

static int symbols_from_dynamic(struct elf_file *elf)
{
	uint64_t symtab = 0, strtab = 0, strsz = 0, hash = 0, gnu_hash = 0, left = 0, i, tag, value;

	for (i = 0; i < elf->dynamic.count; i++) {
		tag = word(elf, entry(&elf->dynamic, i), 0, 0);
		value = word(elf, entry(&elf->dynamic, i), 4, 8);
		if (!tag)
			break;
		if (tag == DYNAMIC_SYMTAB)
			symtab = value;
		else if (tag == DYNAMIC_STRTAB)
			strtab = value;
		else if (tag == DYNAMIC_STRSZ)
			strsz = value;
		else if (tag == DYNAMIC_HASH)
			hash = value;
		else if (tag == DYNAMIC_GNU_HASH)
			gnu_hash = value;
	}
	if (strtab && locate(elf, strtab, &elf->names.offset, &left)) {
		elf->names.count = strsz < left ? strsz : left;
		elf->names.step = 1;
	}
	if (elf->symbols.count || !symtab || !locate(elf, symtab, &elf->symbols.offset, &left))
		return 0;
	elf->symbols.step = elf->wide ? 24 : 16;
	elf->symbols.count = hash ? count_by_hash(elf, hash) : count_by_gnu_hash(elf, gnu_hash);
	return check_table(elf, &elf->symbols, elf->symbols.step, "symbols");
}

static void find_dynamic(struct elf_file *elf)
{
	struct elf_table *d = &elf->dynamic;
	struct elf_segment s;
	uint64_t i;

	for (i = 0; i < elf->segments.count; i++) {
		s = elf_segment(elf, i);
		if (s.type != ELF_SEGMENT_DYNAMIC)
			continue;
		d->offset = s.offset;
		d->step = elf->wide ? 16 : 8;
		d->count = s.file_size / d->step;
		if (d->count > elf->bytes.size || !elf_within(elf, d->offset, d->count * d->step))
			d->count = 0;
		return;
	}
}

static int check_segments(const struct elf_file *elf)
{
	struct elf_segment s;
	uint64_t i;

	for (i = 0; i < elf->segments.count; i++) {
		s = elf_segment(elf, i);
		if (s.type == ELF_SEGMENT_LOAD && !elf_within(elf, s.offset, s.file_size))
			return tenon_error(-TENON_E_TRUNCATED,
					   "%s: segment %" PRIu64 " of %" PRIu64
					   " bytes at 0x%" PRIx64
					   " lies outside the file of %zu bytes: it is truncated",
					   elf->path, i, s.file_size, s.offset, elf->bytes.size);
	}
	return 0;
}

/* Drop an unterminated name at the end, so that reads of names need no check. */
static void end_names(struct elf_file *elf)
{
	while (elf->names.count && elf->bytes.data[elf->names.offset + elf->names.count - 1])
		elf->names.count--;
}

static int read_symbols(struct elf_file *elf)
{
	int err = symbols_from_sections(elf, elf->type == ELF_RELOCATABLE ? ELF_SECTION_SYMTAB
									  : ELF_SECTION_DYNSYM);

	if (err)
		return err;
	find_dynamic(elf);
	err = symbols_from_dynamic(elf);
	end_names(elf);
	return err;
}

int elf_open(struct elf_file *elf, struct tenon_slice bytes, const char *path)
{
	int err;

	memset(elf, 0, sizeof(*elf));
	elf->bytes = bytes;
	elf->path = path;
	err = read_header(elf);
	if (!err)
		err = check_segments(elf);
	if (!err)
		err = read_symbols(elf);
	return err;
}

void elf_all_symbols(struct elf_file *elf)
{
	struct elf_file all = *elf;

	all.symbols.count = 0;
	if (symbols_from_sections(&all, ELF_SECTION_SYMTAB)) {
		tenon_error_clear();
		return;
	}
	if (!all.symbols.count)
		return;
	end_names(&all);
	*elf = all;
}

static struct tenon_slice name_at(const struct elf_file *elf, uint64_t offset)
{
	if (offset >= elf->names.count)
		return tenon_slice_of("");
	return tenon_slice_of(elf->bytes.data + elf->names.offset + offset);
}

void elf_symbol(const struct elf_file *elf, uint64_t index, struct elf_symbol *symbol)
{
	uint64_t at = entry(&elf->symbols, index);
	unsigned int info = (unsigned int)number(elf, at + (elf->wide ? 4 : 12), 1);

	symbol->name = name_at(elf, number(elf, at, 4));
	symbol->value = word(elf, at, 4, 8);
	symbol->size = word(elf, at, 8, 16);
	symbol->section = (unsigned int)number(elf, at + (elf->wide ? 6 : 14), 2);
	symbol->kind = info & 15;
	symbol->global = info >> 4 != 0;
	symbol->weak = info >> 4 == 2;
	symbol->defined = symbol->section != 0;
}

/* In a relocatable file the values of symbols are offsets in their sections. */
static bool locate_in_section(const struct elf_file *elf, const struct elf_symbol *symbol,
			      uint64_t *offset, uint64_t *left)
{
	struct elf_section s;

	if (symbol->section >= elf->sections.count)
		return false;
	s = elf_section(elf, symbol->section);
	if (s.type == ELF_SECTION_NOBITS || !elf_within(elf, s.offset, s.size) ||
	    symbol->value > s.size)
		return false;
	*offset = s.offset + symbol->value;
	*left = s.size - symbol->value;
	return true;
}

/* The contents of a section; empty for one without contents in the file. */
static struct tenon_slice section_bytes(const struct elf_file *elf, const struct elf_section *s)
{
	if (s->type == ELF_SECTION_NOBITS || !elf_within(elf, s->offset, s->size))
		return tenon_slice_of("");
	return (struct tenon_slice){ elf->bytes.data + s->offset, (size_t)s->size };
}

bool elf_section_is(const struct elf_file *elf, const struct elf_section *s, const char *name)
{
	const size_t length = strlen(name) + 1;
	struct elf_section holder;
	struct tenon_slice names;

	if (elf->section_names >= elf->sections.count)
		return false;
	holder = elf_section(elf, elf->section_names);
	names = section_bytes(elf, &holder);
	return s->name < names.size && length <= names.size - s->name &&
	       !memcmp(names.data + s->name, name, length);
}

bool elf_find_section(const struct elf_file *elf, const char *name, struct tenon_slice *out)
{
	struct elf_section s;
	uint64_t i;

	for (i = 0; i < elf->sections.count; i++) {
		s = elf_section(elf, i);
		if (!elf_section_is(elf, &s, name))
			continue;
		*out = section_bytes(elf, &s);
		return out->size;
	}
	return false;
}

int elf_symbol_bytes(const struct elf_file *elf, const struct elf_symbol *symbol,
		     struct tenon_slice *out)
{
	uint64_t offset, left;
	bool found;

	found = elf->type == ELF_RELOCATABLE ? locate_in_section(elf, symbol, &offset, &left)
					     : locate(elf, symbol->value, &offset, &left);
	if (!found)
		return tenon_error(-TENON_E_FORMAT,
				   "%s: symbol %.*s at 0x%" PRIx64 " has no bytes in the file",
				   elf->path, (int)symbol->name.size, symbol->name.data,
				   symbol->value);
	if (symbol->size > left)
		return tenon_error(-TENON_E_TRUNCATED,
				   "%s: symbol %.*s has %" PRIu64 " bytes, %" PRIu64
				   " are left in its segment",
				   elf->path, (int)symbol->name.size, symbol->name.data,
				   symbol->size, left);
	out->data = elf->bytes.data + offset;
	out->size = (size_t)(symbol->size ? symbol->size : left);
	return 0;
}

const char *elf_needed(const struct elf_file *elf, unsigned int index)
{
	struct tenon_slice name;
	uint64_t i, tag;

	for (i = 0; i < elf->dynamic.count; i++) {
		tag = word(elf, entry(&elf->dynamic, i), 0, 0);
		if (!tag)
			break;
		if (tag != DYNAMIC_NEEDED || index--)
			continue;
		name = name_at(elf, word(elf, entry(&elf->dynamic, i), 4, 8));
		return name.size ? name.data : NULL;
	}
	return NULL;
}

bool elf_is_program(const struct elf_file *elf)
{
	uint64_t i, tag;

	for (i = 0; i < elf->dynamic.count; i++) {
		tag = word(elf, entry(&elf->dynamic, i), 0, 0);
		if (!tag)
			break;
		if (tag == DYNAMIC_FLAGS_1)
			return word(elf, entry(&elf->dynamic, i), 4, 8) & FLAG_1_PIE;
	}
	return elf->type == ELF_EXECUTABLE;
}

const char *elf_machine_name(const struct elf_file *elf)
{
	static const struct {
		uint16_t machine;
		const char *narrow;
		const char *wide;
	} names[] = {
		{ 3, "x86", "x86" },
		{ 8, "mips", "mips64" },
		{ 20, "powerpc", "powerpc" },
		{ 21, "powerpc64", "powerpc64" },
		{ 22, "s390", "s390x" },
		{ 40, "arm", "arm" },
		{ 62, "x86-64", "x86-64" },
		{ 93, "arc", "arc" },
		{ 94, "xtensa", "xtensa" },
		{ 164, "hexagon", "hexagon" },
		{ 183, "aarch64", "aarch64" },
		{ 190, "cuda", "cuda" },
		{ 224, "amdgpu", "amdgpu" },
		{ 243, "riscv32", "riscv64" },
		{ 258, "loongarch32", "loongarch64" },
	};
	static _Thread_local char unknown[24];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].machine == elf->machine)
			return elf->wide ? names[i].wide : names[i].narrow;
	}
	snprintf(unknown, sizeof(unknown), "machine %u", elf->machine);
	return unknown;
}
