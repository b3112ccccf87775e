/* SPDX-License-Identifier: MIT */
/*
 * Description of the payloads of Ethos-U. The library has this file alone where the backend is a plug-in: reading a payload
 * opens it. Compiled once more for the plug-in and for libtenon.a.
 */
#include "devices/ethosu/ethosu_device.h"

#ifdef CONFIG_DEVICE_ETHOSU_MODULE
#include <tenon/backend/backend.h>

#include "lib/plugin.h"

static int open_plugin(const struct tenon_payload_format **out)
{
	static struct plugin plugin = { "ethosu", "CONFIG_DEVICE_ETHOSU", NULL };
	const struct tenon_backend *backend;
	int err = plugin_open(&plugin, -TENON_E_NO_LOADER);

	if (err)
		return err;
	backend = plugin.offer;
	*out = backend->formats[0];
	return 0;
}

static int field_in_plugin(char letter, struct tenon_cursor *c, struct tenon_payload_info *info)
{
	const struct tenon_payload_format *format;
	int err = open_plugin(&format);

	return err ? err : format->field(letter, c, info);
}

static int visit_in_plugin(const struct tenon_payload_info *info, const struct tenon_visitor *v)
{
	const struct tenon_payload_format *format;
	int err = open_plugin(&format);

	return err ? err : format->visit(info, v);
}
#define FIELD field_in_plugin
#define VISIT visit_in_plugin
#else
#define FIELD ethosu_field
#define VISIT ethosu_visit
#endif

static bool recognise(const struct tenon_payload_file *file, struct tenon_slice bytes)
{
	(void)file;
	return ethosu_container_is(bytes);
}

const char *const ethosu_payload_kinds[] = { "ethos-u", NULL };

static const struct tenon_payload_file files[] = {
	{ "cop", "ethos-u", NULL },
	{ "npz", "ethos-u", NULL },
	{ NULL, NULL, NULL },
};

static const struct tenon_payload_format format = {
	.size = sizeof(format),
	.kinds = ethosu_payload_kinds,
	.fields = "E",
	.files = files,
	.field = FIELD,
	.visit = VISIT,
	.recognise = recognise,
};

const struct tenon_payload_format *const ethosu_payload_formats[] = { &format, NULL };
