/* SPDX-License-Identifier: MIT */
/* The backend's table: find the driver's nodes and open one. */
#include "devices/rocket/rocket_device.h"
#include "devices/mapped/inline_properties.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>
#include <tenon/uapi/rocket.h>
#include <unistd.h>

#include "lib/brief_errors.h"

#define PREFIX "accel/"
#define DIGITS 9

/* nodes that are looked at when devices are counted */
#define NODES 16

/* what registers reach */
#define MEMORY (UINT64_C(1) << 32)

struct system_source rocket_source = { NULL, "" };

static int open_node(const char *path, struct rocket_accel *out)
{
	return rocket_accel_open(rocket_source.calls, rocket_source.root, path, out);
}

static void name_node(unsigned int number, char path[32])
{
	snprintf(path, 32, "/dev/accel/accel%u", number);
}

/* Find the node of device @index, or count all with UINT32_MAX. Return: how many came before. */
static uint32_t find_node(uint32_t index, char path[32])
{
	struct rocket_accel a;
	unsigned int i;
	uint32_t found = 0;

	for (i = 0; i < NODES && found <= index; i++) {
		name_node(i, path);
		if (open_node(path, &a)) {
			tenon_error_clear();
			continue;
		}
		rocket_accel_close(&a);
		if (found == index)
			return found;
		found++;
	}
	*path = 0;
	return found;
}

/* ---- the table */

static void device_close(struct tenon_device *device)
{
	rocket_accel_close(rocket_accel_of(device));
	free(device);
}

static const struct tenon_device_ops device_ops = {
	.size = sizeof(device_ops),
	.close = device_close,
	.memory = &rocket_memory_ops,
	.queue = &rocket_queue_ops,
	.executable = &rocket_executable_ops,
};

static int backend_count(uint32_t *count)
{
	char path[32];

	*count = find_node(UINT32_MAX, path);
	return 0;
}

static void describe_chip(const struct rocket_chip *chip, struct tenon_device_properties *p)
{
	const uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);

	inline_properties(MEMORY, p);
	snprintf(p->name, sizeof(p->name), "%s", chip->name);
	snprintf(p->vendor, sizeof(p->vendor), "Rockchip");
	snprintf(p->driver, sizeof(p->driver), "Linux's rocket");
	p->processors = chip->cores;
	p->max_allocation = MEMORY - page;
	p->alignment = ROCKET_ATOM;
	p->queues = chip->cores;
}

/* A path in the names of devices that are listed would be found for each that begins like it, "accel/x". */
static int backend_describe(uint32_t index, struct tenon_device_properties *p)
{
	const struct rocket_chip *chip;
	int err = rocket_chip_here(rocket_source.calls, rocket_source.root, &chip);

	if (!err)
		describe_chip(chip, p);
	return err;
}

/* "accel/0" as "/dev/accel/accel0" */
static int read_place(struct tenon_slice place, char path[32])
{
	const size_t prefix = sizeof(PREFIX) - 1;
	size_t i;

	for (i = prefix; i < place.size; i++)
		if (place.data[i] < '0' || place.data[i] > '9')
			break;
	if (place.size <= prefix || place.size > prefix + DIGITS || i < place.size ||
	    memcmp(place.data, PREFIX, prefix))
		return tenon_error(-TENON_E_DEVICE,
				   "rocket has no device \"%.*s\"; \"accel/0\" stands for "
				   "/dev/accel/accel0",
				   (int)place.size, place.data);
	snprintf(path, 32, "/dev/accel/accel%.*s", (int)(place.size - prefix), place.data + prefix);
	return 0;
}

static int choose_node(const struct tenon_device_choice *choice, char path[32])
{
	if (choice->option_count)
		return tenon_error(-TENON_E_VALUE, "rocket has no keys");
	if (choice->place.size)
		return read_place(choice->place, path);
	find_node(choice->index, path);
	return *path ? 0
		     : tenon_error(-TENON_E_DEVICE, "rocket has no device %u now", choice->index);
}

static int backend_open(const struct tenon_device_choice *choice, struct tenon_device **out)
{
	struct rocket_device *d = calloc(1, sizeof(*d));
	char path[32];
	int err;

	if (!d)
		return tenon_error(-TENON_E_NOMEM, "no memory for a device");
	err = choose_node(choice, path);
	if (!err) {
		err = open_node(path, &d->accel);
		if (err && err != -TENON_E_NOMEM)
			err = tenon_error(-TENON_E_DEVICE, "%s", tenon_error_message());
	}
	if (err) {
		free(d);
		return err;
	}
	err = rocket_chip_here(rocket_source.calls, rocket_source.root, &d->chip);
	if (!err)
		err = tenon_device_init(&d->base, &device_ops, &rocket_backend, choice->index);
	if (err) {
		device_close(&d->base);
		return err;
	}
	describe_chip(d->chip, d->base.properties);
	snprintf(d->base.properties->driver, sizeof(d->base.properties->driver),
		 "Linux's rocket, %s", path);
	*out = &d->base;
	return 0;
}

const struct tenon_backend rocket_backend = {
	.abi = TENON_PLUGIN_ABI,
	.size = sizeof(rocket_backend),
	.name = "rocket",
	.device_type = TENON_DL_ROCKET,
	.flags = TENON_BACKEND_FORKS | TENON_BACKEND_PLACES,
	.kinds = rocket_payload_kinds,
	.count = backend_count,
	.describe = backend_describe,
	.open = backend_open,
	.formats = rocket_payload_formats,
};
