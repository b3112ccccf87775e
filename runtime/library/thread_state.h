/* SPDX-License-Identifier: MIT */
/* Per-thread state of the foreign ABIs, freed at thread exit. */
#ifndef RUNTIME_LIBRARY_THREAD_STATE_H
#define RUNTIME_LIBRARY_THREAD_STATE_H

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
	struct tenon_value legacy_text; /* last string returned to legacy code, owned */
	struct tenon_slice legacy_bytes;
};

/* Get the calling thread's state; the first call creates it. NULL if out of memory. */
struct thread_state *thread_state(void);

/* Like thread_state(), but NULL if it does not exist yet. */
struct thread_state *thread_state_peek(void);

#endif /* RUNTIME_LIBRARY_THREAD_STATE_H */
