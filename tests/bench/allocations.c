/* SPDX-License-Identifier: MIT */
/* Counts what malloc and its like are asked for, by whoever asks in this process. */
#include "bench.h"

#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) ||                         \
	__has_feature(thread_sanitizer)
#define UNDER_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNDER_SANITIZER
#endif

static long asked;

#if defined(__GLIBC__) && !defined(UNDER_SANITIZER)
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t align, size_t size);
void *aligned_alloc(size_t align, size_t size);
int posix_memalign(void **out, size_t align, size_t size);

void *malloc(size_t size)
{
	__atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	__atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
	return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	__atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
	return __libc_realloc(old, size);
}

void *aligned_alloc(size_t align, size_t size)
{
	__atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
	return __libc_memalign(align, size);
}

int posix_memalign(void **out, size_t align, size_t size)
{
	__atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
	*out = __libc_memalign(align, size);
	return *out ? 0 : 12;
}

long bench_allocations(void)
{
	return __atomic_load_n(&asked, __ATOMIC_RELAXED);
}
#else
long bench_allocations(void)
{
	return -1 - asked;
}
#endif
