/* SPDX-License-Identifier: MIT */
/* The backends of this build: a line each. */
#include "runtime/device/device_table.h"

#define BACKEND(name) extern const struct tenon_backend name##_backend;
#include "devices/backends.h"
#undef BACKEND

#define BACKEND(name) &name##_backend,
const struct tenon_backend *const backend_table[] = {
#include "devices/backends.h"
	NULL,
};
