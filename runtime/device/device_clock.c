/* SPDX-License-Identifier: MIT */
/* Deadlines on the monotonic clock, and waiting for a condition until one. */
#include <errno.h>
#include <time.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"
#include "runtime/device/device_core.h"

#define SECOND UINT64_C(1000000000)

uint64_t device_now(void)
{
	return clock_now();
}

uint64_t tenon_deadline(uint64_t nanoseconds)
{
	uint64_t deadline;

	if (nanoseconds == TENON_FOREVER ||
	    __builtin_add_overflow(device_now(), nanoseconds, &deadline))
		return TENON_FOREVER;
	return deadline;
}

int device_condition_init(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;
	int failed;

	failed = pthread_condattr_init(&attributes);
	if (!failed) {
		pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
		failed = pthread_cond_init(condition, &attributes);
		pthread_condattr_destroy(&attributes);
	}
	return failed ? tenon_error(-TENON_E_NOMEM, "no memory for a condition") : 0;
}

bool device_wait(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t deadline)
{
	struct timespec t;

	if (deadline == TENON_FOREVER) {
		pthread_cond_wait(condition, lock);
		return true;
	}
	t.tv_sec = (time_t)(deadline / SECOND);
	t.tv_nsec = (long)(deadline % SECOND);
	return pthread_cond_timedwait(condition, lock, &t) != ETIMEDOUT;
}
