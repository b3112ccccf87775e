/* SPDX-License-Identifier: MIT */
/*
 * Description of the payloads of mortise. The library has this file alone where the backend is a plug-in: listing
 * kernels does not open it, reading a file *.mortise or a command stream does. Compiled once more for the plug-in and
 * for libtenon.a.
 */
#include "devices/mortise/mortise_payload.h"

#include <tenon/backend/buffer.h>

#include "devices/cmdstream/cmdstream_payload.h"

/* The library, whose build defines these, opens the plug-in for the functions that it lacks. */
#ifndef PLUGIN_FORMAT
#define PLUGIN_FORMAT(...)
#define PLUGIN_SLOT(option, prefix, slot, function) function
#endif

/* Other programs may have files with the same suffix. */
static bool recognise(const struct tenon_payload_file *file, struct tenon_slice bytes)
{
	return mortise_is_archive(bytes) || (bytes.size >= 4 && !memcmp(bytes.data, "\177ELF", 4));
}

/* A payload with one image is of an ELF file. The names in an archive are lost. */
static int unpack(const struct tenon_payload_file *file, struct tenon_cursor *rest,
		  struct tenon_buffer *out)
{
	struct tenon_slice image;
	uint64_t size, count;
	int err;

	err = tenon_cursor_u64(rest, &size);
	if (!err)
		err = tenon_cursor_count(rest, 8, &count);
	if (!err && count != 1)
		return -TENON_E_UNSUPPORTED;
	if (!err)
		err = tenon_cursor_string(rest, &image);
	return err ? err : tenon_buffer_slice(out, image);
}

PLUGIN_FORMAT(mortise_in_plugin, DEVICE_MORTISE, mortise, "mortise")
PLUGIN_FORMAT(stream_in_plugin, DEVICE_MORTISE, mortise, "cmdstream")
#define STREAM_SLOT(slot, function) PLUGIN_SLOT(DEVICE_MORTISE, stream_in_plugin, slot, function)

const char *const mortise_payload_kinds[] = {
	"mortise",
#ifdef CONFIG_CMDSTREAM
	"cmdstream",
#endif
	NULL,
};

static const char *const own_kinds[] = { "mortise", NULL };

static const struct tenon_payload_file files[] = {
	{ "mortise", "mortise", NULL },
	{ NULL, NULL, NULL },
};

static const struct tenon_payload_format mortise_payload = {
	.size = sizeof(mortise_payload),
	.kinds = own_kinds,
	.fields = "fmd",
	.remedy = "Enable CONFIG_DEVICE_MORTISE.",
	.files = files,
	.recognise = recognise,
	.pack = PLUGIN_SLOT(DEVICE_MORTISE, mortise_in_plugin, pack, mortise_pack),
	.unpack = unpack,
};

#ifdef CONFIG_CMDSTREAM
static const struct tenon_payload_format cmdstream =
	CMDSTREAM_FORMAT(STREAM_SLOT(field, cmdstream_field), STREAM_SLOT(visit, cmdstream_visit),
			 STREAM_SLOT(show, mortise_show_stream));
#endif

const struct tenon_payload_format *const mortise_payload_formats[] = {
	&mortise_payload,
#ifdef CONFIG_CMDSTREAM
	&cmdstream,
#endif
	NULL,
};
