/* SPDX-License-Identifier: MIT */
/* What the functions of deeds.h do: a child for each request that fails, and what it must leave behind. */
#include "tests/nomem/deeds.h"

#include "tests/unit/suite.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/nomem/failing_calls.h"
#include "tests/nomem/failing_malloc.h"

/* what a child tells */
static struct told {
	volatile long requests, elsewhere;
	volatile bool has_processes;
	volatile uint64_t facts;
} * told;

/* what fails: allocations, or calls to the system */
struct faults {
	const char *what;
	bool (*work)(void);
	void (*start)(long fails_at);
	long (*stop)(void);
};

static const struct faults allocations = { "allocation", failing_malloc_works, failing_malloc_start,
					   failing_malloc_stop };
static const struct faults calls = { "call", failing_calls_work, failing_calls_start,
				     failing_calls_stop };
static const struct faults *faults = &allocations;
static long step = 1;

static int once(deed act, long fails_at, uint64_t *facts)
{
	int err;

	*facts = UINT64_C(14695981039346656037);
	tenon_error_clear();
	told->elsewhere = 0;
	told->has_processes = false;
	faults->start(fails_at);
	err = act(facts);
	told->requests = faults->stop() + told->elsewhere;
	return err;
}

/* In a child: 0 when all is well, else a reason is printed. */
static int disturbed(deed act, long n, uint64_t want)
{
	uint64_t facts;
	int err = once(act, n, &facts);

	if (!err && facts != want) {
		fprintf(stderr, "%s %ld: success with other facts\n", faults->what, n);
		return 1;
	}
	if (err && !*tenon_error_message()) {
		fprintf(stderr, "%s %ld: %d without a message\n", faults->what, n, err);
		return 1;
	}
	if (err && faults == &allocations && !message_has("memory") && !message_has("thread")) {
		fprintf(stderr, "%s %ld: %s\n", faults->what, n, tenon_error_message());
		return 1;
	}
	/* what failed in another process is gone with it */
	if (told->has_processes)
		return 0;
	err = once(act, 0, &facts);
	if (!err && facts == want)
		return 0;
	fprintf(stderr, "%s %ld: afterwards: %d, %s\n", faults->what, n, err,
		tenon_error_message());
	return 1;
}

static bool loses_memory(deed act, long n)
{
	uint64_t facts;
	long live;

	for (int i = 0; i < 4; i++) {
		live = failing_malloc_live();
		once(act, n, &facts);
		tenon_error_clear();
		if (failing_malloc_live() <= live)
			return false;
	}
	fprintf(stderr, "%s %ld of a process that did it before: leaks\n", faults->what, n);
	return true;
}

static int repeated(deed act)
{
	long n = 1, leaks = 0;
	uint64_t facts;

	once(act, 0, &facts);
	once(act, 0, &facts);
	do
		leaks += loses_memory(act, n);
	while (n++ < told->requests);
	return leaks != 0;
}

static bool in_child(deed act, int (*what)(deed act, long n, uint64_t want), long n, uint64_t want)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		/* cmocka would go on with the next case */
		signal(SIGSEGV, SIG_DFL);
		alarm(60);
		_exit(what ? what(act, n, want) : repeated(act));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFSIGNALED(status))
		print_error("%s %ld: signal %d\n", faults->what, n, WTERMSIG(status));
	return !status;
}

static int undisturbed(deed act, long n, uint64_t want)
{
	uint64_t facts;
	int err = once(act, 0, &facts);

	(void)n;
	(void)want;
	told->facts = facts;
	if (err)
		fprintf(stderr, "%d: %s\n", err, tenon_error_message());
	return err != 0;
}

static void fail_each(deed act, const struct faults *which)
{
	long n, all, wrong = 0;
	uint64_t want;

	faults = which;
	if (!which->work()) {
		print_message("no stand-in for the C library here\n");
		skip();
	}
	assert_true(in_child(act, undisturbed, 0, 0));
	all = told->requests;
	want = told->facts;
	for (n = 1; n <= all; n += step)
		wrong += !in_child(act, disturbed, n, want);
	if (!told->has_processes)
		wrong += !in_child(act, NULL, 0, 0);
	if (step > 1)
		print_message("# %ld %ss, every %ldth, one at a time\n", all, which->what, step);
	else
		print_message("# %ld %ss, one at a time\n", all, which->what);
	assert_int_equal(wrong, 0);
}

void an_allocation_that_fails_is_an_error_and_no_loss(void **state)
{
	fail_each(*(const deed *)*state, &allocations);
}

void a_call_that_fails_is_an_error_and_no_loss(void **state)
{
	fail_each(*(const deed *)*state, &calls);
}

void deed_add_requests(long count)
{
	told->elsewhere += count;
	told->has_processes = true;
}

void deeds_step(long new_step)
{
	step = new_step;
}

int deeds_prepare(void **state)
{
	(void)state;
	setenv("TENON_NUM_THREADS", "2", 1);
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return told == MAP_FAILED;
}
