/* SPDX-License-Identifier: MIT */
/* The interface by which queues run recordings. */
#ifndef RUNTIME_DEVICE_DEVICE_COMMANDS_H
#define RUNTIME_DEVICE_DEVICE_COMMANDS_H

#include "runtime/device/device_operation.h"

struct stand_in;

struct kept_node {
	struct kept_node *next;
	struct kept_operation kept;
};

struct tenon_commands_core {
	struct kept_node *first, *last;
	bool native; /* the backend recorded all operations */
	bool ranges; /* copies or fills use slots, so their ranges are checked at each run */
	bool bare;   /* the core allocated the base struct */
	struct tenon_queue *followed; /* referenced; NULL for none */
	int missed;		      /* status of the first operation that was not recorded */
	uint32_t missed_kind;
	const struct capture *capture; /* NULL without stand-ins and calls */
	/* private to device_capture.c */
	struct stand_in *stand_ins; /* newest first */
	struct tenon_queue *queue;  /* calls submit to it; referenced; NULL before the first */
	size_t captured;	    /* operations of the call that is being recorded */
	bool capturing;
	bool incomplete; /* a call failed after its first operation */
};

/* Check that a recording can run with its bindings. Return: 0; -TENON_E_VALUE; -TENON_E_USAGE. */
int commands_check(struct tenon_queue *queue, const struct tenon_operation *operation);
/* Run it, natively or from the list. @begun: set when the first operation was submitted. */
int commands_place(struct tenon_queue *queue, const struct tenon_operation *operation, bool *begun);

/* whether an operation of this kind can be recorded */
bool commands_can_record(uint32_t kind);

/* Record an operation that a queue was given, for the recording that follows it. */
void commands_note(struct tenon_commands *commands, const struct tenon_operation *operation,
		   const struct tenon_sync *sync);

#endif /* RUNTIME_DEVICE_DEVICE_COMMANDS_H */
