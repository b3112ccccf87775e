/* SPDX-License-Identifier: MIT */
#ifndef TENON_BACKEND_COMMANDS_H
#define TENON_BACKEND_COMMANDS_H

/**
 * DOC: what a backend does about recordings
 *
 * Backends record in their native form (graphs, command buffers). One without commands ops needs
 * nothing: the library keeps the list and submits it. Programs see tenon/commands.h.
 */

#include <tenon/backend/memory.h>
#include <tenon/backend/queue.h>
#include <tenon/commands.h>
#include <tenon/export.h>

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
TENON_API int tenon_commands_init(struct tenon_commands *commands, struct tenon_device *device);

/** tenon_commands_fini - end what tenon_commands_init() began; for backends */
TENON_API void tenon_commands_fini(struct tenon_commands *commands);

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
TENON_API int
tenon_commands_each(const struct tenon_commands *commands, struct tenon_memory *const *bindings,
		    int (*visit)(void *context, const struct tenon_operation *operation),
		    void *context);

/**
 * tenon_commands_record - add an operation
 * @commands: not finished
 * @operation: COPY, FILL, DISPATCH, TIMESTAMP or BARRIER; borrowed. Memory and executables in it are
 *	referenced until the recording dies.
 *
 * Return: 0; -TENON_E_VALUE for a range, or a launch of more than the device takes; -TENON_E_USAGE for
 *	another kind, or after finish; -TENON_E_NOMEM.
 */
TENON_API int tenon_commands_record(struct tenon_commands *commands,
				    const struct tenon_operation *operation);

#ifdef __cplusplus
}
#endif

#endif /* TENON_BACKEND_COMMANDS_H */
