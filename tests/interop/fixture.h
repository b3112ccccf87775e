/* SPDX-License-Identifier: MIT */
/*
 * Read stored modules and tensors by the C API, so that a case compares with what TVM itself computed.
 *
 * Paths are relative to tests/interop/data, or absolute. What cannot be read fails the running case.
 */
#ifndef TENON_TESTS_FIXTURE_H
#define TENON_TESTS_FIXTURE_H

#include <tenon/tenon.h>

/** fixture_ffis - the suites of tvm-ffi alone, one a version */
#define FIXTURE_FFIS 3
extern const char *const fixture_ffis[FIXTURE_FFIS];

/** fixture_path - path of a stored file, in static storage (two at a time) */
const char *fixture_path(const char *file);
/** fixture_in - a suite's file: "tvm-0.18/host_vecadd/lib.so", in static storage (four at a time) */
const char *fixture_in(const char *suite, const char *file);
/** fixture_module_path - path of a module that was built for these tests, in static storage */
const char *fixture_module_path(const char *file);
/** fixture_load - open a stored module */
struct tenon_module *fixture_load(const char *file);
/** fixture_function - a function of a stored module; the module's own reference is dropped */
struct tenon_function *fixture_function(const char *file, const char *name);
/** fixture_function_in - the same of a suite's file */
struct tenon_function *fixture_function_in(const char *suite, const char *file, const char *name);
/** fixture_tensor - a stored .npy as a tensor */
struct tenon_tensor *fixture_tensor(const char *file);
/** fixture_zeros - a tensor of zeros */
struct tenon_tensor *fixture_zeros(int64_t n, DLDataType dtype);
/** fixture_ok - the call succeeded; its words otherwise */
void fixture_ok(int status, const char *what);
/** fixture_equal - all elements of two tensors are the same bytes */
void fixture_equal(const struct tenon_tensor *have, const struct tenon_tensor *want);
/** fixture_near - float32 elements differ by at most 1e-5 */
void fixture_near(const struct tenon_tensor *have, const struct tenon_tensor *want);
/** fixture_says - the thread's error holds these words; it is cleared */
void fixture_says(const char *words);

/** struct fixture_case - a case that wants a process of its own */
struct fixture_case {
	const char *name;
	int (*run)(void); /* 0, or not, having printed why */
};

/** fixture_isolated - run each in a fresh copy of this process and print TAP; the exit status */
int fixture_isolated(const struct fixture_case *cases, size_t count);

/** fixture_scale - fixture.scale(in, out, k, b, "hello") -> k + 1: out = in * k + b */
int fixture_scale(void *self, const struct tenon_value *args, int32_t count,
		  struct tenon_value *ret);
/** fixture_observe - fixture.observe(int, float, bool, str) -> 7 */
int fixture_observe(void *self, const struct tenon_value *args, int32_t count,
		    struct tenon_value *ret);
/** fixture_give - fixture.give(k) -> 2 * k */
int fixture_give(void *self, const struct tenon_value *args, int32_t count,
		 struct tenon_value *ret);

#endif
