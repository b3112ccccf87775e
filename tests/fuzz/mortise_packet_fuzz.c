/* SPDX-License-Identifier: MIT */
/* The bytes are what a host writes to the ring of mortise, and perhaps its setup. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tenon/uapi/mortise_order.h>

#include "firmware/core/mortise.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mortise_window.h"

#define PAGE   4096U
#define LOOKS  2000 /* how often the core may ask whether to go on */
#define RING   MORTISE_RING_LEAST
#define GUARDS (16 * PAGE)

static uint8_t *window;
static unsigned int looks;
static uint32_t head; /* shown once the session has begun */

/* ---- the port */

static bool ended(struct mortise *m)
{
	/* the first look is before the session, the second behind it */
	if (++looks == 2)
		mortise_release(&m->control->host.head, head);
	return looks > LOOKS;
}

static uint64_t ticks(struct mortise *m)
{
	(void)m;
	return looks;
}

static void fence_code(void)
{
}

/* code of this machine is called where we know how it returns: xor %eax, %eax; ret */
static const uint8_t return_0[] = { 0x31, 0xc0, 0xc3 };
#if defined(__x86_64__)
#define CALLS MORTISE_FEATURE_CALL
#else
#define CALLS 0
#endif

static const struct mortise_port port = {
	.machine = 1,
	.features = CALLS | MORTISE_FEATURE_TIMESTAMP,
	.tick_hz = 1000,
	.window_address = FUZZ_WINDOW,
	.window_size = FUZZ_WINDOW_SIZE,
	.ticks = ticks,
	.fence_code = fence_code,
	.ended = ended,
};

/* ---- the window, between pages that cannot be touched */

static void make_window(void)
{
	uint8_t *at = mmap((void *)(uintptr_t)(FUZZ_WINDOW - GUARDS), FUZZ_WINDOW_SIZE + 2 * GUARDS,
			   PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (at != (uint8_t *)(uintptr_t)(FUZZ_WINDOW - GUARDS))
		abort();
	window = at + GUARDS;
	if (mprotect(window, FUZZ_WINDOW_SIZE, PROT_READ | PROT_WRITE))
		abort();
	memcpy(window + (FUZZ_CODE - FUZZ_WINDOW), return_0, sizeof(return_0));
	if (mprotect(window + (FUZZ_CODE - FUZZ_WINDOW), PAGE, PROT_READ | PROT_EXEC))
		abort();
}

static struct mortise_control *control(void)
{
	return (struct mortise_control *)(void *)(window + MORTISE_CONTROL_OFFSET);
}

static const struct mortise_setup plain_setup = {
	.magic = MORTISE_MAGIC,
	.abi = MORTISE_ABI,
	.ring_address = FUZZ_RING,
	.ring_words = RING,
	.watchdog_ms = LOOKS,
	.region_count = 3,
	.regions = {
		{ FUZZ_HEAP, FUZZ_HEAP_SIZE, MORTISE_READ | MORTISE_WRITE, 0 },
		{ FUZZ_CONSTANTS, PAGE, MORTISE_READ, 0 },
		{ FUZZ_CODE, 3, MORTISE_EXECUTE, 0 },
	},
};

/* ---- an input */

static void number_packets(uint8_t *ring, size_t words)
{
	struct mortise_header header;
	size_t at;

	for (at = 0; at < words; at += header.words ? header.words : 1) {
		memcpy(&header, ring + at * MORTISE_WORD, sizeof(header));
		header.position = (uint32_t)at;
		memcpy(ring + at * MORTISE_WORD, &header, sizeof(header));
	}
}

/* Put an input into the window; the packets' words. */
static uint32_t place(const uint8_t *data, size_t size)
{
	uint8_t *ring = window + MORTISE_SHARED_OFFSET;
	uint8_t flags = size ? data[0] : 0;
	size_t words;

	memset(window, 0, FUZZ_CODE - FUZZ_WINDOW);
	control()->setup = plain_setup;
	if (size) {
		data++;
		size--;
	}
	if ((flags & FUZZ_SETUP) && size >= sizeof(plain_setup)) {
		memcpy(&control()->setup, data, sizeof(plain_setup));
		data += sizeof(plain_setup);
		size -= sizeof(plain_setup);
		/* no place but that one can be executed here */
		for (words = 0; words < MORTISE_REGION_COUNT; words++)
			control()->setup.regions[words].access &= ~MORTISE_EXECUTE;
	}
	if (size > RING * MORTISE_WORD)
		size = RING * MORTISE_WORD;
	memcpy(ring, data, size);
	words = size / MORTISE_WORD;
	if (flags & FUZZ_POSITIONS)
		number_packets(ring, words);
	control()->host.head = control()->setup.ring_start;
	head = control()->host.head + (uint32_t)words;
	return (uint32_t)words;
}

/* Was a byte written that no region allows to write: nothing is, but regions and the device's own lines. */
static void check_untouched(const uint8_t *before, const struct mortise_setup *setup)
{
	size_t at, host = MORTISE_CONTROL_OFFSET + offsetof(struct mortise_control, host);
	uint32_t i;

	for (at = 0; at < FUZZ_WINDOW_SIZE; at++) {
		bool may = at >= MORTISE_CONTROL_OFFSET && at < host;

		if (window[at] == before[at])
			continue;
		for (i = 0; i < setup->region_count && i < MORTISE_REGION_COUNT; i++)
			may |= (setup->regions[i].access & MORTISE_WRITE) &&
			       FUZZ_WINDOW + at >= setup->regions[i].address &&
			       FUZZ_WINDOW + at - setup->regions[i].address <
				       setup->regions[i].size;
		/* the control block and the ring are no regions, whatever the setup says */
		if ((at >= host && at < MORTISE_SHARED_OFFSET) ||
		    (at >= MORTISE_SHARED_OFFSET && FUZZ_WINDOW + at >= setup->ring_address &&
		     FUZZ_WINDOW + at - setup->ring_address < setup->ring_words * MORTISE_WORD))
			may = false;
		if (!may)
			abort();
	}
}

static void check_words(uint32_t words)
{
	uint32_t state = control()->device.state;
	uint32_t done = control()->completion.done - control()->setup.ring_start;

	if (state < MORTISE_READY || state > MORTISE_STOPPED)
		abort();
	if (state != MORTISE_FAULTED && done > words)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t before[FUZZ_WINDOW_SIZE];
	static struct mortise m;
	struct mortise_setup setup;
	uint32_t words;

	if (!window)
		make_window();
	words = place(data, size);
	setup = control()->setup;
	looks = 0;
	mortise_boot(&m, &port);
	control()->host.session = 1;
	memcpy(before, window, sizeof(before));
	memcpy(before + MORTISE_CONTROL_OFFSET + offsetof(struct mortise_control, host), &head,
	       sizeof(head));
	mortise_loop(&m);
	check_untouched(before, &setup);
	check_words(words);
	return 0;
}
