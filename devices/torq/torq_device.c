/* SPDX-License-Identifier: MIT */
/* The backend's table: the one node of the kernel's driver. */
#include "devices/torq/torq_device.h"
#include "devices/mapped/inline_properties.h"

#include <stdio.h>
#include <stdlib.h>
#include <tenon/uapi/torq.h>

#include "devices/torq/torq_payload.h"
#include "lib/brief_errors.h"

/* what addresses in XRAM reach */
#define MEMORY (UINT64_C(1) << 32)
/* of parts of memory; those that begin at no page are copied */
#define ALIGNMENT 64

struct system_source torq_source = { NULL, "" };

static void device_close(struct tenon_device *device)
{
	struct torq_device *d = torq_device_of(device);

	torq_node_close(&d->node);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

static const struct tenon_device_ops device_ops = {
	.size = sizeof(device_ops),
	.close = device_close,
	.memory = &torq_memory_ops,
	.queue = &torq_queue_ops,
	.executable = &torq_executable_ops,
};

static int open_node(struct torq_node *out)
{
	int err = torq_node_open(torq_source.calls, torq_source.root, out);

	if (err == -TENON_E_NOT_FOUND)
		return tenon_error(-TENON_E_DEVICE,
				   "no " TORQ_NODE
				   ": load Synaptics' kernel driver torq, which is in "
				   "the kernels of its boards and not in Linux");
	return err && err != -TENON_E_NOMEM
		       ? tenon_error(-TENON_E_DEVICE, "%s", tenon_error_message())
		       : err;
}

static int backend_count(uint32_t *count)
{
	struct torq_node node;
	int err = open_node(&node);

	*count = !err;
	if (!err)
		torq_node_close(&node);
	return err;
}

static int backend_describe(uint32_t index, struct tenon_device_properties *p)
{
	(void)index;
	inline_properties(MEMORY, p);
	snprintf(p->name, sizeof(p->name), "sl2610");
	snprintf(p->vendor, sizeof(p->vendor), "Synaptics");
	snprintf(p->driver, sizeof(p->driver), "Synaptics' torq, " TORQ_NODE);
	p->flags |= TENON_DEVICE_STEADY;
	p->processors = 1;
	p->max_allocation = MEMORY - TORQ_PAGE;
	p->alignment = ALIGNMENT;
	p->queues = 1;
	p->imports = 1u << TENON_HANDLE_DMA_BUF;
	p->exports = 1u << TENON_HANDLE_DMA_BUF;
	return 0;
}

static int backend_open(const struct tenon_device_choice *choice, struct tenon_device **out)
{
	struct torq_device *d;
	int err;

	if (choice->option_count)
		return tenon_error(-TENON_E_VALUE, "torq has no keys");
	d = calloc(1, sizeof(*d));
	if (!d)
		return tenon_error(-TENON_E_NOMEM, "no memory for a device");
	err = open_node(&d->node);
	if (err) {
		free(d);
		return err;
	}
	pthread_mutex_init(&d->lock, NULL);
	err = tenon_device_init(&d->base, &device_ops, &torq_backend, choice->index);
	if (err) {
		device_close(&d->base);
		return err;
	}
	backend_describe(choice->index, d->base.properties);
	*out = &d->base;
	return 0;
}

const struct tenon_backend torq_backend = {
	.abi = TENON_PLUGIN_ABI,
	.size = sizeof(torq_backend),
	.name = "torq",
	.device_type = TENON_DL_TORQ,
	.flags = TENON_BACKEND_FORKS,
	.kinds = torq_payload_kinds,
	.count = backend_count,
	.describe = backend_describe,
	.open = backend_open,
	.formats = torq_payload_formats,
};
