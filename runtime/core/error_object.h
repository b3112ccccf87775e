/* SPDX-License-Identifier: MIT */
/* Make error objects, and take errors that code raised in another libtvm_ffi. */
#ifndef RUNTIME_CORE_ERROR_OBJECT_H
#define RUNTIME_CORE_ERROR_OBJECT_H

#include <tenon/error.h>

/**
 * error_object_foreign_source - set a second source of raised errors
 * @move: moves the error out of the slot of a libtvm_ffi in the process; NULL if empty
 *
 * It is used when the thread's own slot is empty: code that binds to libtvm_ffi raises there.
 */
void error_object_foreign_source(void (*move)(void **out));

/* Create an error with its extra context. NULL if out of memory. */
struct tenon_error *error_object_create(struct tenon_slice kind, struct tenon_slice message,
					struct tenon_slice backtrace, struct tenon_object *cause,
					struct tenon_object *extra);

#endif /* RUNTIME_CORE_ERROR_OBJECT_H */
