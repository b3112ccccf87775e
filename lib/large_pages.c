/* SPDX-License-Identifier: MIT */
/* Ask the kernel for large pages by madvise(). */
#include "lib/large_pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE_LEAST ((size_t)8 << 20)
#define LARGE_PAGE ((size_t)2 << 20)
/* of smaller blocks: enough for vectors */
#define SMALL_ALIGNMENT 128

void large_pages_use(const void *data, size_t size)
{
#ifdef MADV_HUGEPAGE
	uintptr_t in_page;

	if (size < SIZE_LEAST)
		return;
	/* with the header of malloc() in the same page: mremap() moves only what has one kind of pages */
	in_page = (uintptr_t)data % (uintptr_t)sysconf(_SC_PAGESIZE);
	(void)madvise((void *)((uintptr_t)data - in_page), size + in_page, MADV_HUGEPAGE);
#endif
}

void *large_pages_take(size_t size)
{
	void *data;

	if (posix_memalign(&data, size < LARGE_PAGE ? SMALL_ALIGNMENT : LARGE_PAGE, size + !size))
		return NULL;
#ifdef MADV_HUGEPAGE
	if (size >= LARGE_PAGE)
		(void)madvise(data, size, MADV_HUGEPAGE);
#endif
	return data;
}
