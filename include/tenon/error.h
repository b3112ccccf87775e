/* SPDX-License-Identifier: MIT */
#ifndef TENON_ERROR_H
#define TENON_ERROR_H

/**
 * DOC: errors
 *
 * Each thread has one error slot. A function that fails stores kind and message there and returns
 * a negative status. Each caller may prepend a frame ("r18.so", "import 2 (opencl)"), so the text
 * reads from the outermost call inwards. The caller that handles the failure takes or clears the
 * error. Success does not clear the slot: read it only after a failure.
 *
 * Across the packed-function ABI an error is an object with the layout of tvm-ffi's ffi.Error. The
 * object is created when the error is taken, so raising an error allocates no object.
 */

#include <stdarg.h>
#include <tenon/export.h>
#include <tenon/status.h>
#include <tenon/value.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TENON_PRINTF(text, first) __attribute__((cold, format(printf, text, first)))
#else
#define TENON_PRINTF(text, first)
#endif

/**
 * struct tenon_error - tvm-ffi's error object
 * @object: header; type TENON_TYPE_ERROR
 * @kind: "TypeError", "ValueError", … (names of Python exceptions)
 * @message: what happened, without the kind
 * @backtrace: lines of the form `  File "f", line 1, in g`, most recent first; may be empty
 * @update_backtrace: replace (0) or append to (1) the backtrace
 * @cause: the error that led to this one, or NULL
 * @extra: any further object, or NULL
 *
 * Errors of libraries built with tvm-ffi 0.1.7 or older end before @cause: read it with
 * tenon_error_cause().
 */
struct tenon_error {
	struct tenon_object object;
	struct tenon_slice kind;
	struct tenon_slice message;
	struct tenon_slice backtrace;
	void (*update_backtrace)(void *self, const struct tenon_slice *text, int32_t mode);
	struct tenon_object *cause;
	struct tenon_object *extra;
};

/**
 * tenon_error - put a message into the thread's slot
 * @status: negative status; also gives the kind
 * @format: printf format of the message, without a final newline
 *
 * Replaces the previous error. A long message is truncated only when memory runs out.
 *
 * Return: @status, so that it can be returned at once.
 */
TENON_API int tenon_error(int status, const char *format, ...) TENON_PRINTF(2, 3);

/** tenon_error_v - tenon_error() with a va_list */
TENON_API int tenon_error_v(int status, const char *format, va_list args) TENON_PRINTF(2, 0);

/* largest frame in bytes; the middle of a longer one is replaced by "…" */
#define TENON_ERROR_FRAME 8192

/**
 * tenon_error_in - prepend a frame to the thread's message
 * @status: status that the caller is about to return
 * @format: printf format of the frame; ": " is inserted between it and the message. Arguments may
 *	include tenon_error_message(). A frame longer than TENON_ERROR_FRAME bytes is shortened.
 *
 * Return: @status.
 */
TENON_API int tenon_error_in(int status, const char *format, ...) TENON_PRINTF(2, 3);

/**
 * tenon_error_raise_text - raise an error with a kind and message from foreign code
 * @kind: kind; NULL means "RuntimeError"
 * @parts: parts of the message, concatenated
 * @count: number of parts
 */
TENON_API void tenon_error_raise_text(const char *kind, const struct tenon_slice *parts,
				      size_t count);

/**
 * tenon_error_raise - put an error object into the slot
 * @error: the object; the slot takes its own reference
 */
TENON_API void tenon_error_raise(struct tenon_error *error);

/**
 * tenon_error_take - take the thread's error as an object and empty the slot
 *
 * Where tenon_error_in() added frames to an object, this is a new one with that backtrace, and the
 * object is its cause.
 *
 * Return: an error with one reference for the caller; NULL when the slot is empty, or when the
 *	object cannot be allocated (the slot then keeps the text).
 */
TENON_API struct tenon_error *tenon_error_take(void);

/**
 * tenon_error_create - make an error object, without raising it
 * @kind: kind
 * @message: message
 * @backtrace: backtrace text, or an empty slice
 * @cause: error that led to it, or NULL; referenced
 *
 * Return: the object with one reference; NULL when out of memory.
 */
TENON_API struct tenon_error *tenon_error_create(struct tenon_slice kind,
						 struct tenon_slice message,
						 struct tenon_slice backtrace,
						 struct tenon_error *cause);

/**
 * tenon_error_cause - the error that led to an error
 * @error: the error
 *
 * Return: borrowed object; NULL when there is none, or when @error comes from a library that may
 *	use the shorter layout of tvm-ffi 0.1.7.
 */
TENON_API struct tenon_error *tenon_error_cause(const struct tenon_error *error);

/**
 * tenon_error_message - the thread's message, frames first
 *
 * Return: a NUL-terminated string, valid until the slot changes; "" when the slot is empty.
 */
TENON_API const char *tenon_error_message(void);

/**
 * tenon_error_kind - the thread's error kind; "" when the slot is empty. As tenon_error_message().
 */
TENON_API const char *tenon_error_kind(void);

/**
 * tenon_error_status - the negative status the thread's error was raised with
 *
 * Return: the status; 0 when the slot is empty; -TENON_E_CALL for errors raised as objects.
 */
TENON_API int tenon_error_status(void);

/** tenon_error_clear - empty the thread's slot */
TENON_API void tenon_error_clear(void);

#ifdef __cplusplus
}
#endif

#endif /* TENON_ERROR_H */
