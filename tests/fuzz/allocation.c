/* SPDX-License-Identifier: MIT */
/* Count what allocations a stretch of code needs at most and does not give back. */
#include "tests/fuzz/allocation.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

/* So much is given at once where a target's files may ask for memory; filling more takes the time of a hang. */
#define GIVEN_MOST ((size_t)16 << 20)

/* Threads of the library allocate too. */
static size_t in_use =
	SIZE_MAX / 2; /* what was allocated before counting began is given back too */
static size_t start, peak;

static void add(size_t size)
{
	size_t now = __atomic_add_fetch(&in_use, size, __ATOMIC_RELAXED);

	if (now > __atomic_load_n(&peak, __ATOMIC_RELAXED))
		__atomic_store_n(&peak, now, __ATOMIC_RELAXED);
}

static void subtract(size_t size)
{
	__atomic_sub_fetch(&in_use, size, __ATOMIC_RELAXED);
}

#if defined(SANITIZED)
/* of the sanitizers' interface, whose header gcc does not have */
int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void *, size_t),
					      void (*freed)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *memory);

/*
 * The sanitizer itself refuses what no honest file needs, and stops there or returns NULL. It asks before
 * it is ready to check anything.
 */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
__attribute__((no_sanitize_address)) const char *__asan_default_options(void)
{
	/* GIVEN_MOST, in MiB */
	return fuzz_may_ask_for_memory ? "allocator_may_return_null=1:max_allocation_size_mb=16"
				       : "allocator_may_return_null=0:max_allocation_size_mb=64";
}

static void allocated(const volatile void *memory, size_t size)
{
	(void)memory;
	add(size);
}

static void freed(const volatile void *memory)
{
	if (memory)
		subtract(__sanitizer_get_allocated_size(memory));
}

static void count_all(void)
{
	static int counts;

	if (!counts)
		counts = __sanitizer_install_malloc_and_free_hooks(allocated, freed);
}
#elif defined(__GLIBC__)
#include <malloc.h>

/* the program's own malloc() comes before the library's, which stands behind these names */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *memory);

static void *count(void *memory)
{
	if (memory)
		add(malloc_usable_size(memory));
	return memory;
}

static bool is_refused(size_t size)
{
	if (!fuzz_may_ask_for_memory || size <= GIVEN_MOST)
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return is_refused(size) ? NULL : count(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes) || is_refused(bytes))
		return NULL;
	return count(__libc_calloc(n, size));
}

void *realloc(void *memory, size_t size)
{
	size_t before = memory ? malloc_usable_size(memory) : 0;
	void *moved = is_refused(size) ? NULL : __libc_realloc(memory, size);

	if (moved || !size) {
		subtract(before);
		count(moved);
	}
	return moved;
}

void *memalign(size_t align, size_t size)
{
	return is_refused(size) ? NULL : count(__libc_memalign(align, size));
}

void *aligned_alloc(size_t align, size_t size)
{
	return memalign(align, size);
}

int posix_memalign(void **out, size_t align, size_t size)
{
	*out = memalign(align, size);
	return *out ? 0 : ENOMEM;
}

void free(void *memory)
{
	if (memory)
		subtract(malloc_usable_size(memory));
	__libc_free(memory);
}

static void count_all(void)
{
}
#else
static void count_all(void)
{
	(void)add;
	(void)subtract;
}
#endif

void allocation_start(void)
{
	count_all();
	start = peak = in_use;
}

size_t allocation_peak(void)
{
	return peak - start;
}

size_t allocation_left(void)
{
	return in_use > start ? in_use - start : 0;
}
