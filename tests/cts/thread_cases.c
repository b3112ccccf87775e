/* SPDX-License-Identifier: MIT */
/* Cases in which several threads use a device at once. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/cts/cts.h"

#define THREADS 4

struct worker {
	struct cts *cts;
	struct tenon_kernel *kernel;
	int number;
	int failed; /* the line */
	char why[256];
};

/* cmocka's assertions are for the thread that runs the case */
#define must(w, condition)                                                                         \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			(w)->failed = __LINE__;                                                    \
			snprintf((w)->why, sizeof((w)->why), "%s", tenon_error_message());         \
			return NULL;                                                               \
		}                                                                                  \
	} while (0)

static void *fill_and_read(void *context)
{
	struct worker *w = context;
	struct tenon_memory_request request = { sizeof(request), 4096, TENON_MEMORY_DEFAULT, -1,
						NULL };
	struct tenon_memory *m;
	struct tenon_queue *q;
	uint32_t back[1024];
	int i;

	must(w, !tenon_queue_current(w->cts->device, &q));
	for (i = 0; i < 100; i++) {
		must(w, !tenon_memory_alloc(w->cts->device, &request, &m));
		must(w,
		     !tenon_queue_fill(q, m, 0, 4096, (uint32_t)(1000 * w->number + i), 4, NULL));
		must(w, !tenon_queue_read(q, back, m, 0, 4096, NULL));
		must(w, !tenon_queue_sync(q, cts_soon()));
		must(w, back[0] == (uint32_t)(1000 * w->number + i) && back[1023] == back[0]);
		tenon_object_unref(m);
	}
	return NULL;
}

/* all launch the same kernel, each with arguments of its own */
static void *launch(void *context)
{
	struct worker *w = context;
	struct tenon_memory_request request = { sizeof(request), 40, TENON_MEMORY_DEFAULT, -1,
						NULL };
	struct tenon_memory *m;
	struct tenon_queue *q;
	uint64_t args[11] = { 0 };
	struct tenon_dispatch d = cts_dispatch(w->kernel, args);
	int32_t back[10];
	int i, j;

	must(w, !tenon_queue_current(w->cts->device, &q));
	must(w, !tenon_memory_alloc(w->cts->device, &request, &m));
	args[0] = cts_argument(m);
	for (i = 0; i < 200; i++) {
		for (j = 0; j < 10; j++)
			args[j + 1] = cts_int(w->number * 100000 + i * 10 + j, 32);
		must(w, !tenon_queue_dispatch(q, &d, NULL));
		if (i % 20 != 19)
			continue;
		must(w, !tenon_queue_read(q, back, m, 0, 40, NULL));
		must(w, !tenon_queue_sync(q, cts_soon()));
		for (j = 0; j < 10; j++)
			must(w, back[j] == w->number * 100000 + i * 10 + j);
	}
	tenon_object_unref(m);
	return NULL;
}

static void run_threads(struct cts *cts, struct tenon_kernel *kernel, void *(*body)(void *))
{
	struct worker w[THREADS];
	pthread_t thread[THREADS];
	int i;

	memset(w, 0, sizeof(w));
	for (i = 0; i < THREADS; i++) {
		w[i].cts = cts;
		w[i].kernel = kernel;
		w[i].number = i + 1;
		assert_int_equal(pthread_create(&thread[i], NULL, body, &w[i]), 0);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < THREADS; i++) {
		if (w[i].failed)
			print_error("thread %d, line %d: %s\n", i, w[i].failed, w[i].why);
		assert_int_equal(w[i].failed, 0);
	}
}

static void threads_work_side_by_side_on_queues_of_their_own(struct cts *cts)
{
	run_threads(cts, NULL, fill_and_read);
}

static void threads_launch_the_same_kernel_with_arguments_of_their_own(struct cts *cts)
{
	run_threads(cts, cts_kernel(cts, "many"), launch);
}

static void *current(void *context)
{
	struct worker *w = context;
	struct tenon_queue *q;

	must(w, !tenon_queue_current(w->cts->device, &q));
	return q;
}

static void a_thread_has_a_queue_of_its_own_and_leaves_it_to_the_next(struct cts *cts)
{
	struct worker w = { .cts = cts };
	struct tenon_queue *mine;
	pthread_t thread;
	void *first, *second;

	ok(tenon_queue_current(cts->device, &mine));
	assert_int_equal(pthread_create(&thread, NULL, current, &w), 0);
	pthread_join(thread, &first);
	assert_int_equal(pthread_create(&thread, NULL, current, &w), 0);
	pthread_join(thread, &second);
	assert_non_null(first);
	assert_ptr_not_equal(first, mine);
	assert_ptr_equal(first, second);
}

static void *drop_and_sync(void *context)
{
	struct worker *w = context;
	int i;

	for (i = 0; i < 50; i++)
		must(w, !tenon_device_sync(w->cts->device, cts_soon()));
	return fill_and_read(context);
}

static void a_device_is_synced_while_others_submit(struct cts *cts)
{
	run_threads(cts, NULL, drop_and_sync);
}

const struct cts_case cts_thread_cases[] = {
	CTS_CASE(threads_work_side_by_side_on_queues_of_their_own),
	CTS_CASE(threads_launch_the_same_kernel_with_arguments_of_their_own),
	CTS_CASE(a_thread_has_a_queue_of_its_own_and_leaves_it_to_the_next),
	CTS_CASE(a_device_is_synced_while_others_submit),
	{ NULL, NULL },
};
