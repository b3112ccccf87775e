/* SPDX-License-Identifier: MIT */
/*
 * Description of the payloads of mortise. The library has this file alone where the backend is a plug-in: listing
 * kernels does not open it, reading a file *.mortise does. Compiled once more for the plug-in and for libtenon.a.
 */
#include "devices/mortise/mortise_payload.h"

/* Other programs may have files with the same suffix. */
static bool recognise(const struct tenon_payload_file *file, struct tenon_slice bytes)
{
	(void)file;
	return mortise_is_archive(bytes) || (bytes.size >= 4 && !memcmp(bytes.data, "\177ELF", 4));
}

#ifdef CONFIG_DEVICE_MORTISE_MODULE
#include <tenon/backend/backend.h>

#include "lib/plugin.h"

static int pack_in_plugin(const struct tenon_payload_file *file, struct tenon_cursor *program,
			  struct tenon_slice table, struct tenon_buffer *out)
{
	static struct plugin plugin = { "mortise", "CONFIG_DEVICE_MORTISE", NULL };
	const struct tenon_backend *backend;
	int err = plugin_open(&plugin, -TENON_E_NO_LOADER);

	if (err)
		return err;
	backend = plugin.offer;
	return backend->formats[0]->pack(file, program, table, out);
}
#define PACK pack_in_plugin
#else
#define PACK mortise_pack
#endif

const char *const mortise_payload_kinds[] = { "mortise", NULL };

static const struct tenon_payload_file files[] = {
	{ "mortise", "mortise", NULL },
	{ NULL, NULL, NULL },
};

static const struct tenon_payload_format mortise_payload = {
	.size = sizeof(mortise_payload),
	.kinds = mortise_payload_kinds,
	.fields = "fmd",
	.remedy = "Enable CONFIG_DEVICE_MORTISE.",
	.files = files,
	.recognise = recognise,
	.pack = PACK,
};

const struct tenon_payload_format *const mortise_payload_formats[] = { &mortise_payload, NULL };
