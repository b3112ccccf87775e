/* SPDX-License-Identifier: MIT */
/* Make the pipeline of a kernel, with a cache on disk. */
#ifndef DEVICES_VULKAN_PIPELINE_H
#define DEVICES_VULKAN_PIPELINE_H

#include "devices/vulkan/vulkan_layout.h"

/**
 * vulkan_pipeline_make - compile a kernel, or load it from the cache on disk
 * @words: validated SPIR-V, @count words
 * @entry: its entry point
 *
 * Return: 0; -TENON_E_DEVICE; -TENON_E_NOMEM; -TENON_E_LOST.
 */
int vulkan_pipeline_make(struct vulkan_device *device, const struct vulkan_layout *layout,
			 const uint32_t *words, size_t count, const char *entry, VkPipeline *out);

#endif /* DEVICES_VULKAN_PIPELINE_H */
