/* SPDX-License-Identifier: MIT */
/* Begin a session on a board, run packets and read its faults. */
#include "tests/hil/rig.h"

#include <string.h>

#include "lib/clock.h"
#include "tests/hil/hil.h"

/* an emulator on a machine under load boots in its own time */
#define BOOT_MS 60000

uint64_t in_ms(uint64_t ms)
{
	return clock_now() + ms * 1000000;
}

void rig_setup(struct rig *rig)
{
	const struct shm *memory = board_memory(rig->board);
	uint64_t base = board_address(rig->board);

	rig->setup = (struct ring_setup){
		.name = "rig",
		.window = memory->base,
		.window_size = memory->size,
		.window_address = base,
		.ring_offset = MORTISE_SHARED_OFFSET,
		.ring_words = MORTISE_RING_LEAST,
		.silence_ms = 5000,
		.region_count = 2,
		.regions = {
			{ base + RIG_HEAP, RIG_CODE - RIG_HEAP, MORTISE_READ | MORTISE_WRITE, 0 },
			{ base + RIG_CODE, memory->size - RIG_CODE,
			  MORTISE_READ | MORTISE_WRITE | MORTISE_EXECUTE, 0 },
		},
	};
	rig->heap = memory->base + RIG_HEAP;
	rig->heap_address = base + RIG_HEAP;
}

void rig_begin(struct rig *rig)
{
	assert_ok(ring_open(board_port(rig->board), &rig->setup, in_ms(BOOT_MS), &rig->ring));
}

void rig_open(struct rig *rig, const char *name)
{
	const struct board_kind *kind = board_kind_find(name);

	assert_non_null(kind);
	memset(rig, 0, sizeof(*rig));
	assert_ok(board_open(kind, &rig->board));
	if (hil_opened)
		hil_opened(rig->board);
	rig_setup(rig);
	rig_begin(rig);
}

void rig_close(struct rig *rig)
{
	ring_close(rig->ring);
	board_close(rig->board);
	memset(rig, 0, sizeof(*rig));
}

__attribute__((no_sanitize("thread"))) void rig_scribble(uint32_t *word, uint32_t value)
{
	*(volatile uint32_t *)word = value;
}

void rig_reset(struct rig *rig)
{
	assert_ok(board_reset(rig->board));
	assert_ok(ring_restart(rig->ring, in_ms(BOOT_MS)));
}

uint64_t rig_at(const struct rig *rig, uint64_t offset)
{
	return rig->heap_address + offset;
}

uint32_t *rig_word(const struct rig *rig, uint64_t offset)
{
	return (uint32_t *)(void *)(rig->heap + offset);
}

int rig_run(struct rig *rig, const void *packet, size_t size)
{
	uint64_t sequence;
	int err;

	err = ring_emit(rig->ring, packet, size, in_ms(BOOT_MS), &sequence);
	return err ? err : ring_wait(rig->ring, sequence, in_ms(BOOT_MS));
}

struct mortise_fault rig_fault(struct rig *rig)
{
	struct ring_report report;

	ring_report(rig->ring, &report);
	assert_int_equal(report.loss, RING_FAULTED);
	return report.fault;
}
