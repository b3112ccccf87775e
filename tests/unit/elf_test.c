/* SPDX-License-Identifier: MIT */
/* ELF files of all machines: symbols, sections and code, and libraries that cannot be loaded. */
#include "tests/unit/elf_image.h"

#include <dlfcn.h>
#include <tenon/backend/buffer.h>

static const char *const three[] = { "alpha", "beta", "__tvm_dev_mblob", NULL };

/* every class, byte order and way to the symbols */
#define EACH_IMAGE(i)                                                                              \
	for (struct image i = { .names = three, .content_of = 2, .content = { "the blob", 8 } },   \
			  *once = &i;                                                              \
	     once; once = NULL)                                                                    \
		for (int n = 0; n < 12 && image_variant(&i, n); n++)

static bool image_variant(struct image *i, int n)
{
	i->wide = n & 1;
	i->big = n & 2;
	i->way = (enum image_way)(n / 4);
	i->machine = i->big ? 21 : 183;
	return true;
}

static void symbols_of_any_machine_are_found(void **state)
{
	(void)state;
	EACH_IMAGE(i)
	{
		struct tenon_buffer b = image_of(&i);
		struct tenon_slice bytes;
		struct elf_symbol s;
		struct elf_file elf;

		if (elf_open(&elf, slice_of(&b), "lib.so")) {
			print_error("variant %d: %s\n", n, tenon_error_message());
			fail();
		}
		assert_int_equal(elf.wide, i.wide);
		assert_int_equal(elf.big, i.big);
		assert_int_equal(elf.symbols.count, 4);
		elf_symbol(&elf, 1, &s);
		assert_slice(s.name, "alpha");
		assert_int_equal(s.kind, ELF_SYMBOL_FUNCTION);
		assert_true(s.defined && s.global);
		elf_symbol(&elf, 3, &s);
		assert_slice(s.name, "__tvm_dev_mblob");
		assert_int_equal(s.kind, ELF_SYMBOL_OBJECT);
		assert_int_equal(s.value, IMAGE_BASE + IMAGE_CONTENT);
		assert_int_equal(s.size, 8);
		assert_int_equal(elf_symbol_bytes(&elf, &s, &bytes), 0);
		assert_slice(bytes, "the blob");
		tenon_buffer_fini(&b);
	}
}

static void machines_have_names(void **state)
{
	static const struct {
		uint16_t machine;
		bool wide;
		const char *name;
	} cases[] = { { 62, true, "x86-64" },	     { 3, false, "x86" },
		      { 183, true, "aarch64" },	     { 40, false, "arm" },
		      { 243, true, "riscv64" },	     { 243, false, "riscv32" },
		      { 4711, true, "machine 4711" } };
	size_t k;

	(void)state;
	for (k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		const struct elf_file elf = { .machine = cases[k].machine, .wide = cases[k].wide };

		assert_string_equal(elf_machine_name(&elf), cases[k].name);
	}
}

static void a_file_cut_anywhere_is_refused_or_read_within_its_bytes(void **state)
{
	(void)state;
	EACH_IMAGE(i)
	{
		struct tenon_buffer b = image_of(&i);
		size_t size;

		for (size = 0; size < b.size; size++) {
			char *copy = malloc(size + 1);
			struct elf_file elf;
			int err;

			memcpy(copy, b.data, size);
			err = elf_open(&elf, (struct tenon_slice){ copy, size }, "cut.so");
			assert_true(err < 0);
			assert_true(err == -TENON_E_TRUNCATED || size < 16);
			tenon_error_clear();
			free(copy);
		}
		tenon_buffer_fini(&b);
	}
}

/* damage is found, or does no harm: every symbol can be read whatever it says */
static void any_changed_byte_is_survived(void **state)
{
	(void)state;
	EACH_IMAGE(i)
	{
		struct tenon_buffer b = image_of(&i);
		size_t at;

		for (at = 0; at < IMAGE_CONTENT; at++) {
			static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
			char old = b.data[at];
			size_t v;

			for (v = 0; v < sizeof(values); v++) {
				struct tenon_slice bytes;
				struct elf_symbol s;
				struct elf_file elf;
				uint64_t k;

				b.data[at] = (char)values[v];
				if (!elf_open(&elf, slice_of(&b), "edited.so")) {
					for (k = 0; k < elf.symbols.count && k < 1000; k++) {
						elf_symbol(&elf, k, &s);
						elf_symbol_bytes(&elf, &s, &bytes);
					}
					elf_needed(&elf, 0);
				}
				tenon_error_clear();
			}
			b.data[at] = old;
		}
		tenon_buffer_fini(&b);
	}
}

static void a_segment_behind_the_end_is_named(void **state)
{
	struct image i = { .wide = true, .machine = 62, .names = three };
	struct tenon_buffer b = image_of(&i);
	struct elf_file elf;

	(void)state;
	b.size--;
	assert_int_equal(elf_open(&elf, slice_of(&b), "cut.so"), -TENON_E_TRUNCATED);
	assert_error(
		"cut.so: segment 0 of 2560 bytes at 0x0 lies outside the file of 2559 bytes: it is "
		"truncated");
	tenon_buffer_fini(&b);
}

static void a_file_without_the_magic_number_is_refused(void **state)
{
	struct elf_file elf;

	(void)state;
	assert_int_equal(elf_open(&elf, (struct tenon_slice){ "text", 4 }, "f"), -TENON_E_FORMAT);
	assert_error("f: not an ELF file");
	assert_int_equal(elf_open(&elf, (struct tenon_slice){ "\x7f", 1 }, "f"), -TENON_E_FORMAT);
	assert_error("f: not an ELF file");
}

static void a_name_without_an_end_is_none(void **state)
{
	struct image i = { .wide = true, .machine = 62, .names = three };
	struct tenon_buffer b = image_of(&i);
	struct elf_symbol s;
	struct elf_file elf;

	(void)state;
	/* the NUL behind the last name */
	b.data[IMAGE_STRINGS + 1 + sizeof("alpha") + sizeof("beta") + strlen(three[2])] = 'x';
	assert_int_equal(elf_open(&elf, slice_of(&b), "lib.so"), 0);
	assert_int_equal(elf.names.count, 1 + sizeof("alpha") + sizeof("beta"));
	elf_symbol(&elf, 2, &s);
	assert_slice(s.name, "beta");
	elf_symbol(&elf, 3, &s);
	assert_slice(s.name, "");
	tenon_buffer_fini(&b);
}

static void a_symbol_without_bytes_in_the_file_is_named(void **state)
{
	struct image i = { .wide = true, .machine = 62, .names = three };
	struct tenon_buffer b = image_of(&i);
	struct tenon_slice bytes;
	struct elf_symbol s;
	struct elf_file elf;

	(void)state;
	assert_int_equal(elf_open(&elf, slice_of(&b), "lib.so"), 0);
	elf_symbol(&elf, 1, &s);
	s.value = 0xdead0000;
	assert_int_equal(elf_symbol_bytes(&elf, &s, &bytes), -TENON_E_FORMAT);
	assert_error("lib.so: symbol alpha at 0xdead0000 has no bytes in the file");
	s.value = IMAGE_BASE + 0xa00 - 10;
	s.size = 11;
	assert_int_equal(elf_symbol_bytes(&elf, &s, &bytes), -TENON_E_TRUNCATED);
	assert_error("lib.so: symbol alpha has 11 bytes, 10 are left in its segment");
	tenon_buffer_fini(&b);
}

static void a_hash_table_at_the_end_of_its_segment_has_no_symbols(void **state)
{
	static const enum image_way ways[] = { IMAGE_HASH, IMAGE_GNU_HASH };

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		struct image i = { .wide = true, .machine = 62, .names = three, .way = ways[k] };
		struct tenon_buffer b = image_of(&i);
		struct elf_file elf;

		assert_int_equal(elf_open(&elf, slice_of(&b), "lib.so"), 0);
		assert_true(elf.symbols.count);
		/* the address in the dynamic entry: the last four bytes, and none at all */
		b.data[IMAGE_DYNAMIC + 56] = (char)(b.size - 4);
		b.data[IMAGE_DYNAMIC + 57] = (char)((b.size - 4) >> 8);
		assert_int_equal(elf_open(&elf, slice_of(&b), "lib.so"), 0);
		assert_int_equal(elf.symbols.count, 0);
		b.data[IMAGE_DYNAMIC + 60] = 1;
		assert_int_equal(elf_open(&elf, slice_of(&b), "lib.so"), 0);
		assert_int_equal(elf.symbols.count, 0);
		tenon_buffer_fini(&b);
	}
}

static uint16_t section_of_type(const struct elf_file *elf, uint32_t type)
{
	for (uint16_t k = 0; k < elf->sections.count; k++)
		if (elf_section(elf, k).type == type)
			return k;
	fail_msg("no section of type %u", type);
	return 0;
}

static void assert_no_bytes(const struct elf_file *elf, const struct elf_symbol *s)
{
	struct tenon_slice bytes;

	assert_int_equal(elf_symbol_bytes(elf, s, &bytes), -TENON_E_FORMAT);
	assert_error_has("has no bytes in the file");
}

static void an_object_file_has_symbols_too(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct elf_symbol s = { .name = tenon_slice_of("s") };
	struct tenon_slice file, bytes;
	struct elf_file elf;

	(void)state;
	assert_int_equal(file_map_open(data_file("tvm-0.18/syslib_prefix/lib.o"), &file), 0);
	assert_int_equal(tenon_buffer_append(&b, file.data, file.size), 0);
	file_map_close(&file);
	assert_int_equal(elf_open(&elf, slice_of(&b), "lib.o"), 0);
	assert_int_equal(elf.type, ELF_RELOCATABLE);
	assert_true(elf.symbols.count > 3);
	/* in a section of zeros, behind the end of one, in none */
	s.section = section_of_type(&elf, ELF_SECTION_NOBITS);
	assert_no_bytes(&elf, &s);
	s.section = section_of_type(&elf, ELF_SECTION_PROGBITS);
	assert_int_equal(elf_symbol_bytes(&elf, &s, &bytes), 0);
	s.value = elf_section(&elf, s.section).size + 1;
	assert_no_bytes(&elf, &s);
	s.value = 0;
	memset(b.data + elf.sections.offset + s.section * elf.sections.step + 24, 0x7f, 8);
	assert_no_bytes(&elf, &s);
	s.section = UINT16_MAX;
	assert_no_bytes(&elf, &s);
	tenon_buffer_fini(&b);
}

static void code_without_a_section_is_that_of_its_segments(void **state)
{
	(void)state;
	EACH_IMAGE(i)
	{
		struct tenon_buffer b = image_of(&i);
		struct elf_code code;
		struct elf_file elf;
		uint64_t index = 0;

		assert_int_equal(elf_open(&elf, slice_of(&b), "lib.so"), 0);
		assert_true(elf_code(&elf, &index, &code));
		assert_int_equal(code.address, IMAGE_BASE);
		assert_ptr_equal(code.bytes.data, b.data);
		assert_int_equal(code.bytes.size, IMAGE_CONTENT + 8);
		assert_false(elf_code(&elf, &index, &code));
		tenon_buffer_fini(&b);
	}
}

static void code_of_an_object_file_is_told_apart_by_its_sections(void **state)
{
	struct tenon_slice file;
	struct elf_code code;
	struct elf_file elf;
	uint64_t index = 0, last = 0;
	size_t parts;

	(void)state;
	assert_int_equal(file_map_open(data_file("tvm-0.18/syslib_prefix/lib.o"), &file), 0);
	assert_int_equal(elf_open(&elf, file, "lib.o"), 0);
	for (parts = 0; elf_code(&elf, &index, &code); parts++) {
		assert_true(code.bytes.size);
		assert_in_range(code.bytes.data - file.data, 64, file.size - code.bytes.size);
		assert_true(code.address >> 48 > last);
		last = code.address >> 48;
	}
	assert_true(parts);
	file_map_close(&file);
}

static void a_section_is_found_by_its_name(void **state)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_slice file, bytes;
	struct elf_section names;
	struct elf_file elf;
	char *header;

	(void)state;
	assert_int_equal(file_map_open(data_file("tvm-0.18/syslib_prefix/lib.o"), &file), 0);
	assert_int_equal(tenon_buffer_append(&b, file.data, file.size), 0);
	file_map_close(&file);
	assert_int_equal(elf_open(&elf, slice_of(&b), "lib.o"), 0);
	assert_true(elf_find_section(&elf, ".symtab", &bytes));
	assert_true(bytes.size);
	assert_false(elf_find_section(&elf, ".of-no-section", &bytes));
	/* names that end before the one that is looked for, at the end of the file, in no bytes, and nowhere */
	names = elf_section(&elf, elf.section_names);
	header = b.data + elf.sections.offset + elf.section_names * elf.sections.step;
	assert_true(names.size > 4 && names.size < 256 * 256);
	memset(header + 32, 0, 8);
	header[32] = 4;
	assert_false(elf_find_section(&elf, ".symtab", &bytes));
	memset(header + 32, 0x7f, 8);
	assert_false(elf_find_section(&elf, ".symtab", &bytes));
	header[4] = ELF_SECTION_NOBITS;
	assert_false(elf_find_section(&elf, ".symtab", &bytes));
	elf.section_names = UINT16_MAX;
	assert_false(elf_find_section(&elf, ".symtab", &bytes));
	/* an object file needs its sections */
	memset(b.data + 40, 0x7f, 8);
	assert_int_equal(elf_open(&elf, slice_of(&b), "lib.o"), -TENON_E_TRUNCATED);
	assert_error_has("section headers");
	tenon_buffer_fini(&b);
}

#if defined(__x86_64__)
static void assert_unloadable(const struct tenon_buffer *b, int status, const char *message)
{
	const char *path = scratch_file("unloadable.so");
	char want[2200];

	write_scratch(path, slice_of(b));
	assert_int_equal(elf_check_loadable(path), status);
	snprintf(want, sizeof(want), "%s: %s", path, message);
	assert_error(want);
	unlink(path);
}

static void what_cannot_be_loaded_here_is_said_why(void **state)
{
	struct image i = { .wide = true, .machine = 183, .names = three };
	struct tenon_buffer b = image_of(&i);

	(void)state;
	assert_unloadable(
		&b, -TENON_E_FORMAT,
		"made for aarch64 (64-bit, little-endian), this program runs on x86-64 "
		"(64-bit, little-endian); export the module for this machine, or inspect it only");
	tenon_buffer_fini(&b);
	i.wide = false;
	i.machine = 3;
	b = image_of(&i);
	assert_unloadable(
		&b, -TENON_E_FORMAT,
		"made for x86 (32-bit, little-endian), this program runs on x86-64 "
		"(64-bit, little-endian); export the module for this machine, or inspect it only");
	tenon_buffer_fini(&b);
	i.wide = true;
	i.machine = 62;
	b = image_of(&i);
	b.data[16] = 1;
	assert_unloadable(&b, -TENON_E_FORMAT,
			  "an object file, want a shared object; link it with cc -shared");
	b.data[16] = 2;
	assert_unloadable(
		&b, -TENON_E_FORMAT,
		"a program, want a module; a module is a shared object that TVM writes with "
		"export_library()");
	b.data[16] = 4;
	assert_unloadable(&b, -TENON_E_FORMAT, "an ELF file of type 4, want a shared object");
	/* the machine's other byte order, and its other size of addresses */
	tenon_buffer_fini(&b);
	i.big = true;
	b = image_of(&i);
	assert_unloadable(
		&b, -TENON_E_FORMAT,
		"made for x86-64 (64-bit, big-endian), this program runs on x86-64 "
		"(64-bit, little-endian); export the module for this machine, or inspect it only");
	tenon_buffer_fini(&b);
	i.big = i.wide = false;
	b = image_of(&i);
	assert_unloadable(
		&b, -TENON_E_FORMAT,
		"made for x86-64 (32-bit, little-endian), this program runs on x86-64 "
		"(64-bit, little-endian); export the module for this machine, or inspect it only");
	tenon_buffer_fini(&b);
}

static void a_library_that_is_missing_is_named(void **state)
{
	static const char *const names[] = { "f", "libno-such-library.so.7", NULL };
	struct image i = { .wide = true, .machine = 62, .names = names };
	struct tenon_buffer b = image_of(&i);
	const char *path = scratch_file("needs.so");
	char want[2200];

	(void)state;
	/* in place of the string table's size, which then is that of the segment */
	b.data[IMAGE_DYNAMIC + 64] = 1;
	b.data[IMAGE_DYNAMIC + 72] = 3;
	write_scratch(path, slice_of(&b));
	assert_int_equal(elf_check_loadable(path), -TENON_E_NOT_FOUND);
	snprintf(want, sizeof(want),
		 "%s: needs the library libno-such-library.so.7, which cannot be loaded (", path);
	assert_error_has(want);
	unlink(path);
	tenon_buffer_fini(&b);
}

static void a_program_is_no_module(void **state)
{
	(void)state;
	assert_int_equal(elf_check_loadable("/proc/self/exe"), -TENON_E_FORMAT);
	assert_error_has("/proc/self/exe: a program, want a module");
}

static void nothing_is_wrong_with_a_library_that_loads(void **state)
{
	Dl_info info;

	(void)state;

	assert_int_equal(elf_check_loadable(data_file("tvm-0.18/host_vecadd/lib.so")), 0);
	/* one that needs others, which are there */
	assert_int_not_equal(dladdr((void *)(uintptr_t)_cmocka_run_group_tests, &info), 0);
	if (strstr(info.dli_fname, "cmocka.so"))
		assert_int_equal(elf_check_loadable(info.dli_fname), 0);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_of_any_machine_are_found),
		cmocka_unit_test(machines_have_names),
		cmocka_unit_test(a_file_cut_anywhere_is_refused_or_read_within_its_bytes),
		cmocka_unit_test(any_changed_byte_is_survived),
		cmocka_unit_test(a_segment_behind_the_end_is_named),
		cmocka_unit_test(a_file_without_the_magic_number_is_refused),
		cmocka_unit_test(a_name_without_an_end_is_none),
		cmocka_unit_test(a_symbol_without_bytes_in_the_file_is_named),
		cmocka_unit_test(a_hash_table_at_the_end_of_its_segment_has_no_symbols),
		cmocka_unit_test(an_object_file_has_symbols_too),
		cmocka_unit_test(code_without_a_section_is_that_of_its_segments),
		cmocka_unit_test(code_of_an_object_file_is_told_apart_by_its_sections),
		cmocka_unit_test(a_section_is_found_by_its_name),
#if defined(__x86_64__)
		cmocka_unit_test(what_cannot_be_loaded_here_is_said_why),
		cmocka_unit_test(a_library_that_is_missing_is_named),
		cmocka_unit_test(a_program_is_no_module),
		cmocka_unit_test(nothing_is_wrong_with_a_library_that_loads),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
