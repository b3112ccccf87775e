/* SPDX-License-Identifier: MIT */
/* Change a field of an ELF file: sections, segments, symbols, or the tree that it holds. */
#include <elf.h>
#include <string.h>

#include "tests/fuzz/mutant.h"
#include "tests/fuzz/real_tree.h"

struct field {
	uint8_t at, width;
};

#define FIELD(type, name)                                                                          \
	{                                                                                          \
		offsetof(type, name), sizeof(((type *)NULL)->name)                                 \
	}
#define COUNT(fields) (sizeof(fields) / sizeof((fields)[0]))

static const struct field header_fields[] = {
	{ EI_CLASS, 1 },
	{ EI_DATA, 1 },
	FIELD(Elf64_Ehdr, e_type),
	FIELD(Elf64_Ehdr, e_machine),
	FIELD(Elf64_Ehdr, e_entry),
	FIELD(Elf64_Ehdr, e_phoff),
	FIELD(Elf64_Ehdr, e_shoff),
	FIELD(Elf64_Ehdr, e_ehsize),
	FIELD(Elf64_Ehdr, e_phentsize),
	FIELD(Elf64_Ehdr, e_phnum),
	FIELD(Elf64_Ehdr, e_shentsize),
	FIELD(Elf64_Ehdr, e_shnum),
	FIELD(Elf64_Ehdr, e_shstrndx),
};

static const struct field section_fields[] = {
	FIELD(Elf64_Shdr, sh_name),	 FIELD(Elf64_Shdr, sh_type),
	FIELD(Elf64_Shdr, sh_flags),	 FIELD(Elf64_Shdr, sh_addr),
	FIELD(Elf64_Shdr, sh_offset),	 FIELD(Elf64_Shdr, sh_size),
	FIELD(Elf64_Shdr, sh_link),	 FIELD(Elf64_Shdr, sh_info),
	FIELD(Elf64_Shdr, sh_addralign), FIELD(Elf64_Shdr, sh_entsize),
};

static const struct field segment_fields[] = {
	FIELD(Elf64_Phdr, p_type),  FIELD(Elf64_Phdr, p_flags), FIELD(Elf64_Phdr, p_offset),
	FIELD(Elf64_Phdr, p_vaddr), FIELD(Elf64_Phdr, p_paddr), FIELD(Elf64_Phdr, p_filesz),
	FIELD(Elf64_Phdr, p_memsz), FIELD(Elf64_Phdr, p_align),
};

/* a table of the file, as its header tells now */
struct table {
	uint64_t at, count, stride;
};

static struct table sections(const struct mutant *m)
{
	return (struct table){ mutant_get(m, offsetof(Elf64_Ehdr, e_shoff), 8),
			       mutant_get(m, offsetof(Elf64_Ehdr, e_shnum), 2),
			       sizeof(Elf64_Shdr) };
}

static struct table segments(const struct mutant *m)
{
	return (struct table){ mutant_get(m, offsetof(Elf64_Ehdr, e_phoff), 8),
			       mutant_get(m, offsetof(Elf64_Ehdr, e_phnum), 2),
			       sizeof(Elf64_Phdr) };
}

static uint64_t any_entry(struct mutant *m, const struct table *t)
{
	return t->at + random_below(&m->random, t->count) * t->stride;
}

/* a field of an entry becomes that of another entry, or any number */
static void change_entry(struct mutant *m, const struct table *t, const struct field *fields,
			 size_t count)
{
	const struct field *f = &fields[random_below(&m->random, count)];
	uint64_t entry = any_entry(m, t), value;

	if (random_one_in(&m->random, 3))
		value = mutant_get(m, any_entry(m, t) + f->at, f->width);
	else
		value = mutant_number(m, m->size);
	mutant_put(m, entry + f->at, value, f->width);
}

static bool is_read(uint64_t type)
{
	return type == SHT_DYNAMIC || type == SHT_NOTE || type == SHT_GNU_HASH ||
	       type == SHT_HASH || type == SHT_DYNSYM || type == SHT_SYMTAB || type == SHT_STRTAB;
}

/* a number in a section that readers look into */
static void change_content(struct mutant *m)
{
	const struct table t = sections(m);
	struct random *r = &m->random;
	unsigned int tries, width = 1u << random_below(r, 4);
	uint64_t entry = 0, offset, size, at, value;

	for (tries = 0; tries < 20; tries++) {
		entry = any_entry(m, &t);
		if (is_read(mutant_get(m, entry + offsetof(Elf64_Shdr, sh_type), 4)))
			break;
	}
	offset = mutant_get(m, entry + offsetof(Elf64_Shdr, sh_offset), 8);
	size = mutant_get(m, entry + offsetof(Elf64_Shdr, sh_size), 8);
	at = offset + (random_below(r, size) & ~(uint64_t)(width - 1));
	value = random_one_in(r, 3) ? mutant_get(m, offset + random_below(r, size), width)
				    : mutant_number(m, m->size);
	mutant_put(m, at, value, width);
}

/* The tree stays where it is: what is put into it pushes its end out of the symbol. */
static void change_tree(struct mutant *m, struct tenon_slice tree)
{
	struct mutant inner = *m;

	inner.data = m->data + (tree.data - (const char *)m->data);
	inner.size = inner.room = tree.size;
	mutate_blob(&inner);
	m->random = inner.random;
}

void mutate_elf(struct mutant *m)
{
	const struct table s = sections(m), p = segments(m);
	struct random *r = &m->random;
	const struct field *f;
	struct real_tree tree;

	if (random_below(r, 3) &&
	    real_tree_find((struct tenon_slice){ (const char *)m->data, m->size }, &tree)) {
		change_tree(m, tree.bytes);
		return;
	}
	if (mutant_get(m, EI_CLASS, 1) != ELFCLASS64 || random_one_in(r, 4)) {
		mutate_bytes(m);
		return;
	}
	switch (random_below(r, 5)) {
	case 0:
		f = &header_fields[random_below(r, COUNT(header_fields))];
		mutant_put(m, f->at, mutant_number(m, m->size), f->width);
		return;
	case 1:
		change_entry(m, &s, section_fields, COUNT(section_fields));
		return;
	case 2:
		change_entry(m, &p, segment_fields, COUNT(segment_fields));
		return;
	default:
		change_content(m);
	}
}
