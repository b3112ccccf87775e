/* SPDX-License-Identifier: MIT */
/*
 * Description of the payloads of rocket. The library has this file alone where the backend is a plug-in: listing
 * kernels opens it. Compiled once more for the plug-in and for libtenon.a.
 */
#include <tenon/string.h>

#include "devices/cmdstream/cmdstream_payload.h"
#include "devices/rocket/rocket_device.h"
#include "lib/plugin_format.h"

PLUGIN_FORMAT(in_plugin, DEVICE_ROCKET, rocket, "rocket")
#define SLOT(slot, function) PLUGIN_SLOT(DEVICE_ROCKET, in_plugin, slot, function)

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
	.field = SLOT(field, rocket_field),
	.visit = SLOT(visit, cmdstream_visit),
	.recognise = recognise,
	.show = SLOT(show, rocket_show_stream),
	.check = SLOT(check, rocket_check_program),
};

const struct tenon_payload_format *const rocket_payload_formats[] = { &format, NULL };
