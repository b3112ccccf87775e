/* SPDX-License-Identifier: MIT */
/*
 * Explores all orders in which threads of a small model can run, in memory of weak order. A model includes a source of the
 * tree behind this header, which replaces the atomic operations, mutexes and futexes of it: so what is explored is the code
 * with its own orders of memory, not a copy.
 *
 * Memory is that of C11: a location has the history of its writes, a thread a view (the oldest write of each location that
 * it may still read). A load takes any write that is not older. A release carries the view of its thread, an acquire joins it.
 * Limits: compare-and-swap sees the newest write and does not fail without cause, a sleeper is not woken without cause, an old
 * value is read twice at most.
 *
 * One operation can be weakened: a release or acquire becomes relaxed, a wake-up or broadcast is left out. The exploration has
 * to find what breaks.
 */
#ifndef TESTS_MODEL_EXPLORE_H
#define TESTS_MODEL_EXPLORE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/core/spin.h"

#define EXPLORE_THREADS 4

/* Halves of an operation that can be taken away. */
enum explore_half {
	EXPLORE_WHOLE = 0,
	EXPLORE_RELEASE = 1,
	EXPLORE_ACQUIRE = 2,
	EXPLORE_WAKE = 4,
};

/* An operation in the source. */
struct explore_site {
	const char *function, *operation;
	unsigned int halves; /* which it has */
	unsigned int weak;   /* which are taken away */
	struct explore_site *next;
};

struct explore_model {
	int threads;
	void (*thread[EXPLORE_THREADS])(void);
	void (*begin)(void); /* before each order */
	void (*end)(void);   /* after each order that came to its end; calls explore_fail() */
	int switches;	     /* most switches from a thread that could go on; 0 for any number */
	void *local;	     /* memory that each thread has for itself, and how much */
	size_t local_size;
};

/* Explore a model. Returns what broke, with the order of operations on standard error if @show; NULL if nothing did. */
const char *explore(const struct explore_model *model, bool show);
extern uint64_t explore_orders; /* number of orders that the last call tried */

/*
 * For each operation that explore() met: take away each half and explore all models until one breaks. @survivors: "function
 * operation half" of each for which nothing breaks, then NULL. Returns whether these are all.
 */
bool explore_each_half(const struct explore_model *models, size_t count,
		       const char *const *survivors);

/* What a model calls in its threads. Plain memory that they share has to be ordered by what they do. */
void explore_fail(const char *what);
void explore_reads(const void *p);
void explore_writes(const void *p);

/* ---- what the macros below call */

enum explore_operation { EXPLORE_SET, EXPLORE_ADD, EXPLORE_OR, EXPLORE_AND };

uint64_t explore_load(const void *p, size_t size, int order, struct explore_site *site);
void explore_store(void *p, size_t size, uint64_t value, int order, struct explore_site *site);
uint64_t explore_update(void *p, size_t size, enum explore_operation operation, uint64_t value,
			int order, struct explore_site *site);
bool explore_swap(void *p, void *expected, size_t size, uint64_t value, int success, int failure,
		  struct explore_site *site);
void explore_fence(int order, struct explore_site *site);
void explore_sleep(uint32_t *word, uint32_t value);
void explore_wake(const void *p, bool all, struct explore_site *site);
void explore_lock(pthread_mutex_t *m);
void explore_unlock(pthread_mutex_t *m, struct explore_site *site);
void explore_condition(pthread_cond_t *c, pthread_mutex_t *m);

#define EXPLORE_SITE(operation)                                                                    \
	({                                                                                         \
		static struct explore_site explore_site = { __func__, operation, 0, 0, NULL };     \
		&explore_site;                                                                     \
	})
#define EXPLORE_AS(p, expression)                                                                  \
	({                                                                                         \
		__typeof__(((void)0, *(p))) explore_value =                                        \
			(__typeof__(((void)0, *(p))))(expression);                                 \
		explore_value;                                                                     \
	})
#define EXPLORE_UPDATE(p, operation, v, o)                                                         \
	explore_update(p, sizeof(*(p)), operation, (uint64_t)(v), o, EXPLORE_SITE("update"))

#define __atomic_load_n(p, o) EXPLORE_AS(p, explore_load(p, sizeof(*(p)), o, EXPLORE_SITE("load")))
#define __atomic_store_n(p, v, o)                                                                  \
	explore_store(p, sizeof(*(p)), (uint64_t)(v), o, EXPLORE_SITE("store"))
#define __atomic_exchange_n(p, v, o) EXPLORE_AS(p, EXPLORE_UPDATE(p, EXPLORE_SET, v, o))
#define __atomic_fetch_add(p, v, o)  EXPLORE_AS(p, EXPLORE_UPDATE(p, EXPLORE_ADD, v, o))
#define __atomic_fetch_sub(p, v, o)  EXPLORE_AS(p, EXPLORE_UPDATE(p, EXPLORE_ADD, -(v), o))
#define __atomic_fetch_or(p, v, o)   EXPLORE_AS(p, EXPLORE_UPDATE(p, EXPLORE_OR, v, o))
#define __atomic_add_fetch(p, v, o)                                                                \
	EXPLORE_AS(p, EXPLORE_UPDATE(p, EXPLORE_ADD, v, o) + (uint64_t)(v))
#define __atomic_sub_fetch(p, v, o)                                                                \
	EXPLORE_AS(p, EXPLORE_UPDATE(p, EXPLORE_ADD, -(v), o) - (uint64_t)(v))
#define __atomic_and_fetch(p, v, o)                                                                \
	EXPLORE_AS(p, EXPLORE_UPDATE(p, EXPLORE_AND, v, o) & (uint64_t)(v))
#define __atomic_compare_exchange_n(p, e, v, weak, s, f)                                           \
	explore_swap(p, e, sizeof(*(p)), (uint64_t)(v), s, f, EXPLORE_SITE("swap"))
#define __atomic_thread_fence(o) explore_fence(o, EXPLORE_SITE("fence"))

#define futex_wait(word, value) explore_sleep(word, value)
#define futex_wake_one(word)	explore_wake(word, false, EXPLORE_SITE("wake"))
#define futex_wake_all(word)	explore_wake(word, true, EXPLORE_SITE("wake"))

#define pthread_mutex_lock(m)	  explore_lock(m)
#define pthread_mutex_unlock(m)	  explore_unlock(m, EXPLORE_SITE("unlock"))
#define pthread_cond_wait(c, m)	  explore_condition(c, m)
#define pthread_cond_broadcast(c) explore_wake(c, true, EXPLORE_SITE("wake"))

#endif /* TESTS_MODEL_EXPLORE_H */
