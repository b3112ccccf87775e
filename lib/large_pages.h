/* SPDX-License-Identifier: MIT */
/* Large pages for memory that is about to be filled. */
#ifndef LIB_LARGE_PAGES_H
#define LIB_LARGE_PAGES_H

#include <stddef.h>
#include <stdlib.h>

#include "lib/plugin_api.h"

/**
 * large_pages_use - let the kernel use large pages for memory that will be filled
 * @data: memory; other contents of its first and last page stay as they are
 * @size: bytes; nothing happens below 8 MiB
 *
 * A page fault for each 4 KiB takes longer than reading or copying them. Builds that read no files
 * have no memory of this size, and no such function.
 */
#if defined(CONFIG_DEVICES) || defined(CONFIG_INSPECT) || defined(CONFIG_EXECUTORS) ||             \
	defined(CONFIG_TOOL)
void large_pages_use(const void *data, size_t size);

/**
 * large_pages_take - allocate memory of large pages
 * @size: bytes; below a large page the memory is like that of others. Large pages that are never
 *	touched take no memory.
 *
 * Return: memory for free(); NULL if there is none.
 */
void *large_pages_take(size_t size) TO_PLUGINS(large_pages_take);
#else
static inline void large_pages_use(const void *data, size_t size)
{
}

static inline void *large_pages_take(size_t size)
{
	void *data;

	return posix_memalign(&data, 128, size) ? NULL : data;
}
#endif

#endif /* LIB_LARGE_PAGES_H */
