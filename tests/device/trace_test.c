/* SPDX-License-Identifier: MIT */
/*
 * Traces of queues, memory and spans; trace_merge_test.c has those of other machines. tests/trace/ reads whole files by the
 * rules of their format.
 */
#include <pthread.h>
#include <sys/prctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <tenon/buffer.h>
#include <unistd.h>

#include "tests/device/fake_device.h"
#include "tests/device/trace_file.h"

/* ---- a traced queue */

struct traced {
	struct tenon_device *device;
	struct tenon_queue *queue;
	struct tenon_memory *memory;
};

/* Open the fake with a queue and memory, and begin a trace. */
static struct traced open_traced(void)
{
	struct traced t;

	t.device = fake_open("fake:0", &t.queue);
	t.memory = trace_memory(t.device, 64);
	assert_int_equal(tenon_trace(trace_path), 0);
	return t;
}

static void fill(const struct traced *t)
{
	assert_int_equal(tenon_queue_fill(t->queue, t->memory, 0, 64, 0, 4, NULL), 0);
}

static void close_traced(const struct traced *t)
{
	fake_finish(t->queue);
	tenon_object_unref(t->memory);
	tenon_object_unref(t->queue);
	tenon_object_unref(t->device);
}

/* ---- cases */

static void a_trace_begins_and_ends_once(void **state)
{
	(void)state;
	assert_int_equal(tenon_trace_now(), 0);
	assert_int_equal(tenon_trace(NULL), -TENON_E_USAGE);
	assert_error("no trace is being written");
	assert_int_equal(tenon_trace("/dev/null/trace.json"), -TENON_E_IO);
	assert_error_has("/dev/null/trace.json: cannot be created: ");
	assert_int_equal(tenon_trace_now(), 0);
	assert_int_equal(tenon_trace(trace_path), 0);
	assert_true(tenon_trace_now() > 0);
	assert_int_equal(tenon_trace(trace_path), -TENON_E_USAGE);
	assert_error_has("a trace is being written already");
	assert_int_equal(tenon_trace(NULL), 0);
	assert_int_equal(tenon_trace_now(), 0);
	assert_int_equal(tenon_trace(NULL), -TENON_E_USAGE);
	tenon_error_clear();
}

static void an_operation_is_alone_while_nothing_is_traced(void **state)
{
	struct traced t = open_traced();

	(void)state;
	fill(&t);
	/* a timestamp before it and one behind it */
	assert_int_equal(fake_queue(t.queue)->given, 3);
	assert_int_equal(fake_queue(t.queue)->last_kind, TENON_OP_TIMESTAMP);
	fake_finish(t.queue);
	assert_int_equal(tenon_trace(NULL), 0);
	fill(&t);
	assert_int_equal(fake_queue(t.queue)->given, 4);
	close_traced(&t);
}

static void a_device_without_a_clock_has_times_of_the_host(void **state)
{
	struct traced t = open_traced();
	char *text;

	(void)state;
	fill(&t);
	fake_finish(t.queue);
	text = trace_end();
	assert_int_equal(trace_count(text, "\"cat\":\"fill\",\"name\":\"fill\""), 1);
	assert_int_equal(trace_count(text, "\"clock\":\"host\""), 1);
	assert_int_equal(trace_count(text, "\"bytes\":64}"), 1);
	assert_non_null(strstr(text, "\"args\":{\"name\":\"fake:0 ("));
	free(text);
	close_traced(&t);
}

static void what_the_backend_refuses_is_not_in_the_trace(void **state)
{
	struct traced t = open_traced();
	char *text;

	(void)state;
	fake.submits_left = 0;
	assert_int_equal(tenon_queue_fill(t.queue, t.memory, 0, 64, 0, 4, NULL), -TENON_E_VALUE);
	assert_error("fake: no operation 4");
	text = trace_end();
	assert_int_equal(trace_count(text, "\"cat\":\"fill\""), 0);
	free(text);
	close_traced(&t);
}

/* A driver writes times to events until its queue is idle; AddressSanitizer sees where. */
static void a_queue_that_cannot_be_marked_keeps_its_events(void **state)
{
	struct traced t = open_traced();

	(void)state;
	fill(&t);
	fake.marks_fail = 1;
	free(trace_end());
	assert_string_equal(tenon_error_message(), "");
	*fake_queue(t.queue)->stamp = 1;
	close_traced(&t);
}

static void so_does_a_queue_that_failed(void **state)
{
	struct traced t = open_traced();

	(void)state;
	fill(&t);
	__atomic_store_n(&fake_queue(t.queue)->failed, 1, __ATOMIC_RELEASE);
	free(trace_end());
	assert_string_equal(tenon_error_message(), "");
	*fake_queue(t.queue)->stamp = 1;
	close_traced(&t);
}

static void memory_from_before_the_trace_is_counted(void **state)
{
	struct tenon_queue *q;
	struct tenon_device *d = fake_open("fake:0", &q);
	struct tenon_memory *before = trace_memory(d, 4000), *m, *part;
	const char *last, *at;
	char *text;

	(void)state;
	assert_int_equal(tenon_trace(trace_path), 0);
	m = trace_memory(d, 600);
	assert_int_equal(tenon_memory_subrange(m, 0, 256, &part), 0);
	tenon_object_unref(part);
	tenon_object_unref(before);
	tenon_object_unref(m);
	text = trace_end();
	assert_non_null(strstr(text, "\"args\":{\"bytes\":4600}"));
	assert_non_null(strstr(text, "\"args\":{\"bytes\":600}}"));
	assert_int_equal(trace_count(text, "\"cat\":\"memory\",\"name\":\"allocate\""), 1);
	for (last = NULL, at = text; (at = strstr(at, "{\"ph\":\"C\",\"pid\":2")); at++)
		last = at;
	assert_non_null(last);
	assert_non_null(strstr(last, "\"args\":{\"bytes\":0}}"));
	assert_null(strstr(text, "\"bytes\":256}"));
	free(text);
	tenon_object_unref(q);
	tenon_object_unref(d);
}

static void a_queue_may_end_before_the_trace(void **state)
{
	struct traced t = open_traced();
	char *text;

	(void)state;
	fill(&t);
	fake_finish(t.queue);
	tenon_object_unref(t.queue);
	assert_int_equal(fake.queues_gone, 1);
	assert_int_equal(tenon_queue_create(t.device, &t.queue), 0);
	fill(&t);
	fake_finish(t.queue);
	text = trace_end();
	assert_non_null(strstr(text, "\"name\":\"queue 0\""));
	assert_non_null(strstr(text, "\"name\":\"queue 1\""));
	free(text);
	close_traced(&t);
}

static void a_track_of_the_program_may_be_named_as_a_counter(void **state)
{
	uint64_t begin;
	char *text;

	(void)state;
	assert_int_equal(tenon_trace(trace_path), 0);
	begin = tenon_trace_now();
	tenon_trace_span("memory", "first", begin, begin);
	tenon_trace_span("memory", "second", begin, begin);
	text = trace_end();
	assert_int_equal(
		trace_count(text, "\"name\":\"thread_name\",\"args\":{\"name\":\"memory\"}"), 1);
	free(text);
}

static void names_from_files_cannot_break_the_file(void **state)
{
	char *text;
	uint64_t begin;

	(void)state;
	assert_int_equal(tenon_trace(trace_path), 0);
	begin = tenon_trace_now();
	tenon_trace_span("a\"track", "a\\b\n\x7f \xc3\xa9 \xc3 \xed\xa0\x80 \xf5\x80\x80\x80 end",
			 begin, begin + 1500);
	tenon_trace_span(NULL, "", begin, begin);
	tenon_trace_span(NULL, "never begun", 0, begin);
	assert_int_equal(tenon_trace(NULL), 0);
	tenon_trace_span(NULL, "after the end", begin, begin);
	text = trace_content();
	assert_non_null(strstr(text, "\"name\":\"a\\\"track\""));
	assert_non_null(strstr(text, "\"name\":\"a\\\\b\\u000a\\u007f \xc3\xa9 \\ufffd "
				     "\\ufffd\\ufffd\\ufffd \\ufffd\\ufffd\\ufffd\\ufffd end\""));
	assert_non_null(strstr(text, "\"dur\":1.500"));
	assert_null(strstr(text, "never begun"));
	assert_null(strstr(text, "after the end"));
	free(text);
}

static void *note_by_name(void *name)
{
	const uint64_t now = tenon_trace_now();

	if (name)
		prctl(PR_SET_NAME, name);
	tenon_trace_span(NULL, "job", now, now + 1000);
	return NULL;
}

static void the_track_of_a_thread_has_its_name(void **state)
{
	static char own[] = "feed \"1\"";
	char *const names[] = { own, NULL };
	pthread_t thread;
	char *text;
	size_t i;

	(void)state;
	assert_int_equal(tenon_trace(trace_path), 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(pthread_create(&thread, NULL, note_by_name, names[i]), 0);
		pthread_join(thread, NULL);
	}
	note_by_name(NULL);
	text = trace_end();
	assert_int_equal(trace_count(text, "\"args\":{\"name\":\"feed \\\"1\\\" "), 1);
	assert_int_equal(trace_count(text, "\"args\":{\"name\":\"thread "), 1);
	assert_int_equal(trace_count(text, "\"args\":{\"name\":\"main thread "), 1);
	free(text);
}

static void a_child_process_leaves_the_trace_alone(void **state)
{
	char *text;
	int status;
	pid_t child;

	(void)state;
	assert_int_equal(tenon_trace(trace_path), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		uint64_t begin = tenon_trace_now();

		tenon_trace_span(NULL, "of the child", begin, begin + 1);
		_exit(tenon_trace(NULL) != -TENON_E_USAGE);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	tenon_trace_span(NULL, "of the parent", tenon_trace_now(), tenon_trace_now());
	text = trace_end();
	assert_non_null(strstr(text, "of the parent"));
	assert_null(strstr(text, "of the child"));
	free(text);
}

/* ---- threads that submit, wait and end queues while traces begin and end */

#define THREADS 3

static uint32_t finished; /* atomic */

struct worker {
	pthread_t thread;
	struct tenon_device *device;
	int err; /* the first failure; cmocka must not assert in threads that it did not start */
};

/* Fill memory in a queue of its own. */
static int work_once(struct tenon_device *d)
{
	struct tenon_memory_request request = { sizeof(request), 256, TENON_MEMORY_DEFAULT, -1,
						NULL };
	struct tenon_memory *m = NULL;
	struct tenon_queue *q;
	uint64_t begin;
	int err = tenon_queue_create(d, &q);

	if (err)
		return err;
	err = tenon_memory_alloc(d, &request, &m);
	for (int i = 0; i < 4 && !err; i++) {
		begin = tenon_trace_now();
		err = tenon_queue_fill(q, m, 0, 256, 7, 4, NULL);
		tenon_trace_span(NULL, "fill it", begin, tenon_trace_now());
	}
	if (!err)
		err = tenon_queue_sync(q, TENON_FOREVER);
	tenon_object_unref(m);
	tenon_object_unref(q);
	return err;
}

static void *work(void *context)
{
	struct worker *w = context;

	while (!w->err && !__atomic_load_n(&finished, __ATOMIC_ACQUIRE))
		w->err = work_once(w->device);
	tenon_error_clear();
	return NULL;
}

static void traces_begin_and_end_while_threads_work(void **state)
{
	/* static: if an assertion fails, the threads run on */
	static struct worker workers[THREADS];
	struct tenon_device *d;
	size_t seen = 0;
	char *text;
	int i;

	(void)state;
	if (tenon_device_open("cpu://0?queue=worker", &d)) {
		tenon_error_clear();
		print_message("needs CONFIG_DEVICE_CPU\n");
		skip();
	}
	__atomic_store_n(&finished, 0, __ATOMIC_RELEASE);
	for (i = 0; i < THREADS; i++) {
		workers[i].device = d;
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	}
	for (i = 0; i < 400 && (i < 20 || !seen); i++) {
		assert_int_equal(tenon_trace(trace_path), 0);
		usleep(2000);
		text = trace_end();
		seen += trace_count(text, "\"clock\":\"device\"");
		assert_string_equal(text + strlen(text) - 4, "\"}}\n");
		free(text);
	}
	__atomic_store_n(&finished, 1, __ATOMIC_RELEASE);
	for (i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(workers[i].err, 0);
	assert_true(seen > 0);
	tenon_object_unref(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_trace_begins_and_ends_once, fake_reset),
		cmocka_unit_test_setup(an_operation_is_alone_while_nothing_is_traced, fake_reset),
		cmocka_unit_test_setup(a_device_without_a_clock_has_times_of_the_host, fake_reset),
		cmocka_unit_test_setup(what_the_backend_refuses_is_not_in_the_trace, fake_reset),
		cmocka_unit_test_setup(a_queue_that_cannot_be_marked_keeps_its_events, fake_reset),
		cmocka_unit_test_setup(so_does_a_queue_that_failed, fake_reset),
		cmocka_unit_test_setup(memory_from_before_the_trace_is_counted, fake_reset),
		cmocka_unit_test_setup(a_queue_may_end_before_the_trace, fake_reset),
		cmocka_unit_test_setup(a_track_of_the_program_may_be_named_as_a_counter,
				       fake_reset),
		cmocka_unit_test_setup(names_from_files_cannot_break_the_file, fake_reset),
		cmocka_unit_test_setup(the_track_of_a_thread_has_its_name, fake_reset),
		cmocka_unit_test_setup(a_child_process_leaves_the_trace_alone, fake_reset),
		cmocka_unit_test_setup(traces_begin_and_end_while_threads_work, fake_reset),
	};

	return cmocka_run_group_tests_name("traces", tests, trace_setup, trace_teardown);
}
