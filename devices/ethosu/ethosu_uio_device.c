/* SPDX-License-Identifier: MIT */
/* Devices of UIO as devices of the backend: ethosu://uio/0 is /dev/uio0. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>

#include "devices/ethosu/ethosu_runner.h"
#include "devices/ethosu/ethosu_uio.h"
#include "lib/brief_errors.h"

struct system_source ethosu_uio_source = { NULL, "" };

/* what the keys of a name said */
struct wanted {
	char memory[40];
	char ports[16];
};

static int read_text(const struct tenon_device_option *o, char *to, size_t room)
{
	if (o->value.size >= room || !o->value.size)
		return tenon_error(-TENON_E_VALUE, "ethosu://uio: %.*s=%.*s: from 1 to %zu bytes",
				   (int)o->key.size, o->key.data, (int)o->value.size, o->value.data,
				   room - 1);
	memcpy(to, o->value.data, o->value.size);
	to[o->value.size] = 0;
	return 0;
}

static int read_option(const struct tenon_device_option *o, struct wanted *w)
{
	if (tenon_slice_equal(o->key, tenon_slice_of("memory")))
		return read_text(o, w->memory, sizeof(w->memory));
	if (tenon_slice_equal(o->key, tenon_slice_of("ports")))
		return read_text(o, w->ports, sizeof(w->ports));
	return tenon_error(-TENON_E_VALUE,
			   "ethosu://uio has no key \"%.*s\"; it has \"memory\" and \"ports\"",
			   (int)o->key.size, o->key.data);
}

static int read_ports(const char *text, uint32_t *out)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 0);
	/* strtoul() accepts spaces and a sign in front; both come before '0' in ASCII */
	if (errno || *end || *text < '0' || value > 0xffff)
		return tenon_error(-TENON_E_VALUE,
				   "ethosu://uio: ports=%s: expected the register REGIONCFG, two "
				   "bits a region, as in 0xaa8a",
				   text);
	*out = (uint32_t)value;
	return 0;
}

static int open_device(const struct ethosu_uio_place *place, struct ethosu_device *d)
{
	struct ethosu_uio *u = malloc(sizeof(*u));
	int err;

	if (!u)
		return tenon_error(-TENON_E_NOMEM, "no memory for a device");
	err = ethosu_uio_open(place, u);
	if (err) {
		free(u);
		return err == -TENON_E_NOMEM || err == -TENON_E_VALUE
			       ? err
			       : tenon_error(-TENON_E_DEVICE, "%s", tenon_error_message());
	}
	d->target = u->target;
	d->state = u;
	return 0;
}

static int attach(struct ethosu_device *d, uint32_t number,
		  const struct tenon_device_choice *choice)
{
	struct ethosu_uio_place place = { ethosu_uio_source.calls, ethosu_uio_source.root, number,
					  NULL, NULL };
	struct wanted wanted = { "", "" };
	uint32_t ports;
	size_t i;
	int err = 0;

	for (i = 0; i < choice->option_count && !err; i++)
		err = read_option(&choice->options[i], &wanted);
	if (!err && *wanted.ports) {
		err = read_ports(wanted.ports, &ports);
		place.ports = &ports;
	}
	if (*wanted.memory)
		place.memory = wanted.memory;
	return err ? err : open_device(&place, d);
}

static void detach(struct ethosu_device *d)
{
	ethosu_uio_close(d->state);
	free(d->state);
}

static void describe_uio(const struct ethosu_device *d, struct tenon_device_properties *p)
{
	const struct ethosu_uio *u = d->state;

	ethosu_target_name(&d->target, p->name);
	snprintf(p->vendor, sizeof(p->vendor), "Arm");
	snprintf(p->driver, sizeof(p->driver), "registers behind UIO, %s%s", u->uio.path,
		 u->polls ? ", without an interrupt" : "");
}

/* The device is opened anew, while this one is still open. */
static int reset(struct ethosu_device *d)
{
	return ethosu_uio_give_up(d->state);
}

const struct ethosu_transport ethosu_transport_uio = {
	.prefix = "uio/",
	.runner = &ethosu_runner_uio,
	.queue = &ethosu_worker_ops,
	.attach = attach,
	.detach = detach,
	.describe = describe_uio,
	.reset = reset,
};
