/* SPDX-License-Identifier: MIT */
#ifndef TENON_MEMORY_H
#define TENON_MEMORY_H

/**
 * DOC: device memory
 *
 * Memory is a counted object with a size in bytes; operations address it by offset. The last
 * reference may be dropped while queues still use the memory: it is freed when they are done. So a
 * launch takes no references.
 *
 * `data` of a device tensor is tenon_memory_data(): an address if the device has
 * TENON_DEVICE_ADDRESSES, else the struct tenon_memory. Host code must treat it as opaque.
 */

#include <tenon/device.h>
#include <tenon/export.h>
#include <tenon/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tenon_memory;
struct tenon_queue;

/** enum tenon_memory_usage - what memory is used for; a mask */
enum tenon_memory_usage {
	TENON_MEMORY_TRANSFER = 1,  /* source and destination of copies and fills */
	TENON_MEMORY_STORAGE = 2,   /* arguments of kernels */
	TENON_MEMORY_MAP = 4,	    /* tenon_memory_map() will be called */
	TENON_MEMORY_HOST_READ = 8, /* with MAP: the host reads it often; prefer cached memory */
	TENON_MEMORY_EXPORT = 16,   /* tenon_memory_export() will be called */
	/* of a dma-buf that is imported: refuse one that kernels of this device would copy */
	TENON_MEMORY_IN_PLACE = 32,
};

/* usage of tensors */
#define TENON_MEMORY_DEFAULT (TENON_MEMORY_TRANSFER | TENON_MEMORY_STORAGE)

/** enum tenon_handle_type - kinds of handle for imported and exported memory */
enum tenon_handle_type {
	TENON_HANDLE_HOST_POINTER = 0, /* memory of this process */
	TENON_HANDLE_OPAQUE_FD = 1,    /* an fd of the same driver */
	/*
	 * A Linux dma-buf fd. On the CPU such memory is not coherent with its device: call
	 * tenon_memory_invalidate() before operations on it, and tenon_memory_flush() behind them.
	 */
	TENON_HANDLE_DMA_BUF = 2,
};

/**
 * struct tenon_memory_request - arguments of tenon_memory_alloc()
 * @size: sizeof(struct tenon_memory_request)
 * @bytes: at least 1
 * @usage: mask of enum tenon_memory_usage; not 0
 * @heap: number of a heap, or -1 for the backend's choice
 * @queue: on devices with TENON_DEVICE_STREAM_ORDERED, the queue that allocation and release are
 *	ordered on; else NULL
 */
struct tenon_memory_request {
	size_t size;
	uint64_t bytes;
	uint32_t usage;
	int32_t heap;
	struct tenon_queue *queue;
};

/**
 * struct tenon_memory_import - existing memory to import
 * @size: sizeof(struct tenon_memory_import)
 * @type: enum tenon_handle_type
 * @fd: file descriptor; the caller still owns it, a backend that needs it duplicates it
 * @pointer: host pointer; the memory must outlive the object and all its uses
 * @bytes: size of the memory
 * @usage: enum tenon_memory_usage
 * @heap: 0; for an opaque fd of memory that was requested from a heap, one more than its number
 *
 * For an opaque fd @bytes, @usage and @heap must equal those of the request that allocated the
 * memory, except that TENON_MEMORY_EXPORT may be omitted.
 */
struct tenon_memory_import {
	size_t size;
	uint32_t type;
	int32_t fd;
	void *pointer;
	uint64_t bytes;
	uint32_t usage;
	uint32_t heap;
};

/** enum tenon_map_mode - how the host accesses mapped memory; a mask */
enum tenon_map_mode {
	TENON_MAP_READ = 1,
	TENON_MAP_WRITE = 2,
	TENON_MAP_DISCARD = 4, /* with WRITE: the range need not keep its data */
};

/**
 * tenon_memory_alloc - allocate memory on a device
 * @device: device
 * @request: size and usage
 * @out: receives the memory with one reference; uninitialised
 *
 * Context: any thread.
 * Return: 0; -TENON_E_NOMEM; -TENON_E_UNSUPPORTED; -TENON_E_VALUE; -TENON_E_LOST; -TENON_E_USAGE for a
 *	request without a size.
 */
TENON_API int tenon_memory_alloc(struct tenon_device *device,
				 const struct tenon_memory_request *request,
				 struct tenon_memory **out);

/**
 * tenon_memory_take - get memory from the pool of a queue
 * @queue: the only queue that may use the memory. Earlier operations on it may still use the same
 *	memory; the order of the queue keeps the uses apart.
 * @size: bytes; rounded up
 * @out: receives the memory; return it with tenon_memory_give()
 *
 * Nothing is allocated when the pool has memory of this size.
 *
 * Context: the thread that submits to @queue.
 * Return: as tenon_memory_alloc().
 */
TENON_API int tenon_memory_take(struct tenon_queue *queue, uint64_t size,
				struct tenon_memory **out);

/** tenon_memory_give - return memory to its pool; submitted operations may still use it */
TENON_API void tenon_memory_give(struct tenon_queue *queue, struct tenon_memory *memory);

/** tenon_memory_trim - free the idle memory in a queue's pool */
TENON_API void tenon_memory_trim(struct tenon_queue *queue);

/**
 * tenon_memory_subrange - create a memory object for a part of another
 * @memory: the whole; referenced
 * @offset: first byte, a multiple of properties.alignment
 * @size: bytes
 * @out: receives the part with one reference
 *
 * Return: 0; -TENON_E_VALUE for a range outside @memory or not aligned; -TENON_E_NOMEM.
 */
TENON_API int tenon_memory_subrange(struct tenon_memory *memory, uint64_t offset, uint64_t size,
				    struct tenon_memory **out);

/**
 * tenon_memory_map - map a range into the address space of the process
 * @memory: memory in a host-visible heap
 * @mode: enum tenon_map_mode
 * @offset: first byte
 * @size: bytes
 * @out: receives the address
 *
 * Operations that use the range must be complete. A range may be mapped several times.
 *
 * Context: any thread.
 * Return: 0; -TENON_E_UNSUPPORTED for memory that is not host-visible; -TENON_E_VALUE;
 *	-TENON_E_LOST.
 */
TENON_API int tenon_memory_map(struct tenon_memory *memory, uint32_t mode, uint64_t offset,
			       uint64_t size, void **out);

/**
 * tenon_memory_unmap - end a mapping; what the host wrote becomes visible to the device
 * @memory: memory
 * @mapped: address from tenon_memory_map()
 * @mode: as passed to tenon_memory_map()
 * @offset: as passed to tenon_memory_map()
 * @size: as passed to tenon_memory_map()
 *
 * Return: 0; -TENON_E_VALUE for a range outside the memory.
 */
TENON_API int tenon_memory_unmap(struct tenon_memory *memory, void *mapped, uint32_t mode,
				 uint64_t offset, uint64_t size);

/** tenon_memory_flush - make the host's writes to a mapped range visible to the device */
TENON_API int tenon_memory_flush(struct tenon_memory *memory, uint64_t offset, uint64_t size);

/** tenon_memory_invalidate - make the device's writes to a mapped range visible to the host */
TENON_API int tenon_memory_invalidate(struct tenon_memory *memory, uint64_t offset, uint64_t size);

/**
 * tenon_memory_import - import existing memory into a device
 * @device: device
 * @from: handle and description of the memory
 * @out: receives it with one reference
 *
 * Return: 0; -TENON_E_UNSUPPORTED when the device cannot import this handle type; -TENON_E_VALUE
 *	for a wrong alignment or size; -TENON_E_USAGE for a @from without a size.
 */
TENON_API int tenon_memory_import(struct tenon_device *device,
				  const struct tenon_memory_import *from,
				  struct tenon_memory **out);

/**
 * tenon_memory_export - export memory to another API or process
 * @memory: allocated with TENON_MEMORY_EXPORT
 * @type: enum tenon_handle_type; not a host pointer
 * @fd: receives an fd that the caller closes
 *
 * Return: 0; -TENON_E_UNSUPPORTED.
 */
TENON_API int tenon_memory_export(struct tenon_memory *memory, uint32_t type, int *fd);

/** tenon_memory_size - size of memory in bytes */
TENON_API uint64_t tenon_memory_size(const struct tenon_memory *memory);

/** tenon_memory_data - value of DLTensor.data for a tensor in this memory */
TENON_API void *tenon_memory_data(struct tenon_memory *memory);

/**
 * tenon_tensor_create_on - create a tensor on a device
 * @device: device. For kDLCPU this is tenon_tensor_create() and opens no device, unless an open
 *	device has this number.
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
 * tenon_tensor_copy - copy a tensor's data between any two devices
 * @from: compact tensor; byte_offset is respected
 * @to: compact tensor of the same size in bytes; byte_offset is respected
 *
 * The copy starts after all operations that any thread submitted to either device; cpu:0 has no
 * queues to wait for. When this function returns, host memory may be reused; a copy within one
 * device may still be pending on the thread's current queue.
 *
 * Return: 0; -TENON_E_VALUE for different sizes or for strides; errors of the devices.
 */
TENON_API int tenon_tensor_copy(const DLTensor *from, const DLTensor *to);

#ifdef __cplusplus
}
#endif

#endif /* TENON_MEMORY_H */
