/* SPDX-License-Identifier: MIT */
#include "devices/mortise/mortise_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>
#include <tenon/timeline.h>
#include <unistd.h>

#include "lib/brief_errors.h"

/* words of the ring, for some ten thousand packets */
#define RING_WORDS 65536U
#define RING_SIZE  ((uint64_t)RING_WORDS * MORTISE_WORD)

/* part of the window that is for code */
#define CODE_SHARE 8

/* a function that runs longer is ended, where the board has a timer */
#define WATCHDOG_MS 10000

/* an emulated board boots within this, also on a busy machine */
#define BOOT_NS UINT64_C(30000000000)

bool mortise_is_ours(const struct mortise_device *d)
{
	return d->owner == getpid();
}

int mortise_describe(uint32_t index, struct tenon_device_properties *p)
{
	const struct board_kind *kind = mortise_board_kind(index);
	uint64_t heap;

	if (!kind)
		return tenon_error(-TENON_E_DEVICE, "there is no board %u", index);
	heap = (kind->window_size - MORTISE_SHARED_OFFSET - RING_SIZE) / CODE_SHARE *
	       (CODE_SHARE - 1);
	snprintf(p->name, sizeof(p->name), "%s", kind->name);
	snprintf(p->vendor, sizeof(p->vendor), "Tenon");
	snprintf(p->driver, sizeof(p->driver), "mortise %d.%d (%s)", MORTISE_ABI_MAJOR,
		 MORTISE_ABI_MINOR, kind->firmware ? "QEMU" : "simulator");
	p->device_class = TENON_DEVICE_ACCELERATOR;
	p->max_threads = 65536;
	p->max_block[0] = p->max_block[1] = p->max_block[2] = 65536;
	p->max_grid[0] = p->max_grid[1] = p->max_grid[2] = INT32_MAX;
	p->warp_size = 1;
	p->max_shared = MORTISE_GROUP_MEMORY;
	p->max_arguments = MORTISE_ARGUMENT_COUNT - 1;
	p->processors = 1;
	p->total_memory = heap;
	p->max_allocation = heap;
	/* the widest word that a core may refuse to load from elsewhere */
	p->alignment = 16;
	/* of the memory that the board shares alone */
	p->imports = 1U << TENON_HANDLE_HOST_POINTER;
	p->queues = 1;
	p->heap_count = 1;
	p->heaps[0].size = heap;
	p->heaps[0].flags = TENON_HEAP_DEVICE_LOCAL | TENON_HEAP_HOST_VISIBLE |
			    TENON_HEAP_HOST_COHERENT | TENON_HEAP_HOST_CACHED;
	return 0;
}

static int read_watchdog(const struct tenon_device_choice *choice, uint32_t *watchdog_ms)
{
	const struct tenon_device_option *o = choice->options;
	uint64_t value = 0;
	size_t i, k;

	*watchdog_ms = WATCHDOG_MS;
	for (i = 0; i < choice->option_count; i++) {
		if (!tenon_slice_equal(o[i].key, tenon_slice_of("watchdog")))
			return tenon_error(
				-TENON_E_VALUE,
				"mortise has no key \"%.*s\"; it knows watchdog=MILLISECONDS",
				(int)o[i].key.size, o[i].key.data);
		for (k = 0; k < o[i].value.size && k < 9 && o[i].value.data[k] >= '0' &&
			    o[i].value.data[k] <= '9';
		     k++)
			value = value * 10 + (uint64_t)(o[i].value.data[k] - '0');
		if (!k || k < o[i].value.size)
			return tenon_error(-TENON_E_VALUE,
					   "mortise: watchdog=%.*s is no number of milliseconds",
					   (int)o[i].value.size, o[i].value.data);
		*watchdog_ms = (uint32_t)value;
	}
	return 0;
}

/* The window: ring, code, tensors. */
static int divide_window(struct mortise_device *d, uint64_t size)
{
	uint64_t ring_end = MORTISE_SHARED_OFFSET + RING_SIZE;
	uint64_t code = (size - ring_end) / CODE_SHARE & ~(uint64_t)4095;
	uint64_t code_offset = (ring_end + 4095) & ~(uint64_t)4095;
	int err = mortise_heap_init(&d->code, code_offset, code);

	if (!err)
		err = mortise_heap_init(&d->heap, code_offset + code, size - code_offset - code);
	d->heap_offset = code_offset + code;
	d->heap_size = size - code_offset - code;
	if (!err)
		err = mortise_heap_take(&d->heap, MORTISE_GROUP_MEMORY, 16, &d->group_memory);
	return err;
}

static int open_ring(struct mortise_device *d, const struct board_kind *kind, uint32_t watchdog_ms)
{
	const struct shm *memory = board_memory(d->board);
	struct ring_setup setup = {
		.name = kind->name,
		.window = memory->base,
		.window_size = memory->size,
		.window_address = d->address,
		.ring_offset = MORTISE_SHARED_OFFSET,
		.ring_words = RING_WORDS,
		.watchdog_ms = watchdog_ms,
		.region_count = 2,
	};
	struct ring_report report;
	int err;

	setup.regions[0] = (struct mortise_region){ d->address + d->heap.first->offset,
						    memory->size - d->heap.first->offset,
						    MORTISE_READ | MORTISE_WRITE, 0 };
	setup.regions[1] =
		(struct mortise_region){ d->address + d->code.first->offset, d->code.left,
					 MORTISE_WRITE | MORTISE_EXECUTE, 0 };
	err = ring_open(board_port(d->board), &setup, tenon_deadline(BOOT_NS), &d->ring);
	if (err)
		return err;
	ring_report(d->ring, &report);
	d->machine = report.identity.machine;
	d->address_bits = report.identity.address_bits;
	d->tick_hz =
		report.identity.features & MORTISE_FEATURE_TIMESTAMP ? report.identity.tick_hz : 0;
	return 0;
}

static void close_board(struct mortise_device *d)
{
	/* the parent's session goes on: a child must not write to it */
	if (mortise_is_ours(d))
		ring_close(d->ring);
	board_close(d->board);
	mortise_heap_fini(&d->heap);
	mortise_heap_fini(&d->code);
	pthread_mutex_destroy(&d->lock);
}

static void mortise_close(struct tenon_device *device)
{
	struct mortise_device *d = mortise_device_of(device);

	close_board(d);
	free(d);
}

static int mortise_available(struct tenon_device *device, uint64_t *bytes)
{
	*bytes = mortise_heap_left(&mortise_device_of(device)->heap);
	return 0;
}

static const struct tenon_device_ops mortise_device_ops = {
	.size = sizeof(mortise_device_ops),
	.close = mortise_close,
	.available_memory = mortise_available,
	.memory = &mortise_memory_ops,
	.queue = &mortise_queue_ops,
	.executable = &mortise_executable_ops,
};

static int start(struct mortise_device *d, const struct board_kind *kind, uint32_t watchdog_ms)
{
	int err = board_open(kind, &d->board);

	if (err)
		return err;
	d->window = board_memory(d->board)->base;
	d->address = board_address(d->board);
	err = divide_window(d, board_memory(d->board)->size);
	return err ? err : open_ring(d, kind, watchdog_ms);
}

static void fill_properties(struct mortise_device *d, uint32_t index)
{
	struct tenon_device_properties *p = d->base.properties;
	struct ring_report report;
	uint32_t v;

	mortise_describe(index, p);
	ring_report(d->ring, &report);
	v = report.identity.version;
	p->driver_version = (int32_t)v;
	snprintf(p->compute_version, sizeof(p->compute_version), "%u.%u.%u", v >> 16 & 0xff,
		 v >> 8 & 0xff, v & 0xff);
	p->total_memory = p->max_allocation = p->heaps[0].size = mortise_heap_left(&d->heap);
	if (d->tick_hz)
		p->timestamp_period = (uint32_t)(UINT64_C(1000000000000) / d->tick_hz);
}

int mortise_open(const struct tenon_device_choice *choice, struct tenon_device **out)
{
	const struct board_kind *kind = mortise_board_kind(choice->index);
	struct mortise_device *d;
	uint32_t watchdog_ms;
	int err;

	if (!kind)
		return tenon_error(-TENON_E_DEVICE, "there is no board %u", choice->index);
	err = read_watchdog(choice, &watchdog_ms);
	if (err)
		return err;
	d = calloc(1, sizeof(*d));
	if (!d)
		return tenon_error(-TENON_E_NOMEM, "no memory for a device");
	d->owner = getpid();
	pthread_mutex_init(&d->lock, NULL);
	err = start(d, kind, watchdog_ms);
	if (!err)
		err = tenon_device_init(&d->base, &mortise_device_ops, &mortise_backend,
					choice->index);
	if (err) {
		close_board(d);
		free(d);
		return err;
	}
	fill_properties(d, choice->index);
	*out = &d->base;
	return 0;
}
