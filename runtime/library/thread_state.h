/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_LIBRARY_THREAD_STATE_H
#define RUNTIME_LIBRARY_THREAD_STATE_H

/* What the foreign ABIs keep for each thread; gone with the thread. */

#include <tenon/buffer.h>

#include "runtime/library/tvm_types.h"

struct thread_stream {
	int32_t device_type;
	int32_t device_id;
	void *stream;
};

struct thread_state {
	struct thread_stream *streams;
	size_t stream_count;
	ffi_tensor_allocator tensor_allocator;
	struct tenon_buffer backtrace;
	struct tenon_slice backtrace_slice;
	struct tenon_value legacy_text; /* the last string given to legacy code, owned */
	struct tenon_slice legacy_bytes;
};

/* The calling thread's; made at the first call. NULL without memory. */
struct thread_state *thread_state(void);

/* As thread_state(), but NULL where there is none yet. */
struct thread_state *thread_state_peek(void);

#endif /* RUNTIME_LIBRARY_THREAD_STATE_H */
