/* SPDX-License-Identifier: MIT */
/* Memory of a virtual machine, which is reused from run to run. */
#ifndef RUNTIME_RELAX_RELAX_POOL_H
#define RUNTIME_RELAX_RELAX_POOL_H

/*
 * Each run of a model creates the same storages, tensors and shapes. Destroyed objects return to
 * the pool of their machine, so a warm machine allocates nothing.
 *
 * Only the thread that runs the machine takes from a pool. Any thread may return objects: a result
 * may be destroyed anywhere, and after its machine. The idle memory in a pool is limited to the
 * largest amount that was in use at once, so that a model with changing shapes does not grow
 * without bound.
 */

#include <tenon/array.h>
#include <tenon/device.h>
#include <tenon/tensor.h>

struct relax_pool;

/**
 * struct relax_storage - memory for tensors; type relax_storage_type()
 * @object: header
 * @size: requested size in bytes
 * @data: aligned to TENON_TENSOR_ALIGN; not cleared. On a device, the tensors' data value.
 * @device: device of the memory
 * @memory: the device's memory; NULL on the host
 */
struct relax_storage {
	struct tenon_object object;
	size_t size;
	void *data;
	DLDevice device;
	struct tenon_memory *memory;
};

/** struct relax_pool_figures - sizes in bytes, and the number of system allocations */
struct relax_pool_figures {
	uint64_t used;
	uint64_t most_used;
	uint64_t idle;
	uint64_t allocations;
	uint64_t storages; /* in use now */
	uint64_t created;  /* storages since the beginning */
};

int relax_pool_create(struct relax_pool **out);

/**
 * relax_pool_create_on - create a pool for memory of a device
 * @device: referenced
 * @home: host pool of the machine
 */
int relax_pool_create_on(struct tenon_device *device, struct relax_pool *home,
			 struct relax_pool **out);

/* Order the calling thread's use of a device pool after the work of other threads. */
int relax_pool_follow(struct relax_pool *pool);

/* Close the pool of a destroyed machine. Live objects keep the rest alive. NULL is allowed. */
void relax_pool_close(struct relax_pool *pool);

/* Free all idle memory. */
void relax_pool_trim(struct relax_pool *pool);

/* Fail allocations that raise the memory in use above @bytes. */
void relax_pool_limit(struct relax_pool *pool, uint64_t bytes);

void relax_pool_figures(struct relax_pool *pool, struct relax_pool_figures *out);

/* Type index of storages; 0 before the first pool. */
int32_t relax_storage_type(void);

/* The following create objects with one reference. Errors: -TENON_E_NOMEM. */

int relax_storage_create(struct relax_pool *pool, size_t size, struct relax_storage **out);

/**
 * relax_tensor_create - make a compact tensor around memory; the caller changes its device if it is
 * not the host
 * @pool: may be NULL
 * @keep: keeps @data alive; the caller's reference moves to the tensor, also on failure
 * @data: first element
 * @shape: @ndim extents, not negative, whose product was checked
 */
int relax_tensor_create(struct relax_pool *pool, struct tenon_object *keep, void *data,
			const int64_t *shape, int32_t ndim, DLDataType dtype,
			struct tenon_tensor **out);

/** relax_tensor_view - make a compact tensor in the memory of @from, @offset bytes from its first element */
int relax_tensor_view(struct tenon_tensor *from, uint64_t offset, const int64_t *shape,
		      int32_t ndim, DLDataType dtype, struct tenon_tensor **out);

/*
 * Create a tensor with its own storage. Also -TENON_E_VALUE, -TENON_E_OVERFLOW, and errors of the
 * device.
 */
int relax_tensor_new(struct relax_pool *pool, const int64_t *shape, int32_t ndim, DLDataType dtype,
		     struct tenon_tensor **out);

/**
 * struct relax_plan - an allocation with constant arguments
 * @pool: pool of the storage
 * @bytes: size of the data
 * @offset: offset of the tensor in its storage, in bytes
 * @extents: @ndim extents, and as many strides
 * @ndim: number of dimensions, at most RELAX_PLAN_NDIM
 * @dtype: element type
 */
struct relax_plan {
	struct relax_pool *pool;
	size_t bytes;
	uint64_t offset;
	int64_t *extents;
	int32_t ndim;
	DLDataType dtype;
};

/* Number of dimensions that a tensor object of the pool has room for. */
#define RELAX_PLAN_NDIM 8

/* Make a tensor in a storage that is large enough; NULL if out of memory, without an error. */
struct tenon_tensor *relax_tensor_planned(struct relax_pool *pool, struct relax_storage *s,
					  const struct relax_plan *plan);

/* Test for a compact tensor in a pool's storage, which is writable: not file or caller memory. */
bool relax_tensor_in_storage(const struct tenon_tensor *t);

/* Create a shape for the caller to fill; @pool may be NULL. */
int relax_shape_create(struct relax_pool *pool, size_t count, int64_t **extents,
		       struct tenon_shape **out);

/**
 * relax_nest_create - allocate an object that may hold others of its type, nested without limit
 * @pool: may be NULL
 * @size: size including the header, which is initialised
 * @type: type index
 * @release_items: releases what the object holds
 *
 * Return: an object with one reference, uninitialised except for the header; NULL if out of memory,
 * with the error set.
 */
void *relax_nest_create(struct relax_pool *pool, size_t size, int32_t type,
			void (*release_items)(void *object));

/*
 * Create an array with owned copies of @items; @pool may be NULL. Also errors of tenon_value_own().
 */
int relax_array_create(struct relax_pool *pool, const struct tenon_value *items, size_t count,
		       struct tenon_array **out);

#endif /* RUNTIME_RELAX_RELAX_POOL_H */
