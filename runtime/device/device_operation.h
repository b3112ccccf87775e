/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_DEVICE_DEVICE_OPERATION_H
#define RUNTIME_DEVICE_DEVICE_OPERATION_H

#include "runtime/device/device_core.h"

/* the operation's name, for messages */
const char *operation_name(uint32_t kind);

/* Are its ranges within memory of the device. Return: 0; -TENON_E_VALUE; -TENON_E_UNSUPPORTED. */
int operation_check(struct tenon_device *device, const struct tenon_operation *operation);

/**
 * struct kept_operation - an operation that is done later, with all that it points to
 * @operation: ranges and pointers are those of this struct
 * @dispatch: what operation.as.dispatch points to
 *
 * Host memory of reads, writes and timestamps stays the submitter's.
 */
struct kept_operation {
	struct tenon_operation operation;
	struct tenon_dispatch dispatch;
	struct tenon_memory bare[2]; /* addresses that are no memory of ours */
	void *tail;		     /* arguments, slots, bindings */
};

/* Return: 0; -TENON_E_NOMEM. Ended with operation_drop(). Does not move in memory afterwards. */
int operation_keep(const struct tenon_operation *from, struct kept_operation *to);
void operation_drop(struct kept_operation *kept);

/* highest slot that an operation names, plus one */
uint32_t operation_slots(const struct tenon_operation *operation);

#endif /* RUNTIME_DEVICE_DEVICE_OPERATION_H */
