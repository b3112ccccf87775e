/* SPDX-License-Identifier: MIT */
/* Map or allocate zeroed blocks. */
#include "runtime/model/storage.h"

#include "lib/brief_errors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <tenon/error.h>

/* smaller blocks use the heap; others are mapped, and use no memory until they are touched */
#define MAPPED_LEAST (128u * 1024)
/* a huge page; data starts at its boundary, so that no page is shared */
#define HUGE_PAGE (2u * 1024 * 1024)

static void storage_delete(void *self, int flags)
{
	struct storage *s = self;

	if (flags & TENON_DELETE_CONTENT) {
		if (s->mapping)
			munmap(s->mapping, s->mapped);
		else
			free(s->data);
	}
	if (flags & TENON_DELETE_MEMORY)
		free(s);
}

static bool map(struct storage *s, size_t size)
{
	size_t align = size >= HUGE_PAGE ? HUGE_PAGE : 0;
	char *at;

	if (size > SIZE_MAX / 2)
		return false;
	at = mmap(NULL, size + align, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return false;
	s->mapping = at;
	s->mapped = size + align;
	s->data = at;
	if (align) {
		s->data = at + (-(uintptr_t)at & (align - 1));
		/* Only a hint: works without huge pages, too. */
		(void)!madvise(s->data, size, MADV_HUGEPAGE);
	}
	return true;
}

int storage_create(uint64_t size, struct storage **out)
{
	struct storage *s = calloc(1, sizeof(*s));
	void *data = NULL;
	bool there = false;

	*out = NULL;
	if (s && size >= MAPPED_LEAST) {
		there = size <= SIZE_MAX && map(s, (size_t)size);
	} else if (s && !posix_memalign(&data, TENON_TENSOR_ALIGN, size ? (size_t)size : 1)) {
		s->data = memset(data, 0, (size_t)size);
		there = true;
	}
	if (!there) {
		free(s);
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu64 " bytes of tensors",
				   size);
	}
	s->size = (size_t)size;
	tenon_object_init(&s->object, TENON_TYPE_OBJECT, storage_delete);
	*out = s;
	return 0;
}
