/* SPDX-License-Identifier: MIT */
/* Probe backends, and list their devices and those that are missing. */
#include <string.h>
#include <tenon/backend/backend.h>
#include <tenon/probe.h>
#include <tenon/string.h>

#include "lib/option.h"
#include "tools/devices_verb/devices.h"
#include "tools/devices_verb/driver_probe.h"

/* kinds that payloads are made for; listed in this order when no backend supports them */
static const char *const known[] = { "cuda", "opencl", "vulkan", "mortise" };

static void add_absent(struct device_list *l, const char *name, const char *outcome,
		       const char *why)
{
	struct listed_driver *d = &l->absent[l->absent_count];

	if (l->absent_count == DRIVERS_LISTED)
		return;
	d->name = name;
	d->outcome = outcome;
	snprintf(d->why, sizeof(d->why), "%s", why);
	l->absent_count++;
}

static const char *outcome_word(const struct tenon_probe *probe)
{
	static const char *const words[] = { "works",  "failed", "crashed",
					     "exited", "hung",	 "left out" };

	return words[probe->outcome];
}

/* A backend whose devices are elsewhere, or that have no list, lists none. */
static const char *without_devices(const struct tenon_backend *b)
{
	static char text[64];

	if (!(b->flags & TENON_BACKEND_PLACES))
		return "its driver sees no device";
	snprintf(text, sizeof(text), "devices are opened by their place: %s://…", b->name);
	return text;
}

static int add_devices(void *context, const struct tenon_backend *b)
{
	struct device_list *l = context;
	const struct tenon_probe *probe;
	uint32_t i;

	/* the CPU is listed separately, and null is not a real device */
	if (!strcmp(b->name, "cpu") || !strcmp(b->name, "null"))
		return 0;
	if (driver_probe(b, &probe)) {
		add_absent(l, b->name, NULL, tenon_error_message());
		tenon_error_clear();
		return 0;
	}
	if (*probe->reason)
		add_absent(l, b->name, outcome_word(probe), probe->reason);
	else if (!probe->device_count)
		add_absent(l, b->name, outcome_word(probe), without_devices(b));
	for (i = 0; i < probe->device_count && l->device_count < DEVICES_LISTED; i++) {
		struct listed_device *d = &l->devices[l->device_count];

		if (!*probe->devices[i]->name)
			continue;
		d->driver = b->name;
		d->index = i;
		d->properties = *probe->devices[i];
		l->device_count++;
	}
	return 0;
}

bool backend_is_built(struct tenon_slice name)
{
	return tenon_backend_find(name) != NULL;
}

void devices_list(struct device_list *l)
{
	size_t i;

	memset(l, 0, sizeof(*l));
	machine_read(&l->machine);
	if (OPTION_ON(DEVICES))
		tenon_backend_each(add_devices, l);
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!backend_is_built(tenon_slice_of(known[i])))
			add_absent(l, known[i], NULL, "not in this build");
	if (OPTION_ON(DEVICES))
		l->node_count = drm_nodes_read("", l->nodes, NODES_LISTED);
}
