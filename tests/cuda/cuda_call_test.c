/* SPDX-License-Identifier: MIT */
/*
 * Host functions in streams, on the fake libcuda with a thread for each stream: CUDA allows no call of
 * its own in one, and the fake complains about each.
 */
#include "tests/cuda/cuda_rig.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "driver/cuda/cuda_api.h"

struct step {
	struct tenon_timeline *timeline;
	uint64_t value;
	int err;
	struct tenon_object *drop[4];
};

static void signal_it(void *context)
{
	struct step *s = context;

	s->err = tenon_timeline_signal(s->timeline, s->value);
}

/* Submit nothing but a signal. */
static void promise(struct tenon_queue *q, struct tenon_timeline *t, uint64_t value)
{
	const struct tenon_point point = { t, value };
	const struct tenon_sync sync = { NULL, 0, &point, 1 };

	assert_int_equal(tenon_queue_join(q, &sync), 0);
}

static void a_host_function_signals_what_its_own_queue_has_promised_further(void **state)
{
	struct step s = { .value = 1, .err = 1 };

	(void)state;
	assert_int_equal(tenon_timeline_create(0, &s.timeline), 0);
	fake_cuda_hang(rig.fake, 1);
	assert_int_equal(tenon_queue_call(rig.queue, signal_it, &s, NULL), 0);
	promise(rig.queue, s.timeline, 2);
	__atomic_store_n(&rig.fake->hangs, 0, __ATOMIC_RELEASE);
	assert_int_equal(tenon_timeline_wait(s.timeline, 2, rig_soon()), 0);
	assert_int_equal(s.err, 0);
	assert_int_equal(rig.fake->complaints, 0);
	tenon_object_unref(s.timeline);
}

static void *wait_for_three(void *timeline)
{
	return (void *)(intptr_t)tenon_timeline_wait(timeline, 3, rig_soon());
}

static void no_wake_up_is_lost_where_a_host_function_looked(void **state)
{
	struct step s = { .value = 3, .err = 1 };
	struct tenon_memory *m = rig_memory(64);
	struct tenon_queue *other = NULL;
	pthread_t waiter;
	void *answer = NULL;
	int i;

	(void)state;
	assert_int_equal(tenon_queue_create(rig.device, &other), 0);
	for (i = 0; i < 50; i++) {
		assert_int_equal(tenon_timeline_create(0, &s.timeline), 0);
		/* reached, and nobody has asked */
		assert_int_equal(tenon_queue_fill(other, m, 0, 32, 1, 4, NULL), 0);
		promise(other, s.timeline, 2);
		assert_int_equal(pthread_create(&waiter, NULL, wait_for_three, s.timeline), 0);
		if (i & 1)
			usleep(1000);
		assert_int_equal(tenon_queue_call(rig.queue, signal_it, &s, NULL), 0);
		assert_int_equal(tenon_queue_fill(rig.queue, m, 32, 32, 1, 4, NULL), 0);
		promise(rig.queue, s.timeline, 5);
		assert_int_equal(tenon_timeline_wait(s.timeline, 5, rig_soon()), 0);
		assert_int_equal(pthread_join(waiter, &answer), 0);
		assert_int_equal((intptr_t)answer, 0);
		assert_int_equal(s.err, 0);
		tenon_object_unref(s.timeline);
	}
	assert_int_equal(rig.fake->complaints, 0);
	tenon_object_unref(m);
	tenon_object_unref(other);
}

static void drop_all(void *context)
{
	struct step *s = context;
	int i;

	for (i = 0; i < 4; i++)
		tenon_object_unref(s->drop[i]);
}

static void what_a_host_function_drops_is_given_back_by_the_next_allocation(void **state)
{
	struct tenon_memory_request ordered = { sizeof(ordered), 64, TENON_MEMORY_DEFAULT, -1,
						rig.queue };
	struct tenon_memory *used = rig_memory(64), *plain = rig_memory(64), *m = NULL;
	struct tenon_executable *e =
		rig_executable(rig_program("ptx", rig_bump, strlen(rig_bump), "bump", "p", 0));
	struct tenon_commands *c = NULL;
	struct tenon_kernel *k = NULL;
	struct step s;
	long before;

	(void)state;
	assert_int_equal(tenon_executable_kernel(e, 0, &k), 0);
	assert_int_equal(tenon_commands_create(rig.device, &c), 0);
	assert_int_equal(tenon_commands_fill(c, tenon_range(used, 0), 64, 1, 4), 0);
	assert_int_equal(tenon_commands_finish(c), 0);
	assert_int_equal(tenon_memory_alloc(rig.device, &ordered, &m), 0);
	s.drop[0] = &plain->object;
	s.drop[1] = &m->object;
	s.drop[2] = &e->object;
	s.drop[3] = &c->object;
	assert_int_equal(tenon_queue_call(rig.queue, drop_all, &s, NULL), 0);
	assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), 0);
	assert_int_equal(rig.fake->complaints, 0);
	before = rig.fake->live;
	m = rig_memory(64);
	assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), 0);
	/* two pieces of memory, a module with its kernel, a graph and what runs it */
	assert_true(before + 1 - rig.fake->live >= 5);
	tenon_object_unref(m);
	tenon_object_unref(used);
}

static void a_read_that_fails_while_its_first_part_moves(void **state)
{
	const size_t size = (5u << 20) + 3;
	struct tenon_memory *m = rig_memory(size);
	uint8_t *host = malloc(size);
	size_t n, wrong = 0;
	int i;

	(void)state;
	assert_int_equal(tenon_queue_fill(rig.queue, m, 0, size, 0x11, 1, NULL), 0);
	for (i = 0; i < 50; i++) {
		rig_fail("cuLaunchHostFunc", 2 + (i & 1), CU_OUT_OF_MEMORY);
		assert_int_equal(tenon_queue_read(rig.queue, host, m, 0, size, NULL),
				 -TENON_E_NOMEM);
		tenon_error_clear();
		memset(host, 0xee, size);
		assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), 0);
		for (n = 0; n < size; n++)
			wrong += host[n] != 0xee;
		rig_fail("cuLaunchHostFunc", 2 + (i & 1), CU_OUT_OF_MEMORY);
		assert_int_equal(tenon_queue_write(rig.queue, m, 0, host, size, NULL),
				 -TENON_E_NOMEM);
		tenon_error_clear();
		memset(host, 0x33, size);
	}
	assert_int_equal(wrong, 0);
	/* those after the first part that went in were never written to */
	assert_int_equal(tenon_queue_read(rig.queue, host, m, 0, size, NULL), 0);
	assert_int_equal(tenon_queue_sync(rig.queue, rig_soon()), 0);
	for (n = 0; n < size; n++)
		wrong += host[n] != (n < 2u << 21 ? 0xee : 0x11);
	assert_int_equal(wrong, 0);
	free(host);
	tenon_object_unref(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_CASE(a_host_function_signals_what_its_own_queue_has_promised_further),
		RIG_CASE(no_wake_up_is_lost_where_a_host_function_looked),
		RIG_CASE(what_a_host_function_drops_is_given_back_by_the_next_allocation),
		RIG_CASE(a_read_that_fails_while_its_first_part_moves),
	};

	if (rig_start("threads"))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
