/* SPDX-License-Identifier: MIT */
/* Properties of physical devices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/vulkan/vulkan_device.h"
#include "lib/brief_errors.h"

/* in the order of enum vulkan_extension, each ended by NUL */
static const char extension_names[] = "VK_KHR_timeline_semaphore\0"
				      "VK_KHR_push_descriptor\0"
				      "VK_KHR_external_memory_fd\0"
				      "VK_EXT_external_memory_dma_buf\0"
				      "VK_EXT_external_memory_host\0"
				      "VK_KHR_8bit_storage\0"
				      "VK_KHR_shader_float16_int8\0"
				      "VK_KHR_driver_properties\0"
				      "VK_EXT_memory_budget\0"
				      "VK_EXT_pci_bus_info\0"
				      "VK_EXT_physical_device_drm\0"
				      "VK_KHR_external_semaphore_fd\0";

#define PART_OF_1_2 (VULKAN_TIMELINE | VULKAN_8BIT | VULKAN_FLOAT16 | VULKAN_DRIVER_PROPERTIES)

uint32_t vulkan_extension_list(uint32_t extensions, const char **names)
{
	const char *name = extension_names;
	uint32_t count = 0, bit;

	for (bit = 1; *name; name += strlen(name) + 1, bit <<= 1) {
		if (extensions & bit)
			names[count++] = name;
	}
	return count;
}

static uint32_t find_extensions(const VkExtensionProperties *list, uint32_t count)
{
	const char *names[VULKAN_EXTENSION_COUNT];
	uint32_t i, bit, found = 0;

	vulkan_extension_list(UINT32_MAX, names);
	for (i = 0; i < count; i++) {
		for (bit = 0; bit < VULKAN_EXTENSION_COUNT; bit++) {
			if (!strcmp(list[i].extensionName, names[bit]))
				found |= 1u << bit;
		}
	}
	return found;
}

/* All extensions are optional, so a failure means an empty list. */
static uint32_t read_extensions(VkPhysicalDevice physical)
{
	const struct vulkan_instance_api *api = &vulkan_instance.api;
	VkExtensionProperties *list;
	uint32_t count = 0, found = 0;

	if (api->EnumerateDeviceExtensionProperties(physical, NULL, &count, NULL) || !count)
		return 0;
	list = calloc(count, sizeof(*list));
	if (list && api->EnumerateDeviceExtensionProperties(physical, NULL, &count, list) >= 0)
		found = find_extensions(list, count);
	free(list);
	return found;
}

/* structs of a query; the device determines which are chained */
struct answers {
	VkPhysicalDeviceProperties2 all;
	VkPhysicalDeviceIDProperties id;
	VkPhysicalDeviceMaintenance3Properties limits;
	VkPhysicalDeviceSubgroupProperties subgroup;
	VkPhysicalDeviceDriverProperties driver;
	VkPhysicalDevicePushDescriptorPropertiesKHR push;
	VkPhysicalDeviceExternalMemoryHostPropertiesEXT pointer;
	VkPhysicalDevicePCIBusInfoPropertiesEXT pci;
	VkPhysicalDeviceDrmPropertiesEXT drm;
};

static void ask(VkPhysicalDevice physical, uint32_t extensions, bool driver, struct answers *a)
{
	memset(a, 0, sizeof(*a));
	a->all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
	vulkan_chain(&a->all, &a->id, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES);
	vulkan_chain(&a->all, &a->limits,
		     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES);
	vulkan_chain(&a->all, &a->subgroup, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES);
	if (driver)
		vulkan_chain(&a->all, &a->driver,
			     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES);
	if (extensions & VULKAN_PUSH_DESCRIPTOR)
		vulkan_chain(&a->all, &a->push,
			     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PUSH_DESCRIPTOR_PROPERTIES_KHR);
	if (extensions & VULKAN_HOST_POINTER)
		vulkan_chain(&a->all, &a->pointer,
			     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT);
	if (extensions & VULKAN_PCI)
		vulkan_chain(&a->all, &a->pci,
			     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT);
	if (extensions & VULKAN_DRM)
		vulkan_chain(&a->all, &a->drm,
			     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRM_PROPERTIES_EXT);
	vulkan_instance.api.GetPhysicalDeviceProperties2(physical, &a->all);
}

static const char *vendor_name(uint32_t id)
{
	static const struct {
		uint32_t id;
		char name[12];
	} vendors[] = {
		{ 0x1002, "AMD" },   { 0x1010, "Imagination" }, { 0x10de, "NVIDIA" },
		{ 0x13b5, "Arm" },   { 0x14e4, "Broadcom" },	{ 0x5143, "Qualcomm" },
		{ 0x8086, "Intel" }, { 0x10005, "Mesa" },
	};
	size_t i;

	for (i = 0; i < sizeof(vendors) / sizeof(vendors[0]); i++) {
		if (vendors[i].id == id)
			return vendors[i].name;
	}
	return "";
}

static uint32_t device_class(VkPhysicalDeviceType type)
{
	switch (type) {
	case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
	case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
		return TENON_CLASS_GPU;
	case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
		return TENON_CLASS_INTEGRATED_GPU;
	case VK_PHYSICAL_DEVICE_TYPE_CPU:
		return TENON_CLASS_CPU;
	default:
		return TENON_CLASS_OTHER;
	}
}

static void fill_properties(const struct answers *a, const struct vulkan_facts *f,
			    struct tenon_device_properties *p)
{
	const VkPhysicalDeviceProperties *v = &a->all.properties;
	const VkPhysicalDeviceLimits *l = &v->limits;

	snprintf(p->name, sizeof(p->name), "%.127s", v->deviceName);
	snprintf(p->vendor, sizeof(p->vendor), "%s", vendor_name(v->vendorID));
	snprintf(p->driver, sizeof(p->driver), "%.48s %.60s (%u)", a->driver.driverName,
		 a->driver.driverInfo, v->driverVersion);
	snprintf(p->compute_version, sizeof(p->compute_version), "%u.%u",
		 VK_API_VERSION_MAJOR(v->apiVersion), VK_API_VERSION_MINOR(v->apiVersion));
	p->api_version = (int32_t)v->apiVersion;
	p->driver_version = (int32_t)v->driverVersion;
	p->device_class = device_class(v->deviceType);
	memcpy(p->uuid, a->id.deviceUUID, sizeof(p->uuid));
	memset(p->pci, 0xff, sizeof(p->pci));
	if (f->extensions & VULKAN_PCI)
		memcpy(p->pci, &a->pci.pciDomain, sizeof(p->pci));
	p->drm_render = a->drm.hasRender ? (int32_t)a->drm.renderMinor : -1;
	p->max_threads = l->maxComputeWorkGroupInvocations;
	memcpy(p->max_block, l->maxComputeWorkGroupSize, sizeof(p->max_block));
	memcpy(p->max_grid, l->maxComputeWorkGroupCount, sizeof(p->max_grid));
	p->warp_size = a->subgroup.subgroupSize ? a->subgroup.subgroupSize : 1;
	p->max_shared = l->maxComputeSharedMemorySize;
	p->max_allocation = a->limits.maxMemoryAllocationSize;
	p->alignment = l->minStorageBufferOffsetAlignment;
	p->queues = f->family_queues ? f->family_queues : 1;
}

static void fill_facts(const struct answers *a, struct vulkan_facts *f)
{
	const VkPhysicalDeviceLimits *l = &a->all.properties.limits;
	uint32_t most = l->maxPerStageDescriptorStorageBuffers;

	f->push_most = f->extensions & VULKAN_PUSH_DESCRIPTOR ? a->push.maxPushDescriptors : 0;
	if (most > l->maxPerStageResources)
		most = l->maxPerStageResources;
	f->buffers_most = most < VULKAN_BUFFERS ? most : VULKAN_BUFFERS;
	f->push_bytes_most = l->maxPushConstantsSize;
	f->range_most = l->maxStorageBufferRange;
	f->pointer_alignment = a->pointer.minImportedHostPointerAlignment;
	f->block_alignment = l->minUniformBufferOffsetAlignment;
	if (a->subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT)
		f->subgroup = a->subgroup.supportedOperations;
	f->vendor_id = a->all.properties.vendorID;
	f->device_id = a->all.properties.deviceID;
	memcpy(f->cache_uuid, a->all.properties.pipelineCacheUUID, VK_UUID_SIZE);
}

static void read_family(VkPhysicalDevice physical, struct vulkan_facts *f,
			const VkPhysicalDeviceLimits *limits, struct tenon_device_properties *p)
{
	VkQueueFamilyProperties families[32];
	uint32_t count = 32, i;

	f->family = UINT32_MAX;
	vulkan_instance.api.GetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
	for (i = 0; i < count && f->family == UINT32_MAX; i++) {
		if (!(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT))
			continue;
		f->family = i;
		f->family_queues = families[i].queueCount;
		if (families[i].timestampValidBits)
			p->timestamp_period = (uint32_t)(limits->timestampPeriod * 1000);
	}
}

static void read_handles(VkPhysicalDevice physical, struct vulkan_facts *f,
			 struct tenon_device_properties *p)
{
	static const uint32_t needs[] = { VULKAN_HOST_POINTER, VULKAN_FD,
					  VULKAN_DMA_BUF | VULKAN_FD };
	VkPhysicalDeviceExternalBufferInfo info = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
		.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
			 VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
	};
	VkExternalBufferProperties out = { .sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES };
	VkExternalMemoryFeatureFlags can;
	uint32_t type;

	for (type = 0; type < sizeof(needs) / sizeof(needs[0]); type++) {
		if ((f->extensions & needs[type]) != needs[type])
			continue;
		info.handleType = (VkExternalMemoryHandleTypeFlagBits)vulkan_handle_type(type);
		vulkan_instance.api.GetPhysicalDeviceExternalBufferProperties(physical, &info,
									      &out);
		can = out.externalMemoryProperties.externalMemoryFeatures;
		if (can & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT)
			f->dedicated |= info.handleType;
		if (can & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT)
			p->imports |= 1u << type;
		/* a buffer is created for all export types, so they must be compatible */
		if ((can & VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT) && type &&
		    !(f->exports & ~out.externalMemoryProperties.compatibleHandleTypes)) {
			f->exports |= info.handleType;
			p->exports |= 1u << type;
		}
	}
}

static uint32_t heap_flags(VkMemoryPropertyFlags v)
{
	uint32_t flags = 0;

	if (v & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)
		flags |= TENON_HEAP_DEVICE_LOCAL;
	/* report only coherent memory as host-visible; every device has some */
	if ((v & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) &&
	    (v & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)) {
		flags |= TENON_HEAP_HOST_VISIBLE | TENON_HEAP_HOST_COHERENT;
		if (v & VK_MEMORY_PROPERTY_HOST_CACHED_BIT)
			flags |= TENON_HEAP_HOST_CACHED;
	}
	return flags;
}

static void add_heap(struct vulkan_facts *f, struct tenon_device_properties *p, uint32_t type)
{
	const VkMemoryType *t = &f->memory.memoryTypes[type];
	uint64_t size = f->memory.memoryHeaps[t->heapIndex].size;
	uint32_t flags = heap_flags(t->propertyFlags), i;

	if (p->heap_count == TENON_HEAPS_MOST || !(f->usable_types & (1u << type)))
		return;
	/* merge types that do not differ in reported properties */
	for (i = 0; i < p->heap_count; i++) {
		if (f->memory.memoryTypes[f->heap_types[i]].heapIndex == t->heapIndex &&
		    p->heaps[i].flags == flags)
			return;
	}
	f->heap_types[p->heap_count] = (uint8_t)type;
	p->heaps[p->heap_count].size = size;
	p->heaps[p->heap_count++].flags = flags;
}

static void read_memory(VkPhysicalDevice physical, struct vulkan_facts *f,
			struct tenon_device_properties *p)
{
	const VkMemoryPropertyFlags unusable = VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT |
					       VK_MEMORY_PROPERTY_PROTECTED_BIT |
					       VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD;
	VkPhysicalDeviceMemoryProperties2 memory = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2
	};
	uint32_t i;
	int first;

	vulkan_instance.api.GetPhysicalDeviceMemoryProperties2(physical, &memory);
	f->memory = memory.memoryProperties;
	for (i = 0; i < f->memory.memoryTypeCount; i++) {
		if (!(f->memory.memoryTypes[i].propertyFlags & unusable))
			f->usable_types |= 1u << i;
	}
	for (i = 0; i < f->memory.memoryHeapCount; i++) {
		if (f->memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
			p->total_memory += f->memory.memoryHeaps[i].size;
	}
	first = vulkan_memory_type(f, f->usable_types, TENON_MEMORY_DEFAULT);
	if (first >= 0)
		add_heap(f, p, (uint32_t)first);
	for (i = 0; i < f->memory.memoryTypeCount; i++)
		add_heap(f, p, i);
}

void vulkan_facts_read(VkPhysicalDevice physical, uint32_t without, uint32_t version_most,
		       struct vulkan_facts *f, struct tenon_device_properties *p)
{
	struct answers a;

	memset(f, 0, sizeof(*f));
	f->extensions = read_extensions(physical) & ~without;
	/* the version determines which structs may be chained */
	ask(physical, 0, false, &a);
	f->version = a.all.properties.apiVersion;
	if (f->version > version_most)
		f->version = version_most;
	ask(physical, f->extensions,
	    f->version >= VK_API_VERSION_1_2 || f->extensions & VULKAN_DRIVER_PROPERTIES, &a);
	/* extensions that are part of 1.2 must not be enabled by name */
	if (f->version >= VK_API_VERSION_1_2)
		f->extensions &= ~(uint32_t)PART_OF_1_2;
	fill_facts(&a, f);
	fill_properties(&a, f, p);
	read_family(physical, f, &a.all.properties.limits, p);
	read_handles(physical, f, p);
	if (f->extensions & VULKAN_SEMAPHORE_FD)
		vulkan_fences_read(physical, p);
	read_memory(physical, f, p);
}

int vulkan_describe(uint32_t index, struct tenon_device_properties *properties)
{
	struct vulkan_facts facts;

	if (index >= vulkan_instance.count)
		return tenon_error(-TENON_E_NOT_FOUND, "vulkan:%u: there are %u devices", index,
				   vulkan_instance.count);
	vulkan_facts_read(vulkan_instance.devices[index], 0, VK_API_VERSION_1_3, &facts,
			  properties);
	return 0;
}
