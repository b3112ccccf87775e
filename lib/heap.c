/* SPDX-License-Identifier: MIT */
/* Allocate first-fit in the regions of a caller. */
#include "lib/heap.h"

#include <pthread.h>
#include <string.h>
#include <tenon/status.h>

#include "lib/fork_gate.h"

#define GRAIN HEAP_LEAST /* pieces begin at, and are, a multiple of it */

/* A piece in use, in a ring by address. In persistent memory it lies in front of its data. */
struct piece {
	struct piece *next, *before;
	char *begin; /* of the piece itself in persistent memory, else of the data */
	size_t size;
};

_Static_assert(sizeof(struct piece) % GRAIN == 0, "data behind a piece is aligned");

struct region {
	char *begin;
	size_t size;
	size_t peak;
	size_t wanted;
	struct piece pieces; /* head of the ring: begin is that of the region, size is 0 */
	struct piece *full;  /* up to its end there is no gap */
};

struct heap {
	struct heap *next; /* in the list of all */
	struct heap_watch watch;
	size_t live; /* pieces in use */
	bool closed;
	struct heap_region dmabuf; /* planned memory, if it is one */
	struct region regions[HEAP_SORTS];
};

static pthread_mutex_t heaps_lock = PTHREAD_MUTEX_INITIALIZER;
static struct heap *heaps; /* written with the lock held */
static __thread struct heap *thread_heap;

static size_t up(size_t n, size_t align)
{
	return (n + align - 1) & ~(align - 1);
}

static void region_init(struct region *r, char *begin, size_t size)
{
	r->begin = begin;
	r->size = size;
	r->pieces = (struct piece){ &r->pieces, &r->pieces, begin, 0 };
	r->full = &r->pieces;
}

/* The part of a region that is aligned. */
static struct heap_region aligned_part(const struct heap_region *given)
{
	size_t skip = -(uintptr_t)given->data & (HEAP_ALIGN - 1);

	if (!given->data || given->size <= skip)
		return (struct heap_region){ .data = NULL };
	return (struct heap_region){ .data = (char *)given->data + skip,
				     .size = given->size - skip };
}

int heap_create(const struct heap_region *regions, const struct heap_watch *watch,
		struct heap **out)
{
	struct heap_region part = aligned_part(&regions[HEAP_PERSISTENT]);
	size_t own = up(sizeof(struct heap), HEAP_ALIGN);
	struct heap *h = part.data;
	int i;

	*out = NULL;
	if (part.size < own)
		return -TENON_E_NOMEM;
	memset(h, 0, sizeof(*h));
	for (i = 0; i < HEAP_SORTS; i++) {
		part = aligned_part(&regions[i]);
		region_init(&h->regions[i], part.data, part.size);
	}
	if (regions[HEAP_PLANNED].dmabuf)
		h->dmabuf = regions[HEAP_PLANNED];
	h->regions[HEAP_PERSISTENT].pieces.size = own;
	h->regions[HEAP_PERSISTENT].peak = own;
	if (watch)
		h->watch = *watch;
	fork_gate_lock(&heaps_lock);
	h->next = heaps;
	__atomic_store_n(&heaps, h, __ATOMIC_RELEASE);
	fork_gate_unlock(&heaps_lock);
	*out = h;
	return 0;
}

static void forget(struct heap *h)
{
	struct heap **link = &heaps;

	while (*link != h)
		link = &(*link)->next;
	__atomic_store_n(link, h->next, __ATOMIC_RELEASE);
}

void heap_close(struct heap *heap)
{
	if (!heap)
		return;
	fork_gate_lock(&heaps_lock);
	if (!heap->closed && !heap->live)
		forget(heap);
	heap->closed = true;
	fork_gate_unlock(&heaps_lock);
}

size_t heap_live(const struct heap *heap)
{
	size_t live;

	fork_gate_lock(&heaps_lock);
	live = heap->live;
	fork_gate_unlock(&heaps_lock);
	return live;
}

struct heap *heap_enter(struct heap *heap)
{
	struct heap *before = thread_heap;

	thread_heap = heap;
	return before;
}

struct heap *heap_now(void)
{
	return thread_heap;
}

bool heap_dmabuf(struct heap_region *out)
{
	if (!thread_heap || !thread_heap->dmabuf.dmabuf)
		return false;
	*out = thread_heap->dmabuf;
	return true;
}

void heap_use(const struct heap *heap, enum heap_sort sort, struct heap_use *out)
{
	const struct region *r = &heap->regions[sort];

	fork_gate_lock(&heaps_lock);
	*out = (struct heap_use){ r->size, r->peak, r->wanted };
	fork_gate_unlock(&heaps_lock);
}

/* ---- pieces; the caller holds the lock */

static void report(const struct heap *h, enum heap_sort sort, const struct piece *p,
		   const char *what)
{
	struct heap_event event = { sort, what, 0, p->size };

	if (!h->watch.event)
		return;
	event.offset = (size_t)(p->begin - h->regions[sort].begin);
	h->watch.event(h->watch.context, &event);
}

/* Where the data of a piece may begin that lies between the ends of two others. */
static size_t place(const struct region *r, const struct piece *behind, size_t head, size_t align)
{
	uintptr_t end = (uintptr_t)behind->begin + behind->size;

	return up(end + head, align) - (uintptr_t)r->begin;
}

static size_t room_before(const struct region *r, const struct piece *next)
{
	return next == &r->pieces ? r->size : (size_t)(next->begin - r->begin);
}

/* Find the first gap. Sets @data to the offset of the data in it. NULL: no gap is large enough. */
static struct piece *find_gap(struct region *r, size_t head, size_t align, size_t size,
			      size_t *data)
{
	struct piece *p = r->full;
	size_t room;

	for (;; p = p->next) {
		*data = place(r, p, head, align);
		room = room_before(r, p->next);
		if (*data <= room && size <= room - *data)
			return p;
		if (p->next == &r->pieces)
			break;
	}
	r->wanted = size > SIZE_MAX - *data ? SIZE_MAX : *data + size;
	return NULL;
}

static void insert(struct region *r, struct piece *p, struct piece *behind)
{
	size_t end = (size_t)(p->begin - r->begin) + p->size;
	bool gapless = behind->begin + behind->size == p->begin;

	p->before = behind;
	p->next = behind->next;
	p->next->before = p;
	behind->next = p;
	if (r->full == behind && gapless)
		r->full = p;
	if (end > r->peak)
		r->peak = end;
}

static void erase(struct region *r, struct piece *p)
{
	/* Pieces up to @full have no gap between them, so a lower address is before it. */
	if (r->full != &r->pieces && p->begin <= r->full->begin)
		r->full = p->before;
	p->before->next = p->next;
	p->next->before = p->before;
}

static void *take_persistent(struct heap *h, size_t align, size_t size, const char *what)
{
	struct region *r = &h->regions[HEAP_PERSISTENT];
	struct piece *behind, *p;
	size_t data;

	behind = find_gap(r, sizeof(*p), align, size, &data);
	if (!behind)
		return NULL;
	p = (struct piece *)(void *)(r->begin + data) - 1;
	p->begin = (char *)p;
	p->size = sizeof(*p) + size;
	insert(r, p, behind);
	h->live++;
	report(h, HEAP_PERSISTENT, p, what);
	return p + 1;
}

static void give_persistent(struct heap *h, struct piece *p)
{
	erase(&h->regions[HEAP_PERSISTENT], p);
	report(h, HEAP_PERSISTENT, p, NULL);
	h->live--;
}

static void *take_apart(struct heap *h, enum heap_sort sort, size_t align, size_t size,
			const char *what)
{
	struct region *r = &h->regions[sort];
	struct piece *behind, *p;
	size_t data;

	p = take_persistent(h, GRAIN, sizeof(*p), "lists of other memory");
	if (!p)
		return NULL;
	behind = find_gap(r, 0, align, size, &data);
	if (!behind) {
		give_persistent(h, p - 1);
		return NULL;
	}
	p->begin = r->begin + data;
	p->size = size;
	insert(r, p, behind);
	report(h, sort, p, what);
	return p->begin;
}

static void *take(struct heap *h, enum heap_sort sort, size_t align, size_t size, const char *what)
{
	align = align < GRAIN ? GRAIN : align;
	if (h->closed || size > PTRDIFF_MAX - HEAP_ALIGN)
		return NULL;
	size = up(size ? size : 1, GRAIN);
	return sort == HEAP_PERSISTENT ? take_persistent(h, align, size, what)
				       : take_apart(h, sort, align, size, what);
}

static bool is_inside(const struct region *r, const void *memory)
{
	uintptr_t at = (uintptr_t)memory, begin = (uintptr_t)r->begin;

	return at >= begin && at - begin < r->size;
}

static struct piece *piece_in(struct heap *h, const void *memory, enum heap_sort *sort)
{
	struct region *r = &h->regions[HEAP_PERSISTENT];
	struct piece *p;

	*sort = HEAP_PERSISTENT;
	if (is_inside(r, memory))
		return (struct piece *)(uintptr_t)memory - 1;
	while (++*sort < HEAP_SORTS) {
		r = &h->regions[*sort];
		if (!is_inside(r, memory))
			continue;
		for (p = r->pieces.next; p != &r->pieces; p = p->next)
			if (p->begin == memory)
				return p;
	}
	return NULL;
}

/* Find a piece: in the thread's own heap first, because heaps may share regions. */
static struct piece *piece_of(const void *memory, struct heap **owner, enum heap_sort *sort)
{
	struct heap *h = thread_heap, *other;
	struct piece *p = h ? piece_in(h, memory, sort) : NULL;

	for (other = heaps; other && !p; other = other->next) {
		h = other;
		p = piece_in(h, memory, sort);
	}
	*owner = h;
	return p;
}

static void give(struct heap *h, enum heap_sort sort, struct piece *p)
{
	if (sort != HEAP_PERSISTENT) {
		erase(&h->regions[sort], p);
		report(h, sort, p, NULL);
		p--; /* the list entry is a piece itself */
	}
	give_persistent(h, p);
	if (h->closed && !h->live)
		forget(h);
}

/* Change the size of a piece where it is. */
static bool resize_here(struct heap *h, struct piece *p, size_t size)
{
	struct region *r = &h->regions[HEAP_PERSISTENT];
	size_t begin = (size_t)(p->begin - r->begin), whole = sizeof(*p) + up(size, GRAIN);

	if (whole > room_before(r, p->next) - begin)
		return false;
	report(h, HEAP_PERSISTENT, p, NULL);
	/* behind a piece that shrinks there is a gap */
	if (whole < p->size && r->full != &r->pieces && p->begin <= r->full->begin)
		r->full = p;
	p->size = whole;
	if (begin + whole > r->peak)
		r->peak = begin + whole;
	return true;
}

/* ---- taking and giving */

void *heap_take(enum heap_sort sort, size_t align, size_t size, const char *what)
{
	struct heap *h = thread_heap;
	void *memory = NULL;

	if (!h)
		return posix_memalign(&memory, align < GRAIN ? GRAIN : align, size ? size : 1)
			       ? NULL
			       : memory;
	fork_gate_lock(&heaps_lock);
	memory = take(h, sort, align, size, what);
	fork_gate_unlock(&heaps_lock);
	return memory;
}

void *heap_alloc(size_t size, const char *what)
{
	return thread_heap ? heap_take(HEAP_PERSISTENT, GRAIN, size, what) : malloc(size);
}

void *heap_zeroed(size_t count, size_t size, const char *what)
{
	void *memory;
	size_t bytes;

	if (!thread_heap)
		return calloc(count, size);
	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	memory = heap_alloc(bytes, what);
	return memory ? memset(memory, 0, bytes) : NULL;
}

void heap_free(void *memory)
{
	struct heap *owner = NULL;
	enum heap_sort sort;
	struct piece *p = NULL;

	if (memory && __atomic_load_n(&heaps, __ATOMIC_ACQUIRE)) {
		fork_gate_lock(&heaps_lock);
		p = piece_of(memory, &owner, &sort);
		if (p)
			give(owner, sort, p);
		fork_gate_unlock(&heaps_lock);
	}
	if (!p)
		free(memory);
}

/* Resize a piece of a heap that the thread entered. */
static void *resize(struct heap *h, struct piece *p, size_t size, const char *what)
{
	size_t old = p->size - sizeof(*p);
	void *moved;

	if (size > PTRDIFF_MAX - HEAP_ALIGN)
		return NULL;
	if (resize_here(h, p, size)) {
		report(h, HEAP_PERSISTENT, p, what);
		return p + 1;
	}
	moved = take(h, HEAP_PERSISTENT, GRAIN, size, what);
	if (!moved)
		return NULL;
	memcpy(moved, p + 1, old < size ? old : size);
	give_persistent(h, p);
	return moved;
}

void *heap_resize(void *memory, size_t size, const char *what)
{
	struct heap *owner = NULL;
	struct piece *p = NULL;
	enum heap_sort sort;
	void *resized = NULL;

	if (!memory)
		return heap_alloc(size, what);
	if (__atomic_load_n(&heaps, __ATOMIC_ACQUIRE)) {
		fork_gate_lock(&heaps_lock);
		p = piece_of(memory, &owner, &sort);
		if (p)
			resized = resize(owner, p, size, what);
		fork_gate_unlock(&heaps_lock);
	}
	return p ? resized : realloc(memory, size);
}
