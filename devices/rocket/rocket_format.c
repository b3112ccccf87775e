/* SPDX-License-Identifier: MIT */
/*
 * Description of the payloads of rocket. The library has this file alone where the backend is a plug-in: listing
 * kernels opens it. Compiled once more for the plug-in and for libtenon.a.
 */
#include <string.h>
#include <tenon/string.h>

#include "devices/cmdstream/cmdstream_payload.h"
#include "devices/rocket/rocket_device.h"

#ifdef CONFIG_DEVICE_ROCKET_MODULE
#include <tenon/backend/backend.h>

#include "lib/plugin.h"

static int open_plugin(const struct tenon_payload_format **out)
{
	static struct plugin plugin = { "rocket", "CONFIG_DEVICE_ROCKET", NULL };
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

static int show_in_plugin(const struct tenon_payload_info *info, struct tenon_buffer *out)
{
	const struct tenon_payload_format *format;
	int err = open_plugin(&format);

	return err ? err : format->show(info, out);
}
#define FIELD field_in_plugin
#define VISIT visit_in_plugin
#define SHOW  show_in_plugin
#else
#define FIELD rocket_field
#define VISIT cmdstream_visit
#define SHOW  rocket_show_stream
#endif

/* Other programs may have files with the same suffix. */
static bool recognise(const struct tenon_payload_file *file, struct tenon_slice bytes)
{
	return cmdstream_recognise(file, bytes);
}

const char *const rocket_payload_kinds[] = { "rocket", NULL };

static const struct tenon_payload_file files[] = {
	{ "rocket", "rocket", NULL },
	{ NULL, NULL, NULL },
};

static const struct tenon_payload_format format = {
	.size = sizeof(format),
	.kinds = rocket_payload_kinds,
	.fields = "S",
	.remedy = "Enable CONFIG_DEVICE_ROCKET.",
	.files = files,
	.field = FIELD,
	.visit = VISIT,
	.recognise = recognise,
	.show = SHOW,
};

const struct tenon_payload_format *const rocket_payload_formats[] = { &format, NULL };
