/* SPDX-License-Identifier: MIT */
#ifndef TENON_BACKEND_COMMANDS_H
#define TENON_BACKEND_COMMANDS_H

/**
 * DOC: recordings, for backends
 *
 * Backends record in their native form (graphs, command buffers). For a backend without commands
 * ops the core keeps the list of operations and submits it. The interface for programs is
 * tenon/commands.h.
 */

#include <tenon/backend/memory.h>
#include <tenon/backend/queue.h>
#include <tenon/commands.h>
#include <tenon/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct tenon_commands - base of every recording
 * @object: header; of type "tenon.Commands"
 * @device: its device, referenced
 * @slots: number of bindings that a run needs: the largest recorded slot plus one
 * @finished: set by tenon_commands_finish()
 * @core: private to the core
 */
struct tenon_commands {
	struct tenon_object object;
	struct tenon_device *device;
	uint32_t slots;
	uint32_t finished;
	struct tenon_commands_core *core;
};

/**
 * struct tenon_commands_ops - operations of recordings
 *
 * The core checks the ranges of memory, but not those of slots, and holds references to all
 * recorded memory and executables. One thread at a time records.
 */
struct tenon_commands_ops {
	/** @size: sizeof(struct tenon_commands_ops) */
	size_t size;
	/** @create: create an empty recording; calls tenon_commands_init() */
	int (*create)(struct tenon_device *device, struct tenon_commands **out);
	/**
	 * @destroy: free the recording; calls tenon_commands_fini() last and frees the struct
	 *
	 * A run may still be pending: see tenon_memory_ops.free.
	 */
	void (*destroy)(struct tenon_commands *commands);
	/**
	 * @record: add an operation: COPY, FILL, DISPATCH, TIMESTAMP or BARRIER
	 *
	 * The operation is borrowed for the call. What a dispatch points to (arguments, slots,
	 * tensor maps) is a copy of the core's, valid until tenon_commands_fini(). Returns
	 * -TENON_E_UNSUPPORTED for an operation that the native form cannot hold; if no call failed
	 * before, the core then keeps this recording as a list.
	 */
	int (*record)(struct tenon_commands *commands, const struct tenon_operation *operation);
	/** @finish: end the recording and compile it; -TENON_E_UNSUPPORTED as for @record */
	int (*finish)(struct tenon_commands *commands);
};

/** tenon_commands_init - initialise the base of a recording; as tenon_queue_init() */
TENON_API int tenon_commands_init(struct tenon_commands *commands, struct tenon_device *device);

/** tenon_commands_fini - undo tenon_commands_init(); for backends */
TENON_API void tenon_commands_fini(struct tenon_commands *commands);

/**
 * tenon_commands_each - visit the recorded operations; for backends
 * @commands: recording
 * @bindings: memory that replaces the slots; NULL to leave the slots
 * @visit: called with each operation in order, including BARRIER; it is borrowed for the call
 * @context: passed to @visit
 *
 * For a backend that writes its native form again for each set of bindings, so that it need not
 * store the operations itself.
 *
 * Return: 0; the first non-zero result of @visit.
 */
TENON_API int
tenon_commands_each(const struct tenon_commands *commands, struct tenon_memory *const *bindings,
		    int (*visit)(void *context, const struct tenon_operation *operation),
		    void *context);

/**
 * tenon_commands_record - add an operation
 * @commands: not finished
 * @operation: COPY, FILL, DISPATCH, TIMESTAMP or BARRIER; borrowed. Its memory and executables are
 *	referenced until the recording is destroyed.
 *
 * Return: 0; -TENON_E_VALUE for a range outside its memory or a launch larger than the device's
 *	limits; -TENON_E_USAGE for another kind or after tenon_commands_finish(); -TENON_E_NOMEM.
 */
TENON_API int tenon_commands_record(struct tenon_commands *commands,
				    const struct tenon_operation *operation);

#ifdef __cplusplus
}
#endif

#endif /* TENON_BACKEND_COMMANDS_H */
