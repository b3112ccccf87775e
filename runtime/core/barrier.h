/* SPDX-License-Identifier: MIT */
/* A barrier for the tasks of a parallel launch. */
#ifndef RUNTIME_CORE_BARRIER_H
#define RUNTIME_CORE_BARRIER_H

#include "runtime/core/spin.h"

/* A barrier that releases its waiters when a task fails to arrive. */
struct barrier {
	_Alignas(64) uint32_t arrived;
	uint32_t phase; /* BARRIER_* flags in the low bits, number of completed phases above them */
	int32_t budget_ns;
};

/* Reset the barrier. No thread may be waiting on it. */
void barrier_reset(struct barrier *b, bool may_spin);

/* Wait until @tasks tasks have arrived. Return false when a task has failed. */
bool barrier_wait(struct barrier *b, int tasks);

/* Mark a task as failed: it will not arrive. */
void barrier_fail(struct barrier *b);

#endif /* RUNTIME_CORE_BARRIER_H */
