/* SPDX-License-Identifier: MIT */
/*
 * "tenon hil run" with this machine as the board, where an allocation of its processes fails, or a call of theirs to the system: each 9th
 * of them in the full tier, else each 27th. It ends with the results of the undisturbed run, or with a code for failures and a reason, and a
 * suite passed only if it ran.
 */
#include "tests/unit/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/nomem/deeds.h"
#include "tests/nomem/failing_calls.h"
#include "tests/nomem/failing_malloc.h"
#include "tools/commands.h"

/* of all processes of a run */
static struct counts {
	atomic_long allocations, calls;
} * counts;

#define SUITES 4 /* with the board; a signal ends the last one */

static char folder[3000], target[3100], results[3100], report[3200], suites[SUITES - 1][3100];

/* ---- what the results say */

static bool has(const char *text, const char *what)
{
	return strstr(text, what) != NULL;
}

static void read_file(const char *path, char *text, size_t room)
{
	FILE *f = fopen(path, "re");
	size_t size = f ? fread(text, 1, room - 1, f) : 0;

	if (f)
		fclose(f);
	text[size] = '\0';
}

/* Return: the line on a suite; NULL where there is none */
static const char *line_on(const char *ktap, int suite)
{
	char passed[24], failed[24];
	const char *line;

	snprintf(passed, sizeof(passed), "\nok %d ", suite);
	snprintf(failed, sizeof(failed), "\nnot ok %d ", suite);
	line = strstr(ktap, passed);
	line = line ? line : strstr(ktap, failed);
	return line ? line + 1 : NULL;
}

static bool line_has(const char *line, const char *what)
{
	return line && memmem(line, strcspn(line, "\n"), what, strlen(what)) != NULL;
}

/* the results as they are where nothing fails; the first suite is the board */
static bool is_undisturbed(const char *ktap)
{
	return has(ktap, "\nok 1 board\n") && has(ktap, "  ok 1 fine\n") &&
	       has(ktap, "  not ok 2 bad\n") && has(ktap, "  ok 3 absent # SKIP no device\n") &&
	       has(ktap, "\nnot ok 2 ") && has(ktap, "/plain\n") && has(ktap, "\nok 3 ") &&
	       has(ktap, "/dies\n") && has(ktap, "\nnot ok 4 ") && !has(ktap, "# ERROR");
}

/* Do the results say of a suite that it did not run, or not to its end? */
static bool has_a_fault(const char *ktap)
{
	for (int suite = 1; suite <= SUITES; suite++) {
		const char *line = line_on(ktap, suite);

		if (line_has(line, " # ERROR") || line_has(line, " # SKIP"))
			return true;
	}
	return false;
}

/* Is there a message besides the one that a suite failed? */
static bool says_more(const char *said)
{
	while (line_has(said, ": a suite failed; the results are in ")) {
		said += strcspn(said, "\n");
		said += *said == '\n';
	}
	return *said != '\0';
}

/* Return: whether the results are those of the undisturbed run, or say that they are not */
static bool is_honest(int code, const char *said)
{
	static char ktap[1 << 16];
	const char *died;

	read_file(report, ktap, sizeof(ktap));
	if (code == CLI_DIFFERS && is_undisturbed(ktap))
		return true;
	/* what passed has run, and what a signal ended did not pass */
	if (has(ktap, "/plain\n") && !has(ktap, "  ok 1 all\n"))
		return false;
	died = line_on(ktap, SUITES);
	if (died && !strncmp(died, "ok ", 3) && !line_has(died, " # SKIP"))
		return false;
	if (code == CLI_DIFFERS)
		return has_a_fault(ktap) || says_more(said);
	/* a command that cannot write its report exits with CLI_NO_FILE and prints the reason to the real stderr */
	return code == CLI_NO_FILE || (code && *said);
}

/* ---- a run */

static int run(uint64_t *facts)
{
	char *words[] = { "tenon",  "hil", "run",     "--target", target,    "--out", results,
			  "--seed", "7",   suites[0], suites[1],  suites[2], NULL };
	const int count = (int)(sizeof(words) / sizeof(*words)) - 1;
	FILE *nowhere = fopen("/dev/null", "we"), *err;
	char *said = NULL;
	size_t size;
	int code;

	(void)facts;
	/* of the run before */
	unlink(report);
	failing_malloc_share(&counts->allocations);
	failing_calls_share(&counts->calls);
	err = open_memstream(&said, &size);
	if (!err || !nowhere)
		return tenon_error(-TENON_E_NOMEM, "no memory for a stream");
	code = cli_main(count, words, nowhere, err);
	failing_malloc_stop();
	failing_calls_stop();
	deed_add_requests(0);
	fclose(nowhere);
	fclose(err);
	if (!is_honest(code, said)) {
		fprintf(stderr, "exit status %d, and says: %s\n", code, said);
		abort();
	}
	free(said);
	tenon_error_clear();
	return code == CLI_DIFFERS ? 0 : tenon_error(-TENON_E_NOMEM, "memory or a call");
}

static int write_file(const char *path, const char *text, mode_t mode)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return -1;
	fputs(text, f);
	return fclose(f) || chmod(path, mode);
}

static int make_suites(void)
{
	static const char mixed[] =
		"#!/bin/sh\necho 1..3\necho ok 1 - fine\necho '# 3 is not 4'\necho not ok 2 - bad\n"
		"echo ok 3 - absent '# SKIP no device'\nexit 1\n";
	static const char *const names[] = { "mixed", "plain", "dies" };
	static const char *const texts[] = { mixed, "#!/bin/sh\necho no lines of TAP\n",
					     "#!/bin/sh\nkill -9 $$\n" };
	int err = 0;

	for (size_t i = 0; i < SUITES - 1; i++) {
		snprintf(suites[i], sizeof(suites[i]), "%s/%s", folder, names[i]);
		err |= write_file(suites[i], texts[i], 0755);
	}
	return err;
}

static int make_ready(void **state)
{
	const char *base = getenv("TMPDIR");
	char text[8000];

	snprintf(folder, sizeof(folder), "%s/hil", base ? base : "/tmp");
	snprintf(target, sizeof(target), "%s/target.json", folder);
	snprintf(results, sizeof(results), "%s/results", folder);
	snprintf(report, sizeof(report), "%s/results.ktap", results);
	snprintf(text, sizeof(text),
		 "{ \"board\": { \"name\": \"here\", \"start\": \"true\", \"stop\": \"true\" },\n"
		 "\"build\": { \"command\": \"true\" }, \"reach\": { \"exec\": \"sh -c\", "
		 "\"directory\": \"%.150s/board\" },\n"
		 "\"suites\": { \"plain\": { \"file\": \"%s/plain\", \"deadline\": 20 } } }\n",
		 folder, folder);
	if ((mkdir(folder, 0700) && errno != EEXIST) || make_suites() ||
	    write_file(target, text, 0600))
		return -1;
	setenv("TMPDIR", folder, 1);
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	return counts == MAP_FAILED || deeds_prepare(state);
}

int main(void)
{
	const char *full = getenv("FULL");
	const struct CMUnitTest tests[] = {
		DEED("a_run", run),
		DEED_CALLS("calls_of_a_run", run),
	};

	/* each run takes half a second; most requests are for a report, or for time to pass */
	deeds_step(full && *full ? 9 : 27);
	return cmocka_run_group_tests(tests, make_ready, NULL);
}
