/* SPDX-License-Identifier: MIT */
/* Points that are watched while their device is lost, their queue goes, or other threads wait for them. */
#include <pthread.h>
#include <unistd.h>

#include "tests/device/fake_device.h"
#include "tests/device/foreign_fence.h"

#define MS UINT64_C(1000000)

static uint64_t soon(void)
{
	return tenon_deadline(60000 * MS);
}

/* a queue with a fill that is not done, which a point stands for */
struct scene {
	struct tenon_device *device;
	struct tenon_queue *queue;
	struct tenon_memory *memory;
	struct tenon_point done;
};

static struct scene begin(void)
{
	const struct tenon_memory_request request = { sizeof(request), 64, TENON_MEMORY_DEFAULT, -1,
						      NULL };
	struct scene s = { .done = { NULL, 1 } };
	struct tenon_sync sync = { NULL, 0, &s.done, 1 };

	s.device = fake_open("fake:0", &s.queue);
	assert_int_equal(tenon_memory_alloc(s.device, &request, &s.memory), 0);
	assert_int_equal(tenon_timeline_create(0, &s.done.timeline), 0);
	assert_int_equal(tenon_queue_fill(s.queue, s.memory, 0, 64, 1, 4, &sync), 0);
	return s;
}

static void end(struct scene *s)
{
	if (s->queue)
		fake_finish(s->queue);
	tenon_object_unref(s->memory);
	tenon_object_unref(s->done.timeline);
	tenon_object_unref(s->queue);
	tenon_object_unref(s->device);
	tenon_error_clear();
}

static void lose(struct scene *s)
{
	tenon_error(-TENON_E_DEVICE, "the cable was pulled");
	tenon_device_lose(s->device, -TENON_E_DEVICE);
	tenon_error_clear();
}

static int export(const struct scene *s)
{
	int fd;

	assert_int_equal(tenon_fence_export(&s->done, TENON_FENCE_EVENTFD, &fd), 0);
	return fd;
}

/* What a receiver of the descriptor hears. */
static int outcome(int fd)
{
	struct tenon_timeline *t;
	int err;

	assert_int_equal(tenon_fence_import(TENON_FENCE_EVENTFD, fd, &t), 0);
	err = tenon_timeline_wait(t, 1, soon());
	tenon_error_clear();
	tenon_object_unref(t);
	return err;
}

static void an_exported_fence_fails_with_its_device(void **state)
{
	struct scene s = begin();
	int fd = export(&s);

	(void)state;
	assert_false(becomes_readable(fd, 20));
	lose(&s);
	assert_true(becomes_readable(fd, 60000));
	assert_int_equal(outcome(fd), -TENON_E_LOST);
	close(fd);
	/* and one that is exported now */
	fd = export(&s);
	assert_int_equal(outcome(fd), -TENON_E_LOST);
	close(fd);
	end(&s);
}

static void a_wait_set_gives_out_the_loss_with_its_reason(void **state)
{
	struct scene s = begin();
	struct tenon_wait_set *set;
	struct tenon_wait_result r;

	(void)state;
	assert_int_equal(tenon_wait_set_create(&set), 0);
	assert_int_equal(tenon_wait_set_add(set, &s.done, &s), 0);
	assert_int_equal(tenon_wait_set_next(set, &r), 0);
	lose(&s);
	assert_true(becomes_readable(tenon_wait_set_fd(set), 60000));
	assert_int_equal(tenon_wait_set_next(set, &r), 1);
	assert_ptr_equal(r.context, &s);
	assert_int_equal(r.status, -TENON_E_LOST);
	assert_error_has("the cable was pulled");
	assert_int_equal(tenon_wait_set_next(set, &r), 0);
	tenon_object_unref(set);
	end(&s);
}

static void a_fence_outlives_the_queue_that_promised_it(void **state)
{
	struct scene s = begin();
	struct tenon_queue *queue = s.queue;
	int fd = export(&s);

	(void)state;
	/* what watches holds the queue: it is not gone with its owner's reference */
	tenon_object_unref(s.queue);
	s.queue = NULL;
	assert_false(becomes_readable(fd, 20));
	assert_int_equal(fake.queues_gone, 0);
	fake_finish(queue);
	assert_int_equal(outcome(fd), 0);
	close(fd);
	end(&s);
}

static void a_fence_fails_with_a_device_whose_queue_was_dropped(void **state)
{
	struct scene s = begin();
	int fd = export(&s);

	(void)state;
	tenon_object_unref(s.queue);
	s.queue = NULL;
	tenon_object_unref(s.done.timeline);
	s.done.timeline = NULL;
	lose(&s);
	assert_int_equal(outcome(fd), -TENON_E_LOST);
	close(fd);
	end(&s);
}

static void *wait_for(void *point)
{
	const struct tenon_point *p = point;
	int err = tenon_timeline_wait(p->timeline, p->value, soon());

	tenon_error_clear();
	return (void *)(intptr_t)err;
}

/* Threads wait in the driver while the library's own watches the same mark. */
static void watched_while_others_wait(bool is_lost)
{
	struct scene s = begin();
	pthread_t threads[2];
	void *result;
	int fd, i;

	for (i = 0; i < 2; i++) {
		assert_int_equal(pthread_create(&threads[i], NULL, wait_for, &s.done), 0);
		usleep(5000);
	}
	fd = export(&s);
	assert_false(becomes_readable(fd, 20));
	if (is_lost)
		lose(&s);
	else
		fake_finish(s.queue);
	assert_int_equal(outcome(fd), is_lost ? -TENON_E_LOST : 0);
	for (i = 0; i < 2; i++) {
		pthread_join(threads[i], &result);
		assert_int_equal((int)(intptr_t)result, is_lost ? -TENON_E_LOST : 0);
	}
	close(fd);
	end(&s);
}

static void a_watch_and_waiting_threads_all_see_the_end(void **state)
{
	(void)state;
	watched_while_others_wait(false);
}

static void a_watch_and_waiting_threads_all_see_the_loss(void **state)
{
	(void)state;
	watched_while_others_wait(true);
}

#define CASE(f) cmocka_unit_test_setup(f, fake_reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_exported_fence_fails_with_its_device),
		CASE(a_wait_set_gives_out_the_loss_with_its_reason),
		CASE(a_fence_outlives_the_queue_that_promised_it),
		CASE(a_fence_fails_with_a_device_whose_queue_was_dropped),
		CASE(a_watch_and_waiting_threads_all_see_the_end),
		CASE(a_watch_and_waiting_threads_all_see_the_loss),
	};

	return cmocka_run_group_tests_name("fences and loss", tests, fake_setup, NULL);
}
