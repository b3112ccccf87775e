/* SPDX-License-Identifier: MIT */
/* Count the tasks that arrive, spin for a short time, then sleep. */
#include "runtime/core/barrier.h"

#define BARRIER_FAILED	 1u
#define BARRIER_SLEEPERS 2u
#define BARRIER_FLAGS	 3u
#define BARRIER_STEP	 4u

void barrier_reset(struct barrier *b, bool may_spin)
{
	__atomic_store_n(&b->arrived, 0, __ATOMIC_RELAXED);
	__atomic_and_fetch(&b->phase, ~BARRIER_FLAGS, __ATOMIC_RELAXED);
	__atomic_store_n(&b->budget_ns, may_spin ? SPIN_MOST_NS / 2 : 0, __ATOMIC_RELAXED);
}

static void barrier_open(struct barrier *b)
{
	uint32_t old = __atomic_load_n(&b->phase, __ATOMIC_RELAXED), next;

	/* Reset the count before the phase: a thread that sees the new phase may arrive at once. */
	__atomic_store_n(&b->arrived, 0, __ATOMIC_RELAXED);
	do
		next = (old & BARRIER_FAILED) | ((old & ~BARRIER_FLAGS) + BARRIER_STEP);
	while (!__atomic_compare_exchange_n(&b->phase, &old, next, 1, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED));
	if (old & BARRIER_SLEEPERS)
		futex_wake_all(&b->phase);
}

static void barrier_sleep(struct barrier *b, uint32_t phase)
{
	uint32_t asleep = phase | BARRIER_SLEEPERS;

	if (__atomic_compare_exchange_n(&b->phase, &phase, asleep, 0, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE) ||
	    phase == asleep)
		futex_wait(&b->phase, asleep);
}

bool barrier_wait(struct barrier *b, int tasks)
{
	uint32_t phase = __atomic_load_n(&b->phase, __ATOMIC_ACQUIRE) & ~BARRIER_SLEEPERS, now;
	struct spin spin = { __atomic_load_n(&b->budget_ns, __ATOMIC_RELAXED), 0 };

	if (phase & BARRIER_FAILED)
		return false;
	if (__atomic_add_fetch(&b->arrived, 1, __ATOMIC_ACQ_REL) == (uint32_t)tasks) {
		barrier_open(b);
		return true;
	}
	if (!spin_until(&spin, &b->phase, ~BARRIER_SLEEPERS, phase, false)) {
		while ((__atomic_load_n(&b->phase, __ATOMIC_ACQUIRE) & ~BARRIER_SLEEPERS) == phase)
			barrier_sleep(b, phase);
		spin_learn(&spin);
	}
	__atomic_store_n(&b->budget_ns, spin.budget_ns, __ATOMIC_RELAXED);
	now = __atomic_load_n(&b->phase, __ATOMIC_ACQUIRE);
	return (now & ~BARRIER_FLAGS) != phase;
}

void barrier_fail(struct barrier *b)
{
	uint32_t old = __atomic_fetch_or(&b->phase, BARRIER_FAILED, __ATOMIC_ACQ_REL);

	if (old & BARRIER_SLEEPERS)
		futex_wake_all(&b->phase);
}
