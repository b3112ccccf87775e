/* SPDX-License-Identifier: MIT */
/* The tables of Vulkan's functions, made of one list of names. */
#ifndef DRIVER_VULKAN_API_H
#define DRIVER_VULKAN_API_H

/*
 * The loader (libvulkan.so.1) is opened when devices are requested; all functions are looked up
 * with its vkGetInstanceProcAddr, once per instance and device. A list of names generates both the
 * struct of functions and a string with their names, which needs no relocations.
 *
 * O() marks optional functions; their pointers may be NULL. Names of Vulkan 1.2 are also looked up
 * with the suffix KHR, for drivers of 1.1.
 */

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan_core.h>
#ifndef VK_VERSION_1_3
#error "The headers of Vulkan are older than 1.3. Install newer ones (Debian 12: libvulkan-dev), say where they are with VULKAN_CFLAGS=-I…, or set CONFIG_DEVICE_VULKAN=n"
#endif

#define VULKAN_LIBRARY_FUNCTIONS(F, O)                                                             \
	F(CreateInstance)                                                                          \
	O(EnumerateInstanceVersion)

#define VULKAN_INSTANCE_FUNCTIONS(F, O)                                                            \
	F(CreateDevice)                                                                            \
	F(EnumerateDeviceExtensionProperties)                                                      \
	F(EnumeratePhysicalDevices)                                                                \
	F(GetDeviceProcAddr)                                                                       \
	F(GetPhysicalDeviceExternalBufferProperties)                                               \
	F(GetPhysicalDeviceExternalSemaphoreProperties)                                            \
	F(GetPhysicalDeviceFeatures2)                                                              \
	F(GetPhysicalDeviceMemoryProperties2)                                                      \
	F(GetPhysicalDeviceProperties2)                                                            \
	F(GetPhysicalDeviceQueueFamilyProperties)

#define VULKAN_DEVICE_FUNCTIONS(F, O)                                                              \
	F(AllocateCommandBuffers)                                                                  \
	F(AllocateDescriptorSets)                                                                  \
	F(AllocateMemory)                                                                          \
	F(BeginCommandBuffer)                                                                      \
	F(BindBufferMemory)                                                                        \
	F(CmdBindDescriptorSets)                                                                   \
	F(CmdBindPipeline)                                                                         \
	F(CmdCopyBuffer)                                                                           \
	F(CmdDispatch)                                                                             \
	F(CmdExecuteCommands)                                                                      \
	F(CmdFillBuffer)                                                                           \
	F(CmdPipelineBarrier)                                                                      \
	F(CmdPushConstants)                                                                        \
	F(CmdResetQueryPool)                                                                       \
	F(CmdWriteTimestamp)                                                                       \
	F(CreateBuffer)                                                                            \
	F(CreateCommandPool)                                                                       \
	F(CreateComputePipelines)                                                                  \
	F(CreateDescriptorPool)                                                                    \
	F(CreateDescriptorSetLayout)                                                               \
	F(CreatePipelineCache)                                                                     \
	F(CreatePipelineLayout)                                                                    \
	F(CreateQueryPool)                                                                         \
	F(CreateSemaphore)                                                                         \
	F(CreateShaderModule)                                                                      \
	F(DestroyBuffer)                                                                           \
	F(DestroyCommandPool)                                                                      \
	F(DestroyDescriptorPool)                                                                   \
	F(DestroyDescriptorSetLayout)                                                              \
	F(DestroyDevice)                                                                           \
	F(DestroyPipeline)                                                                         \
	F(DestroyPipelineCache)                                                                    \
	F(DestroyPipelineLayout)                                                                   \
	F(DestroyQueryPool)                                                                        \
	F(DestroySemaphore)                                                                        \
	F(DestroyShaderModule)                                                                     \
	F(DeviceWaitIdle)                                                                          \
	F(EndCommandBuffer)                                                                        \
	F(FreeMemory)                                                                              \
	F(GetBufferMemoryRequirements)                                                             \
	F(GetDeviceQueue)                                                                          \
	F(GetPipelineCacheData)                                                                    \
	F(GetQueryPoolResults)                                                                     \
	F(MapMemory)                                                                               \
	F(QueueSubmit)                                                                             \
	F(ResetCommandPool)                                                                        \
	F(UpdateDescriptorSets)                                                                    \
	F(GetSemaphoreCounterValue)                                                                \
	F(WaitSemaphores)                                                                          \
	O(CmdPushDescriptorSetKHR)                                                                 \
	O(GetMemoryFdKHR)                                                                          \
	O(GetMemoryFdPropertiesKHR)                                                                \
	O(GetMemoryHostPointerPropertiesEXT)                                                       \
	O(GetSemaphoreFdKHR)                                                                       \
	O(ImportSemaphoreFdKHR)

#define VULKAN_POINTER(name) PFN_vk##name name;

/** struct vulkan_library - the loader */
struct vulkan_library {
	PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
	VULKAN_LIBRARY_FUNCTIONS(VULKAN_POINTER, VULKAN_POINTER)
};

/** struct vulkan_instance_api - functions of an instance and of physical devices */
struct vulkan_instance_api {
	VULKAN_INSTANCE_FUNCTIONS(VULKAN_POINTER, VULKAN_POINTER)
};

/** struct vulkan_device_api - functions of a device, which bypass the loader */
struct vulkan_device_api {
	VULKAN_DEVICE_FUNCTIONS(VULKAN_POINTER, VULKAN_POINTER)
};

/**
 * vulkan_library_open - open the loader
 * @library: filled
 *
 * $TENON_VULKAN_LIBRARY names another library.
 *
 * Return: 0; -TENON_E_DEVICE with the missing part and the remedy.
 */
int vulkan_library_open(struct vulkan_library *library);

/** vulkan_instance_load - look up the functions of an instance; 0, -TENON_E_DEVICE */
int vulkan_instance_load(const struct vulkan_library *library, VkInstance instance,
			 struct vulkan_instance_api *api);

/** vulkan_device_load - look up the functions of a device; as vulkan_instance_load() */
int vulkan_device_load(const struct vulkan_instance_api *instance, VkDevice device,
		       struct vulkan_device_api *api);

/**
 * vulkan_result - raise an error for a VkResult
 * @result: negative
 * @call: name of the function
 *
 * Return: -TENON_E_NOMEM when host or device memory is out, else -TENON_E_DEVICE.
 */
int vulkan_result(VkResult result, const char *call);

#endif /* DRIVER_VULKAN_API_H */
