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

/* Regions may be shared, so the address alone does not tell the heap. */
static void give_back(const struct storage *s)
{
	struct heap *before = heap_enter(s->heap);

	heap_free(s->data);
	heap_enter(before);
}

static void storage_delete(void *self, int flags)
{
	struct storage *s = self;

	if (flags & TENON_DELETE_CONTENT) {
		if (s->mapping)
			munmap(s->mapping, s->mapped);
		else
			give_back(s);
	}
	if (flags & TENON_DELETE_MEMORY)
		heap_free(s);
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

/* Take zeroed memory from malloc(). */
static bool fill(struct storage *s, uint64_t size)
{
	void *data = NULL;

	if (size >= MAPPED_LEAST)
		return size <= SIZE_MAX && map(s, (size_t)size);
	if (posix_memalign(&data, TENON_TENSOR_ALIGN, size ? (size_t)size : 1))
		return false;
	s->data = memset(data, 0, (size_t)size);
	return true;
}

static bool fill_from_heap(struct storage *s, enum heap_sort sort, uint64_t size)
{
	s->heap = heap_now();
	s->data = size <= SIZE_MAX
			  ? heap_take(sort, TENON_TENSOR_ALIGN, (size_t)size,
				      sort == HEAP_PLANNED ? "tensors" : "parameters and constants")
			  : NULL;
	return s->data;
}

static int create(enum heap_sort sort, uint64_t size, struct storage **out)
{
	struct storage *s = heap_zeroed(1, sizeof(*s), "storage");

	*out = NULL;
	if (!s || !(heap_now() ? fill_from_heap(s, sort, size) : fill(s, size))) {
		heap_free(s);
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu64 " bytes of tensors",
				   size);
	}
	s->size = (size_t)size;
	tenon_object_init(&s->object, TENON_TYPE_OBJECT, storage_delete);
	*out = s;
	return 0;
}

int storage_create(uint64_t size, struct storage **out)
{
	return create(HEAP_PLANNED, size, out);
}

int storage_create_lasting(uint64_t size, struct storage **out)
{
	return create(HEAP_PERSISTENT, size, out);
}
