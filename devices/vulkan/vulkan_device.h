/* SPDX-License-Identifier: MIT */
/*
 * The open device, and declarations that its files share.
 *
 * Lock order: recording, core's device lock, queue, then port or vulkan_device.lock. With a queue's
 * lock held, do not call functions of the core that take the core's device lock.
 */
#ifndef DEVICES_VULKAN_DEVICE_H
#define DEVICES_VULKAN_DEVICE_H

#include <pthread.h>
#include <stdbool.h>

#include <tenon/backend/backend.h>
#include <tenon/backend/memory.h>

#include "driver/vulkan/vulkan_api.h"

/* limit of buffers of a kernel, including the block of scalars */
#define VULKAN_BUFFERS 64
#define VULKAN_PORTS   4
/* limit of capabilities in vulkan_features.c */
#define VULKAN_CAPABILITIES 32

/* optional extensions, in the order of extension_names in vulkan_describe.c */
enum vulkan_extension {
	VULKAN_TIMELINE = 1 << 0,
	VULKAN_PUSH_DESCRIPTOR = 1 << 1,
	VULKAN_FD = 1 << 2,
	VULKAN_DMA_BUF = 1 << 3,
	VULKAN_HOST_POINTER = 1 << 4,
	VULKAN_8BIT = 1 << 5,
	VULKAN_FLOAT16 = 1 << 6,
	VULKAN_DRIVER_PROPERTIES = 1 << 7,
	VULKAN_BUDGET = 1 << 8,
	VULKAN_PCI = 1 << 9,
	VULKAN_DRM = 1 << 10,
	VULKAN_SEMAPHORE_FD = 1 << 11,
	VULKAN_EXTENSION_COUNT = 12,
};

/** struct vulkan_instance - the instance of the process; never destroyed */
struct vulkan_instance {
	struct vulkan_library library;
	struct vulkan_instance_api api;
	VkInstance handle;
	VkPhysicalDevice *devices;
	uint32_t count;
	uint32_t version; /* of the loader */
};

extern const struct tenon_backend vulkan_backend;
extern struct vulkan_instance vulkan_instance;

/**
 * struct vulkan_facts - data of a physical device that is not in the properties
 * @extensions: mask of enum vulkan_extension that the device has
 * @version: VK_API_VERSION to use: the device's, at most 1.3
 * @family: queue family; UINT32_MAX if none supports compute
 * @family_queues: number of its queues
 * @exports: VkExternalMemoryHandleTypeFlags that buffers can be exported as
 * @dedicated: handle types that need a dedicated allocation
 * @subgroup: VkSubgroupFeatureFlags of compute shaders
 * @capabilities: SPIR-V capabilities that kernels may use
 * @memory: types and heaps
 */
struct vulkan_facts {
	uint32_t extensions;
	uint32_t version;
	uint32_t family;
	uint32_t family_queues;
	uint32_t exports;
	uint32_t dedicated;
	uint32_t subgroup;
	uint32_t capability_count;
	uint16_t capabilities[VULKAN_CAPABILITIES];
	uint32_t usable_types; /* mask of memory types */
	uint32_t push_most;
	uint32_t buffers_most;
	uint32_t push_bytes_most;
	uint64_t range_most;
	uint64_t pointer_alignment;
	uint64_t block_alignment;
	uint8_t cache_uuid[VK_UUID_SIZE];
	uint32_t vendor_id;
	uint32_t device_id;
	uint8_t heap_types[TENON_HEAPS_MOST]; /* memory type of each tenon_heap */
	VkPhysicalDeviceMemoryProperties memory;
};

/** struct vulkan_port - a VkQueue, which several of Tenon's queues may share */
struct vulkan_port {
	VkQueue handle;
	pthread_mutex_t lock;
};

struct vulkan_layout;
struct vulkan_queue;

struct vulkan_device {
	struct tenon_device base;
	struct vulkan_device_api api;
	VkDevice handle;
	VkPhysicalDevice physical;
	struct vulkan_facts facts;
	bool staging; /* without=host-memory: treat memory as not host-visible */
	uint32_t port_count;
	uint32_t next_port; /* atomic */
	struct vulkan_port ports[VULKAN_PORTS];
	pthread_mutex_t lock; /* protects the two lists */
	struct vulkan_layout *layouts;
	struct vulkan_queue *spare_queues;
	uint64_t next_id; /* atomic; unique number of each buffer */
};

/** struct vulkan_memory - a buffer with its own allocation */
struct vulkan_memory {
	struct tenon_memory base;
	VkBuffer buffer;
	VkDeviceMemory memory;
	uint64_t id;
	uint64_t allocated;
	uint32_t type;
};

static inline struct vulkan_device *vulkan_device_of(struct tenon_device *device)
{
	return (struct vulkan_device *)device;
}

static inline struct vulkan_memory *vulkan_memory_of(struct tenon_memory *memory)
{
	return (struct vulkan_memory *)memory;
}

static inline uint64_t vulkan_new_id(struct vulkan_device *device)
{
	return __atomic_add_fetch(&device->next_id, 1, __ATOMIC_RELAXED);
}

/* Set the type of a Vulkan struct, and insert it into the chain of @head. */
void vulkan_chain(void *head, void *link, VkStructureType type);

/* Return: 0 for VK_SUCCESS; else the raised error of @call. A loss marks the device as lost. */
int vulkan_check(struct vulkan_device *device, VkResult result, const char *call);

/* vulkan_describe.c */
int vulkan_describe(uint32_t index, struct tenon_device_properties *properties);
void vulkan_facts_read(VkPhysicalDevice physical, uint32_t without, uint32_t version_most,
		       struct vulkan_facts *facts, struct tenon_device_properties *p);
/* Get the names of the extensions in a mask. Return: their number. */
uint32_t vulkan_extension_list(uint32_t extensions, const char **names);

/* vulkan_queue.c: free the queues kept for reuse, when the device is idle */
void vulkan_queues_free(struct vulkan_device *device);

/* vulkan_device.c */
/* Wait until the device is idle; returns at once for a lost device. */
void vulkan_quiesce(struct vulkan_device *device);
int vulkan_open(const struct tenon_device_choice *choice, struct tenon_device **out);

/* vulkan_memory.c: find a memory type for a usage among @types; -1 if there is none */
int vulkan_memory_type(const struct vulkan_facts *facts, uint32_t types, uint32_t usage);
/* Create a buffer without an object of the core. */
int vulkan_buffer_make(struct vulkan_device *device, uint64_t size, uint32_t usage, int32_t heap,
		       const struct tenon_memory_import *from, struct vulkan_memory *m);
void vulkan_buffer_free(struct vulkan_device *device, struct vulkan_memory *m);
int vulkan_memory_finish(struct vulkan_device *device, struct vulkan_memory *made,
			 struct tenon_memory **out);

/* vulkan_handle.c */
int vulkan_import(struct tenon_device *device, const struct tenon_memory_import *from,
		  struct tenon_memory **out);
int vulkan_export(struct tenon_memory *memory, uint32_t type, int *fd);
VkExternalMemoryHandleTypeFlags vulkan_handle_type(uint32_t type);

/* vulkan_fence.c: supported fences, and two functions of struct tenon_queue_ops */
void vulkan_fences_read(VkPhysicalDevice physical, struct tenon_device_properties *p);
int vulkan_fence_export(struct tenon_queue *queue, uint64_t serial, uint32_t type, int *fd);
int vulkan_fence_import(struct tenon_queue *queue, uint32_t type, int fd);

extern const struct tenon_memory_ops vulkan_memory_ops;
extern const struct tenon_queue_ops vulkan_queue_ops;
extern const struct tenon_commands_ops vulkan_commands_ops;
extern const struct tenon_executable_ops vulkan_executable_ops;

#endif /* DEVICES_VULKAN_DEVICE_H */
