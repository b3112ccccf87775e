/* SPDX-License-Identifier: MIT */
#ifndef TESTS_CTS_HOST_KERNELS_H
#define TESTS_CTS_HOST_KERNELS_H

#include <tenon/buffer.h>

/* The suite's kernels as C functions: append their addresses, in the order of cts_kernels. */
int host_kernels_code(struct tenon_buffer *out);

#endif /* TESTS_CTS_HOST_KERNELS_H */
