/* SPDX-License-Identifier: MIT */
/* The bytes are how a suite on a board ended, and what it printed: TAP, KTAP, or anything else. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tools/hil/suite_result.h"

/* a case takes 24 bytes beside its name, and their array doubles */
const size_t fuzz_memory_per_byte = 128;

#define STOPPED 0xff

void fuzz_seeds(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		void *context)
{
	static const char tap[] = "\0"
				  "1..5\nok 1 - copies\n# equal: 3\nnot ok 2 - adds\n# at 4\n#\nok "
				  "3 - gpu # SKIP none\n"
				  "not ok 4 later # TODO\nok 5 # SKIP name of cmocka\n";
	static const char ktap[] = "\1KTAP version 1\n1..2\n    1..1\n    ok 1 inner\nok 1 "
				   "outer\nnot ok 2 slow # TIMEOUT\n"
				   "Bail out! no memory\n";
	static const char none[] = "\0"
				   "1..0 # SKIP no device\n";
	static const char other[] = "\x4dloading\nno device of this kind\n";
	static const char stopped[] = "\xff"
				      "1..2\r\nok 1\r\nnot o";

	visit(context, "tap", (struct tenon_slice){ tap, sizeof(tap) - 1 });
	visit(context, "ktap", (struct tenon_slice){ ktap, sizeof(ktap) - 1 });
	visit(context, "none", (struct tenon_slice){ none, sizeof(none) - 1 });
	visit(context, "other", (struct tenon_slice){ other, sizeof(other) - 1 });
	visit(context, "stopped", (struct tenon_slice){ stopped, sizeof(stopped) - 1 });
}

void fuzz_mutate(struct mutant *m)
{
	static const char *const words[] = {
		"\n",
		"\r\n",
		"ok ",
		"not ok ",
		"1..",
		"1..0 # SKIP x\n",
		"#",
		"# SKIP ",
		"# TIMEOUT",
		"# TODO",
		"# ERROR",
		"Bail out!",
		"    ",
		"-",
		"ok 1 - one\n",
		"not ok 2 two\n",
		"999999999",
		"9999999999",
		"\x1b[2J",
		"\xff",
		"1..1\n",
		"0",
		" ",
		"\t",
	};

	if (random_one_in(&m->random, 3))
		mutate_bytes(m);
	else
		mutate_lines(m, words, sizeof(words) / sizeof(words[0]));
}

/* Reports print names and texts as they are. */
static void check_printable(const char *text)
{
	for (; text && *text; text++)
		if (((unsigned char)*text < 0x20 && *text != '\n') || *text == 0x7f)
			abort();
}

static size_t check_cases(const struct suite_result *r)
{
	size_t failures = 0;

	if (r->count > CASES_MOST)
		abort();
	for (size_t i = 0; i < r->count; i++) {
		enum verdict v = r->cases[i].verdict;

		if (v > VERDICT_TIMEOUT || !*r->cases[i].name || strchr(r->cases[i].name, '\n'))
			abort();
		check_printable(r->cases[i].name);
		check_printable(r->cases[i].text);
		failures += v == VERDICT_FAIL || v == VERDICT_TIMEOUT;
	}
	return failures;
}

/* The verdict follows from the cases, and a suite that ended badly never passes. */
static void check_verdict(const struct suite_result *r, const struct suite_ending *ending,
			  size_t failures)
{
	bool failed = r->verdict == VERDICT_FAIL || r->verdict == VERDICT_TIMEOUT;

	if (failed != (failures > 0) || r->verdict > VERDICT_UNABLE)
		abort();
	if (r->verdict == VERDICT_PASS && (ending->stopped || ending->status))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct suite_ending ending = { .deadline = 3 };
	struct suite_result result = { 0 };
	int err;

	if (!size)
		return 0;
	ending.stopped = data[0] == STOPPED;
	ending.status = ending.stopped ? 137 : data[0];
	err = suite_result_read((struct tenon_slice){ (const char *)data + 1, size - 1 }, &ending,
				&result);
	fuzz_check(err);
	if (!err) {
		check_printable(result.reason);
		check_verdict(&result, &ending, check_cases(&result));
	}
	suite_result_fini(&result);
	return 0;
}
