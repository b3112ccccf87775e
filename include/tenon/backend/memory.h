/* SPDX-License-Identifier: MIT */
#ifndef TENON_BACKEND_MEMORY_H
#define TENON_BACKEND_MEMORY_H

/**
 * DOC: what a backend does about memory
 *
 * Programs see tenon/memory.h.
 */

#include <tenon/backend/backend.h>
#include <tenon/export.h>
#include <tenon/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

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
TENON_API void tenon_memory_init(struct tenon_memory *memory, struct tenon_device *device,
				 uint64_t size, uint32_t usage);

/** tenon_memory_root - the memory that @memory is a part of; adds to *@offset where it begins there */
static inline struct tenon_memory *tenon_memory_root(struct tenon_memory *memory, uint64_t *offset)
{
	if (!memory->parent)
		return memory;
	*offset += memory->offset;
	return memory->parent;
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
TENON_API int tenon_memory_of_data(struct tenon_device *device, void *data,
				   struct tenon_memory *room, struct tenon_memory **out);

/**
 * tenon_device_retire - give something back when all that was submitted is done; for backends
 * @device: device
 * @release: called once, by whichever thread finds out; at once when nothing is pending
 * @item: handed to @release
 *
 * Looks at all queues of the device. What is retired is looked at by later allocations, syncs and
 * retirements.
 */
TENON_API void tenon_device_retire(struct tenon_device *device, void (*release)(void *item),
				   void *item);

#ifdef __cplusplus
}
#endif

#endif /* TENON_BACKEND_MEMORY_H */
