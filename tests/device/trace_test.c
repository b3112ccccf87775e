/* SPDX-License-Identifier: MIT */
/* Traces of queues, memory and spans. tests/trace/ reads whole files by the rules of their format. */
#include <pthread.h>
#include <sys/prctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <tenon/buffer.h>
#include <unistd.h>

#include "lib/trace.h"
#include "tests/device/fake_device.h"

static char path[256];

static char *content(void)
{
	FILE *f = fopen(path, "rb");
	char *text;
	long size;

	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	size = ftell(f);
	assert_true(size > 0);
	rewind(f);
	text = calloc(1, (size_t)size + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, (size_t)size, f), size);
	fclose(f);
	return text;
}

static size_t count_of(const char *text, const char *word)
{
	size_t n = 0;

	while ((text = strstr(text, word))) {
		text += strlen(word);
		n++;
	}
	return n;
}

static struct tenon_memory *memory(struct tenon_device *d, uint64_t size)
{
	struct tenon_memory_request request = { size, TENON_MEMORY_DEFAULT, -1, NULL };
	struct tenon_memory *m = NULL;

	assert_int_equal(tenon_memory_alloc(d, &request, &m), 0);
	return m;
}

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
	t.memory = memory(t.device, 64);
	assert_int_equal(tenon_trace(path), 0);
	return t;
}

static void fill(const struct traced *t)
{
	assert_int_equal(tenon_queue_fill(t->queue, t->memory, 0, 64, 0, 4, NULL), 0);
}

/* End the trace. Return: the content of its file; to be freed. */
static char *end_trace(void)
{
	assert_int_equal(tenon_trace(NULL), 0);
	return content();
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
	assert_int_equal(tenon_trace(path), 0);
	assert_true(tenon_trace_now() > 0);
	assert_int_equal(tenon_trace(path), -TENON_E_USAGE);
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
	text = end_trace();
	assert_int_equal(count_of(text, "\"cat\":\"fill\",\"name\":\"fill\""), 1);
	assert_int_equal(count_of(text, "\"clock\":\"host\""), 1);
	assert_int_equal(count_of(text, "\"bytes\":64}"), 1);
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
	text = end_trace();
	assert_int_equal(count_of(text, "\"cat\":\"fill\""), 0);
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
	free(end_trace());
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
	free(end_trace());
	assert_string_equal(tenon_error_message(), "");
	*fake_queue(t.queue)->stamp = 1;
	close_traced(&t);
}

static void memory_from_before_the_trace_is_counted(void **state)
{
	struct tenon_queue *q;
	struct tenon_device *d = fake_open("fake:0", &q);
	struct tenon_memory *before = memory(d, 4000), *m, *part;
	const char *last, *at;
	char *text;

	(void)state;
	assert_int_equal(tenon_trace(path), 0);
	m = memory(d, 600);
	assert_int_equal(tenon_memory_subrange(m, 0, 256, &part), 0);
	tenon_object_unref(part);
	tenon_object_unref(before);
	tenon_object_unref(m);
	text = end_trace();
	assert_non_null(strstr(text, "\"args\":{\"bytes\":4600}"));
	assert_non_null(strstr(text, "\"args\":{\"bytes\":600}}"));
	assert_int_equal(count_of(text, "\"cat\":\"memory\",\"name\":\"allocate\""), 1);
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
	text = end_trace();
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
	assert_int_equal(tenon_trace(path), 0);
	begin = tenon_trace_now();
	tenon_trace_span("memory", "first", begin, begin);
	tenon_trace_span("memory", "second", begin, begin);
	text = end_trace();
	assert_int_equal(count_of(text, "\"name\":\"thread_name\",\"args\":{\"name\":\"memory\"}"),
			 1);
	free(text);
}

static void names_from_files_cannot_break_the_file(void **state)
{
	char *text;
	uint64_t begin;

	(void)state;
	assert_int_equal(tenon_trace(path), 0);
	begin = tenon_trace_now();
	tenon_trace_span("a\"track", "a\\b\n\x7f \xc3\xa9 \xc3 \xed\xa0\x80 \xf5\x80\x80\x80 end",
			 begin, begin + 1500);
	tenon_trace_span(NULL, "", begin, begin);
	tenon_trace_span(NULL, "never begun", 0, begin);
	assert_int_equal(tenon_trace(NULL), 0);
	tenon_trace_span(NULL, "after the end", begin, begin);
	text = content();
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
	assert_int_equal(tenon_trace(path), 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(pthread_create(&thread, NULL, note_by_name, names[i]), 0);
		pthread_join(thread, NULL);
	}
	note_by_name(NULL);
	text = end_trace();
	assert_int_equal(count_of(text, "\"args\":{\"name\":\"feed \\\"1\\\" "), 1);
	assert_int_equal(count_of(text, "\"args\":{\"name\":\"thread "), 1);
	assert_int_equal(count_of(text, "\"args\":{\"name\":\"main thread "), 1);
	free(text);
}

static void a_child_process_leaves_the_trace_alone(void **state)
{
	char *text;
	int status;
	pid_t child;

	(void)state;
	assert_int_equal(tenon_trace(path), 0);
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
	text = end_trace();
	assert_non_null(strstr(text, "of the parent"));
	assert_null(strstr(text, "of the child"));
	free(text);
}

/* ---- traces of other machines */

#define MICROSECOND UINT64_C(1000)
#define MILLISECOND UINT64_C(1000000)

/* the clock of the other machine when its trace began */
#define THERE UINT64_C(5000000000000)

/*
 * What another machine recorded, as runtime/trace/trace.h describes it: spans of its program, from
 * and to microseconds.
 */
static struct tenon_buffer recorded(const uint64_t (*spans)[2], size_t count)
{
	static const char *const texts[] = { "", "other thread", "request", "CallFunc" };
	struct tenon_buffer b = TENON_BUFFER_INIT;
	size_t i;

	tenon_buffer_u32(&b, 1);
	tenon_buffer_u64(&b, THERE);
	tenon_buffer_u64(&b, 7); /* dropped */
	tenon_buffer_u32(&b, 4);
	for (i = 0; i < 4; i++)
		tenon_buffer_string(&b, tenon_slice_of(texts[i]));
	tenon_buffer_u32(&b, 1); /* a process */
	tenon_buffer_u32(&b, 1);
	tenon_buffer_u32(&b, 1); /* a track of it, with spans */
	tenon_buffer_u32(&b, 0);
	tenon_buffer_u32(&b, 1);
	tenon_buffer_u32(&b, 2);
	tenon_buffer_u64(&b, count);
	for (i = 0; i < count; i++) {
		tenon_buffer_u8(&b, 1);
		tenon_buffer_u32(&b, 0);
		tenon_buffer_u32(&b, 3);
		tenon_buffer_u32(&b, 4);
		tenon_buffer_u32(&b, 0);
		tenon_buffer_u64(&b, 77);
		tenon_buffer_u64(&b, spans[i][0] * MICROSECOND);
		tenon_buffer_u64(&b, spans[i][1] * MICROSECOND);
		tenon_buffer_u64(&b, 0);
		tenon_buffer_u8(&b, 0);
	}
	assert_int_equal(b.status, 0);
	return b;
}

static void pass(uint64_t nanoseconds)
{
	const uint64_t end = clock_now() + nanoseconds;

	while (clock_now() < end)
		;
}

/* Times of the spans of the other machine, in nanoseconds from the begin of the trace. */
static size_t times_of(const char *text, uint64_t (*times)[2], size_t most)
{
	static const char before[] = "\"cat\":\"request\",\"name\":\"CallFunc\",";
	unsigned long long at[2];
	unsigned int rest[2];
	size_t n = 0;

	while ((text = strstr(text, before)) && n < most) {
		text += strlen(before);
		assert_int_equal(sscanf(text, "\"ts\":%llu.%3u,\"dur\":%llu.%3u", &at[0], &rest[0],
					&at[1], &rest[1]),
				 4);
		times[n][0] = at[0] * 1000 + rest[0];
		times[n++][1] = at[1] * 1000 + rest[1];
	}
	return n;
}

static void events_of_another_machine_have_the_time_of_this_one(void **state)
{
	static const uint64_t spans[][2] = { { 100, 1100 }, { 200, 300 } };
	struct tenon_buffer b = recorded(spans, 2);
	struct trace_there there = { .name = "remote 1: there", .events = { b.data, b.size } };
	uint64_t times[3][2], begin;
	char *text;

	(void)state;
	assert_int_equal(tenon_trace(path), 0);
	begin = clock_now();
	/* its clock is slow: 1 ms of it are 1.5 of ours */
	there.begin = (struct trace_clock){ THERE, begin, 3500 };
	there.end = (struct trace_clock){ THERE + MILLISECOND, begin + MILLISECOND * 3 / 2, 2 };
	pass(3 * MILLISECOND);
	assert_int_equal(trace_merge(&there), 0);
	text = end_trace();
	assert_non_null(strstr(text, "\"name\":\"remote 1: there (clock within 4 us)\""));
	assert_non_null(strstr(text, "\"name\":\"other thread\""));
	assert_non_null(strstr(text, "\"bytes\":77"));
	assert_non_null(strstr(text, "\"dropped\":\"7\""));
	assert_int_equal(times_of(text, times, 3), 2);
	assert_int_equal(times[0][1], 1500 * MICROSECOND);
	assert_int_equal(times[1][1], 150 * MICROSECOND);
	assert_int_equal(times[1][0] - times[0][0], 150 * MICROSECOND);
	assert_true(times[0][0] >= 150 * MICROSECOND);
	free(text);
	tenon_buffer_fini(&b);
}

/* What a machine says cannot bring the file out of order: other times are those of its ends. */
static void impossible_times_of_another_machine_are_limited(void **state)
{
	static const uint64_t spans[][2] = { { 0, 1 }, { 2, UINT64_MAX / MICROSECOND } };
	struct tenon_buffer b = recorded(spans, 2);
	const struct trace_clock clocks[] = { { 0, 0, 0 },
					      { UINT64_MAX, 1, UINT64_MAX },
					      { 1, UINT64_MAX, 1 },
					      { THERE, INT64_MAX, 1 },
					      { INT64_MAX, INT64_MAX, 0 } };
	struct trace_there there = { .name = "x", .events = { b.data, b.size } };
	uint64_t times[64][2], begin;
	size_t i, j, n;
	char *text;

	(void)state;
	begin = clock_now();
	assert_int_equal(tenon_trace(path), 0);
	for (i = 0; i < 5; i++)
		for (j = 0; j < 5; j++) {
			there.begin = clocks[i];
			there.end = clocks[j];
			assert_int_equal(trace_merge(&there), 0);
		}
	text = end_trace();
	n = times_of(text, times, 64);
	assert_int_equal(n, 50);
	for (i = 0; i < n; i++)
		assert_true(times[i][0] + times[i][1] <= clock_now() - begin);
	free(text);
	tenon_buffer_fini(&b);
}

/* What a machine recorded that names many tracks: a span on the last. */
static struct tenon_buffer recorded_tracks(uint32_t count)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	uint32_t i;

	tenon_buffer_u32(&b, 1);
	tenon_buffer_u64(&b, THERE);
	tenon_buffer_u64(&b, 0);
	tenon_buffer_u32(&b, 1);
	tenon_buffer_string(&b, tenon_slice_of("text"));
	tenon_buffer_u32(&b, 1);
	tenon_buffer_u32(&b, 1);
	tenon_buffer_u32(&b, count);
	for (i = 0; i < count; i++) {
		tenon_buffer_u32(&b, 0);
		tenon_buffer_u32(&b, 1);
		tenon_buffer_u32(&b, 1);
	}
	tenon_buffer_u64(&b, 1);
	tenon_buffer_u8(&b, 1);
	tenon_buffer_u32(&b, count - 1);
	tenon_buffer_u32(&b, 1);
	tenon_buffer_u32(&b, 1);
	tenon_buffer_u32(&b, 0);
	for (i = 0; i < 4; i++)
		tenon_buffer_u64(&b, 0);
	tenon_buffer_u8(&b, 0);
	assert_int_equal(b.status, 0);
	return b;
}

static void a_trace_has_a_limited_number_of_tracks(void **state)
{
	struct tenon_buffer b = recorded_tracks(40000);
	struct trace_there there = { .name = "x", .events = { b.data, b.size } };
	uint64_t now;
	char *text;

	(void)state;
	assert_int_equal(tenon_trace(path), 0);
	assert_int_equal(trace_merge(&there), 0);
	/* of these 80000, the last are too many */
	assert_int_equal(trace_merge(&there), 0);
	now = tenon_trace_now();
	tenon_trace_span("one more", "a span", now, now);
	text = end_trace();
	assert_null(strstr(text, "one more"));
	assert_non_null(strstr(text, "\"dropped\":\"2\""));
	free(text);
	tenon_buffer_fini(&b);
}

static void a_malformed_trace_of_another_machine_is_refused_whole(void **state)
{
	static const uint64_t spans[][2] = { { 0, 1 }, { 2, 3 } };
	struct tenon_buffer b = recorded(spans, 2);
	struct trace_there there = { .name = "there", .events = { b.data, b.size } };
	uint64_t times[1][2];
	char *text;
	size_t i;

	(void)state;
	assert_int_equal(tenon_trace(path), 0);
	for (i = 0; i < b.size; i++) {
		there.events.size = i;
		assert_int_not_equal(trace_merge(&there), 0);
		assert_non_null(strstr(tenon_error_message(), "trace"));
	}
	there.events.size = b.size;
	/* the last event's track, then its kind */
	b.data[b.size - 49] = 1;
	assert_int_equal(trace_merge(&there), -TENON_E_FORMAT);
	assert_non_null(strstr(tenon_error_message(), "an event of no track"));
	b.data[b.size - 49] = 0;
	b.data[b.size - 50] = 9;
	assert_int_equal(trace_merge(&there), -TENON_E_FORMAT);
	b.data[b.size - 50] = 3;
	assert_int_equal(trace_merge(&there), -TENON_E_FORMAT);
	b.data[b.size - 50] = 1;
	b.data[0] = 2;
	assert_int_equal(trace_merge(&there), -TENON_E_FORMAT);
	assert_non_null(strstr(tenon_error_message(), "same release"));
	text = end_trace();
	assert_int_equal(times_of(text, times, 1), 0);
	assert_null(strstr(text, "there"));
	free(text);
	tenon_buffer_fini(&b);
}

static void a_trace_for_another_machine_has_all_of_this_one(void **state)
{
	struct trace_there there = { .name = "remote 2: self" };
	struct tenon_buffer b = TENON_BUFFER_INIT;
	struct tenon_queue *queue;
	struct tenon_device *d = fake_open("fake:0", &queue);
	struct tenon_memory *m = memory(d, 64);
	char *text;

	(void)state;
	assert_int_equal(trace_take(&b), -TENON_E_USAGE);
	assert_int_equal(trace_keep(), 0);
	assert_int_equal(trace_keep(), -TENON_E_USAGE);
	assert_int_equal(tenon_trace(path), -TENON_E_USAGE);
	/* the program that runs for the other machine does not end it */
	assert_int_equal(tenon_trace(NULL), -TENON_E_USAGE);
	there.begin.there = there.begin.here = clock_now();
	tenon_trace_span("a track", "a span", tenon_trace_now(), tenon_trace_now());
	assert_int_equal(tenon_queue_fill(queue, m, 0, 64, 0, 4, NULL), 0);
	fake_finish(queue);
	tenon_object_unref(m);
	assert_int_equal(trace_take(&b), 0);
	there.end.there = there.end.here = clock_now();
	assert_int_equal(tenon_trace(path), 0);
	assert_int_equal(trace_take(&b), -TENON_E_USAGE);
	there.events = (struct tenon_slice){ b.data, b.size };
	assert_int_equal(trace_merge(&there), 0);
	text = end_trace();
	assert_non_null(strstr(text, "\"name\":\"remote 2: self (clock within 0 us)\""));
	assert_non_null(strstr(text, "\"name\":\"remote 2: self: fake:0 ("));
	assert_non_null(strstr(text, "\"name\":\"a span\""));
	assert_non_null(strstr(text, "\"cat\":\"fill\",\"name\":\"fill\""));
	assert_non_null(strstr(text, "\"name\":\"memory\""));
	free(text);
	tenon_buffer_fini(&b);
	tenon_object_unref(queue);
	tenon_object_unref(d);
	/* nothing is left of it, and without a trace merging does nothing */
	assert_int_equal(trace_merge(&there), 0);
	assert_int_equal(trace_keep(), 0);
	assert_int_equal(trace_take(NULL), 0);
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
	struct tenon_memory_request request = { 256, TENON_MEMORY_DEFAULT, -1, NULL };
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
	struct worker workers[THREADS] = { 0 };
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
		assert_int_equal(tenon_trace(path), 0);
		usleep(2000);
		text = end_trace();
		seen += count_of(text, "\"clock\":\"device\"");
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

static int setup(void **state)
{
	const char *folder = getenv("TMPDIR");
	int fd;

	snprintf(path, sizeof(path), "%s/trace-XXXXXX", folder ? folder : "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		return -1;
	close(fd);
	return fake_setup(state);
}

static int teardown(void **state)
{
	remove(path);
	return fake_reset(state);
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
		cmocka_unit_test_setup(events_of_another_machine_have_the_time_of_this_one,
				       fake_reset),
		cmocka_unit_test_setup(impossible_times_of_another_machine_are_limited, fake_reset),
		cmocka_unit_test_setup(a_trace_has_a_limited_number_of_tracks, fake_reset),
		cmocka_unit_test_setup(a_malformed_trace_of_another_machine_is_refused_whole,
				       fake_reset),
		cmocka_unit_test_setup(a_trace_for_another_machine_has_all_of_this_one, fake_reset),
		cmocka_unit_test_setup(traces_begin_and_end_while_threads_work, fake_reset),
	};

	return cmocka_run_group_tests_name("traces", tests, setup, teardown);
}
