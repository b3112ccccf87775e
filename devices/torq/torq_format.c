/* SPDX-License-Identifier: MIT */
/*
 * Description of the payloads of Torq. The library has this file alone where the backend is a plug-in: reading a payload
 * opens it. Compiled once more for the plug-in and for libtenon.a.
 */
#include "devices/torq/torq_file.h"
#include "devices/torq/torq_payload.h"
#include "lib/plugin_format.h"

PLUGIN_FORMAT(in_plugin, DEVICE_TORQ, torq, "torq")
#define SLOT(slot, function) PLUGIN_SLOT(DEVICE_TORQ, in_plugin, slot, function)

/* Archives are ours by their name alone; of modules of IREE for other targets, reading says that they have nothing for this one. */
static bool recognise(const struct tenon_payload_file *file, struct tenon_slice bytes)
{
	return file ? torq_file_is(bytes) : torq_program_is(bytes);
}

const char *const torq_payload_kinds[] = { "torq", NULL };

static const struct tenon_payload_file files[] = {
	{ "vmfb", "torq", NULL },
	{ "torq", "torq", NULL },
	{ NULL, NULL, NULL },
};

static const struct tenon_payload_format format = {
	.size = sizeof(format),
	.kinds = torq_payload_kinds,
	.fields = "T",
	.remedy = "Enable CONFIG_DEVICE_TORQ.",
	.files = files,
	.field = SLOT(field, torq_field),
	.visit = SLOT(visit, torq_visit),
	.recognise = recognise,
	.check = SLOT(check, torq_check_program),
	.describe = SLOT(describe, torq_describe),
};

const struct tenon_payload_format *const torq_payload_formats[] = { &format, NULL };
