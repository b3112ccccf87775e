/* SPDX-License-Identifier: MIT */
/* include/tenon/memory.h as it was when device ABI 3 began, kept to build a plug-in that is older than the library. */
#ifndef TENON_MEMORY_H
#define TENON_MEMORY_H

/**
 * DOC: memory of devices
 *
 * Memory is a counted object with a size in bytes. Operations name a place in it by offset. Dropping
 * the last reference is allowed while queues still use the memory: the backend gives it back when
 * they are done. So nothing is counted per launch.
 *
 * `data` of a device tensor is tenon_memory_data(): the address where the device has addresses, else
 * the struct tenon_memory itself. Host code only hands it on.
 */

#include <tenon/device.h>
#include <tenon/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tenon_memory;

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
 * @size: sizeof(struct tenon_memory_request)
 * @bytes: at least 1
 * @usage: enum tenon_memory_usage; at least one
 * @heap: number of a heap, or -1 for the backend's choice
 * @queue: on devices with TENON_DEVICE_STREAM_ORDERED, the queue that will use it first: allocation
 *	and release are ordered on it. Else NULL.
 */
struct tenon_memory_request {
	size_t size;
	uint64_t bytes;
	uint32_t usage;
	int32_t heap;
	struct tenon_queue *queue;
};

/**
 * struct tenon_memory_import - memory that exists already
 * @size: sizeof(struct tenon_memory_import)
 * @type: enum tenon_handle_type
 * @fd: for fds; stays the caller's, a backend that keeps it duplicates it
 * @pointer: for host pointers; the memory must outlive the object and all its uses
 * @bytes: of the memory
 * @usage: enum tenon_memory_usage
 * @heap: 0; for an opaque fd of memory that was requested from a heap, one more than its number
 *
 * A driver takes back an opaque fd only as what it was made as: @bytes, @usage and @heap have to be
 * those of its request, but for TENON_MEMORY_EXPORT, which may be left out.
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

/** enum tenon_map_mode - what the host does with mapped memory; a mask */
enum tenon_map_mode {
	TENON_MAP_READ = 1,
	TENON_MAP_WRITE = 2,
	TENON_MAP_DISCARD = 4, /* with WRITE: the old content of the range is not needed */
};

/**
 * struct tenon_memory - the start of every piece of memory
 * @object: header; of type "tenon.Memory"
 * @device: its device, referenced
 * @size: bytes
 * @usage: as asked for
 * @flags: enum tenon_heap_flag of where it lies
 * @address: the device's address of it; 0 where devices have none
 * @host: address in this process while it is always mapped (set by the backend), else NULL
 * @parent: the memory it is a part of, referenced; NULL
 * @offset: where in the parent it begins
 */
struct tenon_memory {
	struct tenon_object object;
	struct tenon_device *device;
	uint64_t size;
	uint32_t usage;
	uint32_t flags;
	uint64_t address;
	void *host;
	struct tenon_memory *parent;
	uint64_t offset;
};

/**
 * struct tenon_memory_ops - what a device does about memory
 *
 * Ranges were checked against the size. May be called from any thread, by several at a time.
 */
struct tenon_memory_ops {
	/** @size: sizeof(struct tenon_memory_ops) */
	size_t size;
	/**
	 * @alloc: make memory; content undefined
	 *
	 * Makes the backend's struct, calls tenon_memory_init(), sets address, host and flags.
	 * -TENON_E_NOMEM with size and heap in the message; -TENON_E_UNSUPPORTED for a usage that no
	 * heap serves.
	 */
	int (*alloc)(struct tenon_device *device, const struct tenon_memory_request *request,
		     struct tenon_memory **out);
	/**
	 * @free: give memory back, and free the struct
	 *
	 * Work that was submitted before may still use the memory: the backend must not give it to
	 * anybody else before that is done. CUDA and OpenCL do so by themselves;
	 * tenon_device_retire() does it for those that do not. Must not block on a lost device. For
	 * parts made by @subrange too; the parent is released by the core afterwards.
	 */
	void (*free)(struct tenon_memory *memory);
	/**
	 * @map: make a range visible to the host; NULL when memory is either always mapped (@host set)
	 * or never
	 *
	 * Called only for memory without @host. READ must show what operations that are done wrote.
	 */
	int (*map)(struct tenon_memory *memory, uint32_t mode, uint64_t offset, uint64_t size,
		   void **out);
	/** @unmap: end of a mapping that @map made; NULL exactly when @map is */
	void (*unmap)(struct tenon_memory *memory, void *mapped, uint32_t mode, uint64_t offset,
		      uint64_t size);
	/** @flush: show the device what the host wrote; NULL where all mappable memory is coherent */
	int (*flush)(struct tenon_memory *memory, uint64_t offset, uint64_t size);
	/** @invalidate: show the host what the device wrote; NULL as @flush */
	int (*invalidate)(struct tenon_memory *memory, uint64_t offset, uint64_t size);
	/**
	 * @subrange: make memory that is a part of another (OpenCL: sub-buffers); may be NULL
	 *
	 * Without it the core makes a plain struct tenon_memory with @parent and @offset (and @address
	 * and @host moved on), and operations must look at both: tenon_memory_root(). Calls
	 * tenon_memory_init(); the core sets parent and offset. @parent is never itself a part.
	 */
	int (*subrange)(struct tenon_memory *parent, uint64_t offset, uint64_t size,
			struct tenon_memory **out);
	/** @import_handle: use memory that exists; NULL when properties.imports is 0 */
	int (*import_handle)(struct tenon_device *device, const struct tenon_memory_import *from,
			     struct tenon_memory **out);
	/** @export_handle: give an fd that the caller closes; NULL when properties.exports is 0 */
	int (*export_handle)(struct tenon_memory *memory, uint32_t type, int *fd);
};

/**
 * tenon_memory_init - make the start of a piece of memory, with one reference; for backends
 * @memory: memory of the backend's, given back by @free
 * @device: device; referenced
 * @size: bytes
 * @usage: enum tenon_memory_usage
 */
void tenon_memory_init(struct tenon_memory *memory, struct tenon_device *device, uint64_t size,
		       uint32_t usage);

/** tenon_memory_root - the memory that @memory is a part of; adds to *@offset where it begins there */
static inline struct tenon_memory *tenon_memory_root(struct tenon_memory *memory, uint64_t *offset)
{
	if (!memory->parent)
		return memory;
	*offset += memory->offset;
	return memory->parent;
}

/**
 * tenon_memory_alloc - make memory on a device
 * @device: device
 * @request: what is wanted
 * @out: receives the memory with one reference; content undefined
 *
 * Context: any thread.
 * Return: 0; -TENON_E_NOMEM; -TENON_E_UNSUPPORTED; -TENON_E_VALUE; -TENON_E_LOST.
 */
int tenon_memory_alloc(struct tenon_device *device, const struct tenon_memory_request *request,
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
int tenon_memory_take(struct tenon_queue *queue, uint64_t size, struct tenon_memory **out);

/** tenon_memory_give - put memory back to the pool it was taken from; work in flight may use it */
void tenon_memory_give(struct tenon_queue *queue, struct tenon_memory *memory);

/** tenon_memory_trim - give what lies idle in a queue's pool back to the device */
void tenon_memory_trim(struct tenon_queue *queue);

/**
 * tenon_memory_subrange - make memory that is a part of another
 * @memory: the whole; referenced
 * @offset: first byte, a multiple of properties.alignment
 * @size: bytes
 * @out: receives the part with one reference
 *
 * Return: 0; -TENON_E_VALUE for a range that is not within, or not aligned; -TENON_E_NOMEM.
 */
int tenon_memory_subrange(struct tenon_memory *memory, uint64_t offset, uint64_t size,
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
int tenon_memory_map(struct tenon_memory *memory, uint32_t mode, uint64_t offset, uint64_t size,
		     void **out);

/**
 * tenon_memory_unmap - end a mapping, with the words that made it; writes become visible
 *
 * Return: 0; -TENON_E_VALUE for a range that no mapping can have.
 */
int tenon_memory_unmap(struct tenon_memory *memory, void *mapped, uint32_t mode, uint64_t offset,
		       uint64_t size);

/** tenon_memory_flush - show the device what the host wrote to a mapped range */
int tenon_memory_flush(struct tenon_memory *memory, uint64_t offset, uint64_t size);

/** tenon_memory_invalidate - show the host what the device wrote to a mapped range */
int tenon_memory_invalidate(struct tenon_memory *memory, uint64_t offset, uint64_t size);

/**
 * tenon_memory_import - use memory that exists
 * @device: device
 * @from: the memory
 * @out: receives it with one reference
 *
 * Return: 0; -TENON_E_UNSUPPORTED where the device cannot; -TENON_E_VALUE for alignment or size.
 */
int tenon_memory_import(struct tenon_device *device, const struct tenon_memory_import *from,
			struct tenon_memory **out);

/**
 * tenon_memory_export - give memory to another API or process
 * @memory: made with TENON_MEMORY_EXPORT
 * @type: enum tenon_handle_type; not a host pointer
 * @fd: receives an fd that the caller closes
 *
 * Return: 0; -TENON_E_UNSUPPORTED.
 */
int tenon_memory_export(struct tenon_memory *memory, uint32_t type, int *fd);

/** tenon_memory_data - what a tensor in this memory has as its data */
static inline void *tenon_memory_data(struct tenon_memory *memory)
{
	if (memory->device->properties->flags & TENON_DEVICE_ADDRESSES)
		return (void *)(uintptr_t)memory->address;
	return memory;
}

/**
 * tenon_memory_of_data - the memory behind a tensor's data
 * @device: device
 * @data: tensor data: memory of Tenon's, or where devices have addresses any address of the device
 * @room: used for an address: a memory that is only good for one operation on a queue, not counted,
 *	and whose size is not known (UINT64_MAX)
 * @out: receives the memory, borrowed
 *
 * Return: 0; -TENON_E_VALUE for NULL or memory of another device.
 */
int tenon_memory_of_data(struct tenon_device *device, void *data, struct tenon_memory *room,
			 struct tenon_memory **out);

/**
 * tenon_device_retire - give something back when all that was submitted is done; for backends
 * @device: device
 * @release: called once, by whichever thread finds out; at once when nothing is pending
 * @item: handed to @release
 *
 * Looks at all queues of the device. What is retired is looked at by later allocations, syncs and
 * retirements.
 */
void tenon_device_retire(struct tenon_device *device, void (*release)(void *item), void *item);

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
int tenon_tensor_create_on(DLDevice device, const int64_t *shape, int32_t ndim, DLDataType dtype,
			   struct tenon_tensor **out);

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
int tenon_tensor_copy(const DLTensor *from, const DLTensor *to);

#ifdef __cplusplus
}
#endif

#endif /* TENON_MEMORY_H */
