/* SPDX-License-Identifier: MIT */
/* Features to enable in a device: those that kernels may use, and timeline semaphores. */
#ifndef DEVICES_VULKAN_FEATURES_H
#define DEVICES_VULKAN_FEATURES_H

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

/* Query the features of a device, and fill the capabilities in @facts. */
void vulkan_features_read(VkPhysicalDevice physical, struct vulkan_facts *facts,
			  struct vulkan_features *features);

#endif /* DEVICES_VULKAN_FEATURES_H */
