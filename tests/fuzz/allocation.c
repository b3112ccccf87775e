/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/allocation.h"

#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

#if defined(__GLIBC__) && !defined(SANITIZED)
#include <malloc.h>

/* the program's own malloc() comes before the library's, which stands behind these names */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

static size_t in_use, start, peak;

static void *count(void *memory)
{
	if (memory)
		in_use += malloc_usable_size(memory);
	if (in_use > peak)
		peak = in_use;
	return memory;
}

void *malloc(size_t size)
{
	return count(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
	return count(__libc_calloc(n, size));
}

void *realloc(void *memory, size_t size)
{
	size_t before = memory ? malloc_usable_size(memory) : 0;
	void *moved = __libc_realloc(memory, size);

	if (moved || !size) {
		in_use -= before;
		count(moved);
	}
	return moved;
}

void free(void *memory)
{
	if (memory)
		in_use -= malloc_usable_size(memory);
	__libc_free(memory);
}

bool allocation_counts(void)
{
	return true;
}

void allocation_start(void)
{
	start = peak = in_use;
}

size_t allocation_peak(void)
{
	return peak - start;
}
#else
/* the sanitizer itself refuses what no honest file needs */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1:max_allocation_size_mb=64";
}

bool allocation_counts(void)
{
	return false;
}

void allocation_start(void)
{
}

size_t allocation_peak(void)
{
	return 0;
}
#endif
