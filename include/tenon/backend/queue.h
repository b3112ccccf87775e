/* SPDX-License-Identifier: MIT */
#ifndef TENON_BACKEND_QUEUE_H
#define TENON_BACKEND_QUEUE_H

/**
 * DOC: what a backend does about queues
 *
 * A backend submits in order, *marks* places in its queues, and says whether a mark was reached. The library
 * makes timelines of marks (tenon/timeline.h), and waits where the device cannot. Programs see tenon/queue.h.
 */

#include <tenon/backend/backend.h>
#include <tenon/commands.h>
#include <tenon/export.h>
#include <tenon/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

/** enum tenon_operation_kind - what an operation is */
enum tenon_operation_kind {
	TENON_OP_COPY = 1,	/* within a device */
	TENON_OP_WRITE = 2,	/* host memory to the device */
	TENON_OP_READ = 3,	/* the device to host memory */
	TENON_OP_FILL = 4,	/* a pattern of 1, 2 or 4 bytes, repeated */
	TENON_OP_DISPATCH = 5,	/* a kernel */
	TENON_OP_EXECUTE = 6,	/* a recording that the backend made itself */
	TENON_OP_CALL = 7,	/* a function on the host, behind all that came before */
	TENON_OP_TIMESTAMP = 8, /* the device's time when all that came before is done */
	TENON_OP_BARRIER = 9,	/* in recordings: what follows sees what came before */
};

/**
 * struct tenon_operation - one thing to do
 * @kind: enum tenon_operation_kind
 * @reserved: 0
 * @copy: ranges do not overlap
 * @write: @host stays valid and unchanged until the operation is done
 * @read: @host stays valid until the operation is done
 * @fill: @offset and @size are multiples of @width; the pattern is in the low bytes
 * @dispatch: see tenon/executable.h; copied as far as it is needed later
 * @execute: @bindings are borrowed for the call
 * @call: runs in any thread; must be short and must neither submit nor wait. It may signal timelines
 *	and drop memory, programs and recordings, not a queue or a device.
 * @timestamp: receives nanoseconds of a clock that one device's queues share; valid until done
 *
 * Slots are used in recordings only; what a queue gets has memory in every range.
 */
struct tenon_operation {
	uint32_t kind;
	uint32_t reserved;
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
 * struct tenon_queue - the start of every queue
 * @object: header; of type "tenon.Queue"
 * @device: its device, referenced
 * @native: the vendor's handle (CUstream, cl_command_queue, VkQueue), set by the backend: what
 *	TVMFFIEnvGetStream() answers while the queue is the thread's choice. NULL for CUDA's default
 *	stream; the queue itself where there is none.
 * @core: what the core keeps; not for backends
 */
struct tenon_queue {
	struct tenon_object object;
	struct tenon_device *device;
	void *native;
	struct tenon_queue_core *core;
};

/**
 * struct tenon_queue_ops - what a queue does
 *
 * @submit is called by one thread at a time per queue; the others by any thread at any time, also
 * while another is in @submit. A *serial* is a number that @mark gave; it grows.
 */
struct tenon_queue_ops {
	/** @size: sizeof(struct tenon_queue_ops) */
	size_t size;
	/** @create: make a queue; calls tenon_queue_init(), sets native */
	int (*create)(struct tenon_device *device, struct tenon_queue **out);
	/**
	 * @destroy: free the queue; all its marks were reached or the device is lost
	 *
	 * Calls tenon_queue_fini() first. Must not block on a lost device.
	 */
	void (*destroy)(struct tenon_queue *queue);
	/**
	 * @wrap: make a queue around a vendor's handle that somebody else owns (a CUstream that came
	 * through TVMFFIEnvSetStream()); may be NULL
	 */
	int (*wrap)(struct tenon_device *device, void *native, struct tenon_queue **out);
	/**
	 * @submit: put an operation at the end of the queue and return
	 *
	 * Ranges and kernel arguments were checked. Must not wait for the device, and may keep work
	 * back to hand it over in one piece; @flush, @mark's users and @wait bring it out. Everything
	 * in @operation is borrowed for the call, except host memory of WRITE, READ and TIMESTAMP.
	 * Memory and executables live until the work is done (tenon_memory_ops.free,
	 * tenon_executable_ops.destroy). An operation that cannot be done is -TENON_E_UNSUPPORTED
	 * with its name; after a loss tenon_device_lose()'s answer. TENON_OP_EXECUTE comes only with
	 * recordings of the backend's own commands ops, TENON_OP_CALL only when @calls says so.
	 */
	int (*submit)(struct tenon_queue *queue, const struct tenon_operation *operation);
	/**
	 * @mark: name the place behind all that was submitted so far
	 *
	 * The serial is larger than all before; two marks with nothing between may be the same.
	 * Should be cheap: it is called for each operation that signals. Of an operation that another
	 * thread is submitting right now it may be either side.
	 */
	int (*mark)(struct tenon_queue *queue, uint64_t *serial);
	/**
	 * @reached: is all in front of a mark done
	 *
	 * Never waits. Brings out what is kept back. Return: 1; 0; negative with the reason when an
	 * operation between the mark before it and this one failed, and then again at every question.
	 */
	int (*reached)(struct tenon_queue *queue, uint64_t serial);
	/**
	 * @wait: wait until @reached would not answer 0, or the deadline passes
	 *
	 * Return: 0; -TENON_E_TIMEOUT; the failure. Must come back by the deadline, whatever the device
	 * does.
	 */
	int (*wait)(struct tenon_queue *queue, uint64_t serial, uint64_t deadline);
	/**
	 * @order: let what is submitted to @queue from now on start after a mark of @other, a queue of
	 * the same device; NULL where the device cannot: the core waits on the host then
	 *
	 * Brings out what @other keeps back. When that mark fails, so does the next mark of @queue, with
	 * the same reason. Called by the thread that submits to @queue.
	 */
	int (*order)(struct tenon_queue *queue, struct tenon_queue *other, uint64_t serial);
	/** @flush: bring out what is kept back; NULL where nothing is */
	int (*flush)(struct tenon_queue *queue);
	/** @calls: 1 when @submit takes TENON_OP_CALL; with 0 the core waits in a thread of its own */
	uint32_t calls;
	/** @reserved: 0 */
	uint32_t reserved;
	/**
	 * @export_fence: make a descriptor that signals when a mark is reached; NULL when
	 * properties.fence_exports is 0
	 *
	 * @type is one of that mask, @serial the last mark or an earlier one. Brings out what is kept
	 * back. The caller closes *@fd. Called by any thread. -TENON_E_UNSUPPORTED when the driver makes
	 * none because the mark was reached meanwhile.
	 */
	int (*export_fence)(struct tenon_queue *queue, uint64_t serial, uint32_t type, int *fd);
	/**
	 * @import_fence: let what is submitted from now on start after a fence from elsewhere; NULL when
	 * properties.fence_imports is 0
	 *
	 * @type is one of that mask. @fd stays the caller's. Called by the thread that submits, once for
	 * each TENON_FENCE_OPAQUE_FD; the next mark lies behind the fence. Must not wait for it.
	 */
	int (*import_fence)(struct tenon_queue *queue, uint32_t type, int fd);
};

/**
 * tenon_queue_init - make the start of a queue, with one reference; for backends
 * @queue: memory of the backend's, given back by @destroy
 * @device: device; referenced
 *
 * Return: 0; -TENON_E_NOMEM, and then the memory stays the caller's.
 */
TENON_API int tenon_queue_init(struct tenon_queue *queue, struct tenon_device *device);

/**
 * tenon_queue_fini - end what tenon_queue_init() began, its reference of the device too; for
 *	backends, in destroy or a failing create
 * @queue: queue
 */
TENON_API void tenon_queue_fini(struct tenon_queue *queue);

/**
 * tenon_queue_submit - put an operation at the end of a queue
 * @queue: queue; one thread at a time
 * @operation: borrowed, but for what struct tenon_operation says
 * @sync: points to wait for and to signal; NULL for none
 *
 * When it fails nothing was submitted and nothing will be signalled by it; except that after a loss
 * the signals fail with the reason.
 *
 * Return: 0; -TENON_E_VALUE for a range that is not within its memory or memory of another device;
 *	-TENON_E_UNSUPPORTED; -TENON_E_LOST; -TENON_E_NOMEM.
 */
TENON_API int tenon_queue_submit(struct tenon_queue *queue, const struct tenon_operation *operation,
				 const struct tenon_sync *sync);

#ifdef __cplusplus
}
#endif

#endif /* TENON_BACKEND_QUEUE_H */
