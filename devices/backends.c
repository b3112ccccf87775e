/* SPDX-License-Identifier: MIT */
/* The backends of this build, a line each, and the payload formats of those that are left out. */
#ifdef CONFIG_DEVICES
#include "runtime/device/device_table.h"
#endif
#include "runtime/payload/payload_format.h"

#ifdef CONFIG_DEVICES
#define BACKEND(name) extern const struct tenon_backend name##_backend;
#define ABSENT(name)
#include "devices/backends.h"
#undef BACKEND
#undef ABSENT

#define BACKEND(name) &name##_backend,
#define ABSENT(name)
const struct tenon_backend *const backend_table[] = {
#include "devices/backends.h"
	NULL,
};
#undef BACKEND
#undef ABSENT
#endif

#define BACKEND(name)
#define ABSENT(name) extern payload_format_list name##_payload_formats;
#include "devices/backends.h"
#undef ABSENT

#define ABSENT(name) name##_payload_formats,
const struct tenon_payload_format *const *const payload_absent_formats[] = {
#include "devices/backends.h"
	NULL,
};
