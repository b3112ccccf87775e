/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_RELAX_RELAX_POOL_H
#define RUNTIME_RELAX_RELAX_POOL_H

/**
 * DOC: memory of a virtual machine
 *
 * Each run of a model creates the same storages, tensors and shapes. Destroyed objects return to
 * the pool of their machine, so a warm machine allocates nothing.
 *
 * Only the thread that runs the machine takes from a pool. Any thread may return objects: a result
 * may be destroyed anywhere, and after its machine. The pool keeps at most as much idle memory as
 * was ever in use at once, so that a model with changing shapes does not grow without bound.
 */

#include <tenon/array.h>
#include <tenon/device.h>
#include <tenon/tensor.h>

struct relax_pool;

/**
 * struct relax_storage - memory that tensors are made in; type relax_storage_type()
 * @object: header
 * @size: bytes that were asked for
 * @data: aligned to TENON_TENSOR_ALIGN; not cleared. On a device what its tensors have for one.
 * @device: where it is
 * @memory: the device's memory; NULL on the host
 */
struct relax_storage {
	struct tenon_object object;
	size_t size;
	void *data;
	DLDevice device;
	struct tenon_memory *memory;
};

/** struct relax_pool_figures - what a pool holds, in bytes, and how often it asked the system */
struct relax_pool_figures {
	uint64_t used;
	uint64_t most_used;
	uint64_t idle;
	uint64_t allocations;
	uint64_t storages; /* in use now */
};

int relax_pool_create(struct relax_pool **out);

/**
 * relax_pool_create_on - make a pool of memory on a device
 * @device: referenced
 * @home: the pool of its machine
 */
int relax_pool_create_on(struct tenon_device *device, struct relax_pool *home, struct relax_pool **out);

/*
 * The calling thread uses a device's pool from now on: what it submits comes behind others' work.
 */
int relax_pool_follow(struct relax_pool *pool);

/* The machine goes; what is out keeps the rest alive. NULL is allowed. */
void relax_pool_close(struct relax_pool *pool);

/* Refuse storages that bring what is in use over @bytes. */
void relax_pool_limit(struct relax_pool *pool, uint64_t bytes);

void relax_pool_figures(struct relax_pool *pool, struct relax_pool_figures *out);

/* Type index of storages; 0 before the first pool. */
int32_t relax_storage_type(void);

/* The following make objects with one reference. Errors: -TENON_E_NOMEM. */

int relax_storage_create(struct relax_pool *pool, size_t size, struct relax_storage **out);

/**
 * relax_tensor_create - make a compact tensor around memory, of the host unless the caller says
 * more
 * @pool: may be NULL
 * @keep: keeps @data alive; the new tensor takes over the caller's reference, also on failure
 * @data: first element
 * @shape: @ndim extents, not negative, whose product was checked
 */
int relax_tensor_create(struct relax_pool *pool, struct tenon_object *keep, void *data,
		     const int64_t *shape, int32_t ndim, DLDataType dtype,
		     struct tenon_tensor **out);

/*
 * A tensor with a storage of its own. Also -TENON_E_VALUE, -TENON_E_OVERFLOW; the device's
 * failures.
 */
int relax_tensor_new(struct relax_pool *pool, const int64_t *shape, int32_t ndim, DLDataType dtype,
		  struct tenon_tensor **out);

/**
 * struct relax_plan - an allocation of which all is known beforehand
 * @pool: where a storage is taken from
 * @bytes: size of the data
 * @offset: where in its storage a tensor begins, in bytes
 * @extents: @ndim extents, and as many strides
 * @ndim: number of dimensions, few enough for a tensor object of the pool
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

/* Dimensions that a tensor object of the pool has room for. */
#define RELAX_PLAN_NDIM 8

/* A tensor in a storage that is large enough; NULL without memory, without an error. */
struct tenon_tensor *relax_tensor_planned(struct relax_pool *pool, struct relax_storage *s,
				       const struct relax_plan *plan);

/*
 * Is a tensor compact in a storage of a pool, which may be written: not the file's, not a caller's.
 */
bool relax_tensor_in_storage(const struct tenon_tensor *t);

/* A shape to be filled; @pool may be NULL. */
int relax_shape_create(struct relax_pool *pool, size_t count, int64_t **extents,
		    struct tenon_shape **out);

/**
 * relax_nest_create - memory of an object that may hold others of its sort, as deep as a program
 * likes
 * @pool: may be NULL
 * @size: bytes, the header included, which is made
 * @type: type index
 * @content: releases what the object holds
 *
 * Return: an object with one reference, else uninitialised; NULL without memory, with the error
 *	set.
 */
void *relax_nest_create(struct relax_pool *pool, size_t size, int32_t type,
		     void (*content)(void *object));

/* An array that owns copies of @items; @pool may be NULL. Also as tenon_value_own(). */
int relax_array_create(struct relax_pool *pool, const struct tenon_value *items, size_t count,
		    struct tenon_array **out);

#endif /* RUNTIME_RELAX_RELAX_POOL_H */
