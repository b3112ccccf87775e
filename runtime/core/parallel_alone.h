/* SPDX-License-Identifier: MIT */
/* Keep parallel loops on the thread that launches them. */
#ifndef RUNTIME_CORE_PARALLEL_ALONE_H
#define RUNTIME_CORE_PARALLEL_ALONE_H

#include <stdbool.h>

/* Let launches of the calling thread run in it alone, or not. Returns what was so before. */
#ifdef CONFIG_THREAD_POOL
bool parallel_alone(bool alone);
#else
static inline bool parallel_alone(bool alone)
{
	return alone;
}
#endif

#endif /* RUNTIME_CORE_PARALLEL_ALONE_H */
