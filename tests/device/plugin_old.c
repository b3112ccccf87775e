/* SPDX-License-Identifier: MIT */
/*
 * A plug-in that was built with the headers of tests/device/old_headers: the device null, under a name and number of
 * its own. Its tables and its idea of the properties are shorter than the library's.
 */
#include <stdio.h>
#include <stdlib.h>

#include "devices/null/null.h"

#include "devices/null/null_executable.c"
#include "devices/null/null_memory.c"
#include "devices/null/null_queue.c"

_Static_assert(sizeof(struct tenon_queue_ops) ==
		       offsetof(struct tenon_queue_ops, reserved) + sizeof(uint32_t),
	       "the queue table ends at reserved");

#define OLD_TYPE 92

static int count(uint32_t *out)
{
	*out = 1;
	return 0;
}

static int describe(uint32_t index, struct tenon_device_properties *p)
{
	(void)index;
	snprintf(p->name, sizeof(p->name), "null device of a plug-in");
	snprintf(p->driver, sizeof(p->driver), "old 1");
	p->flags = TENON_DEVICE_INLINE;
	p->max_threads = 1024;
	p->max_block[0] = p->max_block[1] = p->max_block[2] = 1024;
	p->max_grid[0] = p->max_grid[1] = p->max_grid[2] = INT32_MAX;
	p->warp_size = 1;
	p->max_shared = 64 << 10;
	p->processors = 1;
	p->total_memory = p->max_allocation = 64 << 20;
	p->alignment = 1;
	p->queues = 1;
	p->timestamp_period = 1000;
	p->imports = 1u << TENON_HANDLE_HOST_POINTER;
	/* to the end of what it knows */
	p->heap_count = 1;
	p->heaps[0].size = p->total_memory;
	p->heaps[0].flags = TENON_HEAP_DEVICE_LOCAL | TENON_HEAP_HOST_VISIBLE |
			    TENON_HEAP_HOST_COHERENT | TENON_HEAP_HOST_CACHED;
	return 0;
}

static void close_device(struct tenon_device *device)
{
	/* what it was opened with is there until it is closed */
	if (device->properties->heap_count != 1)
		abort();
	free(device);
}

static const struct tenon_device_ops device_ops = {
	.size = sizeof(device_ops),
	.close = close_device,
	.memory = &null_memory_ops,
	.queue = &null_queue_ops,
	.executable = &null_executable_ops,
};

static const struct tenon_backend backend;

static int open_device(const struct tenon_device_choice *choice, struct tenon_device **out)
{
	struct tenon_device *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return tenon_error(-TENON_E_NOMEM, "no memory for a device");
	err = tenon_device_init(d, &device_ops, &backend, choice->index);
	if (err) {
		free(d);
		return err;
	}
	describe(choice->index, d->properties);
	*out = d;
	return 0;
}

static const struct tenon_backend backend = {
	.abi = TENON_DEVICE_ABI,
	.size = sizeof(backend),
	.name = "old",
	.device_type = OLD_TYPE,
	.flags = TENON_BACKEND_FORKS,
	.count = count,
	.describe = describe,
	.open = open_device,
};

__attribute__((visibility("default"))) const struct tenon_backend *
tenon_backend_entry(uint32_t abi);
const struct tenon_backend *tenon_backend_entry(uint32_t abi)
{
	return abi == TENON_DEVICE_ABI ? &backend : NULL;
}
