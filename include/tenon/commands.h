/* SPDX-License-Identifier: MIT */
#ifndef TENON_COMMANDS_H
#define TENON_COMMANDS_H

/**
 * DOC: recordings
 *
 * A recording (command buffer) is a list of copies, fills, dispatches and barriers. It is recorded
 * once and run many times with tenon_queue_execute(). Operations between two barriers may run
 * concurrently, so put a barrier between a write and its reader. Two runs on one queue are
 * separated by an implicit barrier.
 *
 * A range may name a *slot* instead of memory; each run binds memory to the slots. Pointer
 * arguments of kernels become slots through tenon_dispatch.slots, or by memory that stands for one.
 */

#include <tenon/export.h>
#include <tenon/function.h>
#include <tenon/memory.h>
#include <tenon/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct tenon_range - a place in memory, or in memory that is bound when a recording runs
 * @memory: the memory; NULL for a slot
 * @offset: bytes from its start
 * @slot: number of the binding when @memory is NULL
 * @reserved: 0
 */
struct tenon_range {
	struct tenon_memory *memory;
	uint64_t offset;
	uint32_t slot;
	uint32_t reserved;
};

/**
 * tenon_commands_create - begin a recording
 * @device: device
 * @out: receives it with one reference
 *
 * Return: 0; -TENON_E_NOMEM; -TENON_E_LOST.
 */
TENON_API int tenon_commands_create(struct tenon_device *device, struct tenon_commands **out);

/**
 * tenon_commands_copy - record a copy of @size bytes; ranges may be slots
 * @commands: not finished
 * @to: destination; its memory is referenced until the recording is destroyed
 * @from: source; referenced like @to
 * @size: bytes
 *
 * The other tenon_commands_*() functions that record return the same errors.
 *
 * Return: 0; -TENON_E_VALUE for a range outside its memory or a launch larger than the device's
 *	limits; -TENON_E_USAGE after tenon_commands_finish(); -TENON_E_NOMEM.
 */
TENON_API int tenon_commands_copy(struct tenon_commands *commands, struct tenon_range to,
				  struct tenon_range from, uint64_t size);
/** tenon_commands_fill - record a fill; the range may be a slot */
TENON_API int tenon_commands_fill(struct tenon_commands *commands, struct tenon_range to,
				  uint64_t size, uint32_t pattern, uint32_t width);
/** tenon_commands_dispatch - record a kernel; pointer arguments may be slots */
TENON_API int tenon_commands_dispatch(struct tenon_commands *commands,
				      const struct tenon_dispatch *dispatch);
/** tenon_commands_barrier - record a barrier: later operations see what earlier ones wrote */
TENON_API int tenon_commands_barrier(struct tenon_commands *commands);

/**
 * tenon_commands_follow - record what is submitted to a queue, too
 * @commands: not finished
 * @queue: queue of the same device that nothing else follows; referenced until then
 *
 * Until tenon_commands_finish() each copy, fill and dispatch that is submitted to @queue runs as
 * usual and is recorded with a barrier behind it, so that the recording does once more what the
 * queue did. Host memory and functions of the host cannot be recorded.
 *
 * Context: the thread that submits to @queue.
 * Return: 0; -TENON_E_USAGE when @commands is finished or follows a queue, or @queue is followed;
 *	-TENON_E_VALUE for a queue of another device.
 */
TENON_API int tenon_commands_follow(struct tenon_commands *commands, struct tenon_queue *queue);

/**
 * tenon_commands_stand_in - let memory stand for a slot
 * @commands: not finished
 * @slot: number of the slot; each has one stand-in at most
 * @memory: memory of the device, referenced; that of two slots does not overlap
 * @size: bytes from its start that stand for the slot; a run must bind at least as many
 *
 * What is recorded from now on and names this memory gets the slot instead, so that functions that
 * know nothing of slots can be recorded with them: by tenon_commands_call() or
 * tenon_commands_follow(). A pointer argument of a kernel must point to the start.
 *
 * Return: 0; -TENON_E_VALUE; -TENON_E_USAGE after tenon_commands_finish(); -TENON_E_NOMEM.
 */
TENON_API int tenon_commands_stand_in(struct tenon_commands *commands, uint32_t slot,
				      struct tenon_memory *memory, uint64_t size);

/**
 * tenon_commands_call - record what a function submits
 * @commands: not finished, and follows no queue
 * @function: such as a kernel, or compiled code that calls kernels
 * @args: arguments; their memory must live as long as the recording, where no slot replaces it
 * @count: number of arguments
 *
 * The function is called in this thread. Each copy, fill and dispatch that it submits to the
 * thread's current queue of the recording's device is recorded with a barrier behind it, and does
 * not run. Workspace that it takes there belongs to the recording. Its result is dropped.
 *
 * A function that reads what a device computed, or waits for it, cannot be recorded, nor can one
 * that submits nothing: code of the processor, or of another machine. After a failure behind its
 * first operation tenon_commands_finish() fails.
 *
 * Context: one thread at a time per recording.
 * Return: 0; -TENON_E_UNSUPPORTED; -TENON_E_USAGE when @commands is finished, follows a queue, or
 *	records a call; any error of the function or of tenon_queue_create().
 */
TENON_API int tenon_commands_call(struct tenon_commands *commands, struct tenon_function *function,
				  const struct tenon_value *args, int32_t count);

/**
 * tenon_commands_finish - end recording, so that the recording can be run
 * @commands: recording
 *
 * Return: 0; -TENON_E_USAGE when it was finished before; -TENON_E_UNSUPPORTED when a queue that it
 *	followed was given a read, write, timestamp, call, recording, or an operation with waits or
 *	signals; -TENON_E_USAGE, too, when a call failed half-way; any error of the backend.
 */
TENON_API int tenon_commands_finish(struct tenon_commands *commands);

/** tenon_range - a range that begins @offset bytes into @memory */
static inline struct tenon_range tenon_range(struct tenon_memory *memory, uint64_t offset)
{
	struct tenon_range r = { memory, offset, 0, 0 };

	return r;
}

/** tenon_slot - a range that begins @offset bytes into the memory bound to @slot */
static inline struct tenon_range tenon_slot(uint32_t slot, uint64_t offset)
{
	struct tenon_range r = { NULL, offset, slot, 0 };

	return r;
}

#ifdef __cplusplus
}
#endif

#endif /* TENON_COMMANDS_H */
