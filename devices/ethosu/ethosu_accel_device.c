/* SPDX-License-Identifier: MIT */
/* Devices of the kernel as devices of the backend: ethosu://accel/0 is /dev/accel/accel0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>

#include "devices/ethosu/ethosu_accel.h"
#include "devices/ethosu/ethosu_accel_device.h"
#include "devices/ethosu/ethosu_runner.h"
#include "lib/brief_errors.h"

struct ethosu_accel_source ethosu_accel_source = { NULL, "" };

static int attach(struct ethosu_device *d, uint32_t number,
		  const struct tenon_device_choice *choice)
{
	struct ethosu_accel *a;
	char path[32];
	int err;

	if (choice->option_count)
		return tenon_error(-TENON_E_VALUE,
				   "ethosu://accel has no keys: the device says what it is");
	snprintf(path, sizeof(path), "/dev/accel/accel%u", number);
	a = malloc(sizeof(*a));
	if (!a)
		return tenon_error(-TENON_E_NOMEM, "no memory for a device");
	err = ethosu_accel_open(ethosu_accel_source.calls, ethosu_accel_source.root, path, a);
	if (err) {
		free(a);
		return err == -TENON_E_NOMEM ? err : -TENON_E_DEVICE;
	}
	d->target = a->target;
	d->state = a;
	return 0;
}

static void detach(struct ethosu_device *d)
{
	ethosu_accel_close(d->state);
	free(d->state);
}

static void describe(const struct ethosu_device *d, struct tenon_device_properties *p)
{
	const struct drm *drm = &((const struct ethosu_accel *)d->state)->drm;

	ethosu_target_name(&d->target, p->name);
	snprintf(p->vendor, sizeof(p->vendor), "Arm");
	snprintf(p->driver, sizeof(p->driver), "Linux's %s %d.%d.%d, %s", drm->driver, drm->major,
		 drm->minor, drm->patch, drm->path);
}

const struct ethosu_transport ethosu_transport_accel = {
	.prefix = "accel/",
	.runner = &ethosu_runner_accel,
	.attach = attach,
	.detach = detach,
	.describe = describe,
};
