/* SPDX-License-Identifier: MIT */
/* The bytes are an ELF file whose code is read for extensions of the processor. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "link/code/code_scan.h"
#include "tests/fuzz/fuzz.h"

/* an entry for each symbol, which has 16 bytes at least */
const size_t fuzz_memory_per_byte = 8;

static const char names[] = "\0add\0add.x86_64_v3\0__tenon_processors";
static const char keys[] = "x86_64_v4_avx512vnni x86_64_v4 x86_64_v3";

/* VMOVAPS %zmm; VFMADD; LZCNT; TDPBSSD; CPUID; RET; a prefix without an end */
static const uint8_t x86_64[] = { 0x62, 0xf1, 0x7c, 0x48, 0x28, 0xc1, 0xc4, 0xe2,
				  0x75, 0xb8, 0xc2, 0xf3, 0x0f, 0xbd, 0xc1, 0xc4,
				  0xe2, 0x6b, 0x5e, 0xc1, 0x0f, 0xa2, 0xc3, 0x66 };
/* SDOT; SMMLA; PTRUE; SMSTART; RET */
static const uint8_t aarch64[] = { 0x20, 0x94, 0x82, 0x4e, 0x20, 0xa4, 0x82, 0x4e, 0xe0, 0xe3,
				   0x98, 0x25, 0x7f, 0x47, 0x03, 0xd5, 0xc0, 0x03, 0x5f, 0xd6 };
/* VSETVLI; RET */
static const uint8_t riscv64[] = { 0x57, 0x70, 0x05, 0x0d, 0x82, 0x80 };

/* A library: its code, two functions in one section, and the keys. */
struct library {
	Elf64_Ehdr head;
	Elf64_Phdr segment;
	Elf64_Shdr sections[4];
	Elf64_Sym symbols[4];
	char names[sizeof(names)];
	char keys[sizeof(keys)];
	uint8_t code[48];
};

#define AT(member) offsetof(struct library, member)

static void give(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		 void *context, const char *name, uint16_t machine, const uint8_t *code,
		 size_t size)
{
	static struct library l;

	memset(&l, 0, sizeof(l));
	memcpy(l.head.e_ident, ELFMAG "\2\1\1", 7);
	l.head.e_type = ET_DYN;
	l.head.e_machine = machine;
	l.head.e_phoff = AT(segment);
	l.head.e_phentsize = sizeof(l.segment);
	l.head.e_phnum = 1;
	l.head.e_shoff = AT(sections);
	l.head.e_shentsize = sizeof(l.sections[0]);
	l.head.e_shnum = 4;
	l.segment = (Elf64_Phdr){ PT_LOAD, PF_R | PF_X, 0, 0, 0, sizeof(l), sizeof(l), 4096 };
	l.sections[1] = (Elf64_Shdr){ 0,
				      SHT_PROGBITS,
				      SHF_ALLOC | SHF_EXECINSTR,
				      AT(code),
				      AT(code),
				      sizeof(l.code),
				      0,
				      0,
				      16,
				      0 };
	l.sections[2] =
		(Elf64_Shdr){ 0, SHT_SYMTAB,	      0, 0, AT(symbols), sizeof(l.symbols), 3, 0,
			      8, sizeof(l.symbols[0]) };
	l.sections[3] = (Elf64_Shdr){ 0, SHT_STRTAB, 0, 0, AT(names), sizeof(names), 0, 0, 1, 0 };
	l.symbols[1] = (Elf64_Sym){ 1, STT_FUNC, 0, 1, AT(code), 24 };
	l.symbols[2] = (Elf64_Sym){ 5, STB_GLOBAL << 4 | STT_FUNC, 0, 1, AT(code) + 24, 24 };
	l.symbols[3] =
		(Elf64_Sym){ 19, STB_GLOBAL << 4 | STT_OBJECT, 0, 1, AT(keys), sizeof(keys) };
	memcpy(l.names, names, sizeof(names));
	memcpy(l.keys, keys, sizeof(keys));
	memcpy(l.code, code, size);
	memcpy(l.code + 24, code, size);
	visit(context, name, (struct tenon_slice){ (const char *)&l, sizeof(l) });
}

void fuzz_seeds(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		void *context)
{
	give(visit, context, "x86-64", EM_X86_64, x86_64, sizeof(x86_64));
	give(visit, context, "aarch64", EM_AARCH64, aarch64, sizeof(aarch64));
	give(visit, context, "riscv64", EM_RISCV, riscv64, sizeof(riscv64));
}

void fuzz_mutate(struct mutant *m)
{
	mutate_elf(m);
}

/* What was found has a name from the file, and is no more than the machine has names for. */
static void check_found(const struct code_scan *scan, struct tenon_slice bytes)
{
	const struct code_use *use;
	unsigned int level, i;

	for (level = 0; level < CODE_LEVELS; level++)
		for (i = 0; i < 64; i++) {
			use = &scan->at[level][i];
			if (!use->functions != !(scan->uses[level] >> i & 1) ||
			    (use->functions && i >= scan->machine->count))
				abort();
			if (use->function.size &&
			    (use->function.data < bytes.data ||
			     use->function.data + use->function.size > bytes.data + bytes.size))
				abort();
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tenon_slice bytes = { (const char *)data, size };
	static struct code_scan scan;
	struct elf_file elf;
	int err;

	err = elf_open(&elf, bytes, "fuzz.so");
	if (!err)
		err = code_scan(&elf, &scan);
	fuzz_check(err);
	if (!err)
		check_found(&scan, bytes);
	/* each byte once, but for one table entry that lies */
	if (!err && scan.code > 2 * (uint64_t)size)
		abort();
	return 0;
}
