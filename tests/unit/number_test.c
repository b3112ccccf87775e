/* SPDX-License-Identifier: MIT */
/* Numbers in files and protocols, in a program whose language has a comma in its numbers. */
#include "suite.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/number.h"
#include "tools/tensor/element.h"

#ifdef CONFIG_REMOTE
#include "rpc/tracker/tracker_message.h"
#include "rpc/wire/handshake.h"
#endif

static bool comma;

/* Make a German locale, where localedef and its sources are. */
static int speak_german(void **state)
{
	const char *tmp = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
	char folder[300], command[800];

	(void)state;
	snprintf(folder, sizeof(folder), "%s/tenon-locale-XXXXXX", tmp);
	if (!mkdtemp(folder))
		return -1;
	snprintf(command, sizeof(command),
		 "localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' > /dev/null 2>&1", folder);
	setenv("LOCPATH", folder, 1);
	if (!system(command) && setlocale(LC_ALL, "de_DE.UTF-8"))
		comma = !strcmp(localeconv()->decimal_point, ",");
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	return system(command) ? -1 : 0;
}

static void needs_a_comma(void)
{
	if (comma)
		return;
	print_message("no locale with a comma can be made here: localedef or its sources are "
		      "missing, or the C library has none\n");
	skip();
}

static void numbers_have_a_point(void **state)
{
	static const struct {
		const char *text;
		double value;
		size_t size;
	} cases[] = {
		{ "1.5", 1.5, 3 },	  { "1,5", 1, 1 },     { "-2.25e-1]", -0.225, 8 },
		{ ".5 ", 0.5, 2 },	  { "1.2.3", 1.2, 3 }, { "7", 7, 1 },
		{ "-inf", -INFINITY, 4 }, { "0x1.8p1", 3, 7 }, { "", 0, 0 },
		{ " 1", 0, 0 },		  { "none", 0, 0 },    { "12.", 12, 3 },
		{ "1e5,2", 1e5, 3 },	  { "1:", 1, 1 },      { "1[", 1, 1 },
		{ "1{", 1, 1 },		  { "0X1P3/", 8, 5 },
	};
	const char *end;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(number_read(cases[i].text, &end) == cases[i].value);
		assert_int_equal(end - cases[i].text, cases[i].size);
		assert_true(number_read_float(cases[i].text, &end) == (float)cases[i].value);
		assert_int_equal(end - cases[i].text, cases[i].size);
	}
}

static void printed_numbers_have_a_point(void **state)
{
	char text[NUMBER_ROOM];

	(void)state;
	assert_string_equal(number_print(text, 6, 1.5), "1.5");
	assert_string_equal(number_print(text, 6, -1e-7), "-1e-07");
	assert_string_equal(number_print(text, 17, -1.7976931348623157e308),
			    "-1.7976931348623157e+308");
	assert_string_equal(number_print(text, 6, 100), "100");
	assert_string_equal(number_print(text, 6, INFINITY), "inf");
}

static void a_long_number_is_no_number(void **state)
{
	char text[1200];
	const char *end;

	(void)state;
	memset(text, '1', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_true(number_read(text, &end) == 0);
	assert_ptr_equal(end, text);
}

static void all_that_is_read_and_printed_has_a_point(void **state)
{
	needs_a_comma();
	assert_true(strtod("1.5", NULL) == 1);
	numbers_have_a_point(state);
	printed_numbers_have_a_point(state);
}

static void elements_of_tensors_are_read_and_printed_with_a_point(void **state)
{
	const DLDataType f32 = tenon_dtype(TENON_DTYPE_FLOAT, 32, 1);
	char text[ELEMENT_TEXT];
	struct element e;

	(void)state;
	needs_a_comma();
	assert_int_equal(element_parse("2.5", 3, f32, &e), 0);
	assert_true(element_real(&e) == 2.5);
	assert_string_equal(element_text(&e, f32, 0, text), "2.5");
}

#ifdef CONFIG_REMOTE
static void messages_of_the_tracker_and_handshakes_have_a_point(void **state)
{
	static const char key[] = "client:board -timeout=1.5";
	struct handshake h = { .size = 8 + sizeof(key) - 1 };
	struct handshake_client client;
	struct tracker_message m;

	(void)state;
	needs_a_comma();
	assert_int_equal(tracker_message_read(tenon_slice_of("[4, \"key\", \"user\", 2.5]"), &m),
			 0);
	assert_true(m.priority == 2.5);
	tracker_message_fini(&m);
	memcpy(h.bytes + 8, key, sizeof(key) - 1);
	assert_true(handshake_parse(&h, &client));
	assert_int_equal(client.timeout_ms, 1500);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_have_a_point),
		cmocka_unit_test(printed_numbers_have_a_point),
		cmocka_unit_test(a_long_number_is_no_number),
	};
	const struct CMUnitTest german[] = {
		cmocka_unit_test(all_that_is_read_and_printed_has_a_point),
		cmocka_unit_test(elements_of_tensors_are_read_and_printed_with_a_point),
#ifdef CONFIG_REMOTE
		cmocka_unit_test(messages_of_the_tracker_and_handshakes_have_a_point),
#endif
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	return failed + cmocka_run_group_tests(german, speak_german, NULL);
}
