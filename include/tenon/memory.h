/* SPDX-License-Identifier: MIT */
#ifndef TENON_MEMORY_H
#define TENON_MEMORY_H

/**
 * DOC: memory of devices
 *
 * Memory is a counted object with a size in bytes. Operations name a place in it by offset. Dropping
 * the last reference is allowed while queues still use the memory: the device gives it back when
 * they are done. So nothing is counted per launch.
 *
 * `data` of a device tensor is tenon_memory_data(): the address where the device has addresses, else
 * the struct tenon_memory itself. Host code only hands it on.
 */

#include <tenon/device.h>
#include <tenon/export.h>
#include <tenon/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tenon_memory;
struct tenon_queue;

/** enum tenon_memory_usage - what memory is asked for; a mask */
enum tenon_memory_usage {
	TENON_MEMORY_TRANSFER = 1,  /* source and target of copies and fills */
	TENON_MEMORY_STORAGE = 2,   /* arguments of kernels */
	TENON_MEMORY_MAP = 4,	    /* has to be host-visible */
	TENON_MEMORY_HOST_READ = 8, /* with MAP: the host reads it often, cached memory is better */
	TENON_MEMORY_EXPORT = 16,   /* tenon_memory_export() will be called */
};

/* what tensors are made of */
#define TENON_MEMORY_DEFAULT (TENON_MEMORY_TRANSFER | TENON_MEMORY_STORAGE)

/** enum tenon_handle_type - what memory is imported from and exported as */
enum tenon_handle_type {
	TENON_HANDLE_HOST_POINTER = 0, /* memory of this process */
	TENON_HANDLE_OPAQUE_FD = 1,    /* an fd that the same driver made */
	TENON_HANDLE_DMA_BUF = 2,      /* a Linux dma-buf fd */
};

/**
 * struct tenon_memory_request - what memory is wanted
 * @size: bytes; at least 1
 * @usage: enum tenon_memory_usage; at least one
 * @heap: number of a heap, or -1 for the backend's choice
 * @queue: on devices with TENON_DEVICE_STREAM_ORDERED, the queue that will use it first: allocation
 *	and release are ordered on it. Else NULL.
 */
struct tenon_memory_request {
	uint64_t size;
	uint32_t usage;
	int32_t heap;
	struct tenon_queue *queue;
};

/**
 * struct tenon_memory_import - memory that exists already
 * @type: enum tenon_handle_type
 * @fd: for fds; stays the caller's, a backend that keeps it duplicates it
 * @pointer: for host pointers; the memory must outlive the object and all its uses
 * @size: bytes
 * @usage: enum tenon_memory_usage
 * @heap: 0; for an opaque fd of memory that was requested from a heap, one more than its number
 *
 * A driver takes back an opaque fd only as what it was made as: @size, @usage and @heap have to be
 * those of its request, but for TENON_MEMORY_EXPORT, which may be left out.
 */
struct tenon_memory_import {
	uint32_t type;
	int32_t fd;
	void *pointer;
	uint64_t size;
	uint32_t usage;
	uint32_t heap;
};

/** enum tenon_map_mode - what the host does with mapped memory; a mask */
enum tenon_map_mode {
	TENON_MAP_READ = 1,
	TENON_MAP_WRITE = 2,
	TENON_MAP_DISCARD = 4, /* with WRITE: the old content of the range is not needed */
};

/**
 * tenon_memory_alloc - make memory on a device
 * @device: device
 * @request: what is wanted
 * @out: receives the memory with one reference; content undefined
 *
 * Context: any thread.
 * Return: 0; -TENON_E_NOMEM; -TENON_E_UNSUPPORTED; -TENON_E_VALUE; -TENON_E_LOST.
 */
TENON_API int tenon_memory_alloc(struct tenon_device *device,
				 const struct tenon_memory_request *request,
				 struct tenon_memory **out);

/**
 * tenon_memory_take - make memory from the pool of a queue
 * @queue: the queue that will use it: it may have been used there before, and its use is ordered
 * @size: bytes
 * @out: receives the memory; given back with tenon_memory_give()
 *
 * No allocation once the pool is warm. Sizes are rounded up.
 *
 * Context: the thread that submits to @queue.
 * Return: as tenon_memory_alloc().
 */
TENON_API int tenon_memory_take(struct tenon_queue *queue, uint64_t size,
				struct tenon_memory **out);

/** tenon_memory_give - put memory back to the pool it was taken from; work in flight may use it */
TENON_API void tenon_memory_give(struct tenon_queue *queue, struct tenon_memory *memory);

/** tenon_memory_trim - give what lies idle in a queue's pool back to the device */
TENON_API void tenon_memory_trim(struct tenon_queue *queue);

/**
 * tenon_memory_subrange - make memory that is a part of another
 * @memory: the whole; referenced
 * @offset: first byte, a multiple of properties.alignment
 * @size: bytes
 * @out: receives the part with one reference
 *
 * Return: 0; -TENON_E_VALUE for a range that is not within, or not aligned; -TENON_E_NOMEM.
 */
TENON_API int tenon_memory_subrange(struct tenon_memory *memory, uint64_t offset, uint64_t size,
				    struct tenon_memory **out);

/**
 * tenon_memory_map - make a range visible to the host
 * @memory: memory that lies in a host-visible heap
 * @mode: enum tenon_map_mode
 * @offset: first byte
 * @size: bytes
 * @out: receives the address
 *
 * Operations that use the range must be done. Several mappings may exist at once.
 *
 * Return: 0; -TENON_E_UNSUPPORTED for memory that the host cannot see; -TENON_E_VALUE; -TENON_E_LOST.
 */
TENON_API int tenon_memory_map(struct tenon_memory *memory, uint32_t mode, uint64_t offset,
			       uint64_t size, void **out);

/**
 * tenon_memory_unmap - end a mapping, with the words that made it; writes become visible
 *
 * Return: 0; -TENON_E_VALUE for a range that no mapping can have.
 */
TENON_API int tenon_memory_unmap(struct tenon_memory *memory, void *mapped, uint32_t mode,
				 uint64_t offset, uint64_t size);

/** tenon_memory_flush - show the device what the host wrote to a mapped range */
TENON_API int tenon_memory_flush(struct tenon_memory *memory, uint64_t offset, uint64_t size);

/** tenon_memory_invalidate - show the host what the device wrote to a mapped range */
TENON_API int tenon_memory_invalidate(struct tenon_memory *memory, uint64_t offset, uint64_t size);

/**
 * tenon_memory_import - use memory that exists
 * @device: device
 * @from: the memory
 * @out: receives it with one reference
 *
 * Return: 0; -TENON_E_UNSUPPORTED where the device cannot; -TENON_E_VALUE for alignment or size.
 */
TENON_API int tenon_memory_import(struct tenon_device *device,
				  const struct tenon_memory_import *from,
				  struct tenon_memory **out);

/**
 * tenon_memory_export - give memory to another API or process
 * @memory: made with TENON_MEMORY_EXPORT
 * @type: enum tenon_handle_type; not a host pointer
 * @fd: receives an fd that the caller closes
 *
 * Return: 0; -TENON_E_UNSUPPORTED.
 */
TENON_API int tenon_memory_export(struct tenon_memory *memory, uint32_t type, int *fd);

/** tenon_memory_size - bytes of a piece of memory */
TENON_API uint64_t tenon_memory_size(const struct tenon_memory *memory);

/** tenon_memory_data - what a tensor in this memory has as its data */
TENON_API void *tenon_memory_data(struct tenon_memory *memory);

/**
 * tenon_tensor_create_on - make a tensor on a device
 * @device: device; for kDLCPU as tenon_tensor_create(), without a device being opened, but for a
 *	number that an open device has
 * @shape: @ndim extents
 * @ndim: number of dimensions
 * @dtype: element type
 * @out: receives the tensor with one reference; zero on the CPU, undefined elsewhere
 *
 * Return: as tenon_tensor_create() and tenon_device_get().
 */
TENON_API int tenon_tensor_create_on(DLDevice device, const int64_t *shape, int32_t ndim,
				     DLDataType dtype, struct tenon_tensor **out);

/**
 * tenon_tensor_copy - copy a tensor's content, between any two devices
 * @from: compact tensor
 * @to: compact tensor of the same size in bytes; byte_offset of both is honoured
 *
 * Comes after all that any thread had submitted to either device; cpu:0 has no queues to wait for. When it returns host memory is
 * free to be used; a copy within one device may still be on its way on the thread's current queue.
 *
 * Return: 0; -TENON_E_VALUE for sizes that differ or strides; failures of the devices.
 */
TENON_API int tenon_tensor_copy(const DLTensor *from, const DLTensor *to);

#ifdef __cplusplus
}
#endif

#endif /* TENON_MEMORY_H */
