/* SPDX-License-Identifier: MIT */
/*
 * Make one chosen allocation of the process fail, to test that a lack of memory becomes an error at each place.
 *
 * This stands in for the allocator of the whole process: it counts requests of Tenon, of cJSON, libzip and of libc on
 * their behalf, and also mmap() and pthread_create(). It leaves out requests of the dynamic linker and of libarchive.
 * With NOMEM_TRACE in the environment the request that fails prints its stack, for addr2line(1).
 */
#ifndef TESTS_NOMEM_FAILING_MALLOC_H
#define TESTS_NOMEM_FAILING_MALLOC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** failing_malloc_works - can this build stand in for the allocator? */
bool failing_malloc_works(void);

/** failing_malloc_step - 1, or that only each such request should fail, where a sanitizer makes runs slow */
long failing_malloc_step(void);

#define FAILING_MALLOC_ALL (-1L)

/**
 * failing_malloc_start - count requests from here on
 * @fails_at: the request that fails, 1 for the next one; 0 to let all succeed; FAILING_MALLOC_ALL
 */
void failing_malloc_start(long fails_at);

/**
 * failing_malloc_often - from the next failing_malloc_start() on, let one request in @one_in fail, too
 * @seed: chooses which
 * @one_in: 0 to let none fail by chance
 */
void failing_malloc_often(uint64_t seed, uint64_t one_in);

/**
 * failing_malloc_share - let the processes that are forked from here on count together with this one
 * @count: in memory that they share; receives the count up to here
 */
void failing_malloc_share(atomic_long *count);

/** failing_malloc_stop - end the count; returns how many requests there were */
long failing_malloc_stop(void);

/** failing_malloc_pass - let requests of the calling thread pass, and do not count them; @pass false ends it */
void failing_malloc_pass(bool pass);

/** failing_malloc_live - blocks in use in the whole process */
long failing_malloc_live(void);

#endif /* TESTS_NOMEM_FAILING_MALLOC_H */
