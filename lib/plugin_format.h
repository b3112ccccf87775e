/* SPDX-License-Identifier: MIT */
/* Functions of a payload format that open the plug-in that has them. */
#ifndef LIB_PLUGIN_FORMAT_H
#define LIB_PLUGIN_FORMAT_H

/*
 * The library has the description of a backend's payloads even where the backend is a plug-in: it lists them without
 * opening it. PLUGIN_FORMAT(prefix, option, plugin, kind) defines functions that call the slots of that backend's format of
 * @kind. PLUGIN_SLOT(option, prefix, slot, function) is the one for a slot where the option is m, or else @function.
 */

#include <tenon/backend/backend.h>
#include <tenon/backend/payload_format.h>

#include "lib/option.h"
#include "lib/plugin.h"

/*
 * Open a plug-in for a slot of one of its formats. Return: 0; -TENON_E_NO_LOADER without the plug-in; -TENON_E_UNSUPPORTED for one
 * that was built with other options and lacks it.
 */
int plugin_format(struct plugin *plugin, const char *kind, size_t place, const char *slot,
		  const struct tenon_payload_format **out);

#define PLUGIN_SLOT(option, prefix, slot, function)                                                \
	OPTION_CHOOSE(option, SLOT_, prefix##_##slot, function)
#define SLOT_BUILT_IN(there, here) here
#define SLOT_PLUGIN(there, here)   there
#define SLOT_OFF		   SLOT_BUILT_IN

#define FORMAT_SLOT(prefix, slot, parameters, arguments)                                           \
	__attribute__((unused)) static int prefix##_##slot parameters                              \
	{                                                                                          \
		const struct tenon_payload_format *format;                                         \
		int err = prefix##_open(offsetof(struct tenon_payload_format, slot),               \
					#slot "() of its format", &format);                        \
                                                                                                   \
		return err ? err : format->slot arguments;                                         \
	}

#define PLUGIN_FORMAT(prefix, option, ...) OPTION_CHOOSE(option, FORMAT_, prefix, __VA_ARGS__)
#define FORMAT_BUILT_IN(...)
#define FORMAT_OFF(...)
#define FORMAT_PLUGIN(prefix, name, kind)                                                          \
	extern struct plugin plugin_##name;                                                        \
	static int prefix##_open(size_t place, const char *slot,                                   \
				 const struct tenon_payload_format **out)                          \
	{                                                                                          \
		return plugin_format(&plugin_##name, kind, place, slot, out);                      \
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
