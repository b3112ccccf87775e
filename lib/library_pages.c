/* SPDX-License-Identifier: MIT */
/* Copy data out of loaded libraries, and give their pages back. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "lib/library_pages.h"

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct place {
	uintptr_t begin;
	uintptr_t end;
	bool is_behind_program;
};

/*
 * Test for pages that are as the file has them: nobody can have written to them. What was written to
 * other pages would be lost. The loader writes to a segment without PF_W only where it relocates code,
 * and no data is there.
 */
static bool holds(const struct dl_phdr_info *library, const ElfW(Phdr) * segment,
		  const struct place *place)
{
	const uintptr_t begin = library->dlpi_addr + segment->p_vaddr;

	return segment->p_type == PT_LOAD && !(segment->p_flags & PF_W) && place->begin >= begin &&
	       place->end - begin <= segment->p_filesz;
}

/*
 * The first is the program itself. Its pages stay: code that runs before it may have unpacked it into
 * memory, or moved it to huge pages, and its read-only segment is no file's then.
 */
static int find(struct dl_phdr_info *library, size_t size, void *context)
{
	struct place *place = context;
	uint32_t i;

	if (!place->is_behind_program) {
		place->is_behind_program = true;
		return 0;
	}
	for (i = 0; i < library->dlpi_phnum; i++)
		if (holds(library, &library->dlpi_phdr[i], place))
			return 1;
	return 0;
}

void library_pages_give_back(const void *data, size_t size)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)data;
	/* whole pages only: others share the first and the last */
	struct place place = { (from + page - 1) & -page, (from + size) & -page, false };

	if (place.end > place.begin && dl_iterate_phdr(find, &place))
		(void)!madvise((void *)place.begin, place.end - place.begin, MADV_DONTNEED);
}

void library_pages_copy(void *to, const void *from, size_t size)
{
	const char *data = from;
	size_t at = 0, step;

	/* up to an address that large pages end at, or the kernel maps the rest of one again */
	while (size - at >= LIBRARY_PAGES_STEP) {
		step = LIBRARY_PAGES_STEP - (uintptr_t)(data + at) % LIBRARY_PAGES_STEP;
		memcpy((char *)to + at, data + at, step);
		at += step;
		library_pages_give_back(data, at);
	}
	if (size > at)
		memcpy((char *)to + at, data + at, size - at);
}
