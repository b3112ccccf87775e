/* SPDX-License-Identifier: MIT */
#ifndef TENON_STATUS_H
#define TENON_STATUS_H

/**
 * DOC: status codes
 *
 * Every function of Tenon that can fail returns 0 or the negative of one of these codes, and leaves
 * the words in the calling thread's error (tenon/error.h). A packed function follows the tvm-ffi
 * rule instead: 0 is success and any other value is failure; foreign code returns -1, which is why
 * TENON_E_CALL is 1.
 */

#include <tenon/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum tenon_status - why something failed
 * @TENON_OK: it did not
 * @TENON_E_CALL: the called function failed; its own error is in the thread's slot
 * @TENON_E_USAGE: the caller broke the contract of an API (a NULL, an index out of range)
 * @TENON_E_NO_FUNCTION: code or a model calls a function that is neither in its imports nor registered
 * @TENON_E_NOMEM: no memory
 * @TENON_E_IO: the operating system refused (open, read, map, rename)
 * @TENON_E_FORMAT: the bytes do not have the form their format demands
 * @TENON_E_TRUNCATED: the bytes end before what they promise
 * @TENON_E_OVERFLOW: a size or a product of sizes does not fit
 * @TENON_E_NOT_FOUND: no such function, kind, symbol, key
 * @TENON_E_EXISTS: the name is taken
 * @TENON_E_NO_LOADER: a payload's kind has no loader in this build
 * @TENON_E_TYPE: a value has the wrong type, dtype or number of arguments
 * @TENON_E_VALUE: a value has the right type and a wrong content (shape, range, alignment)
 * @TENON_E_CYCLE: an import would make a module its own ancestor
 * @TENON_E_UNSUPPORTED: switched off in this build, or not offered by this object
 * @TENON_E_DEVICE: a device is absent or refused
 * @TENON_E_LOST: a device or a library went away
 * @TENON_E_TIMEOUT: a deadline passed
 */
enum tenon_status {
	TENON_OK = 0,
	TENON_E_CALL = 1,
	/* 2 stays free: older C++ headers of tvm-ffi read -2 as an error of the environment's own */
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
 * tenon_status_kind - the error kind, in tvm-ffi's words, that a status raises
 * @status: a code, of either sign
 *
 * The kind is the name of a Python exception class ("TypeError", "ValueError", "MemoryError" …),
 * because that is what callers on the other side of the ABI turn it into.
 *
 * Context: any thread.
 * Return: a static string, never NULL; "RuntimeError" for codes without a closer word.
 */
TENON_API const char *tenon_status_kind(int status);

#ifdef __cplusplus
}
#endif

#endif /* TENON_STATUS_H */
