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
#include "lib/plugin_format.h"

PLUGIN_FORMAT(in_plugin, rocket, DEVICE_ROCKET, 0)
#define FIELD in_plugin_field
#define VISIT in_plugin_visit
#define SHOW  in_plugin_show
#define CHECK in_plugin_check
#else
#define FIELD rocket_field
#define VISIT cmdstream_visit
#define SHOW  rocket_show_stream
#define CHECK rocket_check_program
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
	.check = CHECK,
};

const struct tenon_payload_format *const rocket_payload_formats[] = { &format, NULL };
