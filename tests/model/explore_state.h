/* SPDX-License-Identifier: MIT */
/* What the explorer of orders (explore.c) and its memory (explore_memory.c) share. */
#ifndef TESTS_MODEL_EXPLORE_STATE_H
#define TESTS_MODEL_EXPLORE_STATE_H

#include <setjmp.h>
#include <ucontext.h>

#include "tests/model/explore.h"

#undef futex_wait
#undef pthread_mutex_lock
#undef pthread_mutex_unlock
#undef pthread_cond_wait

#define LOCATIONS 24
#define WRITES	  32
#define STACK	  (128 << 10)
#define ANYWHERE  (-1) /* an operation that depends on all others */

/* What a thread knows: the writes that it may still read, and how far the others were */
struct explore_view {
	uint8_t at[LOCATIONS];
	uint16_t clock[EXPLORE_THREADS];
};

struct explore_write {
	uint64_t value;
	struct explore_view carried;
};

struct explore_location {
	const void *p;
	size_t size;
	int last; /* newest write */
	struct explore_write write[WRITES];
	int owner; /* thread that has the mutex; -1 for none */
	/* plain memory: who wrote last, and when each thread wrote and read */
	uint16_t written[EXPLORE_THREADS], read[EXPLORE_THREADS];
};

struct explore_thread {
	ucontext_t begin;
	jmp_buf here;
	bool begun;
	struct explore_view view, released,
		unseen; /* @released: by a fence; @unseen: until a fence */
	enum { READY, ASLEEP, ENDED } state;
	int at; /* location of the next operation, or of the sleep */
	bool writes, locks;
	uint8_t again[LOCATIONS]; /* times that the same old value was read */
	void *local;
	char stack[STACK];
};

extern struct explore_thread explore_threads[EXPLORE_THREADS];
extern struct explore_location explore_locations[LOCATIONS];
extern struct explore_site *explore_sites; /* operations that were met and have halves */
extern int explore_now;			   /* thread that runs; -1 for none */

/* Empty the memory. */
void explore_forget(void);

/* Leave the thread that runs to the explorer, which goes on with any. */
void explore_leave(void);

/* Choose one of @count values. */
int explore_choose(int count);

/* Keep a step of this order, for show. */
void explore_note(const struct explore_site *site, uint64_t value);

/* The halves of an operation that are not taken away; the site is put into the list. */
unsigned int explore_kept(struct explore_site *site, unsigned int halves);

#endif /* TESTS_MODEL_EXPLORE_STATE_H */
