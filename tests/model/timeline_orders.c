/* SPDX-License-Identifier: MIT */
/* Timelines in all orders of their threads: those that wait, those that signal, and a device that reaches what a queue promised. */
#include "tests/model/explore.h"

#include "runtime/device/device_core.h"

#define device_wait(condition, lock, deadline) (explore_condition(condition, lock), true)
#include "runtime/device/device_timeline.c"

#include "tests/unit/suite.h"

#define SERIAL 5

static struct tenon_timeline timeline;
static struct promise promise;
static uint32_t done;
static int data;

/* ---- a queue whose device is a thread of the model */

static int reached(struct tenon_queue *queue, uint64_t serial)
{
	(void)queue;
	return __atomic_load_n(&done, __ATOMIC_ACQUIRE) >= serial;
}

static int wait(struct tenon_queue *queue, uint64_t serial, uint64_t deadline)
{
	(void)deadline;
	while (!reached(queue, serial))
		futex_wait(&done, 0);
	return 0;
}

static const struct tenon_queue_ops queue_ops = { .reached = reached, .wait = wait };
static const struct tenon_device_ops device_ops = { .queue = &queue_ops };
static struct tenon_device device = { .ops = &device_ops };
static struct tenon_queue queue = { .device = &device };

static void begin(void)
{
	memset(&timeline, 0, sizeof(timeline));
	promise = (struct promise){ 0 };
	timeline.spare = &promise;
	timeline.foreign = -1;
	queue.object.refs = 1000;
	done = 0;
}

static void wait_and_read(void)
{
	if (tenon_timeline_wait(&timeline, 1, TENON_FOREVER))
		explore_fail("a wait failed");
	explore_reads(&data);
}

static void signal_one(void)
{
	explore_writes(&data);
	if (tenon_timeline_signal(&timeline, 1))
		explore_fail("a signal failed");
}

static void promise_one(void)
{
	if (timeline_promise(&timeline, 1, &queue, SERIAL, TENON_FOREVER))
		explore_fail("a promise failed");
}

static void run_device(void)
{
	explore_writes(&data);
	__atomic_store_n(&done, SERIAL, __ATOMIC_RELEASE);
	futex_wake_all(&done);
}

static void end(void)
{
	uint64_t value = timeline.value;

	if (value != 1)
		explore_fail("the timeline is not where it was signalled");
}

static const struct explore_model models[] = {
	{ 2, { wait_and_read, signal_one }, begin, end, 0, NULL, 0 },
	{ 3, { wait_and_read, wait_and_read, signal_one }, begin, end, 0, NULL, 0 },
	{ 3, { wait_and_read, promise_one, run_device }, begin, end, 0, NULL, 0 },
};

static void no_order_breaks(const struct explore_model *model)
{
	const char *broken = explore(model, true);

	print_message("# %llu orders\n", (unsigned long long)explore_orders);
	assert_null(broken);
}

static void no_order_loses_a_signal(void **state)
{
	(void)state;
	no_order_breaks(&models[0]);
}

static void no_order_loses_one_of_two_waits(void **state)
{
	(void)state;
	no_order_breaks(&models[1]);
}

static void no_order_loses_a_promise(void **state)
{
	(void)state;
	no_order_breaks(&models[2]);
}

static void each_order_that_is_taken_away_breaks_it(void **state)
{
	static const char *const survivors[] = {
		/* these threads wrote nothing that others read without the lock */
		"finish unlock release",
		"timeline_promise unlock release",
		"look unlock release",
		/* all that wait for a promised value wait for its queue */
		"advance wake wakes",
		/* no trace here */
		"trace_on load acquire",
		NULL,
	};

	(void)state;
	assert_true(explore_each_half(models, 3, survivors));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_order_loses_a_signal),
		cmocka_unit_test(no_order_loses_one_of_two_waits),
		cmocka_unit_test(no_order_loses_a_promise),
		cmocka_unit_test(each_order_that_is_taken_away_breaks_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
