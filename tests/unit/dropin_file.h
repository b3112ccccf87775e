/* SPDX-License-Identifier: MIT */
/* Find the drop-in for tvm-ffi: in the build, or where the test runner says. */
#ifndef TESTS_UNIT_DROPIN_FILE_H
#define TESTS_UNIT_DROPIN_FILE_H

#include <stdlib.h>

/* Return: a path with a folder in it */
static inline const char *dropin_file(void)
{
	const char *file = getenv("TENON_COMPAT_LIBRARY");

	return file ? file : "build/compat/libtvm_ffi.so";
}

#endif /* TESTS_UNIT_DROPIN_FILE_H */
