/* SPDX-License-Identifier: MIT */
/* Bind the drop-in for tvm-ffi to the program's own libtenon, and call its functions by name. */
#ifndef TESTS_UNIT_DROPIN_CALLS_H
#define TESTS_UNIT_DROPIN_CALLS_H

#include "dropin_file.h"
#include "ffi_suite.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* the drop-in */
static void *library;

/* Before all cases */
static inline int open_library(void **state)
{
	int (*bind)(const struct tenon_tvm_table *table);

	(void)state;
	library = dlopen(dropin_file(), RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return -1;
	*(void **)&bind = dlsym(library, "tenon_tvm_bind");
	return bind ? bind(tenon_tvm_table()) : -1;
}

/* Call a global function; the result is owned. */
static inline int call(const char *name, struct tenon_value *ret, const struct tenon_value *args,
		       int32_t count)
{
	struct tenon_function *f;
	int err;

	assert_int_equal(tenon_function_find(name, &f), 0);
	assert_non_null(f);
	*ret = tenon_arg_none();
	err = tenon_function_call(f, args, count, ret);
	tenon_object_unref(f);
	return err;
}

#define CALL(name, ret, ...)                                                                       \
	call(name, ret, (const struct tenon_value[]){ __VA_ARGS__ },                               \
	     sizeof((const struct tenon_value[]){ __VA_ARGS__ }) / sizeof(struct tenon_value))

static inline int64_t integer(const char *name, struct tenon_value a, struct tenon_value b)
{
	struct tenon_value ret;

	assert_int_equal(CALL(name, &ret, a, b), 0);
	return ret.as.integer;
}

/* Compare what ffi.ReprPrint makes of a value. */
static inline void assert_shown(struct tenon_value v, const char *text)
{
	struct tenon_slice shown;
	struct tenon_value ret;

	assert_int_equal(CALL("ffi.ReprPrint", &ret, v), 0);
	assert_int_equal(tenon_value_text(&ret, &shown), 0);
	if (!tenon_slice_equal(shown, tenon_slice_of(text)))
		fail_msg("expected %s, found %.*s", text, (int)shown.size, shown.data);
	tenon_value_release(&ret);
}

#endif /* TESTS_UNIT_DROPIN_CALLS_H */
