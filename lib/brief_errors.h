/* SPDX-License-Identifier: MIT */
#ifndef LIB_BRIEF_ERRORS_H
#define LIB_BRIEF_ERRORS_H

/*
 * Errors without their texts. Where CONFIG_ERROR_MESSAGES is off, the calls that raise an error keep
 * its status alone: the text stands in a branch that is never taken, so that the compiler still
 * checks it against its arguments, and leaves both out. The functions themselves stay for programs
 * that use the library.
 */

#include <tenon/backend/cursor.h>
#include <tenon/error.h>

#ifdef CONFIG_ERROR_MESSAGES
#define ERROR_MESSAGES 1
#else
#define ERROR_MESSAGES 0

/* Raise a status with the one text that there is for it; returns @status. */
int error_brief(int status);

#define tenon_error(status, ...) (0 ? tenon_error(status, __VA_ARGS__) : error_brief(status))
#define tenon_cursor_error(c, status, ...)                                                         \
	(0 ? tenon_cursor_error(c, status, __VA_ARGS__) : error_brief(status))
#endif

#ifndef CONFIG_ERROR_CONTEXT
static inline int error_unframed(int status)
{
	return status;
}

#define tenon_error_in(status, ...)                                                                \
	(0 ? tenon_error_in(status, __VA_ARGS__) : error_unframed(status))
#endif

#endif /* LIB_BRIEF_ERRORS_H */
