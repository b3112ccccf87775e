/* SPDX-License-Identifier: MIT */
/* Large data that is copied out of the file of a loaded library. */
#ifndef LIB_LIBRARY_PAGES_H
#define LIB_LIBRARY_PAGES_H

#include <stddef.h>

#include "lib/plugin_api.h"

/* data that is copied before its pages are given back: two large pages */
#define LIBRARY_PAGES_STEP ((size_t)4 << 20)

/**
 * library_pages_give_back - take pages of a library out of the memory of this process
 * @data: where they begin; memory that is no library's stays as it is
 * @size: bytes
 *
 * The kernel keeps what was read of a file. Who has copied it holds it twice until this. It can be
 * read later, too: the pages come from the file again.
 */
void library_pages_give_back(const void *data, size_t size) TO_PLUGINS(library_pages_give_back);

/**
 * library_pages_copy - copy data that may be a library's, and give its pages back on the way
 * @to: receives @size bytes
 * @from: where they are; any memory
 * @size: bytes; of less than LIBRARY_PAGES_STEP no page is given back
 */
void library_pages_copy(void *to, const void *from, size_t size);

#endif /* LIB_LIBRARY_PAGES_H */
