/* SPDX-License-Identifier: MIT */
/* The backend's table: count, describe and open models, nodes and UIO devices. */
#include "devices/ethosu/ethosu_device.h"
#include "devices/ethosu/ethosu_runner.h"
#include "devices/mapped/inline_properties.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/ethosu.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"

/* most bytes of a buffer: below the range of 32 bits; larger requests are errors of the caller */
#define MEMORY (UINT64_C(1) << 31)

/* more digits than there are devices */
#define DIGITS 6

static void device_close(struct tenon_device *device)
{
	struct ethosu_device *d = (struct ethosu_device *)device;

	if (d->state)
		d->transport->detach(d);
	free(d);
}

static int device_reset(struct tenon_device *device)
{
	struct ethosu_device *d = (struct ethosu_device *)device;

	return d->transport->reset(d);
}

static int backend_count(uint32_t *count)
{
	*count = 1;
	return 0;
}

static int backend_describe(uint32_t index, struct tenon_device_properties *p)
{
	inline_properties(MEMORY, p);
	p->flags = TENON_DEVICE_INLINE;
	snprintf(p->name, sizeof(p->name), "sim");
	snprintf(p->vendor, sizeof(p->vendor), "Tenon");
	snprintf(p->driver, sizeof(p->driver), "functional model of Ethos-U55 and U65");
	p->processors = 1;
	p->alignment = 1;
	p->queues = 1;
	p->imports = 1u << TENON_HANDLE_HOST_POINTER;
	return 0;
}

/* "target=u65-256": run only what was compiled for it, as hardware does. */
static int read_option(const struct tenon_device_option *option, struct ethosu_device *d)
{
	char name[ETHOSU_TARGET_NAME];

	if (!tenon_slice_equal(option->key, tenon_slice_of("target")))
		return tenon_error(-TENON_E_VALUE, "ethosu has no key \"%.*s\"; it has \"target\"",
				   (int)option->key.size, option->key.data);
	snprintf(name, sizeof(name), "%.*s", (int)option->value.size, option->value.data);
	d->is_any = false;
	return ethosu_target_find(name, &d->target) ? -TENON_E_VALUE : 0;
}

static int sim_attach(struct ethosu_device *d, uint32_t number,
		      const struct tenon_device_choice *choice)
{
	size_t i;
	int err = 0;

	d->is_any = true;
	for (i = 0; i < choice->option_count && !err; i++)
		err = read_option(&choice->options[i], d);
	return err;
}

static const struct ethosu_transport sim = {
	.prefix = "",
	.runner = &ethosu_runner_sim,
	.queue = &ethosu_inline_ops,
	.attach = sim_attach,
};

static const struct ethosu_transport *const transports[] = {
	&sim,
	&ethosu_transport_accel,
	&ethosu_transport_uio,
	NULL,
};

/* "accel/0": the prefix, and a number; "" is the model, and has none. */
static bool is_place(const struct ethosu_transport *t, struct tenon_slice place, uint32_t *number)
{
	const size_t prefix = strlen(t->prefix);
	size_t i;

	*number = 0;
	if (!prefix)
		return !place.size;
	if (place.size <= prefix || place.size > prefix + DIGITS ||
	    memcmp(place.data, t->prefix, prefix))
		return false;
	for (i = prefix; i < place.size && place.data[i] >= '0' && place.data[i] <= '9'; i++)
		*number = *number * 10 + (uint32_t)(place.data[i] - '0');
	return i == place.size;
}

static int no_such_place(struct tenon_slice place)
{
	const struct ethosu_transport *const *t;
	char known[64] = "";
	size_t used = 0;

	for (t = transports; *t; t++)
		if (*(*t)->prefix)
			used += (size_t)snprintf(known + used, sizeof(known) - used,
						 ", and \"%sN\"", (*t)->prefix);
	return tenon_error(-TENON_E_DEVICE,
			   "ethosu has no device \"%.*s\"; this build has \"sim\"%s",
			   (int)place.size, place.data, known);
}

/*
 * Refuse big-endian machines: registers, streams and tensors are little-endian, and no code here
 * swaps bytes.
 */
static int check_order(const struct ethosu_transport *t)
{
	if (!*t->prefix || __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		return 0;
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "ethosu://%sN: this machine is big-endian, and Ethos-U is driven by "
			   "little-endian ones alone; ethosu://sim is the model",
			   t->prefix);
}

static int open_choice(const struct tenon_device_choice *choice, struct ethosu_device *d)
{
	const struct ethosu_transport *const *t;
	uint32_t number = 0;
	int err;

	for (t = transports; *t && !is_place(*t, choice->place, &number); t++)
		;
	if (!*t)
		return no_such_place(choice->place);
	err = check_order(*t);
	if (err)
		return err;
	d->transport = *t;
	return d->transport->attach(d, number, choice);
}

static int backend_open(const struct tenon_device_choice *choice, struct tenon_device **out)
{
	struct ethosu_device *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return tenon_error(-TENON_E_NOMEM, "no memory for a device");
	err = open_choice(choice, d);
	if (!err) {
		d->ops = (struct tenon_device_ops){ .size = sizeof(d->ops),
						    .close = device_close,
						    .memory = &ethosu_memory_ops,
						    .queue = d->transport->queue,
						    .executable = &ethosu_executable_ops,
						    .reset = d->transport->reset ? device_reset
										 : NULL };
		err = tenon_device_init(&d->base, &d->ops, &ethosu_backend, choice->index);
	}
	if (err) {
		device_close(&d->base);
		return err;
	}
	backend_describe(choice->index, d->base.properties);
	if (d->ops.queue != &ethosu_inline_ops)
		d->base.properties->flags &= ~(uint32_t)TENON_DEVICE_INLINE;
	if (d->transport->describe)
		d->transport->describe(d, d->base.properties);
	*out = &d->base;
	return 0;
}

static const void *backend_extension(const char *name)
{
	return strcmp(name, ETHOSU_LAUNCHER) ? NULL : &ethosu_launcher;
}

const struct tenon_backend ethosu_backend = {
	.abi = TENON_PLUGIN_ABI,
	.size = sizeof(ethosu_backend),
	.name = "ethosu",
	.device_type = TENON_DL_ETHOSU,
	.flags = TENON_BACKEND_FORKS | TENON_BACKEND_PLACES,
	.kinds = ethosu_payload_kinds,
	.count = backend_count,
	.describe = backend_describe,
	.open = backend_open,
	.formats = ethosu_payload_formats,
	.extension = backend_extension,
};
