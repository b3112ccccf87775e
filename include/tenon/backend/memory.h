/* SPDX-License-Identifier: MIT */
#ifndef TENON_BACKEND_MEMORY_H
#define TENON_BACKEND_MEMORY_H

/**
 * DOC: memory, for backends
 *
 * The interface for programs is tenon/memory.h.
 */

#include <tenon/backend/backend.h>
#include <tenon/export.h>
#include <tenon/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct tenon_memory - base of every memory object
 * @object: header; of type "tenon.Memory"
 * @device: its device, referenced
 * @size: bytes
 * @usage: enum tenon_memory_usage of the request
 * @flags: enum tenon_heap_flag of its heap
 * @address: its device address; 0 without TENON_DEVICE_ADDRESSES
 * @host: address in this process if it is permanently mapped (set by the backend), else NULL
 * @parent: the memory it is a part of, referenced; or NULL
 * @offset: offset in @parent
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
 * struct tenon_memory_ops - operations of memory
 *
 * The core has checked ranges against the size. Any thread may call the slots, several at a time.
 */
struct tenon_memory_ops {
	/** @size: sizeof(struct tenon_memory_ops) */
	size_t size;
	/**
	 * @alloc: allocate memory; it need not be initialised
	 *
	 * Allocates the backend's struct, calls tenon_memory_init(), sets address, host and flags.
	 * Returns -TENON_E_NOMEM with size and heap in the message, or -TENON_E_UNSUPPORTED for a
	 * usage that no heap supports.
	 */
	int (*alloc)(struct tenon_device *device, const struct tenon_memory_request *request,
		     struct tenon_memory **out);
	/**
	 * @free: free the memory and the struct
	 *
	 * Submitted operations may still use the memory: the backend must not reuse it before they
	 * are done. CUDA and OpenCL ensure this; other backends use tenon_device_retire(). Must not
	 * block on a lost device. Also frees parts from @subrange; the core then releases the
	 * parent.
	 */
	void (*free)(struct tenon_memory *memory);
	/**
	 * @map: map a range; NULL when memory is either permanently mapped (@host is set) or never
	 *
	 * Called only for memory without @host. With READ the mapping must show the writes of
	 * completed operations.
	 */
	int (*map)(struct tenon_memory *memory, uint32_t mode, uint64_t offset, uint64_t size,
		   void **out);
	/** @unmap: end a mapping from @map; NULL if and only if @map is */
	void (*unmap)(struct tenon_memory *memory, void *mapped, uint32_t mode, uint64_t offset,
		      uint64_t size);
	/** @flush: make host writes visible to the device; NULL if mappable memory is coherent */
	int (*flush)(struct tenon_memory *memory, uint64_t offset, uint64_t size);
	/** @invalidate: make device writes visible to the host; NULL as @flush */
	int (*invalidate)(struct tenon_memory *memory, uint64_t offset, uint64_t size);
	/**
	 * @subrange: create memory that is a part of another (OpenCL: sub-buffers); may be NULL
	 *
	 * Calls tenon_memory_init(); the core sets parent and offset. @parent is never a part
	 * itself. If this slot is NULL, the core creates a bare struct tenon_memory with parent and
	 * offset, and address and host adjusted; operations then find the whole memory with
	 * tenon_memory_root().
	 */
	int (*subrange)(struct tenon_memory *parent, uint64_t offset, uint64_t size,
			struct tenon_memory **out);
	/** @import_handle: import existing memory; NULL when properties.imports is 0 */
	int (*import_handle)(struct tenon_device *device, const struct tenon_memory_import *from,
			     struct tenon_memory **out);
	/**
	 * @export_handle: create an fd that the caller closes; NULL when properties.exports is 0
	 */
	int (*export_handle)(struct tenon_memory *memory, uint32_t type, int *fd);
};

/**
 * tenon_memory_init - initialise the base of a memory object with one reference; for backends
 * @memory: allocated by the backend and freed by tenon_memory_ops.free
 * @device: device; referenced
 * @size: bytes
 * @usage: enum tenon_memory_usage
 */
TENON_API void tenon_memory_init(struct tenon_memory *memory, struct tenon_device *device,
				 uint64_t size, uint32_t usage);

/** tenon_memory_root - the whole memory of a part; adds the part's offset to *@offset */
static inline struct tenon_memory *tenon_memory_root(struct tenon_memory *memory, uint64_t *offset)
{
	if (!memory->parent)
		return memory;
	*offset += memory->offset;
	return memory->parent;
}

/**
 * tenon_memory_of_data - get the memory object of a tensor's data
 * @device: device
 * @data: tensor data: a struct tenon_memory, or with TENON_DEVICE_ADDRESSES any device address
 * @room: filled in for an address: a temporary object for one operation on a queue. It is not
 *	counted, and its size is UINT64_MAX.
 * @out: receives the memory, borrowed
 *
 * Return: 0; -TENON_E_VALUE for NULL or memory of another device.
 */
TENON_API int tenon_memory_of_data(struct tenon_device *device, void *data,
				   struct tenon_memory *room, struct tenon_memory **out);

/**
 * tenon_device_retire - release a resource when all submitted operations are done; for backends
 * @device: device
 * @release: called once, in any thread; at once when no queue of the device has pending operations
 * @item: passed to @release
 *
 * Later allocations, syncs and retirements check whether the operations are done.
 *
 * Context: any thread.
 */
TENON_API void tenon_device_retire(struct tenon_device *device, void (*release)(void *item),
				   void *item);

#ifdef __cplusplus
}
#endif

#endif /* TENON_BACKEND_MEMORY_H */
