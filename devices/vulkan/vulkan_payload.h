/* SPDX-License-Identifier: MIT */
/* Kinds and formats of Vulkan modules, which the table of backends lists. */
#ifndef DEVICES_VULKAN_VULKAN_PAYLOAD_H
#define DEVICES_VULKAN_VULKAN_PAYLOAD_H

#include <tenon/backend/payload_format.h>

/* kinds of modules, ended by NULL */
extern const char *const vulkan_payload_kinds[];

/* ended by NULL; in the library also when the backend is left out */
extern const struct tenon_payload_format *const vulkan_payload_formats[];

#endif /* DEVICES_VULKAN_VULKAN_PAYLOAD_H */
