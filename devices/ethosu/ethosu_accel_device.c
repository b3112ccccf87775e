/* SPDX-License-Identifier: MIT */
/* Devices of Linux as devices of the backend: ethosu://accel/0 is /dev/accel/accel0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>

#include "devices/ethosu/ethosu_accel_memory.h"
#include "devices/ethosu/ethosu_runner.h"
#include "lib/brief_errors.h"

struct system_source ethosu_accel_source = { NULL, "" };

/* "memory=buffers": tensors are in buffers of the driver, and networks with such inputs and outputs use them there. */
static int read_option(struct ethosu_device *d, const struct tenon_device_option *option)
{
	if (!tenon_slice_equal(option->key, tenon_slice_of("memory")))
		return tenon_error(
			-TENON_E_VALUE,
			"ethosu://accel has no key \"%.*s\": the device says what it is; "
			"it has \"memory\"",
			(int)option->key.size, option->key.data);
	d->own_memory = tenon_slice_equal(option->value, tenon_slice_of("buffers"));
	if (d->own_memory || tenon_slice_equal(option->value, tenon_slice_of("process")))
		return 0;
	return tenon_error(-TENON_E_VALUE,
			   "ethosu://accel: memory=%.*s: expected \"buffers\" or \"process\"",
			   (int)option->value.size, option->value.data);
}

static int open_node(uint32_t number, struct ethosu_accel_state **out)
{
	struct ethosu_accel_state *s = calloc(1, sizeof(*s));
	char path[32];
	int err;

	if (!s)
		return tenon_error(-TENON_E_NOMEM, "no memory for a device");
	snprintf(path, sizeof(path), "/dev/accel/accel%u", number);
	err = ethosu_accel_open(ethosu_accel_source.calls, ethosu_accel_source.root, path,
				&s->accel);
	if (err) {
		free(s);
		return err == -TENON_E_NOMEM
			       ? err
			       : tenon_error(-TENON_E_DEVICE, "%s", tenon_error_message());
	}
	pthread_mutex_init(&s->lock, NULL);
	*out = s;
	return 0;
}

static int attach(struct ethosu_device *d, uint32_t number,
		  const struct tenon_device_choice *choice)
{
	struct ethosu_accel_state *s = NULL;
	size_t i;
	int err = 0;

	for (i = 0; i < choice->option_count && !err; i++)
		err = read_option(d, &choice->options[i]);
	err = err ? err : open_node(number, &s);
	if (err)
		return err;
	d->target = s->accel.target;
	d->state = s;
	return 0;
}

static void detach(struct ethosu_device *d)
{
	struct ethosu_accel_state *s = d->state;

	ethosu_accel_close(&s->accel);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/*
 * Buffers are mapped write-combined, so the CPU reads them slowly. Linux does not report how
 * much memory there is: an allocation fails when none is left.
 */
static void describe_buffers(const struct drm *drm, struct tenon_device_properties *p)
{
	p->heap_count = ETHOSU_HEAP_OWN + 1;
	p->heaps[ETHOSU_HEAP_OWN].size = p->total_memory;
	p->heaps[ETHOSU_HEAP_OWN].flags =
		TENON_HEAP_DEVICE_LOCAL | TENON_HEAP_HOST_VISIBLE | TENON_HEAP_HOST_COHERENT;
	if (drm->can_import)
		p->imports |= 1u << TENON_HANDLE_DMA_BUF;
	if (drm->can_export)
		p->exports |= 1u << TENON_HANDLE_DMA_BUF;
}

static void describe_accel(const struct ethosu_device *d, struct tenon_device_properties *p)
{
	const struct drm *drm = &((const struct ethosu_accel_state *)d->state)->accel.drm;

	ethosu_target_name(&d->target, p->name);
	snprintf(p->vendor, sizeof(p->vendor), "Arm");
	snprintf(p->driver, sizeof(p->driver), "Linux's %s %d.%d.%d, %s", drm->driver, drm->major,
		 drm->minor, drm->patch, drm->path);
	describe_buffers(drm, p);
}

const struct ethosu_transport ethosu_transport_accel = {
	.prefix = "accel/",
	.runner = &ethosu_runner_accel,
	.queue = &ethosu_worker_ops,
	.memory = &ethosu_accel_memory,
	.attach = attach,
	.detach = detach,
	.describe = describe_accel,
};
