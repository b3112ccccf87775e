/* SPDX-License-Identifier: MIT */
#ifndef TENON_TESTS_BENCH_ABI_H
#define TENON_TESTS_BENCH_ABI_H

/* The peer's values in Tenon's words: the layout is the same, which is the point of both. */

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
