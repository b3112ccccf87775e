/* SPDX-License-Identifier: MIT */
/* Drivers that are asked in a process of their own, as a program does it. */
#include "tests/unit/suite.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

static char unruly[4096];

static const struct tenon_backend *backend(const char *name)
{
	const struct tenon_backend *b = tenon_backend_find(tenon_slice_of(name));

	if (!b)
		_exit(99);
	return b;
}

static int probe(const char *name, uint64_t timeout, const struct tenon_probe **out)
{
	const struct tenon_probe_request request = { sizeof(request), getenv("TENON_COMMAND"),
						     timeout };

	return tenon_backend_probe(backend(name), &request, out);
}

/* Verdicts stay for the life of a process: each case has one of its own. */
static void in_child(const char *how, void (*run)(void))
{
	int status = -1;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		alarm(60);
		setenv("TENON_OPENCL_LIBRARY", unruly, 1);
		setenv("TENON_VULKAN_LIBRARY", unruly, 1);
		setenv("UNRULY", how, 1);
		run();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (status)
		fail_msg("%s: line %d, signal %d", how, WEXITSTATUS(status), WTERMSIG(status));
}

/* the line is the exit status: there are fewer than 250 */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			print_error("not %s; %s\n", #condition, tenon_error_message());            \
			_exit(__LINE__);                                                           \
		}                                                                                  \
	} while (0)

static void run_works(void)
{
	const struct tenon_probe *p, *again;

	CHECK(!probe("opencl", 20 * SECOND, &p));
	CHECK(p->outcome == TENON_PROBE_WORKS && p->backend == backend("opencl"));
	CHECK(p->device_count == 1 && !strcmp(p->devices[0]->name, "Fake device"));
	CHECK(!strcmp(p->reason, "") && strstr(p->doctor, "driver Fake"));
	CHECK(strstr(p->words, "words on standard error | words on standard output"));
	CHECK(p->nanoseconds > 0);
	/* the verdict stays, whatever the driver would do now */
	setenv("UNRULY", "abort", 1);
	CHECK(!probe("opencl", 0, &again) && again == p);
}

static void run_crash(void)
{
	struct tenon_device *d = NULL;
	const struct tenon_probe *p;
	uint32_t count = 7;

	CHECK(!probe("opencl", 20 * SECOND, &p));
	CHECK(p->outcome == TENON_PROBE_CRASHED && p->code == SIGABRT);
	CHECK(strstr(p->reason, "SIGABRT") && strstr(p->reason, "words on standard error"));
	CHECK(!p->device_count);
	/* this process survives because it does not call the driver */
	CHECK(tenon_device_open("opencl:0", &d) == -TENON_E_DEVICE && !d);
	CHECK(strstr(tenon_error_message(), "SIGABRT"));
	CHECK(tenon_backend_count(backend("opencl"), &count) == -TENON_E_DEVICE && !count);
	/* of others it says nothing */
	CHECK(!tenon_device_open("cpu", &d));
}

static void run_exit(void)
{
	const struct tenon_probe *p;

	CHECK(!probe("vulkan", 20 * SECOND, &p));
	CHECK(p->outcome == TENON_PROBE_EXITED && p->code == 7);
}

static void run_hang(void)
{
	const struct tenon_probe *p;

	CHECK(!probe("opencl", SECOND / 2, &p));
	CHECK(p->outcome == TENON_PROBE_HUNG && strstr(p->reason, "0.5 s"));
	/* nothing is left of it */
	CHECK(waitpid(-1, NULL, WNOHANG) < 0);
}

static void run_missing(void)
{
	const struct tenon_probe *p;

	setenv("TENON_OPENCL_LIBRARY", "/nowhere/libOpenCL.so", 1);
	CHECK(!probe("opencl", 20 * SECOND, &p));
	CHECK(p->outcome == TENON_PROBE_FAILED && strstr(p->reason, "/nowhere/libOpenCL.so"));
}

static void run_left_out(void)
{
	struct tenon_device *d = NULL;
	const struct tenon_probe *p;

	setenv("TENON_BACKENDS", "vulkan", 1);
	CHECK(!probe("opencl", 20 * SECOND, &p));
	CHECK(p->outcome == TENON_PROBE_LEFT_OUT && strstr(p->reason, "TENON_BACKENDS"));
	CHECK(tenon_device_open("opencl:0", &d) == -TENON_E_DEVICE);
}

static void run_without_a_command(void)
{
	static const char *const commands[] = { "/nowhere/tenon", "/bin/true", "/" };
	const struct tenon_probe *p;
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		const struct tenon_probe_request request = { sizeof(request), commands[i],
							     20 * SECOND };

		CHECK(tenon_backend_probe(backend("opencl"), &request, &p) == -TENON_E_UNSUPPORTED);
		CHECK(!p && strstr(tenon_error_message(), commands[i]));
	}
	/* that is no verdict */
	CHECK(!probe("opencl", 20 * SECOND, &p) && p->outcome == TENON_PROBE_CRASHED);
	/* one that has no driver needs no command */
	CHECK(!tenon_backend_probe(backend("cpu"), NULL, &p) && p->device_count == 1);
}

/* A program may ignore its children, or have no descriptors 0 to 2. */
static void run_in_odd_programs(void)
{
	const struct tenon_probe *p;

	signal(SIGCHLD, SIG_IGN);
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	CHECK(!probe("vulkan", 20 * SECOND, &p) && p->outcome == TENON_PROBE_EXITED);
	setenv("UNRULY", "print", 1);
	CHECK(!probe("opencl", 20 * SECOND, &p) && p->outcome == TENON_PROBE_WORKS);
	CHECK(p->device_count == 1);
}

static void *ask(void *verdict)
{
	CHECK(!probe("opencl", 20 * SECOND, verdict));
	return NULL;
}

static void run_threads(void)
{
	const struct tenon_probe *p[4];
	pthread_t threads[4];
	int i;

	for (i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, ask, &p[i]));
	for (i = 0; i < 4; i++)
		CHECK(!pthread_join(threads[i], NULL));
	for (i = 1; i < 4; i++)
		CHECK(p[i] == p[0] && p[i]->outcome == TENON_PROBE_CRASHED);
}

static void a_driver_that_works_is_described(void **state)
{
	(void)state;
	in_child("print", run_works);
}

static void a_driver_that_crashes_is_not_called_any_more(void **state)
{
	(void)state;
	in_child("abort", run_crash);
}

static void a_driver_that_ends_the_process(void **state)
{
	(void)state;
	in_child("_exit", run_exit);
}

static void a_driver_that_hangs_is_killed(void **state)
{
	(void)state;
	in_child("hang", run_hang);
}

static void a_driver_that_is_missing(void **state)
{
	(void)state;
	in_child("abort", run_missing);
}

static void a_driver_that_is_left_out_is_not_asked(void **state)
{
	(void)state;
	in_child("abort", run_left_out);
}

static void without_the_command_there_is_no_verdict(void **state)
{
	(void)state;
	in_child("abort", run_without_a_command);
}

static void it_depends_on_nothing_of_the_program(void **state)
{
	(void)state;
	in_child("_exit", run_in_odd_programs);
}

static void one_thread_asks_for_all(void **state)
{
	(void)state;
	in_child("abort", run_threads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_driver_that_works_is_described),
		cmocka_unit_test(a_driver_that_crashes_is_not_called_any_more),
		cmocka_unit_test(a_driver_that_ends_the_process),
		cmocka_unit_test(a_driver_that_hangs_is_killed),
		cmocka_unit_test(a_driver_that_is_missing),
		cmocka_unit_test(a_driver_that_is_left_out_is_not_asked),
		cmocka_unit_test(without_the_command_there_is_no_verdict),
		cmocka_unit_test(it_depends_on_nothing_of_the_program),
		cmocka_unit_test(one_thread_asks_for_all),
	};
	const char *build = getenv("TENON_BUILD"), *emulator = getenv("EMULATOR");

	if (!build || !getenv("TENON_COMMAND") || (emulator && *emulator)) {
		puts("the command cannot be started as it is");
		return 77;
	}
	snprintf(unruly, sizeof(unruly), "%s/tests/opencl/fake_opencl_unruly.so", build);
	return cmocka_run_group_tests_name("drivers in a process of their own", tests, NULL, NULL);
}
