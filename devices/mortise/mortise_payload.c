/* SPDX-License-Identifier: MIT */
/* Make payloads of ELF files and archives, and read the image for a machine. */
#include "devices/mortise/mortise_payload.h"

#include <stdio.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <tenon/error.h>
#include <tenon/string.h>
#include <tenon/tensor.h>
#include <tenon/uapi/mortise.h>

static const char *machine_name(uint32_t machine, bool wide)
{
	switch (machine) {
	case MORTISE_MACHINE_RISCV:
		return wide ? "riscv64" : "riscv32";
	case MORTISE_MACHINE_ARM:
		return "arm";
	case MORTISE_MACHINE_HEXAGON:
		return "hexagon";
	case MORTISE_MACHINE_X86_64:
		return "x86-64";
	default:
		return "aarch64";
	}
}

int mortise_payload_image(struct tenon_slice code, const char *label, uint32_t machine, bool wide,
			  struct mortise_elf *elf)
{
	struct tenon_cursor c = tenon_cursor_of(code.data, code.size, label, 0);
	char found[16 * MORTISE_IMAGES_MOST] = "";
	struct tenon_slice bytes;
	uint64_t i, count;
	size_t used = 0;
	int err;

	err = tenon_cursor_count(&c, 8, &count);
	if (!err && count > MORTISE_IMAGES_MOST)
		err = tenon_cursor_error(&c, -TENON_E_FORMAT, "%llu images; at most %d are allowed",
					 (unsigned long long)count, MORTISE_IMAGES_MOST);
	for (i = 0; i < count && !err; i++) {
		err = tenon_cursor_string(&c, &bytes);
		if (!err)
			err = mortise_elf_read(bytes, label, elf);
		if (err)
			return tenon_error_in(err, "image %u", (unsigned int)i);
		if (elf->file.machine == machine && elf->file.wide == wide)
			return 0;
		used += (size_t)snprintf(found + used, sizeof(found) - used, "%s%s",
					 used ? ", " : "",
					 machine_name(elf->file.machine, elf->file.wide));
	}
	if (err)
		return err;
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "%s: no image for %s; it has code for: %s. Compile the kernels for that "
			   "machine too",
			   label, machine_name(machine, wide), used ? found : "no machine");
}

/* ---- files */

static struct tenon_slice next_word(struct tenon_slice *text)
{
	struct tenon_slice word;
	const char *space;

	while (text->size && *text->data == ' ') {
		text->data++;
		text->size--;
	}
	word = *text;
	space = word.size ? memchr(word.data, ' ', word.size) : NULL;
	if (space)
		word.size = (size_t)(space - word.data);
	text->data += word.size;
	text->size -= word.size;
	return word;
}

static uint64_t count_words(struct tenon_slice text)
{
	uint64_t n = 0;

	while (next_word(&text).size)
		n++;
	return n;
}

static int put_types(struct tenon_slice text, struct tenon_buffer *out)
{
	struct tenon_slice word;
	DLDataType type;

	tenon_buffer_u64(out, count_words(text));
	while ((word = next_word(&text)).size) {
		if (tenon_slice_equal(word, tenon_slice_of("handle")))
			type = tenon_dtype(TENON_DTYPE_HANDLE, 64, 1);
		else if (tenon_dtype_parse(word, &type))
			return tenon_error(-TENON_E_FORMAT, "an argument of type \"%.*s\"",
					   (int)word.size, word.data);
		tenon_buffer_u8(out, type.code);
		tenon_buffer_u8(out, type.bits);
		tenon_buffer_u8(out, (uint8_t)type.lanes);
		tenon_buffer_u8(out, (uint8_t)(type.lanes >> 8));
	}
	return out->status;
}

static int put_kernel(const struct mortise_elf_kernel *k, struct tenon_buffer *out)
{
	struct tenon_slice tags = k->tags, word;
	int err;

	tenon_buffer_string(out, k->name);
	tenon_buffer_string(out, k->name);
	err = put_types(k->types, out);
	if (err)
		return tenon_error_in(err, "kernel %.*s", (int)k->name.size, k->name.data);
	tenon_buffer_u64(out, count_words(tags));
	while ((word = next_word(&tags)).size)
		tenon_buffer_string(out, word);
	/* no tags of arguments */
	return tenon_buffer_u64(out, 0);
}

static int put_table(const struct mortise_elf *elf, struct tenon_buffer *out)
{
	struct mortise_elf_kernel k;
	uint32_t i;
	int err = tenon_buffer_u64(out, elf->entry_count);

	for (i = 0; i < elf->entry_count && !err; i++) {
		err = mortise_elf_kernel(elf, i, &k);
		if (!err)
			err = put_kernel(&k, out);
	}
	return err;
}

/* Images of a file, and the payload that they become: @first has the kernels of all. */
struct pack {
	struct mortise_elf first;
	struct tenon_buffer images;
	uint64_t count;
};

static bool same_kernel(const struct mortise_elf_kernel *a, const struct mortise_elf_kernel *b)
{
	return tenon_slice_equal(a->name, b->name) && tenon_slice_equal(a->types, b->types) &&
	       tenon_slice_equal(a->tags, b->tags);
}

/* Is a kernel of another image in the first: compilers order the table as they like. */
static int find_kernel(const struct mortise_elf *first, const struct mortise_elf_kernel *wanted,
		       const char *name)
{
	struct mortise_elf_kernel k;
	uint32_t i;
	int err;

	for (i = 0; i < first->entry_count; i++) {
		err = mortise_elf_kernel(first, i, &k);
		if (err || same_kernel(&k, wanted))
			return err;
	}
	return tenon_error(-TENON_E_FORMAT, "%s has a kernel %.*s that the image before it has not",
			   name, (int)wanted->name.size, wanted->name.data);
}

static int check_same(const struct mortise_elf *first, const struct mortise_elf *elf)
{
	struct mortise_elf_kernel k;
	uint32_t i;
	int err = 0;

	if (first->entry_count != elf->entry_count)
		return tenon_error(-TENON_E_FORMAT, "%s has %u kernels, the image before it %u",
				   elf->file.path, elf->entry_count, first->entry_count);
	for (i = 0; i < elf->entry_count && !err; i++) {
		err = mortise_elf_kernel(elf, i, &k);
		if (!err)
			err = find_kernel(first, &k, elf->file.path);
	}
	return err;
}

static int add_image(struct pack *p, struct tenon_slice bytes, const char *name)
{
	struct mortise_elf elf;
	int err = mortise_elf_read(bytes, name, &elf);

	if (!err && p->count == MORTISE_IMAGES_MOST)
		err = tenon_error(-TENON_E_FORMAT, "more than %d images", MORTISE_IMAGES_MOST);
	if (!err && p->count)
		err = check_same(&p->first, &elf);
	if (!err && !p->count) {
		p->first = elf;
		/* the member's name is freed before the table is read */
		p->first.file.path = "mortise";
	}
	if (!err)
		err = tenon_buffer_string(&p->images, bytes);
	p->count++;
	return err;
}

#define MEMBER_SIZE   60
#define MEMBER_NAME   16
#define MEMBER_LENGTH 48

static int read_length(const struct tenon_cursor *c, const char *text, uint64_t *out)
{
	int i;

	*out = 0;
	for (i = 0; i < 10 && text[i] >= '0' && text[i] <= '9'; i++)
		*out = *out * 10 + (uint64_t)(text[i] - '0');
	return i && text[10] == '`' ? 0
				    : tenon_cursor_error(c, -TENON_E_FORMAT,
							 "no header of a member of an archive");
}

static int add_member(struct pack *p, struct tenon_cursor *c)
{
	char name[MEMBER_NAME + 1];
	struct tenon_slice header, bytes;
	uint64_t size;
	int err;

	err = tenon_cursor_bytes(c, MEMBER_SIZE, &header);
	if (!err)
		err = read_length(c, header.data + MEMBER_LENGTH, &size);
	if (!err)
		err = tenon_cursor_bytes(c, size, &bytes);
	if (err)
		return err;
	/* members begin at even offsets */
	if (size % 2 && tenon_cursor_left(c))
		err = tenon_cursor_skip(c, 1);
	/* the table of symbols, long names */
	if (header.data[0] == '/' && (header.data[1] == ' ' || header.data[1] == '/'))
		return err;
	snprintf(name, sizeof(name), "%.*s", MEMBER_NAME, header.data);
	name[strcspn(name, "/ ")] = 0;
	return err ? err : tenon_error_in(add_image(p, bytes, name), "%s", c->name);
}

static int add_archive(struct pack *p, struct tenon_cursor *c)
{
	int err = tenon_cursor_skip(c, strlen(MORTISE_ARCHIVE));

	while (!err && tenon_cursor_left(c))
		err = add_member(p, c);
	return err;
}

int mortise_pack(const struct tenon_payload_file *file, struct tenon_cursor *program,
		 struct tenon_slice table, struct tenon_buffer *out)
{
	struct tenon_slice bytes = { (const char *)program->at, tenon_cursor_left(program) };
	struct pack p = { .images = TENON_BUFFER_INIT };
	int err;

	if (mortise_is_archive(bytes))
		err = add_archive(&p, program);
	else
		err = add_image(&p, bytes, program->name);
	if (!err && !p.count)
		err = tenon_cursor_error(program, -TENON_E_FORMAT, "an archive without images");
	if (!err) {
		tenon_buffer_string(out, tenon_slice_of(file->suffix));
		err = put_table(&p.first, out);
	}
	if (!err) {
		tenon_buffer_u64(out, 8 + p.images.size);
		tenon_buffer_u64(out, p.count);
		err = tenon_buffer_append(out, p.images.data, p.images.size);
	}
	tenon_buffer_fini(&p.images);
	return err;
}
