/* SPDX-License-Identifier: MIT */
/* Recordings, as queues run them. */
#ifndef RUNTIME_DEVICE_DEVICE_COMMANDS_H
#define RUNTIME_DEVICE_DEVICE_COMMANDS_H

#include "runtime/device/device_core.h"

/* Check that a recording can run with its bindings. Return: 0; -TENON_E_VALUE; -TENON_E_USAGE. */
int commands_check(struct tenon_queue *queue, const struct tenon_operation *operation);
/* Run it, natively or from the list. @begun: set when the first operation was submitted. */
int commands_place(struct tenon_queue *queue, const struct tenon_operation *operation, bool *begun);

/* Record an operation that a queue was given, for the recording that follows it. */
void commands_note(struct tenon_commands *commands, const struct tenon_operation *operation,
		   const struct tenon_sync *sync);

#endif /* RUNTIME_DEVICE_DEVICE_COMMANDS_H */
