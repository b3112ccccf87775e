/* SPDX-License-Identifier: MIT */
#ifndef TENON_STATUS_H
#define TENON_STATUS_H

/**
 * DOC: status codes
 *
 * Every function of Tenon that can fail returns 0 or the negative of one of these codes, and stores
 * a message in the calling thread's error slot (tenon/error.h). Packed functions follow the tvm-ffi
 * rule: 0 is success, any other value is failure. Foreign code returns -1, so TENON_E_CALL is 1.
 */

#include <tenon/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum tenon_status - why something failed
 * @TENON_OK: success
 * @TENON_E_CALL: the called function failed; its own error is in the thread's slot
 * @TENON_E_USAGE: the caller broke the contract of an API (a NULL, an index out of range)
 * @TENON_E_NO_FUNCTION: code or a model calls a function that is not imported or registered
 * @TENON_E_NOMEM: out of memory
 * @TENON_E_IO: a system call failed (open, read, map, rename)
 * @TENON_E_FORMAT: the bytes violate their format
 * @TENON_E_TRUNCATED: the bytes end early
 * @TENON_E_OVERFLOW: a size or a product of sizes does not fit
 * @TENON_E_NOT_FOUND: no such function, kind, symbol or key
 * @TENON_E_EXISTS: the name is in use
 * @TENON_E_NO_LOADER: this build has no loader for a payload's kind
 * @TENON_E_TYPE: a value has the wrong type, dtype or number of arguments
 * @TENON_E_VALUE: a value has the right type but is invalid (shape, range, alignment)
 * @TENON_E_CYCLE: an import would make a module its own ancestor
 * @TENON_E_UNSUPPORTED: disabled in this build, or not supported by this object
 * @TENON_E_DEVICE: a device is missing or returned an error
 * @TENON_E_LOST: a device was lost
 * @TENON_E_TIMEOUT: a deadline passed
 */
enum tenon_status {
	TENON_OK = 0,
	TENON_E_CALL = 1,
	/* 2 is reserved: older C++ headers of tvm-ffi read -2 as an error set by the environment */
	TENON_E_NOMEM = 3,
	TENON_E_IO = 4,
	TENON_E_FORMAT = 5,
	TENON_E_TRUNCATED = 6,
	TENON_E_OVERFLOW = 7,
	TENON_E_NOT_FOUND = 8,
	TENON_E_EXISTS = 9,
	TENON_E_NO_LOADER = 10,
	TENON_E_TYPE = 11,
	TENON_E_VALUE = 12,
	TENON_E_CYCLE = 13,
	TENON_E_UNSUPPORTED = 14,
	TENON_E_DEVICE = 15,
	TENON_E_LOST = 16,
	TENON_E_TIMEOUT = 17,
	TENON_E_USAGE = 18,
	TENON_E_NO_FUNCTION = 19,
};

/**
 * tenon_status_kind - get the tvm-ffi error kind of a status
 * @status: a code, positive or negative
 *
 * The kind is the name of a Python exception class ("TypeError", "ValueError", "MemoryError" …),
 * into which Python callers convert it.
 *
 * Context: any thread.
 * Return: a static string, never NULL; "RuntimeError" for codes without a more specific kind.
 */
TENON_API const char *tenon_status_kind(int status);

#ifdef __cplusplus
}
#endif

#endif /* TENON_STATUS_H */
