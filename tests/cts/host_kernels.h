/* SPDX-License-Identifier: MIT */
/* The suite's kernels as C functions of this process. */
#ifndef TESTS_CTS_HOST_KERNELS_H
#define TESTS_CTS_HOST_KERNELS_H

#include <tenon/backend/buffer.h>
#include <tenon/backend/executable.h>

/* The suite's kernels as C functions, in the order of cts_kernels. */
extern const tenon_host_kernel host_kernels[];
extern const size_t host_kernel_count;

/* Append their addresses. */
static inline int host_kernels_code(struct tenon_buffer *out)
{
	return tenon_buffer_append(out, host_kernels, host_kernel_count * sizeof(host_kernels[0]));
}

#endif /* TESTS_CTS_HOST_KERNELS_H */
