/* SPDX-License-Identifier: MIT */
/* Thread-local variables that functions read on each call. */
#ifndef LIB_THREAD_VARIABLE_H
#define LIB_THREAD_VARIABLE_H

#include <limits.h>

/*
 * THREAD_VARIABLE_AT_ONCE - read a variable without a call of the dynamic linker
 *
 * glibc keeps room for such variables in libraries that are opened at run time. musl has none, and refuses the library.
 */
#ifdef __GLIBC__
#define THREAD_VARIABLE_AT_ONCE __attribute__((tls_model("initial-exec")))
#else
#define THREAD_VARIABLE_AT_ONCE
#endif

#endif /* LIB_THREAD_VARIABLE_H */
