/* SPDX-License-Identifier: MIT */
/*
 * A plug-in with the tables of the first release that had this TENON_PLUGIN_ABI: the core must not read past their ends.
 *
 * It is the device null, under a name and number of its own. Behind each table come bytes that are no slots, so a core that
 * reads on crashes. tests/build/abi.sh keeps the layouts of the structs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/null/null.h"

#include "devices/null/null_executable.c"
#include "devices/null/null_memory.c"
#include "devices/null/null_queue.c"

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
	/* to the end of what it knows: fence_imports was not yet there */
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

static struct tenon_queue_ops queue_ops;
static struct tenon_executable_ops executable_ops;
static struct tenon_device_ops device_ops;
static struct tenon_backend backend;

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

/* Overwrite the first slot that a later release added, and all slots behind it. */
#define NO_SLOTS_FROM(table, member)                                                               \
	memset(&(table).member, 0xa5, sizeof(table) - offsetof(__typeof__(table), member))

static void make_tables(void)
{
	queue_ops = null_queue_ops;
	queue_ops.size = offsetof(struct tenon_queue_ops, export_fence);
	NO_SLOTS_FROM(queue_ops, export_fence);
	executable_ops = null_executable_ops;
	executable_ops.size = offsetof(struct tenon_executable_ops, argument);
	NO_SLOTS_FROM(executable_ops, argument);
	device_ops = (struct tenon_device_ops){
		.size = offsetof(struct tenon_device_ops, reset),
		.close = close_device,
		.memory = &null_memory_ops,
		.queue = &queue_ops,
		.executable = &executable_ops,
	};
	NO_SLOTS_FROM(device_ops, reset);
	backend = (struct tenon_backend){
		.abi = TENON_PLUGIN_ABI,
		.size = offsetof(struct tenon_backend, formats),
		.name = "old",
		.device_type = OLD_TYPE,
		.flags = TENON_BACKEND_FORKS,
		.count = count,
		.describe = describe,
		.open = open_device,
	};
	NO_SLOTS_FROM(backend, formats);
}

__attribute__((visibility("default"))) const struct tenon_backend *
tenon_backend_entry(uint32_t abi);
const struct tenon_backend *tenon_backend_entry(uint32_t abi)
{
	make_tables();
	return abi == TENON_PLUGIN_ABI ? &backend : NULL;
}
