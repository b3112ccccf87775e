/* SPDX-License-Identifier: MIT */
/*
 * Functions of the table entry of a backend built as a plug-in. The first call opens the plug-in.
 */
#include "lib/plugin.h"
#include "runtime/device/device_table.h"

static int open_backend(struct plugin *plugin, const struct tenon_backend **out)
{
	int err = plugin_open(plugin, -TENON_E_DEVICE);

	*out = plugin->offer;
	return err;
}

int backend_plugin_count(struct plugin *plugin, uint32_t *count)
{
	const struct tenon_backend *b;
	int err = open_backend(plugin, &b);

	return err ? err : b->count(count);
}

int backend_plugin_describe(struct plugin *plugin, uint32_t index,
			    struct tenon_device_properties *properties)
{
	const struct tenon_backend *b;
	int err = open_backend(plugin, &b);

	return err ? err : b->describe(index, properties);
}

int backend_plugin_device(struct plugin *plugin, const struct tenon_device_choice *choice,
			  struct tenon_device **out)
{
	const struct tenon_backend *b;
	int err = open_backend(plugin, &b);

	return err ? err : b->open(choice, out);
}

int backend_plugin_doctor(struct plugin *plugin, struct tenon_buffer *out)
{
	const struct tenon_backend *b;
	int err = open_backend(plugin, &b);

	return err || !b->doctor ? err : b->doctor(out);
}

const void *backend_plugin_extension(struct plugin *plugin, const char *name)
{
	const struct tenon_backend *b;

	if (open_backend(plugin, &b) || !b->extension)
		return NULL;
	return b->extension(name);
}
