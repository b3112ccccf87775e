/* SPDX-License-Identifier: MIT */
/* Watch the child that runs mutants: crashes, hangs and progress, and keep the input that ended it. */
#include "tests/fuzz/campaign_watch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* One mutant may take so long, of the processor and by the clock; machines that test are loaded. */
#define CPU_SECONDS_MOST  20
#define WALL_SECONDS_MOST 300

#define PROGRESS_SECONDS 30
#define FAILURES_MOST	 20

/* how far the child is, and since when */
struct sight {
	uint64_t number;
	double cpu, wall;
};

static double seconds(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		return 0;
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool hangs(struct sight *s, const struct campaign_page *page, clockid_t child)
{
	uint64_t number = *(const volatile uint64_t *)&page->number;
	double cpu = seconds(child), wall = seconds(CLOCK_MONOTONIC);

	if (number != s->number) {
		*s = (struct sight){ number, cpu, wall };
		return false;
	}
	return cpu - s->cpu > CPU_SECONDS_MOST || wall - s->wall > WALL_SECONDS_MOST;
}

static void show_progress(const struct campaign *c, const struct campaign_page *page, double start)
{
	static double next;
	double now = seconds(CLOCK_MONOTONIC);
	uint64_t done = page->number - c->first;

	if (next < start)
		next = start + PROGRESS_SECONDS;
	if (c->quiet || now < next)
		return;
	next = now + PROGRESS_SECONDS;
	fprintf(stderr, "%s: %llu of %llu, %.0f a second\n", c->target, (unsigned long long)done,
		(unsigned long long)c->count, (double)done / (now - start));
}

/* Wait for the child. Returns what ended it, in words, or NULL when all went well. */
static const char *wait_for(pid_t child, const struct campaign *c, const struct campaign_page *page,
			    double start)
{
	struct sight sight = { UINT64_MAX, 0, 0 };
	const struct timespec pause = { 0, 20 * 1000 * 1000 };
	const char *why = NULL;
	static char text[64];
	clockid_t clock;
	int status;

	if (clock_getcpuclockid(child, &clock))
		clock = CLOCK_MONOTONIC;
	while (!waitpid(child, &status, WNOHANG)) {
		nanosleep(&pause, NULL);
		show_progress(c, page, start);
		if (why || !hangs(&sight, page, clock))
			continue;
		why = "a hang";
		kill(child, SIGKILL);
	}
	if (why)
		return why;
	if (WIFSIGNALED(status)) {
		snprintf(text, sizeof(text), "signal %d", WTERMSIG(status));
		return text;
	}
	if (!WEXITSTATUS(status))
		return NULL;
	snprintf(text, sizeof(text), "exit status %d", WEXITSTATUS(status));
	return text;
}

/* ---- reports */

static void keep_input(const struct campaign *c, const struct campaign_page *page)
{
	const char *build = getenv("TENON_BUILD");
	char path[1024];
	FILE *file;

	snprintf(path, sizeof(path), "%s/tests/fuzz/found", build ? build : ".");
	if (!build || (mkdir(path, 0777) && errno != EEXIST))
		snprintf(path, sizeof(path), ".");
	snprintf(path + strlen(path), sizeof(path) - strlen(path), "/%s-%llu-%llu", c->target,
		 (unsigned long long)c->seed, (unsigned long long)page->number);
	file = fopen(path, "wb");
	if (!file || fwrite(page->input, 1, page->size, file) != page->size || fclose(file)) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return;
	}
	fprintf(stderr, "the input is kept in %s\n", path);
}

static void report(const struct campaign *c, const struct campaign_page *page, const char *why)
{
	if (page->number == c->first + c->count) {
		fprintf(stderr, "%s: %s at the end, when leaks are looked for\n", c->target, why);
		return;
	}
	fprintf(stderr,
		"\n%s: %s by number %llu of seed %llu; run it again with\n"
		"  %s_fuzz --one %llu %llu\n",
		c->target, why, (unsigned long long)page->number, (unsigned long long)c->seed,
		c->target, (unsigned long long)c->seed, (unsigned long long)page->number);
	keep_input(c, page);
}

/* ---- the whole */

static pid_t start_child(void (*run)(void *context, uint64_t first, struct campaign_page *page),
			 void *context, uint64_t first, struct campaign_page *page)
{
	pid_t child;

	page->number = first;
	page->size = 0;
	fflush(NULL);
	child = fork();
	if (child < 0) {
		perror("fork");
		exit(2);
	}
	if (!child) {
		run(context, first, page);
		exit(0);
	}
	return child;
}

unsigned int campaign_watch(const struct campaign *c,
			    void (*run)(void *context, uint64_t first, struct campaign_page *page),
			    void *context)
{
	uint64_t next = c->first, end = c->first + c->count;
	double start = seconds(CLOCK_MONOTONIC);
	struct campaign_page *page;
	unsigned int failures = 0;
	const char *why;
	pid_t child;

	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	while (next < end && failures < FAILURES_MOST) {
		child = start_child(run, context, next, page);
		why = wait_for(child, c, page, start);
		if (why) {
			report(c, page, why);
			failures++;
		}
		next = page->number + 1;
	}
	if (!c->quiet)
		fprintf(stderr, "%s: %llu mutants of seed %llu, %u failures, %.0f s\n", c->target,
			(unsigned long long)(page->number - c->first), (unsigned long long)c->seed,
			failures, seconds(CLOCK_MONOTONIC) - start);
	munmap(page, sizeof(*page));
	return failures;
}
