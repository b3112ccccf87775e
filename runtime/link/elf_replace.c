/* SPDX-License-Identifier: MIT */
#include "runtime/link/elf_replace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"

#define SECTION_NAME   ".tenon.imports"
#define SECTION_SYMTAB 2
#define SECTION_DATA   1
#define FLAG_ALLOCATED 2
#define SEGMENT_LOAD   1
#define SEGMENT_PHDR   6
#define FLAG_READABLE  4

/* alignment of contents in the new segment */
#define CONTENT_ALIGN 64

/* reserved: section and program header counts from here on are stored elsewhere */
#define COUNT_MOST 0xff00

/* positions of the fields in a header: in a 32-bit and in a 64-bit file */
struct field {
	uint8_t narrow, wide;
	bool is_word; /* as large as an address; otherwise four bytes, or two in the file header */
};

static const struct field p_type = { 0, 0, false }, p_flags = { 24, 4, false },
			  p_offset = { 4, 8, true }, p_vaddr = { 8, 16, true },
			  p_paddr = { 12, 24, true }, p_filesz = { 16, 32, true },
			  p_memsz = { 20, 40, true }, p_align = { 28, 48, true };

static const struct field sh_name = { 0, 0, false }, sh_type = { 4, 4, false },
			  sh_flags = { 8, 8, true }, sh_addr = { 12, 16, true },
			  sh_offset = { 16, 24, true }, sh_size = { 20, 32, true },
			  sh_link = { 24, 40, false }, sh_addralign = { 32, 48, true };

/* the new file */
struct image {
	const struct elf_file *elf;
	struct tenon_buffer *out;
	uint64_t phdr_size, shdr_size, symbol_size;
	uint64_t segment; /* offset of the new segment */
	uint64_t address; /* its address */
	uint64_t align;
	unsigned int section; /* index of its section; 0: the file has no section headers */
	uint64_t shstrndx;    /* index of the names of sections */
};

static uint64_t get(const struct image *im, uint64_t at, unsigned int size)
{
	const unsigned char *p = (const unsigned char *)im->out->data + at;
	uint64_t v = 0;
	unsigned int i;

	for (i = 0; i < size; i++)
		v |= (uint64_t)p[i] << 8 * (im->elf->big ? size - 1 - i : i);
	return v;
}

static void set(struct image *im, uint64_t at, unsigned int size, uint64_t v)
{
	unsigned char *p = (unsigned char *)im->out->data + at;
	unsigned int i;

	for (i = 0; i < size; i++)
		p[i] = (unsigned char)(v >> 8 * (im->elf->big ? size - 1 - i : i));
}

static unsigned int width(const struct image *im, struct field f)
{
	return f.is_word && im->elf->wide ? 8 : 4;
}

static uint64_t get_field(const struct image *im, uint64_t header, struct field f)
{
	return get(im, header + (im->elf->wide ? f.wide : f.narrow), width(im, f));
}

static void set_field(struct image *im, uint64_t header, struct field f, uint64_t v)
{
	set(im, header + (im->elf->wide ? f.wide : f.narrow), width(im, f), v);
}

static uint64_t round_up(uint64_t v, uint64_t align)
{
	return (v + align - 1) & ~(align - 1);
}

static int pad(struct image *im, uint64_t align)
{
	static const char zeros[4096];
	uint64_t left = round_up(im->out->size, align) - im->out->size;

	while (left && !im->out->status) {
		size_t n = left < sizeof(zeros) ? (size_t)left : sizeof(zeros);

		tenon_buffer_append(im->out, zeros, n);
		left -= n;
	}
	return im->out->status;
}

/* ---- symbols */

static bool find_symbol(const struct elf_file *elf, const char *name, struct elf_symbol *out)
{
	struct tenon_slice wanted = tenon_slice_of(name);
	uint64_t i;

	for (i = 0; i < elf->symbols.count; i++) {
		elf_symbol(elf, i, out);
		if (out->defined && out->kind != ELF_SYMBOL_FUNCTION &&
		    tenon_slice_equal(out->name, wanted))
			return true;
	}
	return false;
}

/* Write contents over the old ones; false when they do not fit. */
static bool replace_in_place(struct image *im, const struct elf_content *content, uint64_t offset,
			     uint64_t room)
{
	char *at = im->out->data + offset;

	if (content->bytes.size > room)
		return false;
	if (content->bytes.size)
		memcpy(at, content->bytes.data, content->bytes.size);
	memset(at + content->bytes.size, 0, (size_t)room - content->bytes.size);
	return true;
}

/* Move the symbols of a table that have a name to an address. */
static void move_in_table(struct image *im, const struct elf_table *symbols,
			  struct tenon_slice names, const struct elf_content *content,
			  uint64_t address)
{
	struct tenon_slice wanted = tenon_slice_of(content->symbol);
	const bool wide = im->elf->wide;
	const unsigned int word = wide ? 8 : 4;
	uint64_t i, at, name;

	for (i = 0; i < symbols->count; i++) {
		at = symbols->offset + i * symbols->step;
		name = get(im, at, 4);
		if (name >= names.size || names.size - name <= wanted.size ||
		    memcmp(names.data + name, wanted.data, wanted.size + 1) != 0 ||
		    !get(im, at + (wide ? 6 : 14), 2))
			continue;
		set(im, at + (wide ? 8 : 4), word, address);
		set(im, at + (wide ? 16 : 8), word, content->bytes.size);
		if (im->section)
			set(im, at + (wide ? 6 : 14), 2, im->section);
	}
}

static bool within(const struct elf_file *elf, uint64_t offset, uint64_t size)
{
	return offset <= elf->bytes.size && size <= elf->bytes.size - offset;
}

/* The symbols that debuggers read, if they are not stripped. */
static void move_in_symtab(struct image *im, const struct elf_content *content, uint64_t address)
{
	const struct elf_file *elf = im->elf;
	struct elf_table table = { .step = im->symbol_size };
	struct tenon_slice names;
	uint64_t i, at, link, size;

	for (i = 0; i < elf->sections.count && elf->sections.step == im->shdr_size; i++) {
		at = elf->sections.offset + i * im->shdr_size;
		if (get_field(im, at, sh_type) != SECTION_SYMTAB)
			continue;
		table.offset = get_field(im, at, sh_offset);
		size = get_field(im, at, sh_size);
		table.count = size / table.step;
		link = get_field(im, at, sh_link);
		if (link >= elf->sections.count || !within(elf, table.offset, size))
			continue;
		at = elf->sections.offset + link * im->shdr_size;
		names.data = elf->bytes.data + get_field(im, at, sh_offset);
		names.size = (size_t)get_field(im, at, sh_size);
		if (within(elf, get_field(im, at, sh_offset), names.size))
			move_in_table(im, &table, names, content, address);
	}
}

static void move_symbol(struct image *im, const struct elf_content *content, uint64_t address)
{
	const struct elf_file *elf = im->elf;
	struct tenon_slice names = { elf->bytes.data + elf->names.offset,
				     (size_t)elf->names.count };

	move_in_table(im, &elf->symbols, names, content, address);
	move_in_symtab(im, content, address);
}

/* ---- the new segment */

/* Choose an address behind all segments, which is the file offset modulo the page size. */
static int place_segment(struct image *im)
{
	const struct elf_file *elf = im->elf;
	uint64_t i, at, end = 0;
	const uint64_t most = elf->wide ? UINT64_MAX >> 2 : UINT32_MAX >> 1;

	im->align = 4096;
	for (i = 0; i < elf->segments.count; i++) {
		at = elf->segments.offset + i * im->phdr_size;
		if (get_field(im, at, p_type) != SEGMENT_LOAD)
			continue;
		if (get_field(im, at, p_vaddr) > most || get_field(im, at, p_memsz) > most ||
		    get_field(im, at, p_align) > 1 << 24)
			return tenon_error(-TENON_E_FORMAT, "%s: segment %" PRIu64 " is too large",
					   elf->path, i);
		if (get_field(im, at, p_vaddr) + get_field(im, at, p_memsz) > end)
			end = get_field(im, at, p_vaddr) + get_field(im, at, p_memsz);
		if (get_field(im, at, p_align) > im->align)
			im->align = get_field(im, at, p_align);
	}
	if (im->align & (im->align - 1))
		return tenon_error(-TENON_E_FORMAT, "%s: segments aligned to 0x%" PRIx64, elf->path,
				   im->align);
	if (pad(im, CONTENT_ALIGN))
		return im->out->status;
	im->segment = im->out->size;
	im->address = round_up(end, im->align) + im->segment % im->align;
	return 0;
}

static uint64_t address_of(const struct image *im, uint64_t offset)
{
	return im->address + (offset - im->segment);
}

/* Reserve the program headers at the start of the segment; fill_headers() writes them. */
static int reserve_headers(struct image *im)
{
	uint64_t i;

	for (i = 0; i < (im->elf->segments.count + 1) * im->phdr_size; i++)
		tenon_buffer_u8(im->out, 0);
	return im->out->status;
}

static void fill_segment(struct image *im, uint64_t header, uint64_t offset, uint64_t size)
{
	set_field(im, header, p_offset, offset);
	set_field(im, header, p_vaddr, address_of(im, offset));
	set_field(im, header, p_paddr, address_of(im, offset));
	set_field(im, header, p_filesz, size);
	set_field(im, header, p_memsz, size);
}

/* The new segment has the highest address, so it follows the last segment that is loaded. */
static void fill_headers(struct image *im, uint64_t size)
{
	const struct elf_file *elf = im->elf;
	uint64_t i, from, to = im->segment, last = 0;
	const uint64_t count = elf->segments.count, step = im->phdr_size;

	for (i = 0; i < count; i++)
		if (get_field(im, elf->segments.offset + i * step, p_type) == SEGMENT_LOAD)
			last = i;
	for (i = 0; i < count; i++, to += step) {
		from = elf->segments.offset + i * step;
		memcpy(im->out->data + to, im->out->data + from, (size_t)step);
		if (get_field(im, to, p_type) == SEGMENT_PHDR)
			fill_segment(im, to, im->segment, (count + 1) * step);
		if (i != last)
			continue;
		to += step;
		set_field(im, to, p_type, SEGMENT_LOAD);
		set_field(im, to, p_flags, FLAG_READABLE);
		set_field(im, to, p_align, im->align);
		fill_segment(im, to, im->segment, size);
	}
	set(im, elf->wide ? 32 : 28, elf->wide ? 8 : 4, im->segment);
	set(im, elf->wide ? 56 : 44, 2, count + 1);
}

/* ---- section headers */

/* Append the names of sections with one more. Returns its place among them in @name. */
static int append_names(struct image *im, uint64_t *place, uint64_t *name)
{
	const struct elf_file *elf = im->elf;
	uint64_t at = elf->sections.offset + im->shstrndx * im->shdr_size;
	struct tenon_slice names = { elf->bytes.data + get_field(im, at, sh_offset),
				     (size_t)get_field(im, at, sh_size) };

	*place = im->out->size;
	*name = names.size;
	tenon_buffer_slice(im->out, names);
	return tenon_buffer_append(im->out, SECTION_NAME, sizeof(SECTION_NAME));
}

/* Append the section headers with one more, for the contents of the new segment. */
static int append_sections(struct image *im, uint64_t from, uint64_t size)
{
	const struct elf_file *elf = im->elf;
	uint64_t names, name, table, at, i;
	int err;

	err = append_names(im, &names, &name);
	if (!err)
		err = pad(im, 8);
	if (err)
		return err;
	table = im->out->size;
	tenon_buffer_append(im->out, elf->bytes.data + elf->sections.offset,
			    (size_t)(elf->sections.count * im->shdr_size));
	for (i = 0; i < im->shdr_size; i++)
		tenon_buffer_u8(im->out, 0);
	if (im->out->status)
		return im->out->status;
	at = table + im->shstrndx * im->shdr_size;
	set_field(im, at, sh_offset, names);
	set_field(im, at, sh_size, name + sizeof(SECTION_NAME));
	at = table + elf->sections.count * im->shdr_size;
	set_field(im, at, sh_name, name);
	set_field(im, at, sh_type, SECTION_DATA);
	set_field(im, at, sh_flags, FLAG_ALLOCATED);
	set_field(im, at, sh_addr, address_of(im, from));
	set_field(im, at, sh_offset, from);
	set_field(im, at, sh_size, size);
	set_field(im, at, sh_addralign, CONTENT_ALIGN);
	set(im, elf->wide ? 40 : 32, elf->wide ? 8 : 4, table);
	set(im, elf->wide ? 60 : 48, 2, elf->sections.count + 1);
	return 0;
}

/* Section headers that cannot be extended are left alone: nothing that loads the file reads them. */
static void choose_section(struct image *im)
{
	const struct elf_file *elf = im->elf;
	uint64_t at;

	im->shstrndx = get(im, elf->wide ? 62 : 50, 2);
	if (!elf->sections.count || elf->sections.count >= COUNT_MOST ||
	    elf->sections.step != im->shdr_size || im->shstrndx >= elf->sections.count)
		return;
	at = elf->sections.offset + im->shstrndx * im->shdr_size;
	if (within(elf, get_field(im, at, sh_offset), get_field(im, at, sh_size)))
		im->section = (unsigned int)elf->sections.count;
}

/* Append contents that do not fit in a new segment. */
static int append_segment(struct image *im, const struct elf_content *const *moved, size_t count)
{
	uint64_t from = 0, at;
	size_t i;
	int err;

	choose_section(im);
	err = place_segment(im);
	if (!err)
		err = reserve_headers(im);
	for (i = 0; i < count && !err; i++) {
		err = pad(im, CONTENT_ALIGN);
		at = im->out->size;
		from = i ? from : at;
		if (!err)
			err = tenon_buffer_slice(im->out, moved[i]->bytes);
		if (!err)
			move_symbol(im, moved[i], address_of(im, at));
	}
	if (err)
		return err;
	at = im->out->size;
	fill_headers(im, at - im->segment);
	return im->section ? append_sections(im, from, at - from) : 0;
}

static int check_file(const struct image *im)
{
	const struct elf_file *elf = im->elf;

	if (elf->type != ELF_SHARED)
		return tenon_error(-TENON_E_UNSUPPORTED, "%s: not a shared object", elf->path);
	if (elf->segments.step != im->phdr_size || elf->segments.count + 1 >= COUNT_MOST)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: %" PRIu64 " program headers of %" PRIu64
				   " bytes: one cannot be added",
				   elf->path, elf->segments.count, elf->segments.step);
	return 0;
}

int elf_replace(const struct elf_file *elf, const struct elf_content *contents, size_t count,
		struct tenon_buffer *out)
{
	struct image im = { .elf = elf,
			    .out = out,
			    .phdr_size = elf->wide ? 56 : 32,
			    .shdr_size = elf->wide ? 64 : 40,
			    .symbol_size = elf->wide ? 24 : 16 };
	const struct elf_content *moved[ELF_CONTENTS_MOST];
	struct elf_symbol symbol;
	struct tenon_slice old;
	uint64_t room;
	size_t i, moves = 0;
	int err;

	err = check_file(&im);
	if (!err)
		err = tenon_buffer_slice(out, elf->bytes);
	for (i = 0; i < count && !err; i++) {
		if (!find_symbol(elf, contents[i].symbol, &symbol))
			return tenon_error(-TENON_E_NOT_FOUND, "%s: there is no symbol %s",
					   elf->path, contents[i].symbol);
		err = elf_symbol_bytes(elf, &symbol, &old);
		if (err)
			return err;
		room = contents[i].room ? contents[i].room : symbol.size;
		if (room > old.size)
			room = old.size;
		if (!replace_in_place(&im, &contents[i], (uint64_t)(old.data - elf->bytes.data),
				      room))
			moved[moves++] = &contents[i];
	}
	return err || !moves ? err : append_segment(&im, moved, moves);
}
