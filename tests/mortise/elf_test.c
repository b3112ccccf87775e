/* SPDX-License-Identifier: MIT */
/* Read and relocate device code: good files run, and no changed or missing byte goes unchecked. */
#include <stdio.h>
#include <stdlib.h>

#include <tenon/backend/buffer.h>
#include <tenon/uapi/mortise_kernel.h>

#include "devices/mortise/mortise_payload.h"
#include "lib/file_map.h"
#include "tests/unit/suite.h"

static struct tenon_slice good;
static uint8_t *copy;

static int read_good(void **unused)
{
	char path[4096];

	(void)unused;
	snprintf(path, sizeof(path), "%s/device/host/tests/mortise/kernels.elf",
		 getenv("TENON_BUILD"));
	if (file_map_open(path, &good))
		return -1;
	copy = malloc(good.size);
	return copy ? 0 : -1;
}

static int drop_good(void **unused)
{
	(void)unused;
	file_map_close(&good);
	free(copy);
	return 0;
}

static struct tenon_slice fresh(void)
{
	memcpy(copy, good.data, good.size);
	return (struct tenon_slice){ (const char *)copy, good.size };
}

/* Everything that a loader does with an image. */
static int use(struct tenon_slice bytes)
{
	struct mortise_elf_kernel k;
	struct mortise_elf elf;
	uint8_t *image;
	uint32_t i;
	int err = mortise_elf_read(bytes, "image", &elf);

	if (err)
		return err;
	for (i = 0; i < elf.entry_count && !err; i++)
		err = mortise_elf_kernel(&elf, i, &k);
	if (err)
		return err;
	image = malloc(elf.size);
	assert_non_null(image);
	err = mortise_elf_place(&elf, elf.address + 16 * elf.align, image);
	free(image);
	return err;
}

static void an_image_has_its_kernels_and_moves(void **unused)
{
	struct mortise_elf_kernel k;
	struct mortise_elf elf;
	uint64_t before, after;
	size_t entry;
	uint8_t *image;
	uint32_t i;

	(void)unused;
	assert_int_equal(mortise_elf_read(fresh(), "image", &elf), 0);
	assert_int_equal(elf.entry_count, 3);
	/* compilers order the table as they like */
	for (i = 0; i < elf.entry_count; i++) {
		assert_int_equal(mortise_elf_kernel(&elf, i, &k), 0);
		if (k.name.size == 5)
			break;
	}
	assert_slice(k.name, "count");
	assert_slice(k.types, "handle");
	image = malloc(elf.size);
	assert_non_null(image);
	/* the table of functions is part of the image, and its addresses move with it */
	assert_int_equal(mortise_elf_place(&elf, elf.address + elf.align, image), 0);
	for (entry = 0; entry + 8 <= elf.size && memcmp(image + entry, "count", 6); entry++)
		;
	assert_true(entry + sizeof(struct mortise_entry) <= elf.size);
	memcpy(&after, image + entry + offsetof(struct mortise_entry, function), 8);
	before = k.function;
	assert_int_equal(after, before + elf.align);
	free(image);
}

static void every_byte_may_be_wrong(void **unused)
{
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	size_t i, v, refused = 0;

	(void)unused;
	fresh();
	/* headers whole, the rest in steps */
	for (i = 0; i < good.size; i += i < 256 || i + 2048 > good.size ? 1 : 7) {
		uint8_t was = copy[i];

		for (v = 0; v < sizeof(values); v++) {
			copy[i] = values[v];
			if (use((struct tenon_slice){ (const char *)copy, good.size })) {
				refused++;
				tenon_error_clear();
			}
		}
		copy[i] = was;
	}
	assert_true(refused > 100);
	assert_int_equal(use(fresh()), 0);
}

static void every_length_may_be_cut(void **unused)
{
	size_t size;

	(void)unused;
	for (size = 0; size < good.size; size += size < 512 ? 1 : 13) {
		/* in memory of its own, so that a sanitizer sees what lies behind */
		char *part = malloc(size ? size : 1);

		assert_non_null(part);
		memcpy(part, good.data, size);
		assert_true(use((struct tenon_slice){ part, size }) < 0);
		tenon_error_clear();
		free(part);
	}
}

static void set(size_t at, uint64_t value, size_t size)
{
	memcpy(copy + at, &value, size);
}

/* offsets in a header of 64 bits, and of its first program header */
#define E_TYPE	  16
#define E_MACHINE 18
#define E_SHOFF	  40
#define E_SHNUM	  60
#define P_VADDR	  (64 + 16)
#define P_FILESZ  (64 + 32)
#define P_MEMSZ	  (64 + 40)
#define P_ALIGN	  (64 + 48)

static void refused(size_t at, uint64_t value, size_t size, int status)
{
	struct tenon_slice bytes = fresh();

	set(at, value, size);
	assert_int_equal(use(bytes), status);
	tenon_error_clear();
}

static void numbers_that_do_not_fit_are_refused(void **unused)
{
	(void)unused;
	refused(E_TYPE, 3, 2, -TENON_E_FORMAT);
	refused(E_MACHINE, 8, 2, -TENON_E_UNSUPPORTED);
	refused(E_SHOFF, UINT64_MAX - 10, 8, -TENON_E_FORMAT);
	refused(E_SHOFF, good.size, 8, -TENON_E_FORMAT);
	refused(E_SHNUM, UINT16_MAX, 2, -TENON_E_FORMAT);
	refused(P_VADDR, UINT64_MAX - 4, 8, -TENON_E_OVERFLOW);
	refused(P_FILESZ, UINT64_MAX, 8, -TENON_E_TRUNCATED);
	refused(P_MEMSZ, UINT64_MAX, 8, -TENON_E_FORMAT);
	refused(P_MEMSZ, MORTISE_IMAGE_MOST + 1, 8, -TENON_E_FORMAT);
	refused(P_ALIGN, 3, 8, -TENON_E_FORMAT);
	refused(P_ALIGN, UINT64_C(1) << 40, 8, -TENON_E_FORMAT);
}

/* ---- Hexagon, of which TVM's code is recorded: 32 bits */

#define E32_SHOFF  32
#define E32_SHNUM  48
#define S32_TYPE   4
#define S32_FLAGS  8
#define S32_ADDR   12
#define S32_OFFSET 16
#define S32_SIZE   20
#define S32_INFO   28
#define S32_STEP   40
#define RELA	   4
#define ALLOCATED  2
#define R_HEX_32   6

static uint32_t word_at(const uint8_t *bytes, size_t at)
{
	uint32_t word;

	memcpy(&word, bytes + at, sizeof(word));
	return word;
}

/* The file, in memory that may be written; to be freed. */
static uint8_t *read_hexagon(struct tenon_slice *bytes)
{
	struct tenon_slice file;
	uint8_t *own;

	assert_int_equal(file_map_open("tests/hexagon/recorded/operators.mortise", &file), 0);
	own = malloc(file.size);
	assert_non_null(own);
	memcpy(own, file.data, file.size);
	*bytes = (struct tenon_slice){ (const char *)own, file.size };
	file_map_close(&file);
	return own;
}

/* Where in the file the header of a section is that comes with relocations for memory. */
static size_t find_relocations(const uint8_t *file)
{
	size_t headers = word_at(file, E32_SHOFF), s;
	uint32_t i, count = word_at(file, E32_SHNUM) & 0xffff;

	for (i = 0; i < count; i++) {
		s = headers + i * S32_STEP;
		if (word_at(file, s + S32_TYPE) == RELA &&
		    (word_at(file, headers + word_at(file, s + S32_INFO) * S32_STEP + S32_FLAGS) &
		     ALLOCATED))
			return s;
	}
	fail_msg("no relocations");
	return 0;
}

/* The first relocation of the file becomes one of @type for the first word of the image. */
static void replace_relocation(uint8_t *file, const struct mortise_elf *elf, uint8_t type)
{
	size_t entry = word_at(file, find_relocations(file) + S32_OFFSET);
	uint32_t place = (uint32_t)elf->address;

	memcpy(file + entry, &place, sizeof(place));
	file[entry + 4] = type;
}

static int place_at(const struct mortise_elf *elf, uint64_t distance, uint8_t **image)
{
	int err;

	*image = malloc(elf->size);
	assert_non_null(*image);
	err = mortise_elf_place(elf, elf->address + distance, *image);
	if (err) {
		free(*image);
		*image = NULL;
	}
	return err;
}

/* What moving by @distance makes of the first word of the image, with a relocation of @type there. */
static uint32_t moved(uint8_t type, uint32_t word, uint64_t distance)
{
	struct tenon_slice bytes;
	struct mortise_elf elf;
	uint8_t *file = read_hexagon(&bytes), *image;

	assert_int_equal(mortise_elf_read(bytes, "image", &elf), 0);
	replace_relocation(file, &elf, type);
	memcpy(file + elf.segments[0].offset, &word, sizeof(word));
	assert_int_equal(place_at(&elf, distance, &image), 0);
	word = word_at(image, 0);
	free(image);
	free(file);
	return word;
}

static void addresses_of_hexagon_move_in_all_their_forms(void **unused)
{
	(void)unused;
	/* a word */
	assert_int_equal(moved(R_HEX_32, 0x1234, 0x40000000), 0x40001234);
	/* { immext(#0x12345640) }, whose number is in two fields, becomes { immext(#0x52345640) } */
	assert_int_equal(moved(17, 0x01235159, 0x40000000), 0x05235159);
	/* a carry out of the lower field */
	assert_int_equal(moved(17, 0x00007fff, 0x40), 0x00014000);
	/* the lower bits, and what counts from the instruction, stay */
	assert_int_equal(moved(30, 0x78004000, 0x40000000), 0x78004000);
	assert_int_equal(moved(65, 0x78004000, 0x40000000), 0x78004000);
	assert_int_equal(moved(1, 0x5a004000, 0x40000000), 0x5a004000);
}

static void relocations_of_hexagon_that_cannot_move_are_refused_by_number(void **unused)
{
	/* GPREL16_0; LO16; the dynamic linker's; of threads; past the last */
	static const uint8_t types[] = { 9, 4, 5, 32, 35, 63, 72, 94, 255 };
	struct tenon_slice bytes;
	struct mortise_elf elf;
	uint8_t *file, *image;
	char text[32];
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(types); i++) {
		file = read_hexagon(&bytes);
		assert_int_equal(mortise_elf_read(bytes, "image", &elf), 0);
		replace_relocation(file, &elf, types[i]);
		assert_int_equal(place_at(&elf, 64, &image), -TENON_E_UNSUPPORTED);
		snprintf(text, sizeof(text), "relocation %u ", types[i]);
		assert_error_has(text);
		free(file);
	}
}

static void the_table_of_addresses_of_hexagon_moves(void **unused)
{
	struct tenon_slice bytes;
	struct mortise_elf elf;
	uint8_t *file = read_hexagon(&bytes), *image;
	uint64_t i;

	(void)unused;
	assert_int_equal(mortise_elf_read(bytes, "image", &elf), 0);
	assert_true(elf.got_size >= 8);
	assert_int_equal(place_at(&elf, 0x10000, &image), 0);
	for (i = 0; i < elf.got_size; i += 4) {
		uint32_t word = word_at(image, elf.got_address - elf.address + i);

		assert_true(word >= 0x10000 && word < 0x10000 + elf.address + elf.size);
	}
	free(image);
	free(file);
}

static void a_table_of_addresses_outside_the_image_is_refused(void **unused)
{
	static const uint32_t wrong[] = { 0x7ffffffc, 0xfffffffc, 6 };
	struct tenon_slice bytes;
	struct mortise_elf elf;
	uint8_t *file = read_hexagon(&bytes);
	uint32_t i, count = word_at(file, E32_SHNUM) & 0xffff, j;

	(void)unused;
	assert_int_equal(mortise_elf_read(bytes, "image", &elf), 0);
	for (i = 0; i < count; i++) {
		size_t s = word_at(file, E32_SHOFF) + i * S32_STEP;
		uint32_t size = word_at(file, s + S32_SIZE);

		if (word_at(file, s + S32_ADDR) != elf.got_address || size != elf.got_size)
			continue;
		for (j = 0; j < 3; j++) {
			memcpy(file + s + S32_SIZE, &wrong[j], 4);
			assert_int_equal(mortise_elf_read(bytes, "image", &elf), -TENON_E_FORMAT);
			assert_error_has(".got");
		}
		memcpy(file + s + S32_SIZE, &size, 4);
	}
	assert_int_equal(mortise_elf_read(bytes, "image", &elf), 0);
	free(file);
}

/* ---- payloads of several images */

static void the_image_of_the_machine_is_found(void **unused)
{
	static const uint32_t machines[] = { MORTISE_MACHINE_RISCV, MORTISE_MACHINE_AARCH64 };
	struct tenon_buffer code = TENON_BUFFER_INIT;
	struct mortise_elf elf;
	size_t i;

	(void)unused;
	tenon_buffer_u64(&code, 2);
	for (i = 0; i < 2; i++) {
		struct tenon_slice bytes = fresh();

		set(E_MACHINE, machines[i], 2);
		tenon_buffer_string(&code, bytes);
	}
	assert_int_equal(mortise_payload_image((struct tenon_slice){ code.data, code.size }, "m",
					       MORTISE_MACHINE_AARCH64, true, &elf),
			 0);
	assert_int_equal(elf.file.machine, MORTISE_MACHINE_AARCH64);
	assert_int_equal(mortise_payload_image((struct tenon_slice){ code.data, code.size }, "m",
					       MORTISE_MACHINE_RISCV, false, &elf),
			 -TENON_E_UNSUPPORTED);
	assert_error_has("no image for riscv32; it has code for: riscv64, aarch64");
	for (i = 0; i < code.size; i += 5) {
		if (mortise_payload_image((struct tenon_slice){ code.data, i }, "m",
					  MORTISE_MACHINE_ARM, false, &elf))
			tenon_error_clear();
		else
			fail();
	}
	tenon_buffer_fini(&code);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_image_has_its_kernels_and_moves),
		cmocka_unit_test(every_byte_may_be_wrong),
		cmocka_unit_test(every_length_may_be_cut),
		cmocka_unit_test(numbers_that_do_not_fit_are_refused),
		cmocka_unit_test(addresses_of_hexagon_move_in_all_their_forms),
		cmocka_unit_test(relocations_of_hexagon_that_cannot_move_are_refused_by_number),
		cmocka_unit_test(the_table_of_addresses_of_hexagon_moves),
		cmocka_unit_test(a_table_of_addresses_outside_the_image_is_refused),
		cmocka_unit_test(the_image_of_the_machine_is_found),
	};

	return cmocka_run_group_tests(tests, read_good, drop_good);
}
