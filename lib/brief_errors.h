/* SPDX-License-Identifier: MIT */
/*
 * Leave the messages of errors out of small builds. If CONFIG_ERROR_MESSAGES is off, calls that raise an error pass its
 * status only: the message is in a branch that is never taken, so that the compiler checks the
 * format but emits no code. The functions themselves remain for programs that use the library.
 */
#ifndef LIB_BRIEF_ERRORS_H
#define LIB_BRIEF_ERRORS_H

#include <tenon/backend/cursor.h>
#include <tenon/error.h>

#include "lib/plugin_api.h"

#ifdef CONFIG_ERROR_MESSAGES
#define ERROR_MESSAGES 1
#else
#define ERROR_MESSAGES 0

/* Raise a status with its fixed message; returns @status. */
int error_brief(int status) TO_PLUGINS(error_brief);

#define tenon_error(status, ...) (0 ? tenon_error(status, __VA_ARGS__) : error_brief(status))
#define tenon_cursor_error(c, status, ...)                                                         \
	(0 ? tenon_cursor_error(c, status, __VA_ARGS__) : error_brief(status))

static inline int error_unframed(int status)
{
	return status;
}

#define tenon_error_in(status, ...)                                                                \
	(0 ? tenon_error_in(status, __VA_ARGS__) : error_unframed(status))
#endif

#endif /* LIB_BRIEF_ERRORS_H */
