/* SPDX-License-Identifier: MIT */
/* Large pages for memory that is about to be filled. */
#ifndef LIB_LARGE_PAGES_H
#define LIB_LARGE_PAGES_H

#include <stddef.h>

/**
 * large_pages_use - let the kernel use large pages for memory that will be filled
 * @data: memory; other contents of its first and last page stay as they are
 * @size: bytes; nothing happens below 8 MiB
 *
 * A page fault for each 4 KiB takes longer than reading or copying them. Builds that read no files
 * have no memory of this size, and no such function.
 */
#if defined(CONFIG_DEVICE_FILES) || defined(CONFIG_ELF_INSPECT) || defined(CONFIG_EXECUTORS) ||    \
	defined(CONFIG_TOOL)
void large_pages_use(const void *data, size_t size);
#else
static inline void large_pages_use(const void *data, size_t size)
{
}
#endif

#endif /* LIB_LARGE_PAGES_H */
