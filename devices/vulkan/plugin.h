/* SPDX-License-Identifier: MIT */
/* The row of Vulkan in the table of plug-ins (runtime/table/plugin_row.h). */
PLUGIN(DEVICE_VULKAN, vulkan, BACKEND, kDLVulkan, 0, LISTED_PAYLOADS)
