/* SPDX-License-Identifier: MIT */
/* What recordings, waits, fences and names of devices refuse, each with its reason. */
#include <unistd.h>

#include <tenon/commands.h>
#include <tenon/fence.h>
#include <tenon/function.h>

#include "tests/device/fake_device.h"

struct scene {
	struct tenon_device *device, *other;
	struct tenon_queue *queue, *second, *foreign;
	struct tenon_memory *memory;
};

static struct tenon_memory *memory_of(struct tenon_device *d)
{
	const struct tenon_memory_request request = { sizeof(request), 64, TENON_MEMORY_DEFAULT, -1,
						      NULL };
	struct tenon_memory *m = NULL;

	assert_int_equal(tenon_memory_alloc(d, &request, &m), 0);
	return m;
}

static struct scene begin(void)
{
	struct scene s;

	s.device = fake_open("fake:0", &s.queue);
	assert_int_equal(tenon_queue_create(s.device, &s.second), 0);
	s.other = fake_open("fake:1", &s.foreign);
	s.memory = memory_of(s.device);
	return s;
}

static void end(struct scene *s)
{
	fake_finish(s->queue);
	tenon_object_unref(s->memory);
	tenon_object_unref(s->queue);
	tenon_object_unref(s->second);
	tenon_object_unref(s->foreign);
	tenon_object_unref(s->device);
	tenon_object_unref(s->other);
	tenon_error_clear();
}

static struct tenon_commands *recording(const struct scene *s)
{
	struct tenon_commands *c = NULL;

	assert_int_equal(tenon_commands_create(s->device, &c), 0);
	return c;
}

/* A call failed with a status, and a message that has these words. */
static void fails(int err, int status, const char *words)
{
	assert_error_has(words);
	assert_int_equal(err, status);
}

/* ---- recordings */

static void a_recording_follows_one_queue_of_its_device_until_it_is_finished(void **state)
{
	struct scene s = begin();
	struct tenon_commands *c = recording(&s), *other = recording(&s);

	(void)state;
	fails(tenon_commands_follow(c, s.foreign), -TENON_E_VALUE, "a queue of another device");
	assert_int_equal(tenon_commands_follow(c, s.queue), 0);
	fails(tenon_commands_follow(c, s.second), -TENON_E_USAGE, "follows a queue already");
	fails(tenon_commands_follow(other, s.queue), -TENON_E_USAGE, "another recording follows");
	fails(tenon_commands_call(c, NULL, NULL, 0), -TENON_E_USAGE, "follows a queue");
	assert_int_equal(tenon_commands_finish(c), 0);
	fails(tenon_commands_finish(c), -TENON_E_USAGE, "finished already");
	fails(tenon_commands_follow(c, s.queue), -TENON_E_USAGE, "is finished");
	fails(tenon_commands_call(c, NULL, NULL, 0), -TENON_E_USAGE, "is finished");
	fails(tenon_commands_stand_in(c, 0, s.memory, 64), -TENON_E_USAGE, "is finished");
	fails(tenon_commands_barrier(c), -TENON_E_USAGE, "is finished");
	tenon_object_unref(c);
	tenon_object_unref(other);
	end(&s);
}

static void what_a_followed_queue_does_besides_is_told_at_the_end(void **state)
{
	const uint8_t bytes[4] = { 1, 2, 3, 4 };
	struct scene s = begin();
	struct tenon_point done = { NULL, 1 };
	const struct tenon_sync sync = { NULL, 0, &done, 1 };
	struct tenon_commands *c = recording(&s);

	(void)state;
	assert_int_equal(tenon_commands_follow(c, s.queue), 0);
	assert_int_equal(tenon_queue_fill(s.queue, s.memory, 0, 16, 0, 4, NULL), 0);
	assert_int_equal(tenon_queue_write(s.queue, s.memory, 0, bytes, 4, NULL), 0);
	/* this one can be recorded, and tenon_commands_finish() still names the write before it */
	assert_int_equal(tenon_queue_fill(s.queue, s.memory, 0, 16, 0, 4, NULL), 0);
	fails(tenon_commands_finish(c), -TENON_E_UNSUPPORTED, "given a \"write\"");
	tenon_object_unref(c);
	/* a fill that signals is none that can be done again */
	c = recording(&s);
	assert_int_equal(tenon_timeline_create(0, &done.timeline), 0);
	assert_int_equal(tenon_commands_follow(c, s.queue), 0);
	assert_int_equal(tenon_queue_fill(s.queue, s.memory, 0, 16, 0, 4, &sync), 0);
	fails(tenon_commands_finish(c), -TENON_E_UNSUPPORTED, "given a \"fill\"");
	tenon_object_unref(c);
	fake_finish(s.queue);
	tenon_object_unref(done.timeline);
	end(&s);
}

static void a_slot_is_memory_of_the_device_that_no_other_slot_has(void **state)
{
	struct scene s = begin();
	struct tenon_memory *far = memory_of(s.other), *more = memory_of(s.device), *half, *rest;
	struct tenon_commands *c = recording(&s);

	(void)state;
	assert_int_equal(tenon_memory_subrange(more, 0, 32, &half), 0);
	assert_int_equal(tenon_memory_subrange(more, 32, 32, &rest), 0);
	fails(tenon_commands_stand_in(c, 0, far, 64), -TENON_E_VALUE, "want memory of this device");
	fails(tenon_commands_stand_in(c, 0, s.memory, 65), -TENON_E_VALUE, "65 bytes");
	fails(tenon_commands_stand_in(c, UINT32_MAX, s.memory, 64), -TENON_E_VALUE,
	      "slot 4294967295");
	assert_int_equal(tenon_commands_stand_in(c, 2, s.memory, 64), 0);
	fails(tenon_commands_stand_in(c, 2, more, 64), -TENON_E_VALUE, "has a buffer already");
	/* both halves, but not the whole or a half twice */
	assert_int_equal(tenon_commands_stand_in(c, 1, half, 32), 0);
	fails(tenon_commands_stand_in(c, 0, more, 64), -TENON_E_VALUE, "in use for slot 1");
	fails(tenon_commands_stand_in(c, 0, half, 32), -TENON_E_VALUE, "in use for slot 1");
	assert_int_equal(tenon_commands_stand_in(c, 0, rest, 32), 0);
	assert_int_equal(tenon_commands_fill(c, tenon_range(more, 16), 16, 0, 4), 0);
	tenon_object_unref(c);
	tenon_object_unref(half);
	tenon_object_unref(rest);
	tenon_object_unref(more);
	tenon_object_unref(far);
	end(&s);
}

/* ---- a function that is recorded */

static struct {
	struct scene *scene;
	struct tenon_commands *commands;
	bool fills, writes, stamps, fails;
} called;

static int call(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret)
{
	struct tenon_queue *q;
	uint64_t stamp;
	int err;

	(void)self;
	(void)args;
	(void)count;
	*ret = tenon_arg_none();
	/* recordings know that one is being made */
	fails(tenon_commands_follow(called.commands, called.scene->second), -TENON_E_USAGE,
	      "records a call");
	fails(tenon_commands_call(called.commands, NULL, NULL, 0), -TENON_E_USAGE,
	      "records a call");
	tenon_error_clear();
	err = tenon_queue_current(called.scene->device, &q);
	if (!err && called.fills)
		err = tenon_queue_fill(q, called.scene->memory, 0, 16, 0, 4, NULL);
	if (!err && called.writes)
		err = tenon_queue_write(q, called.scene->memory, 0, &stamp, 8, NULL);
	if (!err && called.stamps)
		err = tenon_queue_timestamp(q, &stamp, NULL);
	if (!err && called.fails)
		err = tenon_error(-TENON_E_VALUE, "the function does not like it");
	return err;
}

static int record(struct scene *s, struct tenon_commands *c, struct tenon_function *f)
{
	called.scene = s;
	called.commands = c;
	return tenon_commands_call(c, f, NULL, 0);
}

static void what_a_function_does_is_recorded_or_refused(void **state)
{
	struct scene s = begin();
	struct tenon_commands *c = recording(&s);
	struct tenon_function *f;

	(void)state;
	assert_int_equal(tenon_function_create(NULL, call, NULL, &f), 0);
	memset(&called, 0, sizeof(called));
	fails(record(&s, c, f), -TENON_E_UNSUPPORTED, "nothing to record");
	called.fails = true;
	fails(record(&s, c, f), -TENON_E_VALUE, "does not like it");
	/* it submitted nothing, so the recording is whole */
	called.fails = false;
	called.fills = true;
	assert_int_equal(record(&s, c, f), 0);
	assert_int_equal(tenon_commands_finish(c), 0);
	tenon_object_unref(c);
	/* what failed half-way is no recording */
	c = recording(&s);
	called.fails = true;
	fails(record(&s, c, f), -TENON_E_VALUE, "does not like it");
	fails(tenon_commands_finish(c), -TENON_E_USAGE, "failed before its end");
	tenon_object_unref(c);
	called.fails = false;
	called.writes = true;
	c = recording(&s);
	fails(record(&s, c, f), -TENON_E_UNSUPPORTED, "submits a \"write\"");
	tenon_object_unref(c);
	called.writes = false;
	called.stamps = true;
	c = recording(&s);
	fails(record(&s, c, f), -TENON_E_UNSUPPORTED, "that cannot be recorded");
	tenon_object_unref(c);
	tenon_object_unref(f);
	end(&s);
}

/* ---- waits and fences */

static void waits_for_points_end_as_they_are_decided(void **state)
{
	struct tenon_point p[2] = { { NULL, 1 }, { NULL, 1 } };
	size_t which = 9;

	(void)state;
	assert_int_equal(tenon_timeline_create(0, &p[0].timeline), 0);
	assert_int_equal(tenon_timeline_create(0, &p[1].timeline), 0);
	fails(tenon_wait_any(p, 0, 0, NULL), -TENON_E_USAGE, "no points");
	assert_int_equal(tenon_wait_all(p, 0, 0, NULL), 0);
	fails(tenon_wait_any(p, 2, 0, NULL), -TENON_E_TIMEOUT, "none of 2 points");
	fails(tenon_wait_any(p, 2, tenon_deadline(1000000), &which), -TENON_E_TIMEOUT,
	      "none of 2 points");
	fails(tenon_wait_any(p, 1, tenon_deadline(1000000), NULL), -TENON_E_TIMEOUT, "in time");
	fails(tenon_wait_all(p, 2, 0, NULL), -TENON_E_TIMEOUT, "in time");
	assert_int_equal(tenon_timeline_signal(p[0].timeline, 1), 0);
	fails(tenon_wait_all(p, 2, 0, &which), -TENON_E_TIMEOUT, "in time");
	assert_int_equal(which, 1);
	assert_int_equal(tenon_wait_any(p, 2, 0, NULL), 0);
	fails(tenon_timeline_signal(p[0].timeline, 1), -TENON_E_VALUE, "values only grow");
	tenon_error(-TENON_E_DEVICE, "it burned");
	tenon_timeline_fail(p[1].timeline, -TENON_E_DEVICE);
	/* the first reason stays */
	tenon_error(-TENON_E_DEVICE, "it drowned");
	tenon_timeline_fail(p[1].timeline, -TENON_E_DEVICE);
	fails(tenon_wait_all(p, 2, 0, &which), -TENON_E_DEVICE, "it burned");
	fails(tenon_timeline_signal(p[1].timeline, 1), -TENON_E_DEVICE, "it burned");
	tenon_error_clear();
	tenon_object_unref(p[0].timeline);
	tenon_object_unref(p[1].timeline);
}

static void a_fence_has_a_type_and_a_device_that_gives_it_away(void **state)
{
	struct scene s = begin();
	struct tenon_point p = { NULL, 1 };
	const struct tenon_sync sync = { NULL, 0, &p, 1 };
	struct tenon_timeline *t;
	int fds[2], fd;

	(void)state;
	assert_int_equal(tenon_timeline_create(0, &p.timeline), 0);
	assert_int_equal(tenon_queue_fill(s.queue, s.memory, 0, 16, 0, 4, &sync), 0);
	fails(tenon_fence_export(&p, TENON_FENCE_SYNC_FILE, &fd), -TENON_E_UNSUPPORTED,
	      "does not export fences of type 1");
	fails(tenon_fence_export(&p, 40, &fd), -TENON_E_UNSUPPORTED, "fences of type 40");
	/* the driver's own: any descriptor, which no queue here can wait for */
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(tenon_fence_import(TENON_FENCE_OPAQUE_FD, fds[0], &t), 0);
	fails(tenon_timeline_wait(t, 1, tenon_deadline(1000000)), -TENON_E_UNSUPPORTED,
	      "waited for by queues only");
	fails(tenon_timeline_signal(t, 1), -TENON_E_VALUE, "only the side that exported it");
	fails(tenon_fence_export(&(struct tenon_point){ t, 1 }, TENON_FENCE_EVENTFD, &fd),
	      -TENON_E_UNSUPPORTED, "is watched once");
	fails(tenon_queue_fill(s.queue, s.memory, 0, 16, 0, 4,
			       &(struct tenon_sync){ &(struct tenon_point){ t, 1 }, 1, NULL, 0 }),
	      -TENON_E_UNSUPPORTED, "does not import fences");
	close(fds[0]);
	close(fds[1]);
	tenon_object_unref(t);
	fake_finish(s.queue);
	tenon_error_clear();
	tenon_object_unref(p.timeline);
	end(&s);
}

/* ---- names */

static void names_that_fit_no_device_are_refused(void **state)
{
	static const char *const wrong[] = {
		"fake://1234567890",
		"fake:1x",
		"fake://fake/7",
		"fake://fake/second/first",
		"fake://uuid:",
		"fake://uuid:b0b1b2b3b4b5b6b7b8b9babbbcbdbe",
		"fake://uuid:b0b1b2b3b4b5b6b7b8b9babbbcbdbebx",
		"fake://uuid:----",
	};
	struct tenon_device *d;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		fails(tenon_device_open(wrong[i], &d), -TENON_E_DEVICE, "none of the 2 devices");
		assert_null(d);
	}
	/* the second that has the word, by two words, and by its driver */
	assert_int_equal(tenon_device_open("fake://fake/1", &d), 0);
	assert_int_equal(d->index, 1);
	tenon_object_unref(d);
	assert_int_equal(tenon_device_open("fake://7.1/second", &d), 0);
	assert_int_equal(d->index, 1);
	tenon_object_unref(d);
	fails(tenon_device_get((DLDevice){ (DLDeviceType)FAKE_TYPE, -1 }, &d), -TENON_E_DEVICE,
	      "0 or more");
	fails(tenon_device_get((DLDevice){ (DLDeviceType)99, 0 }, &d), -TENON_E_DEVICE,
	      "no device");
	tenon_error_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			a_recording_follows_one_queue_of_its_device_until_it_is_finished,
			fake_reset),
		cmocka_unit_test_setup(what_a_followed_queue_does_besides_is_told_at_the_end,
				       fake_reset),
		cmocka_unit_test_setup(a_slot_is_memory_of_the_device_that_no_other_slot_has,
				       fake_reset),
		cmocka_unit_test_setup(what_a_function_does_is_recorded_or_refused, fake_reset),
		cmocka_unit_test_setup(waits_for_points_end_as_they_are_decided, fake_reset),
		cmocka_unit_test_setup(a_fence_has_a_type_and_a_device_that_gives_it_away,
				       fake_reset),
		cmocka_unit_test_setup(names_that_fit_no_device_are_refused, fake_reset),
	};

	return cmocka_run_group_tests_name("what devices refuse", tests, fake_setup, fake_reset);
}
