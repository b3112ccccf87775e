/* SPDX-License-Identifier: MIT */
/* include/tenon/queue.h as it was when device ABI 3 began, kept to build a plug-in that is older than the library. */
#ifndef TENON_QUEUE_H
#define TENON_QUEUE_H

/**
 * DOC: queues and timelines
 *
 * A queue runs operations in the order they were submitted: each sees what the ones before it wrote.
 * Two queues run side by side. Submitting never waits for the device.
 *
 * A *timeline* is a 64-bit value that only grows. A *point* is a timeline and a value. Every
 * operation may wait for points before it starts and signal points when it is done; a point may be
 * waited for before anything has promised to signal it. A timeline may fail instead: it then stays
 * failed, and whoever waits gets the reason. An operation that waits for a failed timeline does not
 * run, and its own signals fail with the same reason.
 *
 * For a backend all this is the core's work: it submits in order, *marks* places in its queues, and
 * says whether a mark was reached. The core turns marks into timelines.
 *
 * Every thread has a current queue per device. Where it chose none, that is a queue of its own, made
 * at first use. Work on queues of two threads is ordered by timelines, tenon_device_sync() or
 * tenon_tensor_copy() alone.
 *
 * Deadlines are absolute nanoseconds of CLOCK_MONOTONIC: 0 asks without waiting, UINT64_MAX waits
 * for ever.
 */

#include <tenon/device.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tenon_commands;
struct tenon_dispatch;
struct tenon_memory;
struct tenon_timeline;

#define TENON_FOREVER UINT64_MAX

/** struct tenon_point - a value of a timeline */
struct tenon_point {
	struct tenon_timeline *timeline;
	uint64_t value;
};

/**
 * struct tenon_sync - what an operation waits for and signals
 * @wait: reached before it starts
 * @wait_count: how many
 * @signal: reached when it is done
 * @signal_count: how many
 */
struct tenon_sync {
	const struct tenon_point *wait;
	size_t wait_count;
	const struct tenon_point *signal;
	size_t signal_count;
};

/**
 * struct tenon_range - a place in memory, or in memory that is named when a recording runs
 * @memory: the memory; NULL for a slot
 * @offset: bytes from its start
 * @slot: with @memory NULL, number of a binding
 * @reserved: 0
 */
struct tenon_range {
	struct tenon_memory *memory;
	uint64_t offset;
	uint32_t slot;
	uint32_t reserved;
};

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
};

/**
 * tenon_queue_init - make the start of a queue, with one reference; for backends
 * @queue: memory of the backend's, given back by @destroy
 * @device: device; referenced
 *
 * Return: 0; -TENON_E_NOMEM, and then the memory stays the caller's.
 */
int tenon_queue_init(struct tenon_queue *queue, struct tenon_device *device);

/**
 * tenon_queue_fini - end what tenon_queue_init() began, its reference of the device too; for
 *	backends, in destroy or a failing create
 * @queue: queue
 */
void tenon_queue_fini(struct tenon_queue *queue);

/**
 * tenon_queue_create - make a queue
 * @device: device
 * @out: receives it with one reference
 *
 * Dropping the last reference waits until the queue is empty, or for a lost device not at all.
 *
 * Return: 0; -TENON_E_NOMEM; -TENON_E_LOST; -TENON_E_DEVICE.
 */
int tenon_queue_create(struct tenon_device *device, struct tenon_queue **out);

/**
 * tenon_queue_current - the calling thread's queue of a device
 * @device: device
 * @out: receives the queue, borrowed; made at the thread's first use
 *
 * Return: 0; as tenon_queue_create().
 */
int tenon_queue_current(struct tenon_device *device, struct tenon_queue **out);

/**
 * tenon_queue_set_current - choose the calling thread's queue of a device
 * @device: device
 * @queue: a queue of it, referenced until another is chosen; NULL for the thread's own
 *
 * Return: 0; -TENON_E_VALUE for another device's; -TENON_E_NOMEM.
 */
int tenon_queue_set_current(struct tenon_device *device, struct tenon_queue *queue);

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
int tenon_queue_submit(struct tenon_queue *queue, const struct tenon_operation *operation,
		       const struct tenon_sync *sync);

/** tenon_queue_copy - submit a copy of @size bytes within a device; as tenon_queue_submit() */
int tenon_queue_copy(struct tenon_queue *queue, struct tenon_memory *to, uint64_t to_offset,
		     struct tenon_memory *from, uint64_t from_offset, uint64_t size,
		     const struct tenon_sync *sync);
/** tenon_queue_write - submit a copy of @size bytes from host memory, kept until it is done */
int tenon_queue_write(struct tenon_queue *queue, struct tenon_memory *to, uint64_t offset,
		      const void *host, uint64_t size, const struct tenon_sync *sync);
/** tenon_queue_read - submit a copy of @size bytes to host memory, kept until it is done */
int tenon_queue_read(struct tenon_queue *queue, void *host, struct tenon_memory *from,
		     uint64_t offset, uint64_t size, const struct tenon_sync *sync);
/** tenon_queue_fill - submit filling @size bytes with a pattern of @width 1, 2 or 4 bytes */
int tenon_queue_fill(struct tenon_queue *queue, struct tenon_memory *to, uint64_t offset,
		     uint64_t size, uint32_t pattern, uint32_t width,
		     const struct tenon_sync *sync);
/** tenon_queue_dispatch - submit a kernel; see tenon/executable.h */
int tenon_queue_dispatch(struct tenon_queue *queue, const struct tenon_dispatch *dispatch,
			 const struct tenon_sync *sync);
/**
 * tenon_queue_execute - submit a recording, @bindings for its slots; see tenon/commands.h
 *
 * As tenon_queue_submit(). Where a recording is kept as a list and the device refuses an operation
 * behind the first, those in front of it run: that is 0, the signals fail with the reason, and the next
 * sync of the queue tells it.
 */
int tenon_queue_execute(struct tenon_queue *queue, struct tenon_commands *commands,
			struct tenon_memory *const *bindings, size_t binding_count,
			const struct tenon_sync *sync);
/** tenon_queue_call - submit a call of a host function: short, and without submitting */
int tenon_queue_call(struct tenon_queue *queue, void (*function)(void *context), void *context,
		     const struct tenon_sync *sync);
/** tenon_queue_timestamp - submit noting the device's time in @nanoseconds, kept until it is done */
int tenon_queue_timestamp(struct tenon_queue *queue, uint64_t *nanoseconds,
			  const struct tenon_sync *sync);
/** tenon_queue_join - submit nothing but the waits and signals of @sync */
int tenon_queue_join(struct tenon_queue *queue, const struct tenon_sync *sync);

/** tenon_queue_flush - make the device begin what was submitted; never waits */
int tenon_queue_flush(struct tenon_queue *queue);

/**
 * tenon_queue_sync - wait until a queue is empty
 * @queue: queue; the thread that submits to it, or while nobody does
 * @deadline: absolute nanoseconds
 *
 * Any answer but -TENON_E_TIMEOUT says that nothing uses what the queue was given any more.
 *
 * Return: 0; -TENON_E_TIMEOUT, and failures are told by the next sync; -TENON_E_LOST; the first failure
 *	since the last sync.
 */
int tenon_queue_sync(struct tenon_queue *queue, uint64_t deadline);

/**
 * tenon_timeline_create - make a timeline
 * @value: where it starts
 * @out: receives it with one reference; an object of type "tenon.Timeline"
 *
 * It belongs to no device: any queue and the host may wait for it and signal it.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int tenon_timeline_create(uint64_t value, struct tenon_timeline **out);

/**
 * tenon_timeline_value - where a timeline is
 * @timeline: timeline
 * @value: receives the value; when it failed, the last one it had
 *
 * Context: any thread; never waits.
 * Return: 0; the failure's status with its reason.
 */
int tenon_timeline_value(struct tenon_timeline *timeline, uint64_t *value);

/**
 * tenon_timeline_signal - move a timeline on, from the host
 * @timeline: timeline
 * @value: larger than its value
 *
 * Return: 0; -TENON_E_VALUE when it is there already; the failure when it failed.
 */
int tenon_timeline_signal(struct tenon_timeline *timeline, uint64_t value);

/**
 * tenon_timeline_fail - fail a timeline; the first failure stays
 * @timeline: timeline
 * @status: negative; its message in the thread's slot becomes the reason, and stays in the slot
 */
void tenon_timeline_fail(struct tenon_timeline *timeline, int status);

/**
 * tenon_timeline_wait - wait for a value
 * @timeline: timeline
 * @value: wait until the timeline is there or further
 * @deadline: absolute nanoseconds of CLOCK_MONOTONIC; 0 asks, TENON_FOREVER waits
 *
 * Return: 0; -TENON_E_TIMEOUT; the failure, with its reason. A value that was reached before the
 *	failure is still 0.
 */
int tenon_timeline_wait(struct tenon_timeline *timeline, uint64_t value, uint64_t deadline);

/** tenon_deadline - the deadline that is @nanoseconds from now; TENON_FOREVER stays */
uint64_t tenon_deadline(uint64_t nanoseconds);

/** tenon_now - the time of CLOCK_MONOTONIC in nanoseconds, which deadlines and timestamps count in */
static inline uint64_t tenon_now(void)
{
	return tenon_deadline(0);
}

#ifdef __cplusplus
}
#endif

#endif /* TENON_QUEUE_H */
