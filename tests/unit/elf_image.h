/* SPDX-License-Identifier: MIT */
/* Put small ELF files of any class and byte order together by hand, for tests of the readers of ELF. */
#ifndef TESTS_UNIT_ELF_IMAGE_H
#define TESTS_UNIT_ELF_IMAGE_H

#include "tests/unit/blob.h"

#include <tenon/backend/buffer.h>

/* how its dynamic symbols can be found */
enum image_way { IMAGE_SECTIONS, IMAGE_HASH, IMAGE_GNU_HASH };

struct image {
	bool wide;
	bool big;
	uint16_t machine;
	enum image_way way;
	const char *const *names; /* of symbols; ends with NULL */
	size_t content_of;	  /* the symbol that has @content; the others are functions */
	struct tenon_slice content;
};

static inline void image_number(struct tenon_buffer *b, const struct image *i, uint64_t v,
				unsigned int size)
{
	unsigned int k;

	for (k = 0; k < size; k++)
		tenon_buffer_u8(b, (uint8_t)(v >> 8 * (i->big ? size - 1 - k : k)));
}

/* an address: four bytes, or eight */
static inline void image_word(struct tenon_buffer *b, const struct image *i, uint64_t v)
{
	image_number(b, i, v, i->wide ? 8 : 4);
}

static inline void image_pad(struct tenon_buffer *b, size_t to)
{
	assert_true(b->size <= to);
	while (!b->status && b->size < to)
		tenon_buffer_u8(b, 0);
}

/* addresses are file offsets plus this */
#define IMAGE_BASE 0x10000u

enum {
	IMAGE_STRINGS = 0x200,
	IMAGE_SYMBOLS = 0x400,
	IMAGE_HASHES = 0x600,
	IMAGE_DYNAMIC = 0x700,
	IMAGE_HEADERS = 0x800,
	IMAGE_CONTENT = 0xa00
};

static inline void image_header(struct tenon_buffer *b, const struct image *i)
{
	tenon_buffer_append(b,
			    "\x7f"
			    "ELF",
			    4);
	tenon_buffer_u8(b, i->wide ? 2 : 1);
	tenon_buffer_u8(b, i->big ? 2 : 1);
	tenon_buffer_u8(b, 1);
	image_pad(b, 16);
	image_number(b, i, 3, 2);
	image_number(b, i, i->machine, 2);
	image_number(b, i, 1, 4);
	image_word(b, i, 0);
	image_word(b, i, i->wide ? 64 : 52);
	image_word(b, i, i->way == IMAGE_SECTIONS ? IMAGE_HEADERS : 0);
	image_number(b, i, 0, 4);
	image_number(b, i, i->wide ? 64 : 52, 2);
	image_number(b, i, i->wide ? 56 : 32, 2);
	image_number(b, i, 2, 2);
	image_number(b, i, i->wide ? 64 : 40, 2);
	image_number(b, i, i->way == IMAGE_SECTIONS ? 3 : 0, 2);
	image_number(b, i, 0, 2);
}

static inline void image_segment(struct tenon_buffer *b, const struct image *i, uint32_t type,
				 uint64_t offset, uint64_t size)
{
	image_number(b, i, type, 4);
	if (i->wide)
		image_number(b, i, 5, 4);
	image_word(b, i, offset);
	image_word(b, i, IMAGE_BASE + offset);
	image_word(b, i, IMAGE_BASE + offset);
	image_word(b, i, size);
	image_word(b, i, size);
	if (!i->wide)
		image_number(b, i, 5, 4);
	image_word(b, i, 1);
}

static inline void image_section(struct tenon_buffer *b, const struct image *i, uint32_t type,
				 uint64_t offset, uint64_t size, uint32_t link)
{
	image_number(b, i, 0, 4);
	image_number(b, i, type, 4);
	image_word(b, i, 0);
	image_word(b, i, IMAGE_BASE + offset);
	image_word(b, i, offset);
	image_word(b, i, size);
	image_number(b, i, link, 4);
	image_number(b, i, 0, 4);
	image_word(b, i, 1);
	image_word(b, i, 0);
}

static inline void image_symbol(struct tenon_buffer *b, const struct image *i, uint32_t name,
				uint64_t value, uint64_t size, uint8_t info)
{
	uint16_t section = info ? 1 : 0;

	image_number(b, i, name, 4);
	if (i->wide) {
		tenon_buffer_u8(b, info);
		tenon_buffer_u8(b, 0);
		image_number(b, i, section, 2);
	}
	image_word(b, i, value);
	image_word(b, i, size);
	if (!i->wide) {
		tenon_buffer_u8(b, info);
		tenon_buffer_u8(b, 0);
		image_number(b, i, section, 2);
	}
}

static inline void image_tag(struct tenon_buffer *b, const struct image *i, uint64_t tag,
			     uint64_t value)
{
	image_word(b, i, tag);
	image_word(b, i, value);
}

static inline struct tenon_buffer image_of(const struct image *i)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	uint64_t end = IMAGE_CONTENT + i->content.size, strings;
	uint32_t at = 1;
	size_t k, count = 0;

	while (i->names[count])
		count++;
	image_header(&b, i);
	image_segment(&b, i, 1, 0, end);
	image_segment(&b, i, 2, IMAGE_DYNAMIC, i->wide ? 80 : 40);

	image_pad(&b, IMAGE_STRINGS);
	tenon_buffer_u8(&b, 0);
	for (k = 0; k < count; k++)
		tenon_buffer_append(&b, i->names[k], strlen(i->names[k]) + 1);
	strings = b.size - IMAGE_STRINGS;

	image_pad(&b, IMAGE_SYMBOLS);
	image_symbol(&b, i, 0, 0, 0, 0);
	for (k = 0; k < count; k++) {
		bool content = i->content.size && k == i->content_of;

		image_symbol(&b, i, at, IMAGE_BASE + (content ? IMAGE_CONTENT : 0x40),
			     content ? i->content.size : 4, content ? 0x11 : 0x12);
		at += (uint32_t)strlen(i->names[k]) + 1;
	}

	image_pad(&b, IMAGE_HASHES);
	if (i->way == IMAGE_HASH) {
		image_number(&b, i, 1, 4);
		image_number(&b, i, count + 1, 4);
	} else {
		/* one bucket, one word of the filter, the chain of all symbols */
		image_number(&b, i, 1, 4);
		image_number(&b, i, 1, 4);
		image_number(&b, i, 1, 4);
		image_number(&b, i, 0, 4);
		image_word(&b, i, 0);
		image_number(&b, i, 1, 4);
		for (k = 0; k < count; k++)
			image_number(&b, i, 2 * k | (k + 1 == count), 4);
	}

	image_pad(&b, IMAGE_DYNAMIC);
	image_tag(&b, i, 5, IMAGE_BASE + IMAGE_STRINGS);
	image_tag(&b, i, 10, strings);
	image_tag(&b, i, 6, IMAGE_BASE + IMAGE_SYMBOLS);
	image_tag(&b, i, i->way == IMAGE_HASH ? 4 : 0x6ffffef5, IMAGE_BASE + IMAGE_HASHES);
	image_tag(&b, i, 0, 0);

	image_pad(&b, IMAGE_HEADERS);
	image_section(&b, i, 0, 0, 0, 0);
	image_section(&b, i, 11, IMAGE_SYMBOLS, (count + 1) * (i->wide ? 24 : 16), 2);
	image_section(&b, i, 3, IMAGE_STRINGS, strings, 0);

	image_pad(&b, IMAGE_CONTENT);
	tenon_buffer_append(&b, i->content.data, i->content.size);
	return b;
}

#endif /* TESTS_UNIT_ELF_IMAGE_H */
