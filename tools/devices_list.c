/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <tenon/string.h>

#include "tools/devices.h"

/* kinds that payloads are made for, in the order they are listed when no backend has them */
static const char *const known[] = { "cuda", "opencl", "vulkan", "mortise" };

static void add_absent(struct device_list *l, const char *name, const char *why)
{
	struct listed_driver *d = &l->absent[l->absent_count];

	if (l->absent_count == DRIVERS_LISTED)
		return;
	d->name = name;
	snprintf(d->why, sizeof(d->why), "%s", why);
	l->absent_count++;
}

#ifdef CONFIG_DEVICES
static int add_devices(void *context, const struct tenon_backend *b)
{
	struct device_list *l = context;
	uint32_t i, count;

	/* the processor is listed by itself, and null is nobody's device */
	if (!strcmp(b->name, "cpu") || !strcmp(b->name, "null"))
		return 0;
	if (tenon_backend_count(b, &count)) {
		add_absent(l, b->name, tenon_error_message());
		tenon_error_clear();
		return 0;
	}
	if (!count)
		add_absent(l, b->name, "its driver sees no device");
	for (i = 0; i < count && l->device_count < DEVICES_LISTED; i++) {
		struct listed_device *d = &l->devices[l->device_count];

		d->driver = b->name;
		d->index = i;
		if (tenon_backend_describe(b, i, &d->properties)) {
			add_absent(l, b->name, tenon_error_message());
			tenon_error_clear();
			continue;
		}
		l->device_count++;
	}
	return 0;
}

#endif

bool backend_is_built(struct tenon_slice name)
{
	return tenon_backend_find(name) != NULL;
}

void devices_list(struct device_list *l)
{
	size_t i;

	memset(l, 0, sizeof(*l));
	machine_read(&l->machine);
#ifdef CONFIG_DEVICES
	tenon_backend_each(add_devices, l);
#endif
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!backend_is_built(tenon_slice_of(known[i])))
			add_absent(l, known[i], "not in this build");
#ifdef CONFIG_DRM_NODES
	l->node_count = drm_nodes_read("", l->nodes, NODES_LISTED);
#endif
}
