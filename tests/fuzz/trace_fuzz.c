/* SPDX-License-Identifier: MIT */
/* The bytes are the trace of another machine: its clocks, then its events. */
#include <stdlib.h>
#include <string.h>
#include <tenon/backend/buffer.h>

#include "lib/trace.h"
#include "tests/fuzz/fuzz.h"

/* an event of 50 bytes takes 80, in chunks of 1024; a text of 8 bytes a slot of a table that doubles */
const size_t fuzz_memory_per_byte = 512;
/* events are allocated by 1024, and written 64 KiB together */
const size_t fuzz_memory_at_all = 1 << 20;

/* both readings of both clocks */
#define CLOCKS 48

static void add_clocks(struct tenon_buffer *b)
{
	const uint64_t times[6] = { 1000, 1000000, 10, 2000, 1001000, 20 };

	for (size_t i = 0; i < 6; i++)
		tenon_buffer_u64(b, times[i]);
}

void fuzz_seeds(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		void *context)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	add_clocks(&b);
	if (trace_keep())
		abort();
	tenon_trace_span("a track", "a span", tenon_trace_now(), tenon_trace_now());
	tenon_trace_span(NULL, "of the thread", tenon_trace_now(), tenon_trace_now());
	if (trace_take(&b))
		abort();
	visit(context, "spans", (struct tenon_slice){ b.data, b.size });
	tenon_buffer_fini(&b);
}

void fuzz_mutate(struct mutant *m)
{
	mutate_bytes(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_there there = { .name = "there" };
	uint64_t times[6] = { 0 };
	int err;

	if (size)
		memcpy(times, data, size < CLOCKS ? size : CLOCKS);
	there.begin = (struct trace_clock){ times[0], times[1], times[2] };
	there.end = (struct trace_clock){ times[3], times[4], times[5] };
	if (size > CLOCKS)
		there.events = (struct tenon_slice){ (const char *)data + CLOCKS, size - CLOCKS };
	err = tenon_trace("/dev/null");
	fuzz_check(err);
	if (err)
		return 0;
	fuzz_check(trace_merge(&there));
	fuzz_check(tenon_trace(NULL));
	return 0;
}
