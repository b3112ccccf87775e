/* SPDX-License-Identifier: MIT */
/* Checks and references of operations, for queues and recordings. */
#ifndef RUNTIME_DEVICE_DEVICE_OPERATION_H
#define RUNTIME_DEVICE_DEVICE_OPERATION_H

#include "runtime/device/device_core.h"

/* the operation's name, for messages */
const char *operation_name(uint32_t kind);

/* Check ranges and extents of an operation. Return: 0; -TENON_E_VALUE; -TENON_E_UNSUPPORTED. */
int operation_check(struct tenon_device *device, const struct tenon_operation *operation);

/**
 * struct kept_operation - copy of an operation that is submitted later
 * @operation: points to fields of this struct
 * @dispatch: what operation.as.dispatch points to
 *
 * Host memory of reads, writes and timestamps is not copied; the submitter must keep it valid.
 */
struct kept_operation {
	struct tenon_operation operation;
	struct tenon_dispatch dispatch;
	struct tenon_memory bare[2]; /* memory that is not a reference-counted object */
	void *tail;		     /* arguments, slots, bindings */
};

/* Copy an operation. @to must not be moved. Return: 0, then operation_drop(); -TENON_E_NOMEM. */
int operation_keep(const struct tenon_operation *from, struct kept_operation *to);
void operation_drop(struct kept_operation *kept);

/* highest slot that an operation names, plus one */
uint32_t operation_slots(const struct tenon_operation *operation);

#endif /* RUNTIME_DEVICE_DEVICE_OPERATION_H */
