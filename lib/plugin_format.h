/* SPDX-License-Identifier: MIT */
/* Functions of a payload format that open the plug-in that has them. */
#ifndef LIB_PLUGIN_FORMAT_H
#define LIB_PLUGIN_FORMAT_H

/*
 * The library has the description of a backend's payloads even where the backend is a plug-in: it lists them without
 * opening it. PLUGIN_FORMAT(prefix, option, plugin, index) defines functions that call the slots of format number @index of
 * that backend. PLUGIN_SLOT(option, prefix, slot, function) is the one for a slot where the option is m, or else @function.
 */

#include <tenon/backend/backend.h>
#include <tenon/backend/payload_format.h>

#include "lib/option.h"
#include "lib/plugin.h"

#define PLUGIN_SLOT(option, prefix, slot, function)                                                \
	OPTION_CHOOSE(option, SLOT_, prefix##_##slot, function)
#define SLOT_BUILT_IN(there, here) here
#define SLOT_PLUGIN(there, here)   there
#define SLOT_OFF		   SLOT_BUILT_IN

#define FORMAT_SLOT(prefix, slot, parameters, arguments)                                           \
	__attribute__((unused)) static int prefix##_##slot parameters                              \
	{                                                                                          \
		const struct tenon_payload_format *format;                                         \
		int err = prefix##_open(&format);                                                  \
                                                                                                   \
		return err ? err : format->slot arguments;                                         \
	}

#define PLUGIN_FORMAT(prefix, option, ...) OPTION_CHOOSE(option, FORMAT_, prefix, __VA_ARGS__)
#define FORMAT_BUILT_IN(...)
#define FORMAT_OFF(...)
#define FORMAT_PLUGIN(prefix, name, index)                                                         \
	extern struct plugin plugin_##name;                                                        \
	static int prefix##_open(const struct tenon_payload_format **out)                          \
	{                                                                                          \
		int err = plugin_open(&plugin_##name, -TENON_E_NO_LOADER);                         \
                                                                                                   \
		if (!err)                                                                          \
			*out = plugin_##name.offer->backend->formats[index];                       \
		return err;                                                                        \
	}                                                                                          \
	FORMAT_SLOT(prefix, field,                                                                 \
		    (char letter, struct tenon_cursor *c, struct tenon_payload_info *info),        \
		    (letter, c, info))                                                             \
	FORMAT_SLOT(prefix, visit,                                                                 \
		    (const struct tenon_payload_info *info, const struct tenon_visitor *v),        \
		    (info, v))                                                                     \
	FORMAT_SLOT(prefix, show,                                                                  \
		    (const struct tenon_payload_info *info, struct tenon_buffer *out),             \
		    (info, out))                                                                   \
	FORMAT_SLOT(prefix, pack,                                                                  \
		    (const struct tenon_payload_file *file, struct tenon_cursor *program,          \
		     struct tenon_slice table, struct tenon_buffer *out),                          \
		    (file, program, table, out))                                                   \
	FORMAT_SLOT(prefix, check,                                                                 \
		    (const struct tenon_payload_request *request, struct tenon_report *report),    \
		    (request, report))                                                             \
	FORMAT_SLOT(prefix, describe,                                                              \
		    (const struct tenon_payload_request *request, struct tenon_report *report),    \
		    (request, report))

#endif /* LIB_PLUGIN_FORMAT_H */
