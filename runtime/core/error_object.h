/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_CORE_ERROR_OBJECT_H
#define RUNTIME_CORE_ERROR_OBJECT_H

#include <tenon/error.h>

/**
 * error_object_foreign_source - ask elsewhere for an error when the thread's slot is empty
 * @move: takes the raised error of a real libtvm_ffi in the same process, or gives NULL
 *
 * Code that binds to that library raises in its slot, not in ours.
 */
void error_object_foreign_source(void (*move)(void **out));

/* The whole object, extra context included. NULL without memory. */
struct tenon_error *error_object_create(struct tenon_slice kind, struct tenon_slice message,
					struct tenon_slice backtrace, struct tenon_object *cause,
					struct tenon_object *extra);

#endif /* RUNTIME_CORE_ERROR_OBJECT_H */
