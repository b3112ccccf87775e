/* SPDX-License-Identifier: MIT */
/* Replace contents in place, or append a segment and move the tables that name it. */
#include "link/module/elf_replace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"

#define SECTION_NAME   ".tenon.imports"
#define SECTION_SYMTAB 2
#define SECTION_DATA   1
#define FLAG_ALLOCATED 2
#define SEGMENT_LOAD   1
#define SEGMENT_NOTE   4
#define SEGMENT_PHDR   6
#define FLAG_READABLE  4

/* PT_GNU_PROPERTY */
#define SEGMENT_PROPERTY 0x6474e553

/* alignment of contents in the new segment */
#define CONTENT_ALIGN 64

/* reserved: section and program header counts from here on are stored elsewhere */
#define COUNT_MOST 0xff00

/* no segment */
#define NONE UINT64_MAX

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
	uint64_t last;	  /* index of the segment with the highest address */
	bool grows;	  /* that segment takes the contents; otherwise they get a new one */
	uint64_t spare;	  /* index of a program header to overwrite with the new segment's; NONE */
	uint64_t segment; /* offset of the segment with the contents */
	uint64_t address; /* its address */
	uint64_t align;
	uint64_t gap;	      /* offset of contents that are left out of the buffer; NONE */
	uint64_t gap_size;    /* their bytes; 0 */
	unsigned int section; /* index of its section; 0: the file has no section headers */
	uint64_t shstrndx;    /* index of the names of sections */
	struct tenon_slice section_names;
};

/* Offset in the file of what is appended next. */
static uint64_t end_of(const struct image *im)
{
	return im->out->size + im->gap_size;
}

/* The bytes in the buffer that are at an offset of the file. */
static unsigned char *bytes_at(const struct image *im, uint64_t at)
{
	return (unsigned char *)im->out->data + (at < im->gap ? at : at - im->gap_size);
}

static uint64_t get(const struct image *im, uint64_t at, unsigned int size)
{
	return elf_number(im->elf, bytes_at(im, at), size);
}

static void set(struct image *im, uint64_t at, unsigned int size, uint64_t v)
{
	unsigned char *p = bytes_at(im, at);
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
	uint64_t left = round_up(end_of(im), align) - end_of(im);

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

static bool is_left_out(const struct elf_content *content)
{
	return content->bytes.size && !content->bytes.data;
}

/* Write contents over the old ones; false when they do not fit. */
static bool replace_in_place(struct image *im, const struct elf_content *content, uint64_t offset,
			     uint64_t room)
{
	char *at = im->out->data + offset;

	if (content->bytes.size > room || is_left_out(content))
		return false;
	if (content->bytes.size)
		memcpy(at, content->bytes.data, content->bytes.size);
	memset(at + content->bytes.size, 0, (size_t)room - content->bytes.size);
	return true;
}

/* Move the symbols of a table that have a name to an address, and to a section if it is not 0. */
static void move_in_table(struct image *im, const struct elf_table *symbols,
			  struct tenon_slice names, const struct elf_content *content,
			  uint64_t address, unsigned int section)
{
	const size_t wanted = strlen(content->symbol);
	const bool wide = im->elf->wide;
	const unsigned int word = wide ? 8 : 4;
	uint64_t i, at, name;

	for (i = 0; i < symbols->count; i++) {
		at = symbols->offset + i * symbols->step;
		name = get(im, at, 4);
		if (name >= names.size || names.size - name <= wanted ||
		    memcmp(names.data + name, content->symbol, wanted + 1) != 0 ||
		    !get(im, at + (wide ? 6 : 14), 2))
			continue;
		set(im, at + (wide ? 8 : 4), word, address);
		set(im, at + (wide ? 16 : 8), word, content->bytes.size);
		if (section)
			set(im, at + (wide ? 6 : 14), 2, section);
	}
}

/* The symbols that debuggers read, if they are not stripped. */
static void move_in_symtab(struct image *im, const struct elf_content *content, uint64_t address)
{
	const struct elf_file *elf = im->elf;
	struct elf_table table = { .step = im->symbol_size };
	struct tenon_slice names;
	uint64_t i, at, link, size, offset;

	for (i = 0; i < elf->sections.count && elf->sections.step == im->shdr_size; i++) {
		at = elf->sections.offset + i * im->shdr_size;
		if (get_field(im, at, sh_type) != SECTION_SYMTAB)
			continue;
		table.offset = get_field(im, at, sh_offset);
		size = get_field(im, at, sh_size);
		table.count = size / table.step;
		link = get_field(im, at, sh_link);
		if (link >= elf->sections.count || !elf_within(elf, table.offset, size))
			continue;
		at = elf->sections.offset + link * im->shdr_size;
		offset = get_field(im, at, sh_offset);
		size = get_field(im, at, sh_size);
		if (!elf_within(elf, offset, size))
			continue;
		names = (struct tenon_slice){ elf->bytes.data + offset, (size_t)size };
		move_in_table(im, &table, names, content, address, im->section);
	}
}

/*
 * Dynamic symbols keep their section, because strip does not renumber them when it removes sections in
 * front of the new one. The dynamic linker does not use it.
 */
static void move_symbol(struct image *im, const struct elf_content *content, uint64_t address)
{
	const struct elf_file *elf = im->elf;
	struct tenon_slice names = { elf->bytes.data + elf->names.offset,
				     (size_t)elf->names.count };

	move_in_table(im, &elf->symbols, names, content, address, 0);
	move_in_symtab(im, content, address);
}

/* ---- the segment of the new contents */

static uint64_t header_at(const struct image *im, uint64_t i)
{
	return im->elf->segments.offset + i * im->phdr_size;
}

static bool is_load(const struct image *im, uint64_t i)
{
	return get_field(im, header_at(im, i), p_type) == SEGMENT_LOAD;
}

/* Find the end of all segments that are loaded, which of them is the last, and their alignment. */
static int measure_segments(struct image *im, uint64_t *end)
{
	const struct elf_file *elf = im->elf;
	const uint64_t most = elf->wide ? UINT64_MAX >> 2 : UINT32_MAX >> 1;
	uint64_t i, at;

	*end = 0;
	im->align = 4096;
	im->last = NONE;
	for (i = 0; i < elf->segments.count; i++) {
		at = header_at(im, i);
		if (!is_load(im, i))
			continue;
		if (get_field(im, at, p_vaddr) > most || get_field(im, at, p_memsz) > most ||
		    get_field(im, at, p_align) > 1 << 24)
			return tenon_error(-TENON_E_FORMAT, "%s: segment %" PRIu64 " is too large",
					   elf->path, i);
		if (im->last == NONE ||
		    get_field(im, at, p_vaddr) + get_field(im, at, p_memsz) >= *end) {
			*end = get_field(im, at, p_vaddr) + get_field(im, at, p_memsz);
			im->last = i;
		}
		if (get_field(im, at, p_align) > im->align)
			im->align = get_field(im, at, p_align);
	}
	if (im->align & (im->align - 1))
		return tenon_error(-TENON_E_FORMAT, "%s: segments aligned to 0x%" PRIx64, elf->path,
				   im->align);
	return 0;
}

/* Test whether the last segment can grow, as one can that an earlier exchange appended. */
static bool can_grow(const struct image *im)
{
	uint64_t at, align;

	if (im->last == NONE)
		return false;
	at = header_at(im, im->last);
	align = get_field(im, at, p_align);
	return get_field(im, at, p_flags) == FLAG_READABLE &&
	       get_field(im, at, p_filesz) == get_field(im, at, p_memsz) &&
	       align >= CONTENT_ALIGN && !(align & (align - 1)) &&
	       get_field(im, at, p_vaddr) % align == get_field(im, at, p_offset) % align;
}

/*
 * Find a header of notes that can be given up: one that says the same as PT_GNU_PROPERTY, or else the
 * last, of the build ID, which debuggers find by its section as well.
 */
static uint64_t find_spare(const struct image *im)
{
	const uint64_t count = im->elf->segments.count;
	uint64_t i, at, property = NONE, spare = NONE;

	for (i = 0; i < count; i++)
		if (get_field(im, header_at(im, i), p_type) == SEGMENT_PROPERTY)
			property = get_field(im, header_at(im, i), p_offset);
	for (i = 0; i < count; i++) {
		at = header_at(im, i);
		if (get_field(im, at, p_type) != SEGMENT_NOTE)
			continue;
		spare = i;
		if (get_field(im, at, p_offset) == property)
			break;
	}
	return spare;
}

/* Choose where the contents go: an address behind all segments, which is the file offset modulo the page size. */
static int place_segment(struct image *im)
{
	uint64_t end;
	int err;

	err = measure_segments(im, &end);
	if (!err)
		err = pad(im, CONTENT_ALIGN);
	if (err)
		return err;
	im->grows = can_grow(im);
	if (im->grows) {
		im->segment = get_field(im, header_at(im, im->last), p_offset);
		im->address = get_field(im, header_at(im, im->last), p_vaddr);
		return 0;
	}
	im->segment = end_of(im);
	im->address = round_up(end, im->align) + im->segment % im->align;
	im->spare = find_spare(im);
	return 0;
}

static uint64_t address_of(const struct image *im, uint64_t offset)
{
	return im->address + (offset - im->segment);
}

/* Where no header can be given up, one more is needed: reserve them at the start of the segment. */
static int reserve_headers(struct image *im)
{
	uint64_t i;

	if (im->grows || im->spare != NONE)
		return 0;
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

static void fill_load(struct image *im, uint64_t header, uint64_t size)
{
	memset(im->out->data + header, 0, (size_t)im->phdr_size);
	set_field(im, header, p_type, SEGMENT_LOAD);
	set_field(im, header, p_flags, FLAG_READABLE);
	set_field(im, header, p_align, im->align);
	fill_segment(im, header, im->segment, size);
}

/*
 * Copy the headers to @to, without the spare one, and with one for the new segment. It has the highest
 * address, so it follows the last segment that is loaded.
 */
static void copy_headers(struct image *im, uint64_t to, uint64_t size)
{
	const struct elf_file *elf = im->elf;
	const uint64_t step = im->phdr_size;
	uint64_t i, last = 0;

	for (i = 0; i < elf->segments.count; i++)
		if (is_load(im, i))
			last = i;
	for (i = 0; i < elf->segments.count; i++) {
		if (i != im->spare) {
			memcpy(im->out->data + to, elf->bytes.data + header_at(im, i),
			       (size_t)step);
			to += step;
		}
		if (i != last)
			continue;
		fill_load(im, to, size);
		to += step;
	}
}

static void move_headers(struct image *im, uint64_t size)
{
	const struct elf_file *elf = im->elf;
	const uint64_t count = elf->segments.count + 1;
	uint64_t i, at;

	copy_headers(im, im->segment, size);
	for (i = 0; i < count; i++) {
		at = im->segment + i * im->phdr_size;
		if (get_field(im, at, p_type) == SEGMENT_PHDR)
			fill_segment(im, at, im->segment, count * im->phdr_size);
	}
	set(im, elf->wide ? 32 : 28, elf->wide ? 8 : 4, im->segment);
	set(im, elf->wide ? 56 : 44, 2, count);
}

static int fill_headers(struct image *im)
{
	const uint64_t size = end_of(im) - im->segment, end = address_of(im, end_of(im));

	if (!im->elf->wide && end > UINT32_MAX)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: the new contents end at 0x%" PRIx64 ", and its machine has "
				   "addresses of 32 bits: make the payloads smaller",
				   im->elf->path, end);
	if (im->grows) {
		set_field(im, header_at(im, im->last), p_filesz, size);
		set_field(im, header_at(im, im->last), p_memsz, size);
	} else if (im->spare != NONE) {
		copy_headers(im, im->elf->segments.offset, size);
	} else {
		move_headers(im, size);
	}
	return 0;
}

/* ---- section headers */

/* Append the names of sections with one more. Sets its place among them, @name. */
static int append_names(struct image *im, uint64_t *place, uint64_t *name)
{
	*place = end_of(im);
	*name = im->section_names.size;
	tenon_buffer_slice(im->out, im->section_names);
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
	table = end_of(im);
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

/*
 * Choose the section of the contents, before symbols move: the tables of a damaged file may overlap, so
 * that moving a symbol changes a section header. Section headers that cannot be extended stay as
 * they are: no loader reads them.
 */
static void choose_section(struct image *im)
{
	const struct elf_file *elf = im->elf;
	uint64_t at, offset, size;

	im->shstrndx = get(im, elf->wide ? 62 : 50, 2);
	if (!elf->sections.count || elf->sections.count >= COUNT_MOST ||
	    elf->sections.step != im->shdr_size || im->shstrndx >= elf->sections.count)
		return;
	at = elf->sections.offset + im->shstrndx * im->shdr_size;
	offset = get_field(im, at, sh_offset);
	size = get_field(im, at, sh_size);
	if (!elf_within(elf, offset, size))
		return;
	im->section = (unsigned int)elf->sections.count;
	im->section_names = (struct tenon_slice){ elf->bytes.data + offset, (size_t)size };
}

static int append_content(struct image *im, const struct elf_content *content)
{
	if (!is_left_out(content))
		return tenon_buffer_slice(im->out, content->bytes);
	im->gap = end_of(im);
	im->gap_size = content->bytes.size;
	return 0;
}

/* Append contents that do not fit. */
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
		at = end_of(im);
		from = i ? from : at;
		if (!err)
			err = append_content(im, moved[i]);
		if (!err)
			move_symbol(im, moved[i], address_of(im, at));
	}
	if (err)
		return err;
	at = end_of(im);
	err = fill_headers(im);
	return err || !im->section ? err : append_sections(im, from, at - from);
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
		struct tenon_buffer *out, size_t *gap)
{
	struct image im = { .elf = elf,
			    .out = out,
			    .gap = NONE,
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
	if (!err && moves)
		err = append_segment(&im, moved, moves);
	if (gap)
		*gap = (size_t)im.gap;
	return err;
}
