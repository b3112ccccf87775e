/* SPDX-License-Identifier: MIT */
/* Table of the backends of this build, and of the payload formats of those that are left out. */
#include <tenon/ethosu.h>
#include <tenon/remote.h>
#include <tenon/uapi/mortise.h>
#include <tenon/uapi/rocket.h>

#include "lib/option.h"
#include "lib/plugin.h"
#ifdef CONFIG_DEVICES
#include "runtime/device/device_table.h"
#endif
#include "runtime/payload/payload_format.h"

#ifdef CONFIG_DEVICES
/* table entry of a plug-in: has the static fields; its functions open the plug-in */
#define BACKEND_ROW(option, backend, type, flag_bits, payload_kinds, payload_formats)              \
	static struct plugin backend##_plugin = { #backend, "CONFIG_" #option, NULL };             \
	static int backend##_count(uint32_t *count)                                                \
	{                                                                                          \
		return backend_plugin_count(&backend##_plugin, count);                             \
	}                                                                                          \
	static int backend##_describe(uint32_t index, struct tenon_device_properties *properties)  \
	{                                                                                          \
		return backend_plugin_describe(&backend##_plugin, index, properties);              \
	}                                                                                          \
	static int backend##_open(const struct tenon_device_choice *choice,                        \
				  struct tenon_device **out)                                       \
	{                                                                                          \
		return backend_plugin_device(&backend##_plugin, choice, out);                      \
	}                                                                                          \
	static int backend##_doctor(struct tenon_buffer *out)                                      \
	{                                                                                          \
		return backend_plugin_doctor(&backend##_plugin, out);                              \
	}                                                                                          \
	static const void *backend##_extension(const char *name)                                   \
	{                                                                                          \
		return backend_plugin_extension(&backend##_plugin, name);                          \
	}                                                                                          \
	static const struct tenon_backend backend##_backend = {                                    \
		.abi = TENON_PLUGIN_ABI,                                                           \
		.size = sizeof(struct tenon_backend),                                              \
		.name = #backend,                                                                  \
		.device_type = type,                                                               \
		.flags = flag_bits,                                                                \
		.kinds = payload_kinds,                                                            \
		.count = backend##_count,                                                          \
		.describe = backend##_describe,                                                    \
		.open = backend##_open,                                                            \
		.doctor = backend##_doctor,                                                        \
		.formats = payload_formats,                                                        \
		.extension = backend##_extension,                                                  \
	};

#define DECLARE_BUILT_IN(option, name, type, flags)                                                \
	extern const struct tenon_backend name##_backend;
#define DECLARE_HOST_PLUGIN(option, name, type, flags)                                             \
	BACKEND_ROW(option, name, type, flags, NULL, NULL)
#define DECLARE_PLUGIN(option, name, type, flags)                                                  \
	extern const char *const name##_payload_kinds[];                                           \
	extern payload_format_list name##_payload_formats;                                         \
	BACKEND_ROW(option, name, type, flags, name##_payload_kinds, name##_payload_formats)
#define DECLARE_OFF(option, name, type, flags)
#define DECLARE_HOST_BUILT_IN	    DECLARE_BUILT_IN
#define DECLARE_HOST_OFF	    DECLARE_OFF
#define HOST_BACKEND(option, ...)   OPTION_CHOOSE(option, DECLARE_HOST_, option, __VA_ARGS__)
#define LISTED_BACKEND(option, ...) OPTION_CHOOSE(option, DECLARE_, option, __VA_ARGS__)
#define BACKEND(option, ...)	    OPTION_CHOOSE(option, DECLARE_, option, __VA_ARGS__)
#include "devices/backends.h"
#undef HOST_BACKEND
#undef LISTED_BACKEND
#undef BACKEND

#define ROW_BUILT_IN(name) &name##_backend,
#define ROW_PLUGIN(name)   &name##_backend,
#define ROW_OFF(name)
#define HOST_BACKEND(option, name, ...)	  OPTION_CHOOSE(option, ROW_, name)
#define LISTED_BACKEND(option, name, ...) OPTION_CHOOSE(option, ROW_, name)
#define BACKEND(option, name, ...)	  OPTION_CHOOSE(option, ROW_, name)
const struct tenon_backend *const backend_table[] = {
#include "devices/backends.h"
	NULL,
};
#undef ROW_BUILT_IN
#undef ROW_PLUGIN

#define ROW_BUILT_IN(name)
#define ROW_PLUGIN(name) &name##_plugin,
const struct plugin *const backend_plugins[] = {
#include "devices/backends.h"
	NULL,
};
#undef HOST_BACKEND
#undef LISTED_BACKEND
#undef BACKEND
#endif

#define HOST_BACKEND(...)
#define BACKEND(...)

#define FORMATS_BUILT_IN(name)
#define FORMATS_PLUGIN(name)
#define FORMATS_OFF(name)		  extern payload_format_list name##_payload_formats;
#define LISTED_BACKEND(option, name, ...) OPTION_CHOOSE(option, FORMATS_, name)
#include "devices/backends.h"
#undef FORMATS_OFF

#define FORMATS_OFF(name) name##_payload_formats,
const struct tenon_payload_format *const *const payload_absent_formats[] = {
#include "devices/backends.h"
	NULL,
};
