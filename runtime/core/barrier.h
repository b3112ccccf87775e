/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_CORE_BARRIER_H
#define RUNTIME_CORE_BARRIER_H

#include "runtime/core/spin.h"

/* A barrier that releases its waiters when a thread will not arrive. */
struct barrier {
	_Alignas(64) uint32_t arrived;
	uint32_t phase; /* BARRIER_* flags, and how often it was passed above them */
	int32_t budget_ns;
};

/* No thread may be waiting. */
void barrier_reset(struct barrier *b, bool may_spin);

/* Wait for @tasks tasks. False when one has failed. */
bool barrier_wait(struct barrier *b, int tasks);

/* Say that a task will not come. */
void barrier_fail(struct barrier *b);

#endif /* RUNTIME_CORE_BARRIER_H */
