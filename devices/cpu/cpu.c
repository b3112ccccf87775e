/* SPDX-License-Identifier: MIT */
/* The backend's table: count, describe and open the processor as a device. */
#include "devices/cpu/cpu.h"

#include "lib/brief_errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <tenon/string.h>
#include <unistd.h>

extern const struct tenon_backend cpu_backend;

static void cpu_close(struct tenon_device *device)
{
	free(device);
}

static uint64_t pages(int which)
{
	long count = sysconf(which), size = sysconf(_SC_PAGESIZE);

	return count > 0 && size > 0 ? (uint64_t)count * (uint64_t)size : 0;
}

static int cpu_available(struct tenon_device *device, uint64_t *bytes)
{
	*bytes = pages(_SC_AVPHYS_PAGES);
	return 0;
}

#define DEVICE_OPS(queue_ops)                                                                      \
	{                                                                                          \
		.size = sizeof(struct tenon_device_ops), .close = cpu_close,                       \
		.available_memory = cpu_available, .memory = &cpu_memory_ops,                      \
		.queue = (queue_ops), .executable = &cpu_executable_ops,                           \
	}

static const struct tenon_device_ops inline_ops = DEVICE_OPS(&cpu_inline_ops);
static const struct tenon_device_ops worker_ops = DEVICE_OPS(&cpu_worker_ops);

static int cpu_count(uint32_t *count)
{
	*count = 1;
	return 0;
}

/* Read "model name	: AMD EPYC …"; some machines do not have it. */
static void read_model(char *name, size_t room)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256], *at;

	while (f && fgets(line, sizeof(line), f)) {
		at = strchr(line, ':');
		if (strncmp(line, "model name", 10) || !at)
			continue;
		at += 1 + strspn(at + 1, " ");
		at[strcspn(at, "\n")] = 0;
		snprintf(name, room, "%s", at);
		break;
	}
	if (f)
		fclose(f);
}

static int cpu_describe(uint32_t index, struct tenon_device_properties *p)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct utsname u;

	if (!uname(&u)) {
		snprintf(p->name, sizeof(p->name), "%.60s", u.machine);
		snprintf(p->architecture, sizeof(p->architecture), "%.30s", u.machine);
	}
	read_model(p->name, sizeof(p->name));
	snprintf(p->driver, sizeof(p->driver), "cpu 1");
	p->device_class = TENON_CLASS_CPU;
	p->flags = TENON_DEVICE_ADDRESSES | TENON_DEVICE_HOST_MEMORY | TENON_DEVICE_INLINE;
	p->max_threads = 1;
	p->max_block[0] = p->max_block[1] = p->max_block[2] = INT32_MAX;
	p->max_grid[0] = p->max_grid[1] = p->max_grid[2] = INT32_MAX;
	p->warp_size = 1;
	p->max_shared = 1 << 20;
	p->processors = processors > 0 ? (uint32_t)processors : 1;
	p->total_memory = pages(_SC_PHYS_PAGES);
	p->max_allocation = p->total_memory;
	p->alignment = 1;
	p->queues = p->processors;
	p->timestamp_period = 1000;
	p->imports = 1u << TENON_HANDLE_HOST_POINTER | 1u << TENON_HANDLE_OPAQUE_FD |
		     1u << TENON_HANDLE_DMA_BUF;
	p->exports = 1u << TENON_HANDLE_OPAQUE_FD;
	p->heap_count = 1;
	p->heaps[0].size = p->total_memory;
	p->heaps[0].flags = TENON_HEAP_DEVICE_LOCAL | TENON_HEAP_HOST_VISIBLE |
			    TENON_HEAP_HOST_COHERENT | TENON_HEAP_HOST_CACHED;
	return 0;
}

static int read_options(const struct tenon_device_choice *choice, bool *worker)
{
	const struct tenon_device_option *o = choice->options;
	size_t i;

	*worker = false;
	for (i = 0; i < choice->option_count; i++) {
		if (!tenon_slice_equal(o[i].key, tenon_slice_of("queue")))
			return tenon_error(-TENON_E_VALUE,
					   "cpu has no key \"%.*s\"; it knows queue=inline and "
					   "queue=worker",
					   (int)o[i].key.size, o[i].key.data);
		*worker = tenon_slice_equal(o[i].value, tenon_slice_of("worker"));
		if (!*worker && !tenon_slice_equal(o[i].value, tenon_slice_of("inline")))
			return tenon_error(-TENON_E_VALUE, "cpu: queue=%.*s; want inline or worker",
					   (int)o[i].value.size, o[i].value.data);
	}
	return 0;
}

static int cpu_open(const struct tenon_device_choice *choice, struct tenon_device **out)
{
	struct cpu_device *d;
	bool worker;
	int err;

	err = read_options(choice, &worker);
	if (err)
		return err;
	d = calloc(1, sizeof(*d));
	if (!d)
		return tenon_error(-TENON_E_NOMEM, "no memory for a device");
	err = tenon_device_init(&d->base, worker ? &worker_ops : &inline_ops, &cpu_backend,
				choice->index);
	if (err) {
		free(d);
		return err;
	}
	cpu_describe(choice->index, d->base.properties);
	if (worker)
		d->base.properties->flags &= ~(uint32_t)TENON_DEVICE_INLINE;
	d->worker = worker;
	*out = &d->base;
	return 0;
}

const struct tenon_backend cpu_backend = {
	.abi = TENON_PLUGIN_ABI,
	.size = sizeof(cpu_backend),
	.name = "cpu",
	.device_type = kDLCPU,
	.flags = TENON_BACKEND_FORKS,
	.count = cpu_count,
	.describe = cpu_describe,
	.open = cpu_open,
};
