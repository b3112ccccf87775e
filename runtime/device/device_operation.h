/* SPDX-License-Identifier: MIT */
/* Check operations and keep what they use alive, for queues and recordings. */
#ifndef RUNTIME_DEVICE_DEVICE_OPERATION_H
#define RUNTIME_DEVICE_DEVICE_OPERATION_H

#include "runtime/device/device_core.h"

/* the operation's name, for messages */
const char *operation_name(uint32_t kind);

/* Check ranges and extents of an operation. Return: 0; -TENON_E_VALUE; -TENON_E_UNSUPPORTED. */
int operation_check(struct tenon_device *device, const struct tenon_operation *operation);

/* Test a launch without saying what is wrong, which operation_check() does. */
static inline bool dispatch_is_valid(const struct tenon_device *device,
				     const struct tenon_dispatch *d)
{
	return d->kernel->executable->device == device && d->grid[0] && d->grid[1] && d->grid[2] &&
	       d->block[0] && d->block[1] && d->block[2];
}

/**
 * struct kept_operation - copy of an operation that is submitted later
 * @operation: points to fields of this struct
 * @dispatch: what operation.as.dispatch points to
 *
 * Host memory of reads, writes and timestamps is not copied; the submitter must keep it valid.
 */
struct kept_operation {
	struct tenon_operation operation;
	void *tail; /* allocated for arguments, slots, bindings, or NULL */
	union {
		struct tenon_dispatch dispatch;
		struct tenon_memory bare[2]; /* memory that is not a reference-counted object */
	};
};

/* Bytes from the start of a kept_operation that an operation uses. */
size_t operation_kept_size(const struct tenon_operation *operation);

/* Bytes of a launch's arguments that may lie behind it; 0 for other operations, and for tensor maps, which are aligned. */
size_t operation_tail_size(const struct tenon_operation *operation);

/*
 * Copy an operation to operation_kept_size() bytes, which must not be moved. @tail has operation_tail_size() bytes, is
 * aligned for uint64_t, or is NULL to allocate them. Return: 0, then operation_drop(); -TENON_E_NOMEM.
 */
int operation_keep(const struct tenon_operation *from, struct kept_operation *to, void *tail);
void operation_drop(struct kept_operation *kept);

/* highest slot that an operation names, plus one */
uint32_t operation_slots(const struct tenon_operation *operation);

#endif /* RUNTIME_DEVICE_DEVICE_OPERATION_H */
