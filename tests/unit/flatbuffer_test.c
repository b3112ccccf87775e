/* SPDX-License-Identifier: MIT */
/* FlatBuffers that are cut, or that lead out of their bytes. */
#include "suite.h"

#include "lib/flatbuffer.h"

static struct tenon_cursor file_of(const void *bytes, size_t size)
{
	return tenon_cursor_of(bytes, size, "f", 0);
}

/* a table of 8 bytes with one field, a number; its vtable stands before it */
static const uint8_t small[] = { 12, 0, 0, 0,		  /* the root */
				 6,  0, 8, 0, 4, 0, 0, 0, /* vtable: sizes, the field at 4 */
				 8,  0, 0, 0, 7, 0, 0, 0 };

static void a_file_may_be_cut_anywhere(void **state)
{
	struct flatbuffer_table t;
	uint64_t number;

	(void)state;
	for (size_t size = 0; size <= sizeof(small); size++) {
		const struct tenon_cursor file = file_of(small, size);
		int err = flatbuffer_root(&file, &t);

		if (size < sizeof(small)) {
			assert_true(err < 0);
			assert_error_has("f");
			continue;
		}
		assert_int_equal(err, 0);
		assert_int_equal(flatbuffer_number(&t, 0, 4, 9, &number), 0);
		assert_int_equal(number, 7);
		assert_int_equal(flatbuffer_number(&t, 1, 4, 9, &number), 0);
		assert_int_equal(number, 9);
		/* more than its table has */
		assert_int_equal(flatbuffer_number(&t, 0, 8, 9, &number), -TENON_E_FORMAT);
		assert_error_has("field 0, of 8 bytes, begins 4 bytes into a table of 8");
		assert_int_equal(number, 9);
	}
}

static void offsets_lead_into_the_file(void **state)
{
	static const struct {
		size_t at;
		uint8_t value;
	} changes[] = { { 0, 255 }, { 3, 255 }, { 4, 3 },   { 4, 7 },
			{ 6, 3 },   { 6, 9 },	{ 12, 13 }, { 15, 0x80 } };

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		uint8_t bytes[sizeof(small)];
		struct tenon_cursor file;
		struct flatbuffer_table t;

		memcpy(bytes, small, sizeof(small));
		bytes[changes[i].at] = changes[i].value;
		file = file_of(bytes, sizeof(bytes));
		if (flatbuffer_root(&file, &t) >= 0)
			fail_msg("taken: byte %zu as %u", changes[i].at, changes[i].value);
		assert_error_has("f");
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_may_be_cut_anywhere),
		cmocka_unit_test(offsets_lead_into_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
