/* SPDX-License-Identifier: MIT */
/* Events that another machine recorded become a part of a trace, and a trace is kept for another machine. */
#include <stdio.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>

#include "lib/clock.h"
#include "lib/trace.h"
#include "tests/device/fake_device.h"
#include "tests/device/trace_file.h"

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
	assert_int_equal(tenon_trace(trace_path), 0);
	begin = clock_now();
	/* its clock is slow: 1 ms of it are 1.5 of ours */
	there.begin = (struct trace_clock){ THERE, begin, 3500 };
	there.end = (struct trace_clock){ THERE + MILLISECOND, begin + MILLISECOND * 3 / 2, 2 };
	pass(3 * MILLISECOND);
	assert_int_equal(trace_merge(&there), 0);
	text = trace_end();
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
	assert_int_equal(tenon_trace(trace_path), 0);
	for (i = 0; i < 5; i++)
		for (j = 0; j < 5; j++) {
			there.begin = clocks[i];
			there.end = clocks[j];
			assert_int_equal(trace_merge(&there), 0);
		}
	text = trace_end();
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
	assert_int_equal(tenon_trace(trace_path), 0);
	assert_int_equal(trace_merge(&there), 0);
	/* of these 80000, the last are too many */
	assert_int_equal(trace_merge(&there), 0);
	now = tenon_trace_now();
	tenon_trace_span("one more", "a span", now, now);
	text = trace_end();
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
	assert_int_equal(tenon_trace(trace_path), 0);
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
	text = trace_end();
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
	struct tenon_memory *m = trace_memory(d, 64);
	char *text;

	(void)state;
	assert_int_equal(trace_take(&b), -TENON_E_USAGE);
	assert_int_equal(trace_keep(), 0);
	assert_int_equal(trace_keep(), -TENON_E_USAGE);
	assert_int_equal(tenon_trace(trace_path), -TENON_E_USAGE);
	/* the program that runs for the other machine does not end it */
	assert_int_equal(tenon_trace(NULL), -TENON_E_USAGE);
	there.begin.there = there.begin.here = clock_now();
	tenon_trace_span("a track", "a span", tenon_trace_now(), tenon_trace_now());
	assert_int_equal(tenon_queue_fill(queue, m, 0, 64, 0, 4, NULL), 0);
	fake_finish(queue);
	tenon_object_unref(m);
	assert_int_equal(trace_take(&b), 0);
	there.end.there = there.end.here = clock_now();
	assert_int_equal(tenon_trace(trace_path), 0);
	assert_int_equal(trace_take(&b), -TENON_E_USAGE);
	there.events = (struct tenon_slice){ b.data, b.size };
	assert_int_equal(trace_merge(&there), 0);
	text = trace_end();
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(events_of_another_machine_have_the_time_of_this_one,
				       fake_reset),
		cmocka_unit_test_setup(impossible_times_of_another_machine_are_limited, fake_reset),
		cmocka_unit_test_setup(a_trace_has_a_limited_number_of_tracks, fake_reset),
		cmocka_unit_test_setup(a_malformed_trace_of_another_machine_is_refused_whole,
				       fake_reset),
		cmocka_unit_test_setup(a_trace_for_another_machine_has_all_of_this_one, fake_reset),
	};

	return cmocka_run_group_tests_name("traces of other machines", tests, trace_setup,
					   trace_teardown);
}
