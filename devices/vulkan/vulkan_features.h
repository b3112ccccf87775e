/* SPDX-License-Identifier: MIT */
#ifndef DEVICES_VULKAN_FEATURES_H
#define DEVICES_VULKAN_FEATURES_H

/* What is switched on in a device: what kernels may want, and the timelines that queues need. */

#include "devices/vulkan/vulkan_device.h"

/** struct vulkan_features - @all begins the chain for vkCreateDevice; unavailable features are 0 */
struct vulkan_features {
	VkPhysicalDeviceFeatures2 all;
	VkPhysicalDevice16BitStorageFeatures storage16;
	VkPhysicalDeviceVariablePointersFeatures pointers;
	VkPhysicalDeviceTimelineSemaphoreFeatures timeline;
	VkPhysicalDevice8BitStorageFeatures storage8;
	VkPhysicalDeviceShaderFloat16Int8Features float16;
	VkPhysicalDeviceShaderIntegerDotProductFeatures dot;
};

/* Ask for all that the device has; @facts learns which capabilities SPIR-V may name. */
void vulkan_features_read(VkPhysicalDevice physical, struct vulkan_facts *facts,
			  struct vulkan_features *features);

#endif /* DEVICES_VULKAN_FEATURES_H */
