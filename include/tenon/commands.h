/* SPDX-License-Identifier: MIT */
#ifndef TENON_COMMANDS_H
#define TENON_COMMANDS_H

/**
 * DOC: recordings
 *
 * A recording (command buffer) is a list of copies, fills, dispatches and barriers that is recorded
 * once and run often: tenon_queue_execute(). Operations between two barriers may run side by side,
 * so a barrier is needed wherever one uses what another wrote. Between two runs on one queue there
 * is a barrier.
 *
 * Ranges may name a *slot* instead of memory; each run binds its own memory to the slots. A pointer
 * argument of a kernel is a slot when tenon_dispatch.slots says so.
 */

#include <tenon/export.h>
#include <tenon/memory.h>
#include <tenon/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

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
 * @to: where to; its memory is referenced until the recording dies
 * @from: where from; as @to
 * @size: bytes
 *
 * All that records below answers alike.
 *
 * Return: 0; -TENON_E_VALUE for a range, or a launch of more than the device takes; -TENON_E_USAGE
 *	after finish; -TENON_E_NOMEM.
 */
TENON_API int tenon_commands_copy(struct tenon_commands *commands, struct tenon_range to,
				  struct tenon_range from, uint64_t size);
/** tenon_commands_fill - record a fill; the range may be a slot */
TENON_API int tenon_commands_fill(struct tenon_commands *commands, struct tenon_range to,
				  uint64_t size, uint32_t pattern, uint32_t width);
/** tenon_commands_dispatch - record a kernel; pointer arguments may be slots */
TENON_API int tenon_commands_dispatch(struct tenon_commands *commands,
				      const struct tenon_dispatch *dispatch);
/** tenon_commands_barrier - record that what follows sees what came before */
TENON_API int tenon_commands_barrier(struct tenon_commands *commands);

/**
 * tenon_commands_finish - end recording; from now on it can be run
 * @commands: recording
 *
 * Return: 0; -TENON_E_USAGE when it is finished; failures of the backend.
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
