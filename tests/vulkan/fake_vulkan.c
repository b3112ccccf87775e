/* SPDX-License-Identifier: MIT */
/* The Vulkan library in front of the real one (fake_vulkan.h). It knows one driver: functions of devices are the same for all of them. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <vulkan/vulkan_core.h>

#include "fake_vulkan.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT struct fake_vulkan fake_vulkan;
EXPORT PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance, const char *name);

static struct fake_vulkan *const fake = &fake_vulkan;
static PFN_vkGetInstanceProcAddr real_get;
static PFN_vkGetDeviceProcAddr real_device_get;
static PFN_vkDeviceWaitIdle real_DeviceWaitIdle;
static VkDevice newest;

static void count(int *what, int by)
{
	__atomic_add_fetch(what, by, __ATOMIC_RELAXED);
}

static void end_foreign_waits(void);

/* What a call of this function returns instead of being done; VK_SUCCESS lets it through. */
static VkResult fault(const char *name)
{
	if (fake->lost && (!strcmp(name, "QueueSubmit") || !strcmp(name, "WaitSemaphores") ||
			   !strcmp(name, "GetSemaphoreCounterValue")))
		return VK_ERROR_DEVICE_LOST;
	if (!fake->failing || strcmp(name, fake->failing) || !fake->fail_at || --fake->fail_at)
		return VK_SUCCESS;
	count(&fake->failures, 1);
	if (fake->result == VK_ERROR_DEVICE_LOST) {
		/* nothing is in flight on a device that is gone */
		end_foreign_waits();
		real_DeviceWaitIdle(newest);
		fake->lost = 1;
	}
	return (VkResult)fake->result;
}

static void say(enum fake_vulkan_answer what, void *answer)
{
	if (fake->says)
		fake->says(what, answer);
}

/* ---- functions that may fail, and make @made objects */

#define FAILING(name, made, params, args)                                                          \
	static PFN_vk##name real_##name;                                                           \
	static VkResult VKAPI_CALL fake_##name params                                              \
	{                                                                                          \
		VkResult r = fault(#name);                                                         \
                                                                                                   \
		if (!r)                                                                            \
			r = real_##name args;                                                      \
		if (!r)                                                                            \
			count(&fake->live, made);                                                  \
		return r;                                                                          \
	}

#define CREATING(name, Info, Handle)                                                               \
	FAILING(name, 1,                                                                           \
		(VkDevice device, const Info *info, const VkAllocationCallbacks *a, Handle *out),  \
		(device, info, a, out))

#define DESTROYING(name, Handle)                                                                   \
	static PFN_vk##name real_##name;                                                           \
	static void VKAPI_CALL fake_##name(VkDevice device, Handle handle,                         \
					   const VkAllocationCallbacks *a)                         \
	{                                                                                          \
		count(&fake->live, handle ? -1 : 0);                                               \
		real_##name(device, handle, a);                                                    \
	}

CREATING(CreateBuffer, VkBufferCreateInfo, VkBuffer)
CREATING(CreateCommandPool, VkCommandPoolCreateInfo, VkCommandPool)
CREATING(CreateDescriptorPool, VkDescriptorPoolCreateInfo, VkDescriptorPool)
CREATING(CreateDescriptorSetLayout, VkDescriptorSetLayoutCreateInfo, VkDescriptorSetLayout)
CREATING(CreatePipelineLayout, VkPipelineLayoutCreateInfo, VkPipelineLayout)
CREATING(CreateQueryPool, VkQueryPoolCreateInfo, VkQueryPool)
CREATING(CreateShaderModule, VkShaderModuleCreateInfo, VkShaderModule)
DESTROYING(FreeMemory, VkDeviceMemory)
DESTROYING(DestroyBuffer, VkBuffer)
DESTROYING(DestroyCommandPool, VkCommandPool)
DESTROYING(DestroyDescriptorPool, VkDescriptorPool)
DESTROYING(DestroyDescriptorSetLayout, VkDescriptorSetLayout)
DESTROYING(DestroyPipeline, VkPipeline)
DESTROYING(DestroyPipelineCache, VkPipelineCache)
DESTROYING(DestroyPipelineLayout, VkPipelineLayout)
DESTROYING(DestroyQueryPool, VkQueryPool)
DESTROYING(DestroyShaderModule, VkShaderModule)

FAILING(AllocateCommandBuffers, 0,
	(VkDevice device, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *out),
	(device, info, out))
FAILING(AllocateDescriptorSets, 0,
	(VkDevice device, const VkDescriptorSetAllocateInfo *info, VkDescriptorSet *out),
	(device, info, out))
FAILING(BeginCommandBuffer, 0, (VkCommandBuffer commands, const VkCommandBufferBeginInfo *info),
	(commands, info))
FAILING(EndCommandBuffer, 0, (VkCommandBuffer commands), (commands))
FAILING(BindBufferMemory, 0,
	(VkDevice device, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset),
	(device, buffer, memory, offset))
FAILING(MapMemory, 0,
	(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size,
	 VkMemoryMapFlags flags, void **out),
	(device, memory, offset, size, flags, out))
FAILING(CreateComputePipelines, 1,
	(VkDevice device, VkPipelineCache cache, uint32_t n,
	 const VkComputePipelineCreateInfo *info, const VkAllocationCallbacks *a, VkPipeline *out),
	(device, cache, n, info, a, out))
FAILING(GetMemoryFdKHR, 0, (VkDevice device, const VkMemoryGetFdInfoKHR *info, int *fd),
	(device, info, fd))

static bool is_dedicated(const VkBaseInStructure *s)
{
	for (; s; s = s->pNext)
		if (s->sType == VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO)
			return ((const VkMemoryDedicatedAllocateInfo *)s)->buffer != VK_NULL_HANDLE;
	return false;
}

static PFN_vkAllocateMemory real_AllocateMemory;
static VkResult VKAPI_CALL fake_AllocateMemory(VkDevice device, const VkMemoryAllocateInfo *info,
					       const VkAllocationCallbacks *a, VkDeviceMemory *out)
{
	VkMemoryAllocateInfo own = *info;
	VkResult r = fault("AllocateMemory");

	if (fake->says)
		own.memoryTypeIndex = 0;
	if (!r)
		r = real_AllocateMemory(device, &own, a, out);
	if (r)
		return r;
	count(&fake->live, 1);
	if (is_dedicated(info->pNext))
		count(&fake->dedicated, 1);
	return r;
}

static PFN_vkGetBufferMemoryRequirements real_GetBufferMemoryRequirements;
static void VKAPI_CALL fake_GetBufferMemoryRequirements(VkDevice device, VkBuffer buffer,
							VkMemoryRequirements *out)
{
	real_GetBufferMemoryRequirements(device, buffer, out);
	if (fake->says)
		out->memoryTypeBits = UINT32_MAX;
}

static PFN_vkCreatePipelineCache real_CreatePipelineCache;
static VkResult VKAPI_CALL fake_CreatePipelineCache(VkDevice device,
						    const VkPipelineCacheCreateInfo *info,
						    const VkAllocationCallbacks *a,
						    VkPipelineCache *out)
{
	VkPipelineCacheCreateInfo own = *info;
	VkResult r = fault("CreatePipelineCache");

	if (r)
		return r;
	fake->cache_found = own.initialDataSize;
	/* what the fake made up is not for the real driver */
	if (fake->cache_bytes && own.initialDataSize > 32)
		own.initialDataSize = 32;
	r = real_CreatePipelineCache(device, &own, a, out);
	if (!r)
		count(&fake->live, 1);
	return r;
}

static PFN_vkGetPipelineCacheData real_GetPipelineCacheData;
static VkResult VKAPI_CALL fake_GetPipelineCacheData(VkDevice device, VkPipelineCache cache,
						     size_t *size, void *data)
{
	size_t whole = 0;
	VkResult r = fault("GetPipelineCacheData");

	if (r)
		return r;
	if (!fake->cache_bytes)
		return real_GetPipelineCacheData(device, cache, size, data);
	r = real_GetPipelineCacheData(device, cache, &whole, NULL);
	if (data && !r) {
		r = real_GetPipelineCacheData(device, cache, &whole, data);
		memset((char *)data + whole, 0x5a, fake->cache_bytes);
	}
	*size = whole + fake->cache_bytes;
	return r;
}

static PFN_vkGetSemaphoreCounterValue real_GetSemaphoreCounterValue;

#include "fake_vulkan_semaphore.h"

static VkResult VKAPI_CALL fake_WaitSemaphores(VkDevice device, const VkSemaphoreWaitInfo *info,
					       uint64_t timeout)
{
	struct timespec t = { (time_t)(timeout / 1000000000), (long)(timeout % 1000000000) };
	VkResult r = fault("WaitSemaphores");

	if (r)
		return r;
	if (!__atomic_load_n(&fake->stuck, __ATOMIC_RELAXED))
		return real_WaitSemaphores(device, info, timeout);
	nanosleep(&t, NULL);
	return VK_TIMEOUT;
}

static VkResult VKAPI_CALL fake_GetSemaphoreCounterValue(VkDevice device, VkSemaphore semaphore,
							 uint64_t *value)
{
	VkResult r = fault("GetSemaphoreCounterValue");

	if (r)
		return r;
	r = real_GetSemaphoreCounterValue(device, semaphore, value);
	if (__atomic_load_n(&fake->stuck, __ATOMIC_RELAXED))
		*value = 0;
	say(FAKE_VULKAN_COUNTER, value);
	return r;
}

static PFN_vkCmdCopyBuffer real_CmdCopyBuffer;
static void VKAPI_CALL fake_CmdCopyBuffer(VkCommandBuffer commands, VkBuffer from, VkBuffer to,
					  uint32_t n, const VkBufferCopy *regions)
{
	count(&fake->copies, 1);
	real_CmdCopyBuffer(commands, from, to, n, regions);
}

static PFN_vkCmdPipelineBarrier real_CmdPipelineBarrier;
static void VKAPI_CALL fake_CmdPipelineBarrier(
	VkCommandBuffer commands, VkPipelineStageFlags before, VkPipelineStageFlags after,
	VkDependencyFlags flags, uint32_t n, const VkMemoryBarrier *barriers, uint32_t buffer_count,
	const VkBufferMemoryBarrier *buffers, uint32_t image_count,
	const VkImageMemoryBarrier *images)
{
	const VkAccessFlags any = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
	bool all = before & after & VK_PIPELINE_STAGE_ALL_COMMANDS_BIT &&
		   (barriers->srcAccessMask & barriers->dstAccessMask & any) == any;

	count(all ? &fake->wide_barriers : &fake->narrow_barriers, 1);
	real_CmdPipelineBarrier(commands, before, after, flags, n, barriers, buffer_count, buffers,
				image_count, images);
}

static PFN_vkCmdDispatch real_CmdDispatch;
static void VKAPI_CALL fake_CmdDispatch(VkCommandBuffer commands, uint32_t x, uint32_t y,
					uint32_t z)
{
	count(&fake->records, 1);
	real_CmdDispatch(commands, x, y, z);
}

/* ---- instances and devices */

static PFN_vkEnumeratePhysicalDevices real_EnumeratePhysicalDevices;
static VkResult VKAPI_CALL fake_EnumeratePhysicalDevices(VkInstance instance, uint32_t *n,
							 VkPhysicalDevice *out)
{
	VkResult r = fault("EnumeratePhysicalDevices");

	return r ? r : real_EnumeratePhysicalDevices(instance, n, out);
}

static PFN_vkGetPhysicalDeviceProperties2 real_GetPhysicalDeviceProperties2;
static void VKAPI_CALL fake_GetPhysicalDeviceProperties2(VkPhysicalDevice physical,
							 VkPhysicalDeviceProperties2 *out)
{
	real_GetPhysicalDeviceProperties2(physical, out);
	out->properties.pipelineCacheUUID[0] ^= fake->driver;
	say(FAKE_VULKAN_PROPERTIES, out);
}

static PFN_vkGetPhysicalDeviceFeatures2 real_GetPhysicalDeviceFeatures2;
static void VKAPI_CALL fake_GetPhysicalDeviceFeatures2(VkPhysicalDevice physical,
						       VkPhysicalDeviceFeatures2 *out)
{
	real_GetPhysicalDeviceFeatures2(physical, out);
	say(FAKE_VULKAN_FEATURES, out);
}

static PFN_vkGetPhysicalDeviceMemoryProperties2 real_GetPhysicalDeviceMemoryProperties2;
static void VKAPI_CALL fake_GetPhysicalDeviceMemoryProperties2(
	VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties2 *out)
{
	void *chain = out->pNext;

	/* a driver without the extension has no such struct */
	if (fake->budget)
		out->pNext = NULL;
	real_GetPhysicalDeviceMemoryProperties2(physical, out);
	out->pNext = chain;
	say(FAKE_VULKAN_MEMORY, out);
}

static PFN_vkGetPhysicalDeviceQueueFamilyProperties real_GetPhysicalDeviceQueueFamilyProperties;
static void VKAPI_CALL fake_GetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice physical,
								   uint32_t *n,
								   VkQueueFamilyProperties *out)
{
	uint32_t i;

	real_GetPhysicalDeviceQueueFamilyProperties(physical, n, out);
	for (i = 0; out && i < *n; i++)
		say(FAKE_VULKAN_FAMILY, &out[i]);
}

static PFN_vkGetPhysicalDeviceExternalBufferProperties
	real_GetPhysicalDeviceExternalBufferProperties;
static void VKAPI_CALL fake_GetPhysicalDeviceExternalBufferProperties(
	VkPhysicalDevice physical, const VkPhysicalDeviceExternalBufferInfo *info,
	VkExternalBufferProperties *out)
{
	real_GetPhysicalDeviceExternalBufferProperties(physical, info, out);
	say(FAKE_VULKAN_BUFFERS, out);
}

static VkBool32 VKAPI_CALL complain(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
				    VkDebugUtilsMessageTypeFlagsEXT type,
				    const VkDebugUtilsMessengerCallbackDataEXT *data, void *context)
{
	const char *what = getenv("TENON_FAKE_VULKAN");

	(void)severity;
	(void)type;
	(void)context;
	if (!fake->complaints)
		snprintf(fake->complaint, sizeof(fake->complaint), "%s", data->pMessage);
	count(&fake->complaints, 1);
	fprintf(stderr, "Vulkan validation: %s\n", data->pMessage);
	if (what && !strcmp(what, "abort"))
		abort();
	return VK_FALSE;
}

static PFN_vkCreateInstance real_CreateInstance;
static VkResult VKAPI_CALL fake_CreateInstance(const VkInstanceCreateInfo *info,
					       const VkAllocationCallbacks *a, VkInstance *out)
{
	static const char *const layer = "VK_LAYER_KHRONOS_validation";
	static const char *const extensions[] = { VK_EXT_DEBUG_UTILS_EXTENSION_NAME };
	VkDebugUtilsMessengerCreateInfoEXT messenger = {
		.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
		.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT |
				   VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT,
		.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
		.pfnUserCallback = complain,
	};
	const VkValidationFeatureEnableEXT enable =
		VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
	const VkValidationFeaturesEXT features = {
		.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
		.pNext = &messenger,
		.enabledValidationFeatureCount = 1,
		.pEnabledValidationFeatures = &enable,
	};
	VkInstanceCreateInfo own = *info;
	PFN_vkCreateDebugUtilsMessengerEXT make;
	VkDebugUtilsMessengerEXT made;
	VkResult r = fault("CreateInstance");

	if (r || !getenv("TENON_FAKE_VULKAN"))
		return r ? r : real_CreateInstance(info, a, out);
	own.pNext = &features;
	own.enabledLayerCount = 1;
	own.ppEnabledLayerNames = &layer;
	own.enabledExtensionCount = 1;
	own.ppEnabledExtensionNames = extensions;
	r = real_CreateInstance(&own, a, out);
	if (r == VK_ERROR_LAYER_NOT_PRESENT) {
		fprintf(stderr,
			"# not validated: %s is not installed (Debian: vulkan-validationlayers)\n",
			layer);
		return real_CreateInstance(info, a, out);
	}
	if (r)
		return r;
	make = (PFN_vkCreateDebugUtilsMessengerEXT)real_get(*out, "vkCreateDebugUtilsMessengerEXT");
	return make(*out, &messenger, NULL, &made);
}

static PFN_vkEnumerateInstanceVersion real_EnumerateInstanceVersion;
static VkResult VKAPI_CALL fake_EnumerateInstanceVersion(uint32_t *version)
{
	*version = fake->loader_version;
	return fake->loader_version ? VK_SUCCESS : real_EnumerateInstanceVersion(version);
}

static PFN_vkCreateDevice real_CreateDevice;
static VkResult VKAPI_CALL fake_CreateDevice(VkPhysicalDevice physical,
					     const VkDeviceCreateInfo *info,
					     const VkAllocationCallbacks *a, VkDevice *out)
{
	const char *names[SEMAPHORES_MOST];
	VkDeviceCreateInfo own = *info;
	VkResult r = fault("CreateDevice");

	own.ppEnabledExtensionNames = names;
	own.enabledExtensionCount =
		without_added(info->ppEnabledExtensionNames, info->enabledExtensionCount, names);
	if (!r)
		r = real_CreateDevice(physical, &own, a, out);
	if (r)
		return r;
	newest = *out;
	fake->lost = 0;
	real_DeviceWaitIdle = (PFN_vkDeviceWaitIdle)real_device_get(*out, "vkDeviceWaitIdle");
	real_SignalSemaphore = (PFN_vkSignalSemaphore)real_device_get(*out, "vkSignalSemaphore");
	count(&fake->live, 1);
	return r;
}

static PFN_vkDestroyDevice real_DestroyDevice;
static void VKAPI_CALL fake_DestroyDevice(VkDevice device, const VkAllocationCallbacks *a)
{
	count(&fake->live, -1);
	real_DestroyDevice(device, a);
}

static PFN_vkVoidFunction VKAPI_CALL device_get(VkDevice device, const char *name);

static PFN_vkVoidFunction VKAPI_CALL fake_GetDeviceProcAddr(VkDevice device, const char *name)
{
	return device_get(device, name);
}

/* ---- looking functions up */

#define FAKE(name)                                                                                 \
	{                                                                                          \
#name, (PFN_vkVoidFunction)fake_##name, (PFN_vkVoidFunction *)(void *)&real_##name \
	}

static PFN_vkGetDeviceProcAddr real_GetDeviceProcAddr;

static const struct {
	const char *name;
	PFN_vkVoidFunction function;
	PFN_vkVoidFunction *real;
} fakes[] = {
	FAKE(AllocateCommandBuffers),
	FAKE(AllocateDescriptorSets),
	FAKE(AllocateMemory),
	FAKE(BeginCommandBuffer),
	FAKE(BindBufferMemory),
	FAKE(CmdCopyBuffer),
	FAKE(CmdDispatch),
	FAKE(CmdPipelineBarrier),
	FAKE(CreateBuffer),
	FAKE(CreateCommandPool),
	FAKE(CreateComputePipelines),
	FAKE(CreateDescriptorPool),
	FAKE(CreateDescriptorSetLayout),
	FAKE(CreateDevice),
	FAKE(CreateInstance),
	FAKE(CreatePipelineCache),
	FAKE(CreatePipelineLayout),
	FAKE(CreateQueryPool),
	FAKE(CreateSemaphore),
	FAKE(CreateShaderModule),
	FAKE(DestroyBuffer),
	FAKE(DestroyCommandPool),
	FAKE(DestroyDescriptorPool),
	FAKE(DestroyDescriptorSetLayout),
	FAKE(DestroyDevice),
	FAKE(DestroyPipeline),
	FAKE(DestroyPipelineCache),
	FAKE(DestroyPipelineLayout),
	FAKE(DestroyQueryPool),
	FAKE(DestroySemaphore),
	FAKE(DestroyShaderModule),
	FAKE(EndCommandBuffer),
	FAKE(EnumerateDeviceExtensionProperties),
	FAKE(EnumerateInstanceVersion),
	FAKE(EnumeratePhysicalDevices),
	FAKE(FreeMemory),
	FAKE(GetBufferMemoryRequirements),
	FAKE(GetDeviceProcAddr),
	FAKE(GetMemoryFdKHR),
	FAKE(GetPhysicalDeviceExternalBufferProperties),
	FAKE(GetPhysicalDeviceExternalSemaphoreProperties),
	FAKE(GetPhysicalDeviceFeatures2),
	FAKE(GetPhysicalDeviceMemoryProperties2),
	FAKE(GetPhysicalDeviceProperties2),
	FAKE(GetPhysicalDeviceQueueFamilyProperties),
	FAKE(GetPipelineCacheData),
	FAKE(GetSemaphoreCounterValue),
	FAKE(GetSemaphoreFdKHR),
	FAKE(ImportSemaphoreFdKHR),
	FAKE(MapMemory),
	FAKE(QueueSubmit),
	FAKE(WaitSemaphores),
};

/* The fake of a function; KHR behind a name does not make it another. */
static PFN_vkVoidFunction substitute(const char *name, PFN_vkVoidFunction real)
{
	size_t i, n;

	if (!real && !(fake->fences && strstr(name, "SemaphoreFdKHR")))
		return NULL;
	n = fake->missing ? strlen(fake->missing) : 0;
	if (n && !strncmp(name + 2, fake->missing, n) &&
	    (!name[2 + n] || !strcmp(name + 2 + n, "KHR")))
		return NULL;
	for (i = 0; i < sizeof(fakes) / sizeof(fakes[0]); i++) {
		n = strlen(fakes[i].name);
		if (strncmp(name + 2, fakes[i].name, n) ||
		    (name[2 + n] && strcmp(name + 2 + n, "KHR")))
			continue;
		*fakes[i].real = real;
		return fakes[i].function;
	}
	return real;
}

static PFN_vkVoidFunction VKAPI_CALL device_get(VkDevice device, const char *name)
{
	return substitute(name, real_device_get(device, name));
}

PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance, const char *name)
{
	void *library;

	if (!real_get) {
		library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
		if (!library)
			return NULL;
		real_get = (PFN_vkGetInstanceProcAddr)dlsym(library, "vkGetInstanceProcAddr");
	}
	if (instance && !real_device_get)
		real_device_get =
			(PFN_vkGetDeviceProcAddr)real_get(instance, "vkGetDeviceProcAddr");
	return substitute(name, real_get(instance, name));
}
