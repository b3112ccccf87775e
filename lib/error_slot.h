/* SPDX-License-Identifier: MIT */
/*
 * The thread's error slot. It holds text, or an object of a layer above; then the message points
 * into the object, and the slot drops the object when it is emptied.
 */
#ifndef LIB_ERROR_SLOT_H
#define LIB_ERROR_SLOT_H

#include <stdbool.h>
#include <tenon/error.h>

#include "lib/plugin_api.h"

/**
 * error_slot_hold - put an object into the slot
 * @object: kept until taken or dropped
 * @drop: releases the object
 * @kind: copied
 * @message: points into @object
 */
void error_slot_hold(void *object, void (*drop)(void *object), struct tenon_slice kind,
		     struct tenon_slice message);

/* Set kind and message as text; @kind is copied and cut to fit. */
void error_slot_text(int status, struct tenon_slice kind, const struct tenon_slice *parts,
		     size_t count);

/*
 * Replace the kind of the thread's error, where TVM raises another kind than the status maps to.
 * Return: @status.
 */
int error_slot_set_kind(int status, const char *kind) TO_PLUGINS(error_slot_set_kind);
/* Raise an error, as tenon_error() does, of a kind; returns its status. */
#define error_of_kind(kind, ...) error_slot_set_kind(tenon_error(__VA_ARGS__), kind)

/* Take the object and empty the slot. NULL when the slot holds text, or frames were added. */
void *error_slot_take(void);

/* The object under the frames, borrowed; NULL when there is none. */
void *error_slot_object(void);

/* Read kind and message; both are empty when the slot is. */
void error_slot_read(struct tenon_slice *kind, struct tenon_slice *message);

/*
 * Set the thread's error aside, for cleanup code that runs after a failure and may fail itself. These nest. Return: what
 * error_put_back() takes, and nothing else; NULL when the slot is empty.
 */
struct error_slot *error_set_aside(void) TO_PLUGINS(error_set_aside);

/* Restore the error that was set aside, and drop one that was raised meanwhile. */
void error_put_back(struct error_slot *aside) TO_PLUGINS(error_put_back);

/*
 * Test whether this thread raised -TENON_E_NOMEM since error_set_ran_out(false), even if the error
 * was cleared: a caller that continues after an error must not mistake "out of memory" for "not
 * found". The command checks this before it exits. A caller that frees memory and retries restores
 * the value from before the first attempt.
 */
#ifdef CONFIG_TOOL
bool error_ran_out(void) TO_PLUGINS(error_ran_out);
void error_set_ran_out(bool ran_out) TO_PLUGINS(error_set_ran_out);
#else
static inline bool error_ran_out(void)
{
	return false;
}

static inline void error_set_ran_out(bool ran_out)
{
}
#endif

#endif /* LIB_ERROR_SLOT_H */
