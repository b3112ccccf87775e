/* SPDX-License-Identifier: MIT */
/* Stand in for the allocator, and let one allocation after the other fail. */
#include "tests/nomem/failing_malloc.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define REAL(name) __interceptor_##name
#elif __has_feature(thread_sanitizer)
#define NO_STAND_IN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define REAL(name) __interceptor_##name
#elif defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define NO_STAND_IN
#endif

#ifndef NO_STAND_IN

#include <execinfo.h>

/* The allocator behind the names that are taken here. */
#ifdef REAL
#define STEP	      3
#define OTHER_THREADS false /* AddressSanitizer starts them, and cannot do without memory */
#else
#define REAL(name)    __libc_##name
#define STEP	      1
#define OTHER_THREADS true
#endif
void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t count, size_t size);
void *REAL(realloc)(void *memory, size_t size);
void *REAL(memalign)(size_t align, size_t size);
void REAL(free)(void *memory);

/* the first requests come before a sanitizer is ready to watch accesses */
#define UNWATCHED __attribute__((no_sanitize("address", "undefined")))
#define STAND_IN  __attribute__((visibility("default"))) UNWATCHED

static atomic_long own_count, live;
static atomic_long *seen = &own_count; /* perhaps shared with other processes */
static atomic_bool counting;
static long failing;
static uint64_t chance_seed, chance_one_in;
static __thread bool started_here, passes;

/* code whose requests never fail: the dynamic linker's, and that of libarchive 3.6, which crashes without memory */
static struct {
	const char *name;
	uintptr_t begin, end;
} spared[] = { { "/ld-", 0, 0 }, { "/libarchive.so", 0, 0 } };

#define SPARED (sizeof(spared) / sizeof(spared[0]))

static int find_spared(struct dl_phdr_info *info, size_t size, void *context)
{
	size_t n;
	int i;

	(void)size;
	(void)context;
	for (n = 0; n < SPARED && !strstr(info->dlpi_name, spared[n].name);)
		n++;
	if (n == SPARED)
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		spared[n].begin = info->dlpi_addr + p->p_vaddr;
		spared[n].end = spared[n].begin + p->p_memsz;
	}
	return 0;
}

UNWATCHED static bool is_spared(uintptr_t caller)
{
	size_t n;

	for (n = 0; n < SPARED; n++)
		if (caller >= spared[n].begin && caller < spared[n].end)
			return true;
	return false;
}

UNWATCHED static bool fail_now(void)
{
	void *frames[24];

	if (getenv("NOMEM_TRACE"))
		backtrace_symbols_fd(frames, backtrace(frames, 24), STDERR_FILENO);
	errno = ENOMEM;
	return true;
}

UNWATCHED static bool fails_by_chance(long request)
{
	uint64_t x = chance_seed + (uint64_t)request * UINT64_C(0x9e3779b97f4a7c15);

	if (!chance_one_in)
		return false;
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return !((x ^ (x >> 31)) % chance_one_in);
}

UNWATCHED static bool fails(void *caller)
{
	long request;

	if (!atomic_load(&counting) || passes || !(started_here || OTHER_THREADS))
		return false;
	if (is_spared((uintptr_t)caller))
		return false;
	request = atomic_fetch_add(seen, 1) + 1;
	return (failing == FAILING_MALLOC_ALL || request == failing || fails_by_chance(request)) &&
	       fail_now();
}

UNWATCHED static void *count(void *memory)
{
	if (memory)
		atomic_fetch_add(&live, 1);
	return memory;
}

#define FAILS() fails(__builtin_return_address(0))

STAND_IN void *malloc(size_t size)
{
	return FAILS() ? NULL : count(REAL(malloc)(size));
}

STAND_IN void *calloc(size_t n, size_t size)
{
	return FAILS() ? NULL : count(REAL(calloc)(n, size));
}

STAND_IN void *realloc(void *memory, size_t size)
{
	void *moved = FAILS() ? NULL : REAL(realloc)(memory, size);

	return memory ? moved : count(moved);
}

STAND_IN void *reallocarray(void *memory, size_t n, size_t size)
{
	void *moved = NULL;
	size_t bytes;

	if (!FAILS() && !__builtin_mul_overflow(n, size, &bytes))
		moved = REAL(realloc)(memory, bytes);
	return memory ? moved : count(moved);
}

STAND_IN void *aligned_alloc(size_t align, size_t size)
{
	return FAILS() ? NULL : count(REAL(memalign)(align, size));
}

STAND_IN int posix_memalign(void **out, size_t align, size_t size)
{
	void *memory = FAILS() ? NULL : count(REAL(memalign)(align, size));

	if (!memory)
		return ENOMEM;
	*out = memory;
	return 0;
}

STAND_IN void free(void *memory)
{
	if (memory)
		atomic_fetch_sub(&live, 1);
	REAL(free)(memory);
}

STAND_IN void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	/* not dlsym(RTLD_NEXT): sanitizers map memory before the linker is ready */
	if (FAILS())
		return MAP_FAILED;
#ifdef SYS_mmap2
	/* 32-bit machines: the offset counts in units of 4096 bytes */
	return (void *)syscall(SYS_mmap2, at, size, protection, flags, fd, (long)(offset / 4096));
#else
	return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
#endif
}

STAND_IN int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			    void *(*start)(void *), void *argument)
{
	static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	return FAILS() ? EAGAIN : real(thread, attributes, start, argument);
}

bool failing_malloc_works(void)
{
	return true;
}

long failing_malloc_step(void)
{
	return STEP;
}

void failing_malloc_start(long fails_at)
{
	if (!spared[0].end) {
		/* Tenon opens it when it needs it, which would be too late */
		dlopen("libarchive.so.13", RTLD_NOW);
		dl_iterate_phdr(find_spared, NULL);
	}
	failing = fails_at;
	started_here = true;
	atomic_store(seen, 0);
	atomic_store(&counting, true);
}

void failing_malloc_often(uint64_t seed, uint64_t one_in)
{
	chance_seed = seed;
	chance_one_in = one_in;
}

void failing_malloc_share(atomic_long *count)
{
	atomic_store(count, atomic_load(seen));
	seen = count;
}

long failing_malloc_stop(void)
{
	atomic_store(&counting, false);
	return atomic_load(seen);
}

void failing_malloc_pass(bool pass)
{
	passes = pass;
}

long failing_malloc_live(void)
{
	return atomic_load(&live);
}

#else

bool failing_malloc_works(void)
{
	return false;
}

long failing_malloc_step(void)
{
	return 1;
}

void failing_malloc_start(long fails_at)
{
	(void)fails_at;
}

void failing_malloc_often(uint64_t seed, uint64_t one_in)
{
	(void)seed;
	(void)one_in;
}

void failing_malloc_share(atomic_long *count)
{
	(void)count;
}

long failing_malloc_stop(void)
{
	return 0;
}

void failing_malloc_pass(bool pass)
{
	(void)pass;
}

long failing_malloc_live(void)
{
	return 0;
}

#endif
