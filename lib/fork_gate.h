/* SPDX-License-Identifier: MIT */
#ifndef LIB_FORK_GATE_H
#define LIB_FORK_GATE_H

/**
 * DOC: what a child process finds after fork()
 *
 * fork() copies the calling thread alone. A lock that another thread holds at that moment is locked
 * in the child for ever, and what it guards is half changed. The dynamic linker is no better: a
 * child that calls dlopen() after it was copied in the middle of one is ended by an assertion, with
 * exit status 127.
 *
 * So code that holds a static lock, or is in the dynamic linker, is inside the gate, and fork()
 * waits until no other thread is. It waits for half a second at most: then a thread inside waits
 * for something itself, perhaps for the thread that forks.
 */

#include <pthread.h>

#include "lib/plugin_api.h"

#ifdef CONFIG_FORK_GATE
/** fork_gate_enter - let no thread fork, except this one; may be nested */
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

/** fork_gate_lock - take a static lock; no other thread holds it in a child process */
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
