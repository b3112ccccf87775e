/* SPDX-License-Identifier: MIT */
/* A trace ends while its session still works on a request, and does not wait for the answer. */
#include "tests/remote/rpc_session.h"

#include <stdio.h>
#include <tenon/trace.h>
#include <time.h>

#include "rpc/client/rpc.h"

static void *call_that_waits(void *f)
{
	struct tenon_value ret = tenon_arg_none();

	return !tenon_call(f, &ret) && ret.as.integer ? f : NULL;
}

static bool begin_trace(char *path, size_t size)
{
	snprintf(path, size, "%s/trace.json", session.folder);
	sem_init(&entered, 0, 0);
	sem_init(&released, 0, 0);
	return !tenon_trace(path);
}

static void a_trace_ends_while_a_request_without_limit_runs(void **state)
{
	struct tenon_function *f = function("test.waits");
	char path[sizeof(session.folder) + 20];
	pthread_t thread;
	void *was_released;

	(void)state;
	if (!begin_trace(path, sizeof(path)))
		skip();
	assert_int_equal(tenon_remote_ping(session.remote), 0);
	assert_int_equal(pthread_create(&thread, NULL, call_that_waits, f), 0);
	sem_wait(&entered);
	assert_int_equal(tenon_trace(NULL), 0);
	sem_post(&released);
	assert_int_equal(pthread_join(thread, &was_released), 0);
	assert_non_null(was_released);
	tenon_object_unref(f);
}

static void a_trace_ends_while_a_posted_request_runs(void **state)
{
	struct tenon_function *f = function("test.waits");
	char path[sizeof(session.folder) + 20];
	struct timespec now, late;

	(void)state;
	if (!begin_trace(path, sizeof(path)))
		skip();
	assert_int_equal(tenon_remote_ping(session.remote), 0);
	/* as if this server could record */
	rpc_of(session.remote)->recorded = true;
	assert_int_equal(tenon_remote_post(session.remote, f, NULL, 0), 0);
	clock_gettime(CLOCK_MONOTONIC, &late);
	late.tv_sec += 25;
	assert_int_equal(tenon_trace(NULL), 0);
	clock_gettime(CLOCK_MONOTONIC, &now);
	assert_true(now.tv_sec < late.tv_sec);
	sem_post(&released);
	/* the session is as it was */
	assert_int_equal(tenon_remote_wait(session.remote), 0);
	tenon_object_unref(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_trace_ends_while_a_request_without_limit_runs,
						setup_pipelined, teardown),
		cmocka_unit_test_setup_teardown(a_trace_ends_while_a_posted_request_runs,
						setup_pipelined, teardown),
	};

	return cmocka_run_group_tests(tests, register_functions, NULL);
}
