/* SPDX-License-Identifier: MIT */
/* Start and end the threads that wait for a queue. */
#include "runtime/device/device_queue_thread.h"

#include "lib/brief_errors.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* number of threads that do not wait, and so will end */
static int32_t busy;

struct start {
	struct tenon_queue *queue;
	void (*work)(struct tenon_queue *queue);
};

static void *run_thread(void *context)
{
	struct start s = *(struct start *)context;

	free(context);
	s.work(s.queue);
	tenon_object_unref(s.queue);
	__atomic_sub_fetch(&busy, 1, __ATOMIC_RELEASE);
	return NULL;
}

int queue_thread_start(struct tenon_queue *q, void (*work)(struct tenon_queue *queue))
{
	struct start *s = malloc(sizeof(*s));
	pthread_attr_t attributes;
	pthread_t thread;
	int failed;

	if (!s || pthread_attr_init(&attributes)) {
		free(s);
		return tenon_error(-TENON_E_NOMEM, "no memory for a thread");
	}
	s->queue = q;
	s->work = work;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	tenon_object_ref(q);
	__atomic_add_fetch(&busy, 1, __ATOMIC_RELAXED);
	failed = pthread_create(&thread, &attributes, run_thread, s);
	pthread_attr_destroy(&attributes);
	if (!failed)
		return 0;
	__atomic_sub_fetch(&busy, 1, __ATOMIC_RELEASE);
	tenon_object_unref(q);
	free(s);
	return tenon_error(-TENON_E_NOMEM, "no thread for a queue: %s", strerror(failed));
}

void queue_thread_waits(void)
{
	__atomic_sub_fetch(&busy, 1, __ATOMIC_RELEASE);
}

void queue_thread_goes_on(void)
{
	__atomic_add_fetch(&busy, 1, __ATOMIC_RELAXED);
}

void queue_threads_leave(void)
{
	const struct timespec a_moment = { 0, 20000 };

	while (__atomic_load_n(&busy, __ATOMIC_ACQUIRE))
		nanosleep(&a_moment, NULL);
}

void queue_threads_forked(void)
{
	__atomic_store_n(&busy, 0, __ATOMIC_RELAXED);
}
