/* SPDX-License-Identifier: MIT */
/* Read tvm-ffi's values as Tenon's: both have one layout, so a benchmark hands the same bytes to either runtime. */
#ifndef TENON_TESTS_BENCH_ABI_H
#define TENON_TESTS_BENCH_ABI_H

#include <tenon/array.h>
#include <tenon/error.h>
#include <tenon/function.h>
#include <tenon/string.h>
#include <tenon/tensor.h>
#include <tenon/value.h>

#define BENCH_NOINLINE __attribute__((noinline))

/* the functions that are called: they look at nothing, so that only the way to them is measured */
int bench_empty(void *self, const struct tenon_value *args, int32_t count, struct tenon_value *ret);

/* a tensor of 1 x 4 floats */
DLTensor *bench_tensor(void);

#endif
