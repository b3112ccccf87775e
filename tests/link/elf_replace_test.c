/* SPDX-License-Identifier: MIT */
/* Contents of symbols are exchanged in files whose tables overlap, as only a damaged or hostile file has them. */
#include "tests/unit/suite.h"

#include <elf.h>

#include "link/module/elf_replace.h"

#define HIGH (UINT64_C(1) << 40)

/* the file has the byte order of this machine */
#define ORDER (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

/* A shared object whose only symbol lies in the section header of the names of sections. */
struct overlapping {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	Elf64_Shdr sections[4];
	char content[8];
	char names[8];
};

#define AT(member) offsetof(struct overlapping, member)

static void make_overlapping(struct overlapping *f)
{
	Elf64_Sym *symbol = (Elf64_Sym *)&f->sections[2].sh_addr;

	*f = (struct overlapping){
		.header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ORDER, 1 },
			    .e_type = ET_DYN,
			    .e_machine = EM_X86_64,
			    .e_phoff = AT(segments),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 2,
			    .e_shoff = AT(sections),
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = 4,
			    .e_shstrndx = 2 },
		.segments = { { .p_type = PT_LOAD,
				.p_flags = PF_R | PF_X,
				.p_filesz = sizeof(*f),
				.p_memsz = sizeof(*f) },
			      { .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = HIGH } },
		.sections = { [1] = { .sh_type = SHT_DYNSYM,
				      .sh_offset = AT(sections[2].sh_addr),
				      .sh_size = sizeof(Elf64_Sym),
				      .sh_link = 3 },
			      [2] = { .sh_type = SHT_STRTAB },
			      [3] = { .sh_type = SHT_STRTAB,
				      .sh_offset = AT(names),
				      .sh_size = sizeof(f->names) } },
		.names = "\0blob",
	};
	*symbol = (Elf64_Sym){ .st_name = 1,
			       .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
			       .st_shndx = 1,
			       .st_value = AT(content),
			       .st_size = sizeof(f->content) };
}

static void a_symbol_in_a_section_header_can_move(void **state)
{
	const struct elf_content longer = { "blob", 0, tenon_slice_of("longer than before") };
	struct tenon_buffer out = TENON_BUFFER_INIT;
	struct overlapping file;
	struct elf_file elf;

	(void)state;
	make_overlapping(&file);
	assert_int_equal(
		elf_open(&elf, (struct tenon_slice){ (char *)&file, sizeof(file) }, "host.so"), 0);
	assert_int_equal(elf_replace(&elf, &longer, 1, &out, NULL), 0);
	assert_in_range(out.size, sizeof(file), 64 * 1024);
	assert_non_null(memmem(out.data, out.size, "longer than before", 18));
	tenon_buffer_fini(&out);
}

static void contents_that_are_left_out_have_the_place_of_those_that_are_not(void **state)
{
	static const char bytes[1000] = "contents";
	const struct elf_content whole = { "blob", 0, { bytes, sizeof(bytes) } };
	const struct elf_content left_out = { "blob", 0, { NULL, sizeof(bytes) } };
	struct tenon_buffer want = TENON_BUFFER_INIT, got = TENON_BUFFER_INIT;
	struct overlapping file;
	struct elf_file elf;
	size_t gap = 0;

	(void)state;
	make_overlapping(&file);
	assert_int_equal(
		elf_open(&elf, (struct tenon_slice){ (char *)&file, sizeof(file) }, "host.so"), 0);
	assert_int_equal(elf_replace(&elf, &whole, 1, &want, NULL), 0);
	assert_int_equal(elf_replace(&elf, &left_out, 1, &got, &gap), 0);
	assert_int_equal(got.size, want.size - sizeof(bytes));
	assert_in_range(gap, sizeof(file), got.size);
	assert_memory_equal(got.data, want.data, gap);
	assert_memory_equal(bytes, want.data + gap, sizeof(bytes));
	assert_memory_equal(got.data + gap, want.data + gap + sizeof(bytes), got.size - gap);
	tenon_buffer_fini(&want);
	tenon_buffer_fini(&got);
}

/* A shared object for a machine of 32 bits, with a symbol in its only segment. */
struct narrow {
	Elf32_Ehdr header;
	Elf32_Phdr segments[2];
	Elf32_Shdr sections[3];
	Elf32_Sym symbols[1];
	char content[8];
	char names[8];
};

#define NARROW_AT(member) offsetof(struct narrow, member)

static void make_narrow(struct narrow *f)
{
	*f = (struct narrow){
		.header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ORDER, 1 },
			    .e_type = ET_DYN,
			    .e_machine = EM_ARM,
			    .e_phoff = NARROW_AT(segments),
			    .e_phentsize = sizeof(Elf32_Phdr),
			    .e_phnum = 2,
			    .e_shoff = NARROW_AT(sections),
			    .e_shentsize = sizeof(Elf32_Shdr),
			    .e_shnum = 3,
			    .e_shstrndx = 2 },
		.segments = { { .p_type = PT_LOAD,
				.p_flags = PF_R | PF_X,
				.p_filesz = sizeof(*f),
				.p_memsz = sizeof(*f) },
			      { .p_type = PT_NOTE, .p_offset = NARROW_AT(content) } },
		.sections = { [1] = { .sh_type = SHT_DYNSYM,
				      .sh_offset = NARROW_AT(symbols),
				      .sh_size = sizeof(f->symbols),
				      .sh_link = 2 },
			      [2] = { .sh_type = SHT_STRTAB,
				      .sh_offset = NARROW_AT(names),
				      .sh_size = sizeof(f->names) } },
		.symbols = { { .st_name = 1,
			       .st_info = ELF32_ST_INFO(STB_GLOBAL, STT_OBJECT),
			       .st_shndx = 1,
			       .st_value = NARROW_AT(content),
			       .st_size = sizeof(f->content) } },
		.names = "\0blob",
	};
}

/* Exchange the symbol for so many bytes, which are not there. */
static int replace_in_narrow(size_t size)
{
	const struct elf_content content = { "blob", 0, { NULL, size } };
	struct tenon_buffer out = TENON_BUFFER_INIT;
	struct narrow file;
	struct elf_file elf;
	size_t gap;
	int err;

	make_narrow(&file);
	assert_int_equal(
		elf_open(&elf, (struct tenon_slice){ (char *)&file, sizeof(file) }, "host.so"), 0);
	err = elf_replace(&elf, &content, 1, &out, &gap);
	assert_in_range(out.size, sizeof(file), 64 * 1024);
	tenon_buffer_fini(&out);
	return err;
}

static void contents_beyond_the_addresses_of_a_small_machine_are_refused(void **state)
{
	(void)state;
	assert_int_equal(replace_in_narrow(UINT32_C(3) << 30), 0);
	assert_int_equal(replace_in_narrow(UINT32_MAX - 4095), -TENON_E_UNSUPPORTED);
	assert_error("host.so: the new contents end at 0x100000140, and its machine has addresses "
		     "of 32 bits: make the payloads smaller");
#if SIZE_MAX > UINT32_MAX
	assert_int_equal(replace_in_narrow((size_t)UINT32_MAX + 1), -TENON_E_UNSUPPORTED);
	assert_int_equal(replace_in_narrow((size_t)1 << 40), -TENON_E_UNSUPPORTED);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_symbol_in_a_section_header_can_move),
		cmocka_unit_test(contents_that_are_left_out_have_the_place_of_those_that_are_not),
		cmocka_unit_test(contents_beyond_the_addresses_of_a_small_machine_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
