/* SPDX-License-Identifier: MIT */
/*
 * Description of the payloads of Ethos-U. The library has this file alone where the backend is a plug-in: reading a payload
 * opens it. Compiled once more for the plug-in and for libtenon.a.
 */
#include "devices/ethosu/ethosu_device.h"

#ifdef CONFIG_DEVICE_ETHOSU_MODULE
#include "lib/plugin_format.h"

PLUGIN_FORMAT(in_plugin, ethosu, DEVICE_ETHOSU, 0)
#define FIELD	 in_plugin_field
#define VISIT	 in_plugin_visit
#define CHECK	 in_plugin_check
#define DESCRIBE in_plugin_describe
#else
#define FIELD	 ethosu_field
#define VISIT	 ethosu_visit
#define CHECK	 ethosu_check_program
#define DESCRIBE ethosu_describe
#endif

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
	.files = files,
	.field = FIELD,
	.visit = VISIT,
	.recognise = recognise,
	.check = CHECK,
	.describe = DESCRIBE,
};

const struct tenon_payload_format *const ethosu_payload_formats[] = { &format, NULL };
