/* SPDX-License-Identifier: MIT */
/* Functions of a payload format that open the plug-in that has them. */
#ifndef LIB_PLUGIN_FORMAT_H
#define LIB_PLUGIN_FORMAT_H

/*
 * The library has the description of a backend's payloads even where the backend is a plug-in: it lists them without
 * opening it. PLUGIN_FORMAT(prefix, backend, option, index) defines prefix_field() and so on, which call the slot of
 * format number @index of that backend.
 */

#include <tenon/backend/backend.h>
#include <tenon/backend/payload_format.h>

#include "lib/plugin.h"

#define PLUGIN_SLOT(prefix, slot, parameters, arguments)                                           \
	__attribute__((unused)) static int prefix##_##slot parameters                              \
	{                                                                                          \
		const struct tenon_payload_format *format;                                         \
		int err = prefix##_open(&format);                                                  \
                                                                                                   \
		return err ? err : format->slot arguments;                                         \
	}

#define PLUGIN_FORMAT(prefix, backend, option, index)                                              \
	static int prefix##_open(const struct tenon_payload_format **out)                          \
	{                                                                                          \
		static struct plugin plugin = { #backend, "CONFIG_" #option, NULL };               \
		int err = plugin_open(&plugin, -TENON_E_NO_LOADER);                                \
                                                                                                   \
		if (!err)                                                                          \
			*out = ((const struct tenon_backend *)plugin.offer)->formats[index];       \
		return err;                                                                        \
	}                                                                                          \
	PLUGIN_SLOT(prefix, field,                                                                 \
		    (char letter, struct tenon_cursor *c, struct tenon_payload_info *info),        \
		    (letter, c, info))                                                             \
	PLUGIN_SLOT(prefix, visit,                                                                 \
		    (const struct tenon_payload_info *info, const struct tenon_visitor *v),        \
		    (info, v))                                                                     \
	PLUGIN_SLOT(prefix, show,                                                                  \
		    (const struct tenon_payload_info *info, struct tenon_buffer *out),             \
		    (info, out))                                                                   \
	PLUGIN_SLOT(prefix, pack,                                                                  \
		    (const struct tenon_payload_file *file, struct tenon_cursor *program,          \
		     struct tenon_slice table, struct tenon_buffer *out),                          \
		    (file, program, table, out))                                                   \
	PLUGIN_SLOT(prefix, check,                                                                 \
		    (const struct tenon_payload_request *request, struct tenon_report *report),    \
		    (request, report))                                                             \
	PLUGIN_SLOT(prefix, describe,                                                              \
		    (const struct tenon_payload_request *request, struct tenon_report *report),    \
		    (request, report))

#endif /* LIB_PLUGIN_FORMAT_H */
