/* SPDX-License-Identifier: MIT */
/* tenon prints, as text and as JSON, which extensions of the processor host code needs. */
#include "tests/unit/suite.h"

#include <stdio.h>
#include <stdlib.h>

#include "tools/host_code/code_text.h"
#ifdef CONFIG_JSON
#include "tools/json/json_value.h"
#endif

static const struct tenon_link_extension avx2 = {
	.name = "avx2", .level = "", .function = "main", .functions = 1, .missing = true
};
static const struct tenon_link_extension fma = {
	.name = "fma", .level = "", .function = "a\033b", .functions = 2, .missing = true
};
static const struct tenon_link_extension bmi2 = { .name = "bmi2", .level = "", .function = "" };
static const struct tenon_link_extension avx512 = {
	.name = "avx512f", .level = "x86-64-v4", .function = "", .functions = 3, .missing = true
};
static const struct tenon_link_extension *const all[] = { &avx2, &fma, &bmi2, &avx512 };

#define PROCESSOR .size = sizeof(struct tenon_link_processor), .machine = "x86-64", .known = true

/* each kind of answer, and a part of it as text and as JSON; NULL: the JSON is not looked at */
static const struct {
	struct tenon_link_processor processor;
	const char *text, *json;
} cases[] = {
	{ { .size = sizeof(struct tenon_link_processor), .machine = "s390x" },
	  "host code: the instructions of s390x are not known here\n",
	  "\"known\":\tfalse" },
	{ { PROCESSOR, .needs = "x86-64", .has = "x86-64-v3" },
	  "host code: needs x86-64\n",
	  "\"extensions\":\t[]" },
	{ { PROCESSOR, .needs = "x86-64", .has = "", .code = 100, .unknown = 7 },
	  "host code: 7 of 100 bytes are no instructions that are known here",
	  "\"unknown\":\t7" },
	{ { PROCESSOR, .needs = "x86-64-v3", .has = "x86-64-v2", .extensions = all,
	    .extension_count = 3, .missing = 2 },
	  "host code: needs x86-64-v3 (avx2 fma bmi2)\n"
	  "warning: this machine has x86-64-v2 and lacks avx2 (1 function: main), fma (2 "
	  "functions, "
	  "the first: a?b). Here they end the process (SIGILL): compile for x86-64-v2 ",
	  "\"missing\":\t2" },
	{ { PROCESSOR, .needs = "x86-64-v3", .has = "x86-64-v3", .extensions = all,
	    .extension_count = 4, .missing = 1, .chooses = true },
	  "; other code where the machine has x86-64-v4 (avx512f)\nnote: this machine has "
	  "x86-64-v3",
	  "\"level\":\t\"x86-64-v4\"" },
	{ { PROCESSOR, .needs = "x86-64", .has = "x86-64-v3", .extensions = all + 3,
	    .extension_count = 1, .missing = 1, .chooses = true },
	  "host code: needs x86-64; other code where the machine has x86-64-v4 (avx512f)\n",
	  "\"chooses\":\ttrue" },
};

static void assert_part(const char *text, const char *part)
{
	if (!strstr(text, part))
		print_error("expected: %s\nfound:    %s\n", part, text);
	assert_non_null(strstr(text, part));
}

static void each_answer_says_what_is_needed_and_what_is_lacking(void **state)
{
	size_t i, size;
	char *text;
	FILE *out;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		out = open_memstream(&text, &size);
		assert_non_null(out);
		code_text(&cases[i].processor, out);
		fclose(out);
		assert_part(text, cases[i].text);
		free(text);
#ifdef CONFIG_JSON
		out = open_memstream(&text, &size);
		assert_non_null(out);
		assert_int_equal(json_print(code_json(&cases[i].processor), out), 0);
		fclose(out);
		assert_part(text, cases[i].json);
		free(text);
#endif
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_answer_says_what_is_needed_and_what_is_lacking),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
