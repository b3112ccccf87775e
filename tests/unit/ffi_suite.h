/* SPDX-License-Identifier: MIT */
/* What each suite of tvm-ffi's C interface includes and calls. */
#ifndef TESTS_UNIT_FFI_SUITE_H
#define TESTS_UNIT_FFI_SUITE_H

#include "tests/unit/suite.h"

#include "runtime/library/context.h"
#include "runtime/library/tvm_table.h"

static inline struct tenon_slice s(const char *text)
{
	return tenon_slice_of(text);
}

/* Before a case: no error is left of the one before. */
static inline int afresh(void **state)
{
	(void)state;
	tenon_error_clear();
	return 0;
}

/* The same, with the global functions that real tvm-ffi has. */
static inline int with_globals(void **state)
{
	abi_register_globals();
	return afresh(state);
}

#endif /* TESTS_UNIT_FFI_SUITE_H */
