/* SPDX-License-Identifier: MIT */
/* Find the bounds of the calling thread's stack, and measure what is left of it. */
#include "lib/stack_room.h"

#include "lib/brief_errors.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <tenon/error.h>

/* kept free for the functions that the last level calls: drivers, printf(), local arrays */
#define RESERVE_MOST (256u << 10)
/* The kernel keeps at least 128 MiB free below a main stack, whatever its limit. */
#define MAIN_MOST (64u << 20)
/* assumed size of a stack with unknown bounds; coroutines rarely have less than 64 KiB */
#define GUESS (32u << 10)

struct range {
	uintptr_t low;
	uintptr_t top;
};

__thread struct stack_room stack_room;
static __thread struct range stack; /* the stack that stack_room describes, including the reserve */
static __thread struct range own;   /* stack of a thread that pthread_create() made */
static __thread bool own_known;

static bool holds(const struct range *r, uintptr_t at)
{
	return at >= r->low && at < r->top;
}

/*
 * The main stack grows down to its limit. C libraries disagree on its size, and some report only
 * the part in use. So take the address of AT_RANDOM, which lies above the first frame, as the top.
 */
static struct range main_stack(void)
{
	struct range r = { 0, getauxval(AT_RANDOM) };
	struct rlimit limit;
	uintptr_t size = MAIN_MOST;

	if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < size)
		size = (uintptr_t)limit.rlim_cur;
	if (r.top > size)
		r.low = r.top - size;
	return r;
}

static struct range thread_stack(void)
{
	struct range r = { 0, 0 };
	pthread_attr_t attr;
	size_t size, guard;
	void *low;

	if (pthread_getattr_np(pthread_self(), &attr))
		return r;
	if (!pthread_attr_getstack(&attr, &low, &size) &&
	    !pthread_attr_getguardsize(&attr, &guard) && guard < size) {
		/* some C libraries count the guard pages */
		r.low = (uintptr_t)low + guard;
		r.top = (uintptr_t)low + size;
	}
	pthread_attr_destroy(&attr);
	return r;
}

static bool find(uintptr_t here, struct range *out)
{
	*out = main_stack();
	if (holds(out, here))
		return true;
	if (!own_known) {
		own = thread_stack();
		own_known = true;
	}
	*out = own;
	return holds(out, here);
}

static void measure(uintptr_t here)
{
	uintptr_t reserve = GUESS;

	stack_room.guessed = !find(here, &stack);
	if (stack_room.guessed) {
		stack.top = here + 1;
		stack.low = here > 2 * GUESS ? here - 2 * GUESS : 0;
	} else {
		reserve = (stack.top - stack.low) / 4;
		if (reserve > RESERVE_MOST)
			reserve = RESERVE_MOST;
	}
	stack_room.low = stack.low + reserve;
	stack_room.size = stack.top - stack_room.low;
}

int stack_room_slow(uintptr_t here)
{
	if (!stack_room.size || !holds(&stack, here))
		measure(here);
	if (here >= stack_room.low)
		return 0;
	if (stack_room.guessed)
		return tenon_error(-TENON_E_OVERFLOW,
				   "calls nest deeper than the %u KiB that Tenon uses of a stack "
				   "of unknown size, such as a coroutine's",
				   GUESS >> 10);
	return tenon_error(-TENON_E_OVERFLOW,
			   "calls nest deeper than the thread's stack of %zu KiB allows; give it "
			   "more (ulimit -s, pthread_attr_setstacksize())",
			   (size_t)((stack.top - stack.low) >> 10));
}
