/* SPDX-License-Identifier: MIT */
/* Write an ELF file for this machine with one symbol of data. */
#include "tests/fuzz/library_file.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

/* at least the pages of any machine */
#define ALIGN 0x10000

#if __SIZEOF_POINTER__ == 8
#define SYMBOL_INFO ELF64_ST_INFO
#define CLASS	    ELFCLASS64
#else
#define SYMBOL_INFO ELF32_ST_INFO
#define CLASS	    ELFCLASS32
#endif

/* what stands in front of the content; addresses are offsets */
struct front {
	ElfW(Ehdr) header;
	ElfW(Phdr) load, dynamic, stack;
	ElfW(Dyn) tags[6];
	ElfW(Sym) symbols[2];
	uint32_t hash[5]; /* one bucket, and a chain of two */
	char strings[64];
	_Alignas(16) char content[];
};

/* The machine is that of this program, whose headers are in memory. */
static int machine_of(struct dl_phdr_info *info, size_t size, void *context)
{
	ElfW(Half) *machine = context;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const ElfW(Ehdr) * header;

		if (p->p_type != PT_LOAD || p->p_offset)
			continue;
		header = (const void *)(info->dlpi_addr + p->p_vaddr);
		*machine = header->e_machine;
		return 1;
	}
	return 0;
}

static void fill_header(ElfW(Ehdr) * h)
{
	memcpy(h->e_ident, ELFMAG, SELFMAG);
	h->e_ident[EI_CLASS] = CLASS;
	h->e_ident[EI_DATA] = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	h->e_ident[EI_VERSION] = EV_CURRENT;
	h->e_type = ET_DYN;
	dl_iterate_phdr(machine_of, &h->e_machine);
	h->e_version = EV_CURRENT;
	h->e_phoff = offsetof(struct front, load);
	h->e_ehsize = sizeof(*h);
	h->e_phentsize = sizeof(ElfW(Phdr));
	h->e_phnum = 3;
}

static void fill_tags(ElfW(Dyn) * tags)
{
	tags[0].d_tag = DT_STRTAB;
	tags[0].d_un.d_ptr = offsetof(struct front, strings);
	tags[1].d_tag = DT_STRSZ;
	tags[1].d_un.d_val = sizeof(((struct front *)NULL)->strings);
	tags[2].d_tag = DT_SYMTAB;
	tags[2].d_un.d_ptr = offsetof(struct front, symbols);
	tags[3].d_tag = DT_SYMENT;
	tags[3].d_un.d_val = sizeof(ElfW(Sym));
	tags[4].d_tag = DT_HASH;
	tags[4].d_un.d_ptr = offsetof(struct front, hash);
	tags[5].d_tag = DT_NULL;
}

void library_file(const char *symbol, struct tenon_slice content, struct tenon_buffer *out)
{
	static const uint32_t hash[5] = { 1, 2, 1, 0, 0 };
	struct front f = { 0 };

	if (strlen(symbol) + 2 > sizeof(f.strings))
		abort();
	fill_header(&f.header);
	/* writable: some dynamic linkers relocate the tags where they are */
	f.load.p_type = PT_LOAD;
	f.load.p_flags = PF_R | PF_W;
	f.load.p_filesz = f.load.p_memsz = sizeof(f) + content.size;
	f.load.p_align = ALIGN;
	f.dynamic = f.load;
	f.dynamic.p_type = PT_DYNAMIC;
	f.dynamic.p_offset = f.dynamic.p_vaddr = offsetof(struct front, tags);
	f.dynamic.p_filesz = f.dynamic.p_memsz = sizeof(f.tags);
	f.dynamic.p_align = sizeof(ElfW(Addr));
	/* without one some systems make stacks executable */
	f.stack.p_type = PT_GNU_STACK;
	f.stack.p_flags = PF_R | PF_W;
	fill_tags(f.tags);
	f.symbols[1].st_name = 1;
	f.symbols[1].st_info = SYMBOL_INFO(STB_GLOBAL, STT_OBJECT);
	f.symbols[1].st_shndx = 1;
	f.symbols[1].st_value = sizeof(f);
	f.symbols[1].st_size = content.size;
	memcpy(f.hash, hash, sizeof(hash));
	strcpy(f.strings + 1, symbol);
	tenon_buffer_append(out, &f, sizeof(f));
	tenon_buffer_append(out, content.data, content.size);
}
