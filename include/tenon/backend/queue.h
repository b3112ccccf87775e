/* SPDX-License-Identifier: MIT */
#ifndef TENON_BACKEND_QUEUE_H
#define TENON_BACKEND_QUEUE_H

/**
 * DOC: queues, for backends
 *
 * A backend submits operations in order, sets *marks* in its queues, and reports whether a mark was
 * reached. The core implements timelines (tenon/timeline.h) on top of marks, and waits on the host
 * when the device cannot. The interface for programs is tenon/queue.h.
 */

#include <tenon/backend/backend.h>
#include <tenon/commands.h>
#include <tenon/export.h>
#include <tenon/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

/** enum tenon_operation_kind - kinds of operations */
enum tenon_operation_kind {
	TENON_OP_COPY = 1,	/* within a device */
	TENON_OP_WRITE = 2,	/* host memory to the device */
	TENON_OP_READ = 3,	/* the device to host memory */
	TENON_OP_FILL = 4,	/* a pattern of 1, 2 or 4 bytes, repeated */
	TENON_OP_DISPATCH = 5,	/* a kernel */
	TENON_OP_EXECUTE = 6,	/* a recording of the backend's commands ops */
	TENON_OP_CALL = 7,	/* a host function, after all earlier operations */
	TENON_OP_TIMESTAMP = 8, /* the device's time after all earlier operations */
	TENON_OP_BARRIER = 9,	/* in recordings: later operations see earlier writes */
};

/**
 * struct tenon_operation - an operation for a queue or recording
 * @kind: enum tenon_operation_kind
 * @priority: 0, or as in struct tenon_job; a backend whose device takes operations of several
 *	queues one after the other starts those with the largest number first
 * @copy: ranges do not overlap
 * @write: @host must stay valid and unchanged until the operation is done
 * @read: @host must stay valid until the operation is done
 * @fill: @offset and @size are multiples of @width; the pattern is in the low bytes
 * @dispatch: see tenon/executable.h; borrowed for the call
 * @execute: @bindings are borrowed for the call
 * @call: runs in any thread; must be short and must neither submit nor wait. It may signal
 *	timelines and release memory, programs and recordings, but not a queue or a device.
 * @timestamp: receives nanoseconds of a clock that all queues of a device share; must stay valid
 *	until the operation is done
 *
 * Slots are used only in recordings; every range of an operation for a queue has memory.
 */
struct tenon_operation {
	uint32_t kind;
	int32_t priority;
	union {
		struct {
			struct tenon_range to;
			struct tenon_range from;
			uint64_t size;
		} copy;
		struct {
			struct tenon_range to;
			const void *host;
			uint64_t size;
		} write;
		struct {
			void *host;
			struct tenon_range from;
			uint64_t size;
		} read;
		struct {
			struct tenon_range to;
			uint64_t size;
			uint32_t pattern;
			uint32_t width;
		} fill;
		const struct tenon_dispatch *dispatch;
		struct {
			struct tenon_commands *commands;
			struct tenon_memory *const *bindings;
			size_t binding_count;
		} execute;
		struct {
			void (*function)(void *context);
			void *context;
		} call;
		uint64_t *timestamp;
	} as;
};

/**
 * struct tenon_queue - base of every queue
 * @object: header; of type "tenon.Queue"
 * @device: its device, referenced
 * @native: the vendor's handle (CUstream, cl_command_queue, VkQueue), set by the backend.
 *	TVMFFIEnvGetStream() returns it for the thread's current queue. NULL for CUDA's default
 *	stream; the queue itself if the API has no handle.
 * @core: private to the core
 */
struct tenon_queue {
	struct tenon_object object;
	struct tenon_device *device;
	void *native;
	struct tenon_queue_core *core;
};

/**
 * struct tenon_queue_ops - operations of a queue
 *
 * One thread at a time per queue calls @submit. Any thread may call the other slots at any time,
 * also during @submit. A *serial* is a number returned by @mark or @mark_own; serials grow.
 */
struct tenon_queue_ops {
	/** @size: sizeof(struct tenon_queue_ops) */
	size_t size;
	/** @create: create a queue; calls tenon_queue_init(), sets native */
	int (*create)(struct tenon_device *device, struct tenon_queue **out);
	/**
	 * @destroy: free the queue; all its marks are reached or the device is lost
	 *
	 * Calls tenon_queue_fini() first. Must not block on a lost device.
	 */
	void (*destroy)(struct tenon_queue *queue);
	/**
	 * @wrap: create a queue for a vendor's handle that the program owns (a CUstream from
	 * TVMFFIEnvSetStream()); may be NULL
	 */
	int (*wrap)(struct tenon_device *device, void *native, struct tenon_queue **out);
	/**
	 * @submit: append an operation to the queue and return
	 *
	 * The core has checked ranges and kernel arguments. Must not wait for the device. The
	 * backend may batch operations; @flush, @reached, @wait, @order and @export_fence submit
	 * the batch. Everything in @operation is borrowed for the call, except the host memory of
	 * WRITE, READ and TIMESTAMP. Memory and executables stay usable until the operation is done
	 * (tenon_memory_ops.free, tenon_executable_ops.destroy). Returns -TENON_E_UNSUPPORTED with
	 * the name of an operation that the device cannot do; after a loss the result of
	 * tenon_device_lose(). TENON_OP_EXECUTE is used only for recordings of the backend's
	 * commands ops, TENON_OP_CALL only when @calls is 1.
	 */
	int (*submit)(struct tenon_queue *queue, const struct tenon_operation *operation);
	/**
	 * @mark: set a mark after all operations submitted so far
	 *
	 * Serials grow; two marks without an operation between them may be equal. Should be cheap:
	 * it is called for each operation that signals. An operation that another thread submits
	 * concurrently may be before or after the mark. After a failure the operations may still
	 * run: the core keeps what they use until a later mark succeeds, and marks the device as
	 * lost when the queue is destroyed.
	 *
	 * On a shared queue (@share) this may submit to the native handle. The core calls it then
	 * for operations that signal and for tenon_queue_sync(), in the threads that use the queue,
	 * and for tenon_device_sync().
	 */
	int (*mark)(struct tenon_queue *queue, uint64_t *serial);
	/**
	 * @reached: test whether all operations before a mark are done
	 *
	 * Never waits. Submits batched operations. Return: 1; 0; negative with the reason when an
	 * operation between the previous mark and this one failed, and the same at every later
	 * call.
	 */
	int (*reached)(struct tenon_queue *queue, uint64_t serial);
	/**
	 * @wait: wait until @reached would not return 0, or the deadline passes
	 *
	 * Return: 0; -TENON_E_TIMEOUT; the failure. Must return by the deadline even if the device
	 * hangs.
	 */
	int (*wait)(struct tenon_queue *queue, uint64_t serial, uint64_t deadline);
	/**
	 * @order: make later operations on @queue wait for a mark of @other, a queue of the same
	 * device; if NULL the core waits on the host
	 *
	 * Submits batched operations of @other. If that mark fails, the next mark of @queue fails
	 * with the same reason. Called by the thread that submits to @queue.
	 */
	int (*order)(struct tenon_queue *queue, struct tenon_queue *other, uint64_t serial);
	/** @flush: submit batched operations; NULL if the backend does not batch */
	int (*flush)(struct tenon_queue *queue);
	/** @calls: 1 if @submit accepts TENON_OP_CALL; if 0 the core waits in a thread and calls */
	uint32_t calls;
	/** @reserved: 0 */
	uint32_t reserved;
	/**
	 * @export_fence: create a descriptor that signals when a mark is reached; NULL when
	 * properties.fence_exports is 0
	 *
	 * @type is in that mask; @serial is the last mark or an earlier one. Submits batched
	 * operations. The caller closes *@fd. Any thread may call this. Returns
	 * -TENON_E_UNSUPPORTED when the driver creates no descriptor because the mark was reached.
	 */
	int (*export_fence)(struct tenon_queue *queue, uint64_t serial, uint32_t type, int *fd);
	/**
	 * @import_fence: make later operations wait for an imported fence; NULL when
	 * properties.fence_imports is 0
	 *
	 * @type is in that mask. The caller still owns @fd. Called by the thread that submits, once
	 * per TENON_FENCE_OPAQUE_FD. The next mark is after the fence. Must not wait for the fence.
	 */
	int (*import_fence)(struct tenon_queue *queue, uint32_t type, int fd);
	/**
	 * @share: from now on other code may submit to the native handle, which it was given; may
	 * be NULL
	 *
	 * Called by each TVMFFIEnvGetStream(), and each TVMFFIEnvSetStream() that returns the old
	 * stream: once or more, by any thread. A queue stays shared until it is destroyed, because
	 * nothing tells when that code is done with the handle. Later marks (@mark) are behind what
	 * it has submitted, too, also where @submit was not called since the last one. A backend
	 * that batches submits what it holds, and then each operation at once, so that the order is
	 * that of the calls.
	 *
	 * Where the API asks for one thread at a time per handle (VkQueue), that code may submit
	 * while no other thread uses a queue with this handle. Nothing else that other threads do
	 * with the device may submit to it: see @mark_own.
	 */
	void (*share)(struct tenon_queue *queue);
	/**
	 * @mark_own: as @mark, behind the operations given to @submit alone; NULL: @mark does
	 *
	 * For a backend whose @mark submits to a handle that takes one thread at a time. Submits
	 * nothing, and no serial that @mark returned is larger. The core calls this for what any
	 * thread does with the device: releasing memory (tenon_device_retire()), copying tensors,
	 * destroying the queue.
	 */
	int (*mark_own)(struct tenon_queue *queue, uint64_t *serial);
};

/**
 * tenon_queue_init - initialise the base of a queue with one reference; for backends
 * @queue: allocated by the backend and freed by tenon_queue_ops.destroy
 * @device: device; referenced
 *
 * Return: 0; -TENON_E_NOMEM, in which case the caller frees @queue.
 */
TENON_API int tenon_queue_init(struct tenon_queue *queue, struct tenon_device *device);

/**
 * tenon_queue_fini - undo tenon_queue_init() and release the device; for backends, in destroy or
 *	when create fails
 * @queue: queue
 */
TENON_API void tenon_queue_fini(struct tenon_queue *queue);

/**
 * tenon_queue_submit - append an operation to a queue
 * @queue: queue; one thread at a time
 * @operation: borrowed for the call, except as noted at struct tenon_operation
 * @sync: points to wait for and to signal; NULL for none
 *
 * Return: as tenon_queue_copy().
 */
TENON_API int tenon_queue_submit(struct tenon_queue *queue, const struct tenon_operation *operation,
				 const struct tenon_sync *sync);

#ifdef __cplusplus
}
#endif

#endif /* TENON_BACKEND_QUEUE_H */
