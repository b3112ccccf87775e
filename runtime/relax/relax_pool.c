/* SPDX-License-Identifier: MIT */
/* Storages, tensors and shapes in size classes, reused between runs. */
#include "runtime/relax/relax_pool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <tenon/backend/backend.h>
#include <tenon/memory.h>

#include "lib/brief_errors.h"
#include "lib/error_slot.h"
#include "lib/heap.h"
#include "runtime/core/array_object.h"
#include "runtime/core/reference.h"
#include "runtime/model/tensor_place.h"
#include "runtime/relax/relax.h"

/* Class 0 is for small objects. The others are storages: four sizes per power of two. */
#define CELL_CLASS 0
#define CELL_BYTES 256
#define CLASSES	   232

/* Header in front of every object. Reference counts are 64 bits wide, and aligned to that. */
struct chunk {
	_Alignas(8) struct relax_pool *pool;
	struct chunk *next;
	uint32_t class;
	uint32_t unpooled;		     /* allocated individually: return it to malloc() */
	void (*release_items)(void *object); /* of objects that may nest */
};

/*
 * A program may nest tuples and closures without limit. Nested deletions are queued, so that
 * releasing needs bounded stack.
 */
static __thread struct chunk *waiting;
static __thread bool releasing;

struct relax_pool {
	uint64_t machine;	     /* unique number of the machine; an address could be reused */
	struct tenon_device *device; /* referenced; NULL for the host */
	struct heap *heap;	     /* memory of the caller; NULL for malloc() */
	DLDevice id;
	uintptr_t thread; /* thread that uses the device's memory now; atomic */
	uint32_t foreign; /* another thread returned chunks; atomic */
	struct chunk *idle[CLASSES];
	uint64_t taken; /* chunks handed out minus chunks collected */
	uint64_t used;	/* their size in bytes; returned chunks count until they are collected */
	uint64_t most_used;
	uint64_t idle_bytes;
	uint64_t limit;
	uint64_t allocations;
	uint64_t storages;
	uint64_t created; /* storages */
	_Alignas(64) struct chunk
		*returned; /* list of returned chunks; CLOSED after the pool was closed */
	int64_t orphans;
};

#define CLOSED ((struct chunk *)1)

static int32_t storage_type;
static _Alignas(8) uint64_t machines; /* number of pools created; atomic */

int32_t relax_storage_type(void)
{
	return __atomic_load_n(&storage_type, __ATOMIC_RELAXED);
}

static inline struct chunk *chunk_of(void *object)
{
	return (struct chunk *)object - 1;
}

/* Object size of a class; for a storage, size of its data. */
static uint64_t class_bytes(uint32_t class)
{
	uint32_t step = class - 1;

	if (class == CELL_CLASS)
		return CELL_BYTES;
	return (uint64_t)(4 + step % 4) << (step / 4 + 6); /* 256, 320, 384, 448, 512 … */
}

static uint32_t class_of(size_t size)
{
	unsigned int shift;
	uint64_t units;

	if (size <= 256)
		return 1;
	shift = 63 - (unsigned int)__builtin_clzll((uint64_t)size - 1); /* log2, rounded down */
	units = (((uint64_t)size - 1) >> (shift - 2)) + 1;		/* 5 to 8 quarters of it */
	return (shift - 8) * 4 + (uint32_t)units - 4 + 1;
}

/* A storage's object and its aligned data are one block. */
static size_t block_bytes(uint32_t class)
{
	if (class == CELL_CLASS)
		return sizeof(struct chunk) + CELL_BYTES;
	return TENON_TENSOR_ALIGN + class_bytes(class);
}

_Static_assert(sizeof(struct chunk) + sizeof(struct relax_storage) <= TENON_TENSOR_ALIGN,
	       "a storage lies in front of its data");

int relax_pool_create(struct relax_pool **out)
{
	struct relax_pool *pool;
	int32_t type;
	int err;

	*out = NULL;
	err = tenon_type_register("relax.vm.Storage", TENON_TYPE_OBJECT, &type);
	if (err)
		return err;
	__atomic_store_n(&storage_type, type, __ATOMIC_RELAXED);
	pool = heap_take(HEAP_PERSISTENT, 64, sizeof(*pool), "lists of free memory");
	if (!pool)
		return tenon_error(-TENON_E_NOMEM, "no memory for a machine's pool");
	memset(pool, 0, sizeof(*pool));
	pool->heap = heap_now();
	pool->limit = SIZE_MAX / 2;
	pool->machine = __atomic_add_fetch(&machines, 1, __ATOMIC_RELAXED);
	pool->id = (DLDevice){ kDLCPU, 0 };
	*out = pool;
	return 0;
}

int relax_pool_create_on(struct tenon_device *device, struct relax_pool *home,
			 struct relax_pool **out)
{
	int err = relax_pool_create(out);

	if (err)
		return err;
	tenon_object_ref(device);
	(*out)->device = device;
	(*out)->id = device->id;
	(*out)->machine = home->machine;
	return 0;
}

static inline uintptr_t this_thread(void)
{
	return (uintptr_t)&relax_now;
}

int relax_pool_follow(struct relax_pool *pool)
{
	if (__atomic_exchange_n(&pool->thread, this_thread(), __ATOMIC_ACQ_REL) == this_thread())
		return 0;
	return place_follow(pool->device);
}

/* Free a closed pool with its last chunk, when the sum of changes shows that none is left. */
static void settle(struct relax_pool *pool, int64_t change)
{
	if (__atomic_add_fetch(&pool->orphans, change, __ATOMIC_ACQ_REL))
		return;
	tenon_object_unref(pool->device);
	heap_free(pool);
}

static void chunk_destroy(struct relax_pool *pool, struct chunk *c)
{
	struct relax_storage *s = c->class == CELL_CLASS ? NULL : (struct relax_storage *)(c + 1);
	struct heap *before;

	if (pool->device && s)
		tenon_object_unref(s->memory);
	if (pool->heap && s) {
		/* Another heap may share the region. */
		before = heap_enter(pool->heap);
		heap_free(s->data);
		heap_enter(before);
	}
	heap_free(c);
}

static inline void put_idle(struct relax_pool *pool, struct chunk *c)
{
	uint64_t bytes = class_bytes(c->class);

	c->next = pool->idle[c->class];
	pool->idle[c->class] = c;
	pool->taken--;
	pool->used -= bytes;
	pool->idle_bytes += bytes;
	pool->storages -= c->class != CELL_CLASS;
}

static void chunk_free(void *object)
{
	struct chunk *c = chunk_of(object), *head;
	struct relax_pool *pool = c->pool;

	if (c->unpooled) {
		heap_free(c);
		return;
	}
	/* Most objects die on the thread that runs their machine. */
	if (relax_now && relax_now->pool->machine == pool->machine) {
		put_idle(pool, c);
		return;
	}
	if (pool->device && __atomic_load_n(&pool->thread, __ATOMIC_RELAXED) != this_thread())
		__atomic_store_n(&pool->foreign, 1, __ATOMIC_RELAXED);
	head = __atomic_load_n(&pool->returned, __ATOMIC_RELAXED);
	do {
		if (head == CLOSED) {
			chunk_destroy(pool, c);
			settle(pool, -1);
			return;
		}
		c->next = head;
	} while (!__atomic_compare_exchange_n(&pool->returned, &head, c, true, __ATOMIC_RELEASE,
					      __ATOMIC_ACQUIRE));
}

static void collect_list(struct relax_pool *pool, struct chunk *c)
{
	struct chunk *next;

	for (; c; c = next) {
		next = c->next;
		put_idle(pool, c);
	}
}

static void collect(struct relax_pool *pool)
{
	if (!__atomic_load_n(&pool->returned, __ATOMIC_RELAXED))
		return;
	collect_list(pool, __atomic_exchange_n(&pool->returned, NULL, __ATOMIC_ACQUIRE));
	/*
	 * Work of the other thread may be pending. A device that fails here also fails the next
	 * operation.
	 */
	if (pool->device && __atomic_exchange_n(&pool->foreign, 0, __ATOMIC_RELAXED) &&
	    place_follow(pool->device))
		tenon_error_clear();
}

/* Free idle chunks, largest first, until at most @keep idle bytes remain. */
static void trim(struct relax_pool *pool, uint64_t keep)
{
	uint32_t class = CLASSES;
	struct chunk *c;

	while (class -- > 0 && pool->idle_bytes > keep) {
		while ((c = pool->idle[class]) && pool->idle_bytes > keep) {
			pool->idle[class] = c->next;
			pool->idle_bytes -= class_bytes(class);
			chunk_destroy(pool, c);
		}
	}
}

void relax_pool_close(struct relax_pool *pool)
{
	if (!pool)
		return;
	collect_list(pool, __atomic_exchange_n(&pool->returned, CLOSED, __ATOMIC_ACQ_REL));
	trim(pool, 0);
	settle(pool, (int64_t)pool->taken);
}

void relax_pool_trim(struct relax_pool *pool)
{
	collect(pool);
	trim(pool, 0);
}

void relax_pool_limit(struct relax_pool *pool, uint64_t bytes)
{
	pool->limit = bytes;
}

void relax_pool_figures(struct relax_pool *pool, struct relax_pool_figures *out)
{
	collect(pool);
	out->used = pool->used;
	out->most_used = pool->most_used;
	out->idle = pool->idle_bytes;
	out->allocations = pool->allocations;
	out->storages = pool->storages;
	out->created = pool->created;
}

/* Allocate a storage object on the host and its data on the device; raises the error. */
static struct chunk *device_chunk(struct relax_pool *pool, uint32_t class)
{
	struct tenon_memory_request request = { .size = sizeof(request),
						.bytes = class_bytes(class),
						.usage = TENON_MEMORY_DEFAULT,
						.heap = -1 };
	struct chunk *c = malloc(sizeof(*c) + sizeof(struct relax_storage));
	struct relax_storage *s = c ? (struct relax_storage *)(c + 1) : NULL;
	bool ran_out = error_ran_out();

	if (!c) {
		tenon_error(-TENON_E_NOMEM, "no memory for a storage");
		return NULL;
	}
	if (tenon_memory_alloc(pool->device, &request, &s->memory)) {
		tenon_error_clear();
		error_set_ran_out(ran_out);
		trim(pool, 0);
		if (tenon_memory_alloc(pool->device, &request, &s->memory)) {
			free(c);
			return NULL;
		}
	}
	s->data = tenon_memory_data(s->memory);
	c->pool = pool;
	c->class = class;
	c->unpooled = 0;
	pool->allocations++;
	return c;
}

/* In memory of the caller, where two models may share that of tensors, the object lies apart. */
static struct chunk *heap_chunk(struct relax_pool *pool, uint32_t class)
{
	struct heap *before = heap_enter(pool->heap);
	struct relax_storage *s = NULL;
	struct chunk *c;

	if (class == CELL_CLASS) {
		c = heap_alloc(block_bytes(class), "objects");
	} else {
		c = heap_alloc(sizeof(*c) + sizeof(*s), "storages");
		s = c ? (struct relax_storage *)(c + 1) : NULL;
	}
	if (s) {
		s->data =
			heap_take(HEAP_PLANNED, TENON_TENSOR_ALIGN, class_bytes(class), "tensors");
		s->memory = NULL;
		if (!s->data) {
			heap_free(c);
			c = NULL;
		}
	}
	heap_enter(before);
	if (!c)
		return NULL;
	c->pool = pool;
	c->class = class;
	c->unpooled = 0;
	pool->allocations++;
	return c;
}

static struct chunk *chunk_new(struct relax_pool *pool, uint32_t class)
{
	void *memory = NULL;

	trim(pool, pool->most_used);
	if (pool->heap)
		return heap_chunk(pool, class);
	if (pool->device && class != CELL_CLASS)
		return device_chunk(pool, class);
	if (posix_memalign(&memory, TENON_TENSOR_ALIGN, block_bytes(class))) {
		trim(pool, 0);
		if (posix_memalign(&memory, TENON_TENSOR_ALIGN, block_bytes(class)))
			return NULL;
	}
	pool->allocations++;
	((struct chunk *)memory)->pool = pool;
	((struct chunk *)memory)->class = class;
	((struct chunk *)memory)->unpooled = 0;
	return memory;
}

/* Take an object of a class; NULL if out of memory, without an error. */
static void *chunk_take(struct relax_pool *pool, uint32_t class)
{
	struct chunk *c = pool->idle[class];
	uint64_t bytes = class_bytes(class);

	if (!c) {
		collect(pool);
		c = pool->idle[class];
	}
	if (c) {
		pool->idle[class] = c->next;
		pool->idle_bytes -= bytes;
	} else {
		c = chunk_new(pool, class);
		if (!c)
			return NULL;
	}
	pool->taken++;
	pool->used += bytes;
	if (pool->used > pool->most_used)
		pool->most_used = pool->used;
	return c + 1;
}

/* Take a small object: a cell of the pool if it fits, otherwise a block from malloc(). */
static void *cell_take(struct relax_pool *pool, size_t size)
{
	struct heap *before;
	struct chunk *c;

	if (pool && size <= CELL_BYTES)
		return chunk_take(pool, CELL_CLASS);
	before = heap_enter(pool ? pool->heap : heap_now());
	c = heap_alloc(sizeof(*c) + size, "object");
	heap_enter(before);
	if (!c)
		return NULL;
	c->pool = NULL;
	c->unpooled = 1;
	return c + 1;
}

static void storage_delete(void *self, int flags)
{
	if (flags & TENON_DELETE_MEMORY)
		chunk_free(self);
}

int relax_storage_create(struct relax_pool *pool, size_t size, struct relax_storage **out)
{
	struct relax_storage *s;

	*out = NULL;
	if (size > pool->limit || pool->used > pool->limit - size) {
		collect(pool);
		if (size > pool->limit || pool->used > pool->limit - size)
			return tenon_error(-TENON_E_NOMEM,
					   "a storage of %zu bytes; %" PRIu64
					   " bytes are in use, the limit is %" PRIu64,
					   size, pool->used, pool->limit);
	}
	s = size > SIZE_MAX / 4 ? NULL : chunk_take(pool, class_of(size));
	if (!s && pool->device && size <= SIZE_MAX / 4)
		return tenon_error_in(tenon_error_status(), "a storage of %zu bytes", size);
	if (!s)
		return tenon_error(-TENON_E_NOMEM, "no memory for a storage of %zu bytes", size);
	pool->storages++;
	pool->created++;
	tenon_object_init(&s->object, relax_storage_type(), storage_delete);
	s->size = size;
	s->device = pool->id;
	if (!pool->device && !pool->heap) {
		s->data = (char *)chunk_of(s) + TENON_TENSOR_ALIGN;
		s->memory = NULL;
	}
	*out = s;
	return 0;
}

/* Shape and strides are stored behind the struct. */
struct pool_tensor {
	struct tenon_tensor base;
	struct tenon_object *keep;
	int64_t extents[];
};

static void tensor_delete(void *self, int flags)
{
	struct pool_tensor *t = self;

	if ((flags & TENON_DELETE_CONTENT) && t->keep)
		object_unref(t->keep);
	if (flags & TENON_DELETE_MEMORY)
		chunk_free(t);
}

bool relax_tensor_in_storage(const struct tenon_tensor *t)
{
	const struct pool_tensor *p = (const struct pool_tensor *)t;

	return t->object.deleter == tensor_delete && p->keep && p->keep->deleter == storage_delete;
}

int relax_tensor_create(struct relax_pool *pool, struct tenon_object *keep, void *data,
			const int64_t *shape, int32_t ndim, DLDataType dtype,
			struct tenon_tensor **out)
{
	size_t n = (size_t)ndim;
	struct pool_tensor *t = cell_take(pool, sizeof(*t) + 2 * n * sizeof(t->extents[0]));
	struct tenon_object *root;
	int64_t step = 1;

	*out = NULL;
	/* A view of a view references the first view's owner, so that chains do not grow. */
	if (keep && keep->deleter == tensor_delete && ((struct pool_tensor *)keep)->keep) {
		root = ((struct pool_tensor *)keep)->keep;
		tenon_object_ref(root);
		tenon_object_unref(keep);
		keep = root;
	}
	if (!t) {
		tenon_object_unref(keep);
		return tenon_error(-TENON_E_NOMEM, "no memory for a tensor object");
	}
	tenon_object_init(&t->base.object, TENON_TYPE_TENSOR, tensor_delete);
	t->base.dl = tenon_dltensor(data, t->extents, ndim, dtype);
	t->base.dl.strides = n ? t->extents + n : NULL;
	t->keep = keep;
	while (n-- > 0) {
		t->extents[n] = shape[n];
		t->base.dl.strides[n] = step;
		/* With an extent of 0 others may overflow; the strides are then unused. */
		step = (int64_t)((uint64_t)step * (uint64_t)shape[n]);
	}
	*out = &t->base;
	return 0;
}

int relax_tensor_view(struct tenon_tensor *from, uint64_t offset, const int64_t *shape,
		      int32_t ndim, DLDataType dtype, struct tenon_tensor **out)
{
	struct tenon_tensor *t;
	int err;

	tenon_object_ref(from);
	err = relax_tensor_create(relax_current_pool(), &from->object, from->dl.data, shape, ndim,
				  dtype, &t);
	*out = t;
	if (err)
		return err;
	t->dl.device = from->dl.device;
	t->dl.byte_offset = from->dl.byte_offset + offset;
	place_settle(&t->dl);
	return 0;
}

_Static_assert(sizeof(struct pool_tensor) + 2 * RELAX_PLAN_NDIM * sizeof(int64_t) <= CELL_BYTES,
	       "a planned tensor fits a cell");

struct tenon_tensor *relax_tensor_planned(struct relax_pool *pool, struct relax_storage *s,
					  const struct relax_plan *plan)
{
	struct pool_tensor *t = chunk_take(pool, CELL_CLASS);
	int32_t i;

	if (!t)
		return NULL;
	t->base.object.refs = WEAK_ONE + 1;
	t->base.object.type = TENON_TYPE_TENSOR;
	t->base.object.reserved = 0;
	t->base.object.deleter = tensor_delete;
	t->base.dl =
		tenon_dltensor((char *)s->data + plan->offset, t->extents, plan->ndim, plan->dtype);
	t->base.dl.device = s->device;
	t->base.dl.strides = plan->ndim ? t->extents + plan->ndim : NULL;
	for (i = 0; i < 2 * plan->ndim; i++)
		t->extents[i] = plan->extents[i];
	object_ref(&s->object);
	t->keep = &s->object;
	return &t->base;
}

int relax_tensor_new(struct relax_pool *pool, const int64_t *shape, int32_t ndim, DLDataType dtype,
		     struct tenon_tensor **out)
{
	DLTensor dl = tenon_dltensor(NULL, (int64_t *)shape, ndim, dtype);
	struct relax_storage *s;
	size_t bytes;
	int err;

	*out = NULL;
	err = tenon_tensor_bytes(&dl, &bytes);
	if (!err)
		err = relax_storage_create(pool, bytes, &s);
	if (err)
		return err;
	err = relax_tensor_create(pool, &s->object, s->data, shape, ndim, dtype, out);
	if (!err)
		(*out)->dl.device = pool->id;
	return err;
}

static void block_delete(void *self, int flags)
{
	if (flags & TENON_DELETE_MEMORY)
		chunk_free(self);
}

int relax_shape_create(struct relax_pool *pool, size_t count, int64_t **extents,
		       struct tenon_shape **out)
{
	struct tenon_shape *s = NULL;

	*out = NULL;
	if (count < PTRDIFF_MAX / sizeof(**extents) - sizeof(*s))
		s = cell_take(pool, sizeof(*s) + count * sizeof(**extents));
	if (!s)
		return tenon_error(-TENON_E_NOMEM, "no memory for a shape of %zu dimensions",
				   count);
	tenon_object_init(&s->object, TENON_TYPE_SHAPE, block_delete);
	*extents = (int64_t *)(s + 1);
	s->data = *extents;
	s->size = count;
	*out = s;
	return 0;
}

static void nest_delete(void *self, int flags)
{
	struct chunk *c = chunk_of(self);

	if (releasing && flags == (TENON_DELETE_CONTENT | TENON_DELETE_MEMORY)) {
		c->next = waiting;
		waiting = c;
		return;
	}
	if ((flags & TENON_DELETE_CONTENT) && releasing) {
		c->release_items(self);
	} else if (flags & TENON_DELETE_CONTENT) {
		releasing = true;
		c->release_items(self);
		while ((c = waiting)) {
			waiting = c->next;
			c->release_items(c + 1);
			chunk_free(c + 1);
		}
		releasing = false;
	}
	if (flags & TENON_DELETE_MEMORY)
		chunk_free(self);
}

void *relax_nest_create(struct relax_pool *pool, size_t size, int32_t type,
			void (*release_items)(void *object))
{
	struct tenon_object *o = cell_take(pool, size);

	if (!o) {
		tenon_error(-TENON_E_NOMEM, "no memory for an object of %zu bytes", size);
		return NULL;
	}
	chunk_of(o)->release_items = release_items;
	tenon_object_init(o, type, nest_delete);
	return o;
}

static void array_release_items(void *self)
{
	struct tenon_array *a = self;
	int64_t i;

	for (i = 0; i < a->size; i++)
		tenon_value_release(&a->data[i]);
}

int relax_array_create(struct relax_pool *pool, const struct tenon_value *items, size_t count,
		       struct tenon_array **out)
{
	struct tenon_array *a;

	*out = NULL;
	a = relax_nest_create(pool, sizeof(*a) + count * sizeof(*items), TENON_TYPE_ARRAY,
			      array_release_items);
	if (!a)
		return -TENON_E_NOMEM;
	return array_fill(a, items, count, out);
}
