/* SPDX-License-Identifier: MIT */
/*
 * Command lines of all verbs, run once for each allocation they make, and once for each call to the system, with that one failing. A run
 * that exits as the undisturbed one has written just what that one wrote. Any other run exits with a code
 * for failures and says why on standard error, which is memory where that failed. None crashes, hangs or loses memory.
 *
 * Each run is a child of its own, so that what is made once in a process is made in it; a second pass
 * repeats the allocations in one process, where what is not given back adds up.
 */
#include "tests/unit/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "tests/fuzz/random.h"
#include "tests/nomem/command_files.h"
#include "tests/nomem/command_lines.h"
#include "tests/nomem/command_servers.h"
#include "tests/nomem/failing_calls.h"
#include "tests/nomem/failing_malloc.h"

#define WORDS_MAX 32
#define TEXT_MAX  (256 * 1024)

static char folder[256], file_path[300];
static const char *folder_text;

/* ---- the clock stands still, so that times are the same in all runs */

static bool clock_stands;

#ifdef __GLIBC__
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *t)
{
	if (clock_stands && clock == CLOCK_MONOTONIC && getpid() == (pid_t)syscall(SYS_gettid)) {
		*t = (struct timespec){ 1000000, 0 };
		return 0;
	}
	return (int)syscall(SYS_clock_gettime, clock, t);
}
#endif

/* ---- one run */

/* what a run left, in memory shared with its child */
struct outcome {
	volatile long requests;
	volatile int code;
	size_t out_size, err_size, file_size;
	char out[TEXT_MAX], err[TEXT_MAX], file[TEXT_MAX];
};

static struct outcome *want, *got;
static int out_fd, err_fd;

struct words {
	int count;
	char *word[WORDS_MAX + 1];
	char text[4096];
};

static void put(struct words *w, size_t *used, const char *text, size_t size)
{
	assert_true(*used + size < sizeof(w->text));
	memcpy(w->text + *used, text, size);
	*used += size;
}

static void split(const char *line, struct words *w)
{
	size_t used = 0;

	/* a second thread for the line that is about threads alone: starting one takes its time */
	setenv("TENON_NUM_THREADS", strstr(line, "parallel") ? "2" : "1", 1);
	w->count = 0;
	w->word[w->count++] = "tenon";
	while (*line) {
		size_t size = strcspn(line, " ");
		const char *end = line + size;

		assert_true(w->count < WORDS_MAX);
		w->word[w->count++] = w->text + used;
		while (line < end) {
			if (!strncmp(line, "@TMP", 4)) {
				put(w, &used, folder, strlen(folder));
				line += 4;
			} else if (!strncmp(line, "@FILE", 5)) {
				put(w, &used, file_path, strlen(file_path));
				line += 5;
			} else if (!strncmp(line, "@SERVER", 7)) {
				put(w, &used, command_server, strlen(command_server));
				line += 7;
			} else if (!strncmp(line, "@TRACKER", 8)) {
				put(w, &used, command_tracker, strlen(command_tracker));
				line += 8;
			} else {
				put(w, &used, line++, 1);
			}
		}
		put(w, &used, "", 1);
		line += *line == ' ';
	}
	w->word[w->count] = NULL;
}

/* The command reads frames from here where it takes a stream. */
static void put_frames(void)
{
	static const float frame[256];
	int fd = memfd_create("frames", MFD_CLOEXEC);

	/* graph_mlp's input has 32 elements; two frames */
	assert_true(fd >= 0);
	assert_int_equal(write(fd, frame, sizeof(frame)), sizeof(frame));
	lseek(fd, 0, SEEK_SET);
	dup2(fd, STDIN_FILENO);
	close(fd);
}

/* what fails: an allocation or a call */
static void (*start_faults)(long fails_at) = failing_malloc_start;
static long (*stop_faults)(void) = failing_malloc_stop;

/* getopt() puts words in another order: each run has its own */
static int run_words(const struct words *line, long fails_at, long *requests)
{
	static char out_room[TEXT_MAX], err_room[TEXT_MAX];
	struct words w = *line;
	FILE *out = fdopen(dup(out_fd), "w"), *err = fdopen(dup(err_fd), "w");
	int code;

	setvbuf(out, out_room, _IOFBF, sizeof(out_room));
	setvbuf(err, err_room, _IOFBF, sizeof(err_room));
	clock_stands = true;
	start_faults(fails_at);
	code = cli_main(w.count, w.word, out, err);
	*requests = stop_faults();
	clock_stands = false;
	fclose(out);
	fclose(err);
	return code;
}

static size_t take(int fd, char *text)
{
	ssize_t n = pread(fd, text, TEXT_MAX - 1, 0);

	assert_true(n >= 0 && n < TEXT_MAX - 1);
	text[n] = '\0';
	return (size_t)n;
}

/* Put a 0 in place of a number. */
static void leave_out(struct outcome *o, char *at, size_t length)
{
	if (!length)
		return;
	*at++ = '0';
	length--;
	memmove(at, at + length, o->file_size - (size_t)(at - o->file) - length);
	o->file_size -= length;
}

static char *find(const struct outcome *o, char *from, const char *text)
{
	return memmem(from, o->file_size - (size_t)(from - o->file), text, strlen(text));
}

/* A trace has the number of the thread and the memory of the process: each run has a process for itself. */
static void leave_out_process(struct outcome *o, pid_t process)
{
	static const char bytes[] = "\"bytes\":";
	char number[24], *at = o->file;

	snprintf(number, sizeof(number), "%d", process);
	while ((at = find(o, at, number)))
		leave_out(o, at, strlen(number));
	for (at = o->file; (at = find(o, at, bytes));) {
		at += strlen(bytes);
		leave_out(o, at, strspn(at, "0123456789"));
	}
}

static void take_file(struct outcome *o, pid_t process)
{
	int fd = open(file_path, O_RDONLY);

	o->file_size = fd < 0 ? SIZE_MAX : take(fd, o->file);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && o->file[0] == '{')
		leave_out_process(o, process);
}

/* "tenon chat" prints the memory of its process, which depends on the allocator; a tracker tells its age and its present peers. */
static size_t leave_out_numbers(size_t size, char *text)
{
	static const char *const names[] = { "\"process\":", "process ", "\"uptime_ms\":\t",
					     "\"connections\":\t" };
	size_t i, n;
	char *at;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		at = strstr(text, names[i]);
		if (!at)
			continue;
		at += strlen(names[i]);
		n = strspn(at, "0123456789.");
		memmove(at, at + n, size - (size_t)(at - text) - n + 1);
		size -= n;
	}
	return size;
}

static void forget(void)
{
	assert_int_equal(ftruncate(out_fd, 0), 0);
	assert_int_equal(ftruncate(err_fd, 0), 0);
	lseek(out_fd, 0, SEEK_SET);
	lseek(err_fd, 0, SEEK_SET);
	unlink(file_path);
}

/* Runs a line in a child; false with a reason printed when it did not come to an end of its own. */
static bool run_once(const struct words *w, long fails_at, struct outcome *o)
{
	long requests;
	int status;
	pid_t child;

	forget();
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		/* cmocka would go on with the next case */
		signal(SIGSEGV, SIG_DFL);
		alarm(120);
		put_frames();
		o->code = run_words(w, fails_at, &requests);
		o->requests = requests;
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	o->out_size = leave_out_numbers(take(out_fd, o->out), o->out);
	o->err_size = leave_out_numbers(take(err_fd, o->err), o->err);
	take_file(o, child);
	if (!WIFSIGNALED(status) && !WEXITSTATUS(status))
		return true;
	print_error("number %ld: %s %d\n%s", fails_at, WIFSIGNALED(status) ? "signal" : "exit",
		    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), o->err);
	return false;
}

/* ---- what is asked of it */

static bool same(size_t size, const char *text, size_t size2, const char *text2)
{
	return size == size2 && (size == SIZE_MAX || !memcmp(text, text2, size));
}

static bool same_answer(void)
{
	return same(got->out_size, got->out, want->out_size, want->out);
}

static bool is_whole(void)
{
	return same_answer() && same(got->file_size, got->file, want->file_size, want->file);
}

static bool is_honest(long n)
{
	bool whole = is_whole();

	if (got->code == want->code && whole &&
	    same(got->err_size, got->err, want->err_size, want->err))
		return true;
	if ((got->code == CLI_NO_FILE || got->code == CLI_UNAVAILABLE || got->code == CLI_FAILED) &&
	    (strstr(got->err, "memory") || strstr(got->err, "thread")))
		return true;
	print_error("allocation %ld: exit %d with %s answer, and says: %s\n", n, got->code,
		    whole ? "the whole" : "another", *got->err ? got->err : "nothing");
	return false;
}

/* Does the run leave blocks behind, and again each time it is repeated? */
static bool loses_memory(const struct words *w, long n)
{
	long live, requests;
	int i;

	for (i = 0; i < 4; i++) {
		live = failing_malloc_live();
		put_frames();
		run_words(w, n, &requests);
		if (failing_malloc_live() <= live)
			return false;
	}
	return true;
}

static int leaks_of(const struct words *w)
{
	long n, requests = 0;
	int leaks = 0;

	put_frames();
	run_words(w, 0, &requests);
	put_frames();
	run_words(w, 0, &requests);
	for (n = 1; n <= requests; n += failing_malloc_step()) {
		forget();
		if (!loses_memory(w, n))
			continue;
		fprintf(stderr, "allocation %ld of a process that ran before: leaks\n", n);
		leaks++;
	}
	return leaks;
}

/* The same allocations fail by chance each time. */
static bool leaks_by_chance(const struct words *w, uint64_t seed, uint64_t one_in)
{
	long requests;
	int i;

	failing_malloc_often(0, 0);
	for (i = 0; i < 2; i++) {
		put_frames();
		run_words(w, 0, &requests);
	}
	failing_malloc_often(seed, one_in);
	forget();
	if (!loses_memory(w, 0))
		return false;
	fprintf(stderr, "a process that ran before: leaks\n");
	return true;
}

/* @one_in is 0 where one allocation fails after the other. */
static bool leaks(const struct words *w, uint64_t seed, uint64_t one_in)
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		signal(SIGSEGV, SIG_DFL);
		alarm(60);
		_exit(one_in ? leaks_by_chance(w, seed, one_in) : leaks_of(w) > 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFSIGNALED(status))
		print_error("signal %d in a process that ran before\n", WTERMSIG(status));
	return status != 0;
}

/* libzip 1.7 itself loses a block where a file in an archive cannot be opened. */
static bool library_leaks(const struct line *line)
{
	return strstr(line->words, "from-npz");
}

static void a_run_without_memory_is_no_success(void **state)
{
	const struct line *line = *state;
	int wrong = 0;
	struct words w;
	long n;

	if (!failing_malloc_works()) {
		print_message("no stand-in for the allocator here\n");
		skip();
	}
	split(line->words, &w);
	assert_true(run_once(&w, 0, want));
	if (line->code == REFUSED ? want->code <= CLI_DIFFERS : want->code != line->code)
		fail_msg("exit %d: %s%s", want->code, want->out, want->err);
	for (n = 1; n <= want->requests; n += failing_malloc_step())
		wrong += !run_once(&w, n, got) || !is_honest(n);
	print_message("# %ld allocations, one at a time\n", want->requests);
	if (!library_leaks(line))
		wrong += leaks(&w, 0, 0);
	if (wrong)
		print_error("%d of %ld allocations: %s\n", wrong, want->requests, line->words);
	assert_int_equal(wrong, 0);
}

/* Does the line look at the machine, whose files and libraries may be absent or not readable? */
static bool looks_around(const char *line)
{
	return !strncmp(line, "device", 6) || !strncmp(line, "doctor", 6);
}

/* Is the file as it is undisturbed? A trace has the memory of the process only where the kernel tells it. */
static bool file_is_whole(const struct line *line)
{
	cJSON *trace;

	if (!strstr(line->words, "--trace") || got->file_size == SIZE_MAX)
		return same(got->file_size, got->file, want->file_size, want->file);
	trace = cJSON_ParseWithLength(got->file, got->file_size);
	cJSON_Delete(trace);
	return trace != NULL;
}

/* The file of a trace is made, and empty, before there is a trace. */
static bool file_is_absent(const struct line *line)
{
	return got->file_size == SIZE_MAX || (!got->file_size && strstr(line->words, "--trace"));
}

static bool says_what_failed(const struct line *line, long n)
{
	const bool whole = file_is_whole(line);

	if (got->code == want->code && whole && same_answer())
		return true;
	if (got->code > CLI_DIFFERS && *got->err && (whole || file_is_absent(line)))
		return true;
	if (looks_around(line->words) && (got->code == want->code || *got->out))
		return true;
	print_error("call %ld: exit %d with %s answer, %s file, and says: %s\n", n, got->code,
		    same_answer() ? "the whole" : "another", whole ? "the whole" : "another",
		    *got->err ? got->err : "nothing");
	return false;
}

static int fail_each_call(const struct line *line, const struct words *w)
{
	int wrong = 0;
	long n;

	for (n = 1; n <= want->requests; n++)
		wrong += !run_once(w, n, got) || !says_what_failed(line, n);
	return wrong;
}

static void a_call_that_fails_is_no_silent_success(void **state)
{
	const struct line *line = *state;
	struct words w;
	int wrong;

	if (!failing_calls_work()) {
		print_message("no stand-in for the C library here\n");
		skip();
	}
	split(line->words, &w);
	start_faults = failing_calls_start;
	stop_faults = failing_calls_stop;
	wrong = !run_once(&w, 0, want) || fail_each_call(line, &w);
	start_faults = failing_malloc_start;
	stop_faults = failing_malloc_stop;
	print_message("# %ld calls, one at a time\n", want->requests);
	if (wrong)
		print_error("%s\n", line->words);
	assert_int_equal(wrong, 0);
}

/* Its answer goes to a full disk: a message says so, and the exit code. */
static void an_answer_that_cannot_be_written_is_no_success(void **state)
{
	const struct line *line = *state;
	FILE *full, *err;
	struct words w;
	int code;

	split(line->words, &w);
	assert_true(run_once(&w, 0, want));
	if (!want->out_size || want->code == CLI_USAGE)
		return;
	forget();
	put_frames();
	full = fopen("/dev/full", "w");
	err = fdopen(dup(err_fd), "w");
	assert_true(full && err);
	code = cli_main(w.count, w.word, full, err);
	fclose(full);
	fclose(err);
	got->err_size = take(err_fd, got->err);
	if (code == CLI_OK || code == CLI_DIFFERS || !strstr(got->err, strerror(ENOSPC)))
		fail_msg("exit %d: %s: %s", code, line->words, got->err);
}

/* ---- several allocations, by chance */

static bool survives(const struct line *line, struct random *r)
{
	uint64_t seed, one_in;
	struct words w;
	bool good;

	failing_malloc_often(0, 0);
	split(line->words, &w);
	if (!run_once(&w, 0, want))
		return false;
	seed = random_next(r);
	one_in = 2 + random_below(r, 1 + (uint64_t)want->requests);
	failing_malloc_often(seed, one_in);
	good = run_once(&w, 0, got) && is_honest(0) &&
	       (library_leaks(line) || !leaks(&w, seed, one_in));
	if (!good)
		print_error("several allocations: %s\n", line->words);
	return good;
}

static int run_at_random(uint64_t seed, uint64_t first, uint64_t count)
{
	uint64_t i, wrong = 0;

	for (i = first; i < first + count; i++) {
		struct random mix = { seed ^ (i << 20) }, r = { random_next(&mix) };

		wrong += !survives(&lines[i % LINES], &r);
	}
	return wrong != 0;
}

/* ---- the suite */

#ifdef CONFIG_RECORD
/* a record to repeat */
static int make_record(void)
{
	struct words w;
	long requests;

	split("run " GRAPH MLP_INPUT " --record @TMP/record", &w);
	return run_words(&w, 0, &requests) != CLI_OK;
}
#else
static int make_record(void)
{
	return 0;
}
#endif

static int make_ready(void **state)
{
	const size_t room = sizeof(struct outcome);

	(void)state;
	folder_text = getenv("TMPDIR");
	snprintf(folder, sizeof(folder), "%s/nomem-XXXXXX", folder_text ? folder_text : "/tmp");
	if (!mkdtemp(folder))
		return 1;
	snprintf(file_path, sizeof(file_path), "%s/file", folder);
	setenv("TENON_CACHE_DIR", folder, 1);
	setenv("TENON_OPENCL_LIBRARY", "/nonexistent", 1);
	setenv("TENON_VULKAN_LIBRARY", "/nonexistent", 1);
	setenv("TENON_CUDA_LIBRARY", "/nonexistent", 1);
	setenv("TENON_NVRTC_LIBRARY", "/nonexistent", 1);
	if (command_files_make(folder, D18 "params_file/p_f32.npy", SIGNED))
		return 1;
	want = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	got = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	out_fd = memfd_create("out", MFD_CLOEXEC);
	err_fd = memfd_create("err", MFD_CLOEXEC);
	if (want == MAP_FAILED || got == MAP_FAILED || out_fd < 0 || err_fd < 0)
		return 1;
	return make_record() || command_servers_start(folder);
}

static int end_servers(void **state)
{
	(void)state;
	return command_servers_stop();
}

/* --random SEED FIRST COUNT: so many lines, beginning with that one, each with allocations that fail by chance */
int main(int argc, char **argv)
{
	static char names[3 * LINES][200];
	struct CMUnitTest tests[3 * LINES];
	bool wrong;
	size_t i;

	if (argc == 5 && !strcmp(argv[1], "--random")) {
		wrong = make_ready(NULL) ||
			run_at_random(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10),
				      strtoull(argv[4], NULL, 10));
		return command_servers_stop() || wrong;
	}
	for (i = 0; i < LINES; i++) {
		void *line = (void *)(uintptr_t)&lines[i];

		snprintf(names[i], sizeof(names[i]), "memory_%zu_%.150s", i, lines[i].words);
		tests[i] = (struct CMUnitTest){ names[i], a_run_without_memory_is_no_success, NULL,
						NULL, line };
		snprintf(names[LINES + i], sizeof(names[0]), "disk_%zu_%.150s", i, lines[i].words);
		tests[LINES + i] =
			(struct CMUnitTest){ names[LINES + i],
					     an_answer_that_cannot_be_written_is_no_success, NULL,
					     NULL, line };
		snprintf(names[2 * LINES + i], sizeof(names[0]), "calls_%zu_%.150s", i,
			 lines[i].words);
		tests[2 * LINES + i] = (struct CMUnitTest){ names[2 * LINES + i],
							    a_call_that_fails_is_no_silent_success,
							    NULL, NULL, line };
	}
	return _cmocka_run_group_tests("command", tests, 3 * LINES, make_ready, end_servers);
}
