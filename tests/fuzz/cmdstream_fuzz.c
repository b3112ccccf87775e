/* SPDX-License-Identifier: MIT */
/* The bytes are a command stream; what is accepted runs on the core of the firmware, which must find nothing wrong. */
#include <stdlib.h>
#include <string.h>

#include "devices/mortise/mortise_walk.h"
#include "firmware/core/mortise.h"
#include "tests/fuzz/fuzz.h"
#include "tests/mortise/stream.h"

/* reading allocates nothing */
const size_t fuzz_memory_at_all = 65536 + 2 * 65536;

/* streams with more memory are read, but not run */
#define REGIONS_MOST 65536U
#define KERNELS_MOST 4

static const struct cmdstream_target target = {
	.name = "mortise",
	.unit = MORTISE_WORD,
	.setter = mortise_setter,
	.walk = mortise_walk,
};

/* ---- the device: the firmware's core, with each region in memory of exactly its size */

static uint64_t ticks(struct mortise *m)
{
	(void)m;
	return 1;
}

static void fence_code(void)
{
}

static const struct mortise_port port = {
	.machine = 1,
	.features = MORTISE_FEATURE_TIMESTAMP,
	.tick_hz = 1000,
	.ticks = ticks,
	.fence_code = fence_code,
};

static bool make_regions(const struct cmdstream *s, struct mortise *m, void **memory)
{
	uint64_t total = 0;
	uint32_t i;

	if (s->region_count > MORTISE_REGION_COUNT)
		return false;
	for (i = 0; i < s->region_count; i++)
		total = cmdstream_add(total, s->regions[i].size);
	if (total > REGIONS_MOST)
		return false;
	for (i = 0; i < s->region_count; i++) {
		const struct tenon_cmdstream_region *r = &s->regions[i];
		size_t align = r->alignment < 16 ? 16 : r->alignment;

		if (posix_memalign(&memory[i], align, (size_t)r->size))
			abort();
		memset(memory[i], 0x11, (size_t)r->size);
		m->regions[i] =
			(struct mortise_region){ (uintptr_t)memory[i], r->size, r->access, 0 };
	}
	m->region_count = s->region_count;
	return true;
}

/* As cmdstream_patch(), for memory of this process. */
static void patch(const struct cmdstream *s, const struct cmdstream_kernel *k, void *const *memory,
		  uint8_t *code)
{
	struct tenon_cmdstream_relocation r;
	uint64_t address;
	size_t i;

	memcpy(code, s->code.data + k->offset, (size_t)k->size);
	for (i = 0; i < k->relocation_count; i++) {
		r = cmdstream_relocation(s, k->first + i);
		address = (uintptr_t)memory[r.region] + r.addend;
		memcpy(code + (r.offset - k->offset), &address, r.width);
	}
}

static void run_packets(struct mortise *m, const uint8_t *code, size_t size)
{
	struct mortise_header header;
	size_t at;

	for (at = 0; at < size; at += (size_t)header.words * MORTISE_WORD) {
		memcpy(&header, code + at, sizeof(header));
		/* nothing else signals here */
		if (header.opcode == MORTISE_OP_WAIT)
			return;
		if (header.opcode == MORTISE_OP_PAD)
			continue;
		memcpy(m->packet, code + at, (size_t)header.words * MORTISE_WORD);
		if (mortise_packet(m, header) != MORTISE_DONE)
			abort();
	}
}

static void run(const struct cmdstream *s, const struct cmdstream_kernel *k)
{
	static struct mortise_control control;
	static struct mortise m;
	void *memory[TENON_CMDSTREAM_REGIONS] = { NULL };
	uint8_t *code;
	uint32_t i;

	memset(&m, 0, sizeof(m));
	m.port = &port;
	m.control = &control;
	code = malloc((size_t)k->size);
	if (code && make_regions(s, &m, memory)) {
		patch(s, k, memory, code);
		run_packets(&m, code, (size_t)k->size);
	}
	for (i = 0; i < TENON_CMDSTREAM_REGIONS; i++)
		free(memory[i]);
	free(code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tenon_cursor c = tenon_cursor_of(data, size, "command stream", 0);
	struct cmdstream_kernel k;
	struct cmdstream s;
	size_t i;
	int err = cmdstream_read(&c, &s);

	for (i = 0; !err && i < s.kernel_count && i < KERNELS_MOST; i++) {
		err = cmdstream_kernel(&s, i, &k);
		err = err ? err : cmdstream_check(&s, &target, &k, NULL);
		if (!err)
			run(&s, &k);
	}
	fuzz_check(err);
	return 0;
}

/* ---- inputs to begin with */

static void put_every_packet(struct tenon_buffer *out)
{
	static const uint32_t config[] = { MORTISE_ABI, MORTISE_FEATURE_TIMESTAMP };
	struct mortise_copy copy = { .size = 32 };
	struct mortise_fill fill = { .size = 32, .width = 8 };
	struct mortise_semaphore semaphore = { .value = 1 };
	struct mortise_timestamp timestamp = { .address = 0 };
	struct mortise_vector vector = { .count = 8, .type = MORTISE_INT32 };
	struct mortise_header barrier = { 0 }, pad[3] = { { 0 } };
	const uint32_t arguments[] = { 0, 1 };
	struct cmdstream_emitter e;

	cmdstream_emitter_init(&e);
	put_region(&e, TENON_REGION_INPUT, READ_WRITE, 64, NULL);
	put_region(&e, TENON_REGION_OUTPUT, READ_WRITE, 64, NULL);
	put_region(&e, TENON_REGION_SCRATCH, READ_WRITE, 64, NULL);
	PUT(&e, MORTISE_OP_COPY, copy, HOLE(mortise_copy, to, 1, 0),
	    HOLE(mortise_copy, from, 0, 32));
	PUT(&e, MORTISE_OP_FILL, fill, HOLE(mortise_fill, to, 2, 32));
	PUT(&e, MORTISE_OP_SIGNAL, semaphore, HOLE(mortise_semaphore, address, 2, 4));
	PUT(&e, MORTISE_OP_TIMESTAMP, timestamp, HOLE(mortise_timestamp, address, 2, 8));
	PUT(&e, MORTISE_OP_VECTOR, vector, HOLE(mortise_vector, to, 1, 0),
	    HOLE(mortise_vector, a, 0, 0), HOLE(mortise_vector, b, 2, 32));
	put_packet(&e, MORTISE_OP_BARRIER, &barrier, sizeof(barrier), NULL, 0);
	put_packet(&e, MORTISE_OP_PAD, pad, sizeof(pad), NULL, 0);
	PUT(&e, MORTISE_OP_WAIT, semaphore, HOLE(mortise_semaphore, address, 2, 4));
	cmdstream_end_kernel(&e, "every", arguments, 2);
	cmdstream_flush(&e, "mortise", config, 2, out);
	cmdstream_emitter_fini(&e);
}

void fuzz_seeds(void (*visit)(void *context, const char *name, struct tenon_slice bytes),
		void *context)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;

	sample_stream(&b);
	visit(context, "dense", (struct tenon_slice){ b.data, b.size });
	tenon_buffer_fini(&b);
	b = (struct tenon_buffer)TENON_BUFFER_INIT;
	put_every_packet(&b);
	visit(context, "every packet", (struct tenon_slice){ b.data, b.size });
	tenon_buffer_fini(&b);
}
