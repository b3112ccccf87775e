/* SPDX-License-Identifier: MIT */
/* The template's own kind of payload: the suite's kernels take the place of what null has built in. */
#define host_kernels	  null_functions
#define host_kernel_count null_function_count

#include <tenon/backend/buffer.h>

#include "tests/cts/host_kernels.c"

#include "tests/cts/cts.h"

/* the word, the kernel table, and for each kernel the number of a function */
static int payload(struct tenon_buffer *out)
{
	uint32_t i;

	tenon_buffer_string(out, tenon_slice_of("null"));
	cts_write_table(out);
	tenon_buffer_u64(out, null_function_count);
	for (i = 0; i < null_function_count; i++)
		tenon_buffer_u32(out, i);
	return out->status;
}

const struct cts_backend cts_backend = {
	.uri = "null:0",
	.kind = "null",
	.payload = payload,
};
