/* SPDX-License-Identifier: MIT */
/* The backend's table, and opening a device: where a new backend begins. */
#include "devices/null/null.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY (UINT64_C(64) << 20)

/* A backend's struct begins with the core's struct. */
struct null_device {
	struct tenon_device base;
};

static void null_close(struct tenon_device *device)
{
	free(device);
}

static const struct tenon_device_ops null_device_ops = {
	.size = sizeof(null_device_ops),
	.close = null_close,
	.memory = &null_memory_ops,
	.queue = &null_queue_ops,
	.executable = &null_executable_ops,
};

static int null_count(uint32_t *count)
{
	*count = 1;
	return 0;
}

static int null_describe(uint32_t index, struct tenon_device_properties *p)
{
	snprintf(p->name, sizeof(p->name), "null device");
	snprintf(p->vendor, sizeof(p->vendor), "Tenon");
	snprintf(p->driver, sizeof(p->driver), "null 1");
	p->device_class = TENON_CLASS_OTHER;
	p->flags = TENON_DEVICE_INLINE;
	p->max_threads = 1024;
	p->max_block[0] = p->max_block[1] = p->max_block[2] = 1024;
	p->max_grid[0] = p->max_grid[1] = p->max_grid[2] = INT32_MAX;
	p->warp_size = 1;
	p->max_shared = 64 << 10;
	p->processors = 1;
	p->total_memory = MEMORY;
	p->max_allocation = MEMORY;
	p->alignment = 1;
	p->queues = 1;
	p->timestamp_period = 1000;
	p->imports = 1u << TENON_HANDLE_HOST_POINTER;
	p->heap_count = 1;
	p->heaps[0].size = MEMORY;
	p->heaps[0].flags = TENON_HEAP_DEVICE_LOCAL | TENON_HEAP_HOST_VISIBLE |
			    TENON_HEAP_HOST_COHERENT | TENON_HEAP_HOST_CACHED;
	return 0;
}

static int null_open(const struct tenon_device_choice *choice, struct tenon_device **out)
{
	struct null_device *d;
	int err;

	if (choice->option_count)
		return tenon_error(-TENON_E_VALUE, "null has no key \"%.*s\": it takes none",
				   (int)choice->options[0].key.size, choice->options[0].key.data);
	d = calloc(1, sizeof(*d));
	if (!d)
		return tenon_error(-TENON_E_NOMEM, "no memory for a device");
	err = tenon_device_init(&d->base, &null_device_ops, &null_backend, choice->index);
	if (err) {
		free(d);
		return err;
	}
	null_describe(choice->index, d->base.properties);
	*out = &d->base;
	return 0;
}

const struct tenon_backend null_backend = {
	.abi = TENON_PLUGIN_ABI,
	.size = sizeof(null_backend),
	.name = "null",
	.device_type = NULL_DEVICE_TYPE,
	.flags = TENON_BACKEND_FORKS,
	.kinds = null_payload_kinds,
	.count = null_count,
	.describe = null_describe,
	.open = null_open,
	.formats = null_payload_formats,
};
