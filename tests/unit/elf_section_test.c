/* SPDX-License-Identifier: MIT */
/* A section is put only into files that have section headers, with names. */
#include "tests/unit/suite.h"

#include "link/module/elf_section.h"
#include "tests/unit/elf_image.h"

static void a_file_whose_sections_have_no_names_takes_no_section(void **state)
{
	static const char *const names[] = { "f", NULL };
	struct image i = { .names = names, .wide = true, .machine = 62, .way = IMAGE_SECTIONS };
	struct tenon_buffer file = image_of(&i), out = TENON_BUFFER_INIT;
	struct elf_file elf;

	(void)state;
	assert_int_equal(elf_open(&elf, (struct tenon_slice){ file.data, file.size }, "image"), 0);
	assert_int_equal(elf.section_names, 0);
	assert_int_equal(elf_put_section(&elf, ".cases", tenon_slice_of("bytes"), &out),
			 -TENON_E_UNSUPPORTED);
	assert_error_has("image: has no section headers");
	tenon_buffer_fini(&out);
	tenon_buffer_fini(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_whose_sections_have_no_names_takes_no_section),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
