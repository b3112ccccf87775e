/* SPDX-License-Identifier: MIT */
/* Text of strangers on a terminal: names in files, replies of models, messages that quote them. */
#include "suite.h"

#include <stdio.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "tools/text/text.h"

static char text[256];

static FILE *stream(void)
{
	FILE *f = fmemopen(memset(text, 0, sizeof(text)), sizeof(text), "w");

	assert_non_null(f);
	return f;
}

static void assert_cell(const char *from, const char *to)
{
	struct tenon_buffer out = TENON_BUFFER_INIT;
	FILE *f = stream();

	printable_cell(tenon_slice_of(from), 0, f);
	fclose(f);
	assert_string_equal(text, to);
	printable_append(&out, tenon_slice_of(from), 200);
	assert_int_equal(out.size, strlen(to));
	assert_memory_equal(out.data, to, out.size);
	tenon_buffer_fini(&out);
}

static void controls_of_a_terminal_are_replaced(void **state)
{
	(void)state;
	assert_cell("a\033[31mb\r\a\177\n", "a?[31mb????");
	/* C1: as characters, and as the bytes that terminals of 8 bits obey */
	assert_cell("a\302\233b\302\205\302\240", "a?b?\302\240");
	assert_cell("a\233b", "a?b");
}

static void characters_that_turn_the_direction_round_are_replaced(void **state)
{
	(void)state;
	assert_cell("\xe2\x80\xae"
		    "txt.exe",
		    "?txt.exe");
	assert_cell(
		"\xe2\x80\xaa\xe2\x80\xad\xe2\x81\xa6\xe2\x81\xa9\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c",
		"???????");
	assert_cell("\xe2\x80\xa8\xef\xbb\xbf\xf3\xa0\x80\xa1", "???");
}

static void what_is_no_utf8_is_replaced_byte_by_byte(void **state)
{
	(void)state;
	assert_cell("a\xff\xc0\x80z", "a???z");
	/* cut off at the end */
	assert_cell("a\xe2\x82", "a??");
	/* a surrogate */
	assert_cell("\xed\xa0\x80", "???");
}

static void letters_of_all_languages_stay(void **state)
{
	static const char words[] = "größe 重み вес ‘’ … é 👩‍👩‍👧";

	(void)state;
	assert_cell(words, words);
	assert_int_equal(printable_width("größe"), 5);
}

static void lines_and_tabs_stay_in_messages(void **state)
{
	FILE *f = stream();

	(void)state;
	printable_print("a\n\tb\033\xe2\x80\xae", f);
	fclose(f);
	assert_string_equal(text, "a\n\tb??");
}

static void a_name_cannot_begin_a_line(void **state)
{
	FILE *f = stream();

	(void)state;
	printable_format(f, "%s: %d faults\n", "a\nb", 2);
	printable_format(f, "%s\t", "c\n");
	printable_message("; d\ne\n", f);
	fclose(f);
	assert_string_equal(text, "a?b: 2 faults\nc??; d\n  e\n  ");
}

static void a_text_is_not_cut_inside_a_character(void **state)
{
	struct tenon_buffer out = TENON_BUFFER_INIT;

	(void)state;
	printable_append(&out, tenon_slice_of("aößb"), 2);
	tenon_buffer_u8(&out, 0);
	assert_string_equal(out.data, "a…");
	tenon_buffer_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(controls_of_a_terminal_are_replaced),
		cmocka_unit_test(characters_that_turn_the_direction_round_are_replaced),
		cmocka_unit_test(what_is_no_utf8_is_replaced_byte_by_byte),
		cmocka_unit_test(letters_of_all_languages_stay),
		cmocka_unit_test(lines_and_tabs_stay_in_messages),
		cmocka_unit_test(a_name_cannot_begin_a_line),
		cmocka_unit_test(a_text_is_not_cut_inside_a_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
