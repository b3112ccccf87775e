/* SPDX-License-Identifier: MIT */
/* Keep static locks and the dynamic linker consistent across fork(). */
#ifndef LIB_FORK_GATE_H
#define LIB_FORK_GATE_H

/*
 * fork() copies the calling thread alone. A lock that another thread holds at that moment stays
 * locked in the child, and the data it protects may be inconsistent. The same holds for the dynamic
 * linker: if another thread was in dlopen() at the fork, dlopen() in the child fails an assertion
 * and exits with status 127.
 *
 * So code enters the gate before it takes a static lock or calls the dynamic linker, and fork()
 * waits until no other thread is inside. It waits at most half a second, since a thread inside may
 * itself wait for the thread that forks.
 */

#include <pthread.h>

#include "lib/plugin_api.h"

/* without CONFIG_THREAD_POOL the library starts no thread, and programs are taken to start none */
#ifdef CONFIG_THREAD_POOL
/** fork_gate_enter - make fork() in other threads wait; may be nested */
void fork_gate_enter(void) TO_PLUGINS(fork_gate_enter);
/** fork_gate_leave - undo one fork_gate_enter() */
void fork_gate_leave(void) TO_PLUGINS(fork_gate_leave);
#else
static inline void fork_gate_enter(void)
{
}

static inline void fork_gate_leave(void)
{
}
#endif

/** fork_gate_lock - enter the gate and take a static lock */
static inline void fork_gate_lock(pthread_mutex_t *mutex)
{
	fork_gate_enter();
	pthread_mutex_lock(mutex);
}

/** fork_gate_unlock - release a lock taken with fork_gate_lock() */
static inline void fork_gate_unlock(pthread_mutex_t *mutex)
{
	pthread_mutex_unlock(mutex);
	fork_gate_leave();
}

#endif /* LIB_FORK_GATE_H */
