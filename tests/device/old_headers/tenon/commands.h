/* SPDX-License-Identifier: MIT */
/* include/tenon/commands.h as it was when device ABI 3 began, kept to build a plug-in that is older than the library. */
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
 *
 * Backends record in their native form (graphs, command buffers). One without commands ops needs
 * nothing: the core keeps the list and submits it.
 */

#include <tenon/memory.h>
#include <tenon/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct tenon_commands - the start of every recording
 * @object: header; of type "tenon.Commands"
 * @device: its device, referenced
 * @slots: how many bindings a run needs: one more than the largest slot recorded
 * @finished: recording has ended
 * @core: what the core keeps; not for backends
 */
struct tenon_commands {
	struct tenon_object object;
	struct tenon_device *device;
	uint32_t slots;
	uint32_t finished;
	struct tenon_commands_core *core;
};

/**
 * struct tenon_commands_ops - how a device records
 *
 * The core checks ranges (of memory, not of slots) and keeps references of all memory and
 * executables that were recorded. Recording is done by one thread at a time.
 */
struct tenon_commands_ops {
	/** @size: sizeof(struct tenon_commands_ops) */
	size_t size;
	/** @create: make an empty recording; calls tenon_commands_init() */
	int (*create)(struct tenon_device *device, struct tenon_commands **out);
	/**
	 * @destroy: free the recording; calls tenon_commands_fini() last, and frees the struct
	 *
	 * A run may still be on its way: as tenon_memory_ops.free.
	 */
	void (*destroy)(struct tenon_commands *commands);
	/**
	 * @record: add an operation: COPY, FILL, DISPATCH, TIMESTAMP or BARRIER
	 *
	 * The operation is borrowed for the call. What a dispatch points to (arguments, slots, tensor
	 * maps) is the core's own copy, and stays until tenon_commands_fini(). -TENON_E_UNSUPPORTED for
	 * what the native form cannot hold makes the core fall back to a kept list for this recording,
	 * so long as it is the first answer that is not 0.
	 */
	int (*record)(struct tenon_commands *commands, const struct tenon_operation *operation);
	/** @finish: recording has ended; compile it if need be; -TENON_E_UNSUPPORTED as for @record */
	int (*finish)(struct tenon_commands *commands);
};

/** tenon_commands_init - make the start of a recording; for backends. As tenon_queue_init(). */
int tenon_commands_init(struct tenon_commands *commands, struct tenon_device *device);

/** tenon_commands_fini - end what tenon_commands_init() began; for backends */
void tenon_commands_fini(struct tenon_commands *commands);

/**
 * tenon_commands_each - go through what was recorded; for backends
 * @commands: recording
 * @bindings: memory of the slots, put in their place; NULL where there are none
 * @visit: gets each operation in order, BARRIER too; it is borrowed for the call
 * @context: for @visit
 *
 * A backend whose native form is written once for each set of bindings needs to keep nothing.
 *
 * Return: 0; the first answer of @visit that is not.
 */
int tenon_commands_each(const struct tenon_commands *commands, struct tenon_memory *const *bindings,
			int (*visit)(void *context, const struct tenon_operation *operation),
			void *context);

/**
 * tenon_commands_create - begin a recording
 * @device: device
 * @out: receives it with one reference
 *
 * Return: 0; -TENON_E_NOMEM; -TENON_E_LOST.
 */
int tenon_commands_create(struct tenon_device *device, struct tenon_commands **out);

/**
 * tenon_commands_record - add an operation
 * @commands: not finished
 * @operation: COPY, FILL, DISPATCH, TIMESTAMP or BARRIER; borrowed. Memory and executables in it are
 *	referenced until the recording dies.
 *
 * Return: 0; -TENON_E_VALUE for a range, or a launch of more than the device takes; -TENON_E_USAGE for
 *	another kind, or after finish; -TENON_E_NOMEM.
 */
int tenon_commands_record(struct tenon_commands *commands, const struct tenon_operation *operation);

/** tenon_commands_copy - record a copy; ranges may be slots */
int tenon_commands_copy(struct tenon_commands *commands, struct tenon_range to,
			struct tenon_range from, uint64_t size);
/** tenon_commands_fill - record a fill; the range may be a slot */
int tenon_commands_fill(struct tenon_commands *commands, struct tenon_range to, uint64_t size,
			uint32_t pattern, uint32_t width);
/** tenon_commands_dispatch - record a kernel; pointer arguments may be slots */
int tenon_commands_dispatch(struct tenon_commands *commands, const struct tenon_dispatch *dispatch);
/** tenon_commands_barrier - record that what follows sees what came before */
int tenon_commands_barrier(struct tenon_commands *commands);

/**
 * tenon_commands_finish - end recording; from now on it can be run
 * @commands: recording
 *
 * Return: 0; -TENON_E_USAGE when it is finished; failures of the backend.
 */
int tenon_commands_finish(struct tenon_commands *commands);

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
