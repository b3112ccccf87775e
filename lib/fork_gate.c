/* SPDX-License-Identifier: MIT */
/* Hold fork() back until no other thread is inside the gate. */
#include "lib/fork_gate.h"

#include <errno.h>
#include <stdbool.h>
#include <time.h>

/* how long fork() waits for other threads */
#define PATIENCE_NS 500000000

static pthread_mutex_t gate_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_changed;
static unsigned int gate_inside; /* threads */
static bool gate_forking;
static pthread_once_t gate_once = PTHREAD_ONCE_INIT;
static __thread unsigned int gate_depth; /* nesting depth of this thread */

static void changed_init(void)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&gate_changed, &attributes);
	pthread_condattr_destroy(&attributes);
}

static struct timespec deadline(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += PATIENCE_NS;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

/* Returns with the mutex locked; parent and child unlock it after the fork. */
static void before_fork(void)
{
	const unsigned int own = gate_depth != 0;
	struct timespec until;
	int late = 0;

	pthread_mutex_lock(&gate_mutex);
	while (gate_forking)
		pthread_cond_wait(&gate_changed, &gate_mutex);
	gate_forking = true;
	until = deadline();
	while (gate_inside > own && late != ETIMEDOUT)
		late = pthread_cond_timedwait(&gate_changed, &gate_mutex, &until);
}

static void after_fork(void)
{
	gate_forking = false;
	pthread_cond_broadcast(&gate_changed);
	pthread_mutex_unlock(&gate_mutex);
}

static void after_fork_in_child(void)
{
	gate_inside = gate_depth != 0;
	gate_forking = false;
	/* the condition may have waiters that do not exist in the child: reinitialise it */
	changed_init();
	pthread_mutex_unlock(&gate_mutex);
}

static void gate_init(void)
{
	changed_init();
	pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

void fork_gate_enter(void)
{
	if (gate_depth++)
		return;
	pthread_once(&gate_once, gate_init);
	pthread_mutex_lock(&gate_mutex);
	while (gate_forking)
		pthread_cond_wait(&gate_changed, &gate_mutex);
	gate_inside++;
	pthread_mutex_unlock(&gate_mutex);
}

void fork_gate_leave(void)
{
	if (--gate_depth)
		return;
	pthread_mutex_lock(&gate_mutex);
	gate_inside--;
	if (gate_forking)
		pthread_cond_broadcast(&gate_changed);
	pthread_mutex_unlock(&gate_mutex);
}
