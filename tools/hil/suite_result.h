/* SPDX-License-Identifier: MIT */
/* What a suite printed, as results. */
#ifndef TOOLS_HIL_SUITE_RESULT_H
#define TOOLS_HIL_SUITE_RESULT_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/buffer.h>

/* most cases of a suite */
#define CASES_MOST 100000

/**
 * enum verdict - how a case or a suite ended
 * @VERDICT_PASS: passed
 * @VERDICT_SKIP: the suite left it out and said why
 * @VERDICT_FAIL: failed
 * @VERDICT_TIMEOUT: stopped at its deadline on a board that still answers: a failure
 * @VERDICT_UNABLE: could not run: a missing file, a program for another machine
 * @VERDICT_ERROR: no verdict, because the board or the connection to it broke
 */
enum verdict {
	VERDICT_PASS,
	VERDICT_SKIP,
	VERDICT_FAIL,
	VERDICT_TIMEOUT,
	VERDICT_UNABLE,
	VERDICT_ERROR,
};

/**
 * struct suite_case - a case
 * @name: its name, printable
 * @verdict: how it ended
 * @text: the reason of a skip, or what was printed before a failure; may be NULL
 */
struct suite_case {
	char *name;
	enum verdict verdict;
	char *text;
};

/**
 * struct suite_ending - how the program ended
 * @status: exit status, or 128 and a signal's number
 * @stopped: it was stopped at its deadline
 * @deadline: that deadline in seconds
 */
struct suite_ending {
	int status;
	bool stopped;
	int64_t deadline;
};

/**
 * struct suite_result - a suite's results
 * @verdict: of the suite
 * @reason: why it is not VERDICT_PASS; may be NULL
 * @cases: its cases
 * @count: how many
 * @truncated: there were more than CASES_MOST
 * @seconds: run time
 * @attempts: how often it was started
 * @sha256: of the program; "" if unknown
 */
struct suite_result {
	enum verdict verdict;
	char *reason;
	struct suite_case *cases;
	size_t count;
	bool truncated;
	double seconds;
	unsigned int attempts;
	char sha256[65];
};

/**
 * suite_result_read - read a suite's output: TAP, KTAP, or anything else
 * @output: what it printed, untrusted
 * @ending: how it ended
 * @out: receives verdict, reason and cases
 *
 * TAP must have a plan and keep it. Output without TAP is a single case, by the exit status: 0
 * passed, 77 and 4 skipped, 126 and 127 unable to run.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int suite_result_read(struct tenon_slice output, const struct suite_ending *ending,
		      struct suite_result *out);

/**
 * suite_result_set - set verdict and reason; drops the cases
 *
 * Return: 0; -TENON_E_NOMEM, with the verdict set, the cases dropped, and no reason.
 */
int suite_result_set(struct suite_result *result, enum verdict verdict, const char *format, ...)
	TENON_PRINTF(3, 4);

/** suite_result_fini - free what a result holds */
void suite_result_fini(struct suite_result *result);

/** suite_result_count - the number of cases with a verdict */
size_t suite_result_count(const struct suite_result *result, enum verdict verdict);

/** verdict_name - "pass", "skip", "fail", "timeout", "unable", "error" */
const char *verdict_name(enum verdict verdict);

#endif /* TOOLS_HIL_SUITE_RESULT_H */
