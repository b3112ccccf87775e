/* SPDX-License-Identifier: MIT */
/* Record calls of functions, with memory that stands for the slots of a recording. */
#ifndef RUNTIME_DEVICE_DEVICE_CAPTURE_H
#define RUNTIME_DEVICE_DEVICE_CAPTURE_H

#include "runtime/device/device_commands.h"

/* an operation with slots in place of the memory that stands for them */
struct slotted {
	struct tenon_operation operation;
	struct tenon_dispatch dispatch;
	int32_t slots[TENON_KERNEL_ARGUMENTS_MOST];
};

/**
 * struct capture - what a recording does that has stand-ins or calls; a recording without them has none
 * @name_slots: name slots in an operation that was checked. @out may not be moved, and points to what @operation points
 *	to. Return: 0; -TENON_E_UNSUPPORTED
 * @operation: record an operation of the call that is being recorded. Return: as tenon_queue_submit()
 * @check_bindings: check that bindings are as large as what stood for their slots. Return: 0; -TENON_E_VALUE
 * @fini: release stand-ins and the queue of calls
 *
 * By a table, so that a program that links the library and records no calls has none of this.
 */
struct capture {
	int (*name_slots)(const struct tenon_commands *commands,
			  const struct tenon_operation *operation, struct slotted *out);
	int (*operation)(struct tenon_commands *commands, const struct tenon_operation *operation,
			 const struct tenon_sync *sync);
	int (*check_bindings)(const struct tenon_commands *commands,
			      struct tenon_memory *const *bindings);
	void (*fini)(struct tenon_commands *commands);
};

#endif /* RUNTIME_DEVICE_DEVICE_CAPTURE_H */
