/* SPDX-License-Identifier: MIT */
/* Append the contents of a section, and a header for it. */
#include "link/module/elf_section.h"

#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"

/* A file that is written: offsets of fields differ between 32 and 64 bits. */
struct image {
	const struct elf_file *elf;
	struct tenon_buffer *out;
	uint64_t step; /* bytes of a section header */
};

static void set(const struct image *im, uint64_t at, unsigned int size, uint64_t v)
{
	unsigned char *p = (unsigned char *)im->out->data + at;
	unsigned int i;

	for (i = 0; i < size; i++)
		p[i] = (unsigned char)(v >> 8 * (im->elf->big ? size - 1 - i : i));
}

/* Set the place of a section's contents in its header. */
static void set_place(const struct image *im, uint64_t header, uint64_t offset, uint64_t size)
{
	const bool wide = im->elf->wide;

	set(im, header + (wide ? 24 : 16), wide ? 8 : 4, offset);
	set(im, header + (wide ? 32 : 20), wide ? 8 : 4, size);
}

static int pad(const struct image *im)
{
	while (im->out->size % 8 && !im->out->status)
		tenon_buffer_u8(im->out, 0);
	return im->out->status;
}

/* The names of sections as they are in the file. */
static bool find_names(const struct image *im, struct tenon_slice *out)
{
	const struct elf_file *elf = im->elf;
	struct elf_section s;

	/*
	 * Section 0 is none: such a file has no names. With the new one, too, their number is to be less than that of
	 * special sections.
	 */
	if (!elf->section_names || elf->section_names >= elf->sections.count ||
	    elf->sections.step != im->step || elf->sections.count + 1 >= ELF_SECTION_RESERVED)
		return false;
	s = elf_section(elf, elf->section_names);
	if (!elf_within(elf, s.offset, s.size))
		return false;
	*out = (struct tenon_slice){ elf->bytes.data + s.offset, (size_t)s.size };
	return true;
}

/* Find the header of a section with a name; 0 if there is none. */
static uint64_t find_header(const struct image *im, struct tenon_slice names, const char *name)
{
	const size_t length = strlen(name) + 1;
	uint64_t i;
	uint32_t place;

	for (i = 0; i < im->elf->sections.count; i++) {
		place = elf_section(im->elf, i).name;
		if (place < names.size && names.size - place >= length &&
		    !memcmp(names.data + place, name, length))
			return im->elf->sections.offset + i * im->step;
	}
	return 0;
}

/* Append the headers with one more for contents at an offset. */
static int append_header(const struct image *im, struct tenon_slice names, const char *name,
			 uint64_t offset, uint64_t size)
{
	const struct elf_file *elf = im->elf;
	const uint64_t names_at = im->out->size;
	uint64_t table, header, i;

	tenon_buffer_slice(im->out, names);
	tenon_buffer_append(im->out, name, strlen(name) + 1);
	if (pad(im))
		return im->out->status;
	table = im->out->size;
	tenon_buffer_append(im->out, elf->bytes.data + elf->sections.offset,
			    (size_t)(elf->sections.count * im->step));
	for (i = 0; i < im->step; i++)
		tenon_buffer_u8(im->out, 0);
	if (im->out->status)
		return im->out->status;
	set_place(im, table + elf->section_names * im->step, names_at,
		  names.size + strlen(name) + 1);
	header = table + elf->sections.count * im->step;
	set(im, header, 4, names.size);
	set(im, header + 4, 4, ELF_SECTION_PROGBITS);
	set(im, header + (elf->wide ? 48 : 32), elf->wide ? 8 : 4, 1);
	set_place(im, header, offset, size);
	set(im, elf->wide ? 40 : 32, elf->wide ? 8 : 4, table);
	set(im, elf->wide ? 60 : 48, 2, elf->sections.count + 1);
	return 0;
}

int elf_put_section(const struct elf_file *elf, const char *name, struct tenon_slice bytes,
		    struct tenon_buffer *out)
{
	struct image im = { .elf = elf, .out = out, .step = elf->wide ? 64 : 40 };
	struct tenon_slice names;
	uint64_t offset, header;

	tenon_buffer_slice(out, elf->bytes);
	if (pad(&im))
		return out->status;
	if (!find_names(&im, &names))
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"%s: has no section headers, so it cannot take a section: it was "
			"stripped of them",
			elf->path);
	offset = out->size;
	tenon_buffer_slice(out, bytes);
	if (pad(&im))
		return out->status;
	header = find_header(&im, names, name);
	if (!header)
		return append_header(&im, names, name, offset, bytes.size);
	set_place(&im, header, offset, bytes.size);
	return 0;
}
