/* SPDX-License-Identifier: MIT */
/*
 * Description of the payloads of Ethos-U. The library has this file alone where the backend is a plug-in: reading a payload
 * opens it. Compiled once more for the plug-in and for libtenon.a.
 */
#include "devices/ethosu/ethosu_device.h"
#include "lib/plugin_format.h"

PLUGIN_FORMAT(in_plugin, DEVICE_ETHOSU, ethosu, "ethos-u")
#define SLOT(slot, function) PLUGIN_SLOT(DEVICE_ETHOSU, in_plugin, slot, function)

/* Zip archives, and parts in memory, are ours by their name or kind alone. */
static bool recognise(const struct tenon_payload_file *file, struct tenon_slice bytes)
{
	return file ? ethosu_container_is(bytes) : ethosu_payload_is(bytes);
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
	.remedy = "Enable CONFIG_DEVICE_ETHOSU.",
	.files = files,
	.field = SLOT(field, ethosu_field),
	.visit = SLOT(visit, ethosu_visit),
	.recognise = recognise,
	.check = SLOT(check, ethosu_check_program),
	.describe = SLOT(describe, ethosu_describe),
};

const struct tenon_payload_format *const ethosu_payload_formats[] = { &format, NULL };
