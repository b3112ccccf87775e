/* SPDX-License-Identifier: MIT */
/*
 * A libvulkan.so.1 in front of the real one (TENON_VULKAN_LIBRARY), which makes chosen functions fail and counts
 * objects.
 *
 * TENON_FAKE_VULKAN=validate loads the validation layer and counts its complaints; =abort ends the process at the
 * first. If the layer is not installed, it says so and goes on.
 */
#ifndef TESTS_VULKAN_FAKE_VULKAN_H
#define TESTS_VULKAN_FAKE_VULKAN_H

#include <stddef.h>
#include <stdint.h>

/* what the driver says of a device, with the struct of Vulkan that it is in */
enum fake_vulkan_answer {
	FAKE_VULKAN_PROPERTIES, /* VkPhysicalDeviceProperties2 */
	FAKE_VULKAN_FEATURES,	/* VkPhysicalDeviceFeatures2 */
	FAKE_VULKAN_MEMORY,	/* VkPhysicalDeviceMemoryProperties2 */
	FAKE_VULKAN_FAMILY,	/* VkQueueFamilyProperties, each */
	FAKE_VULKAN_BUFFERS,	/* VkExternalBufferProperties */
	FAKE_VULKAN_COUNTER,	/* uint64_t, of a timeline */
	FAKE_VULKAN_FD,		/* int, of an exported semaphore */
};

/**
 * struct fake_vulkan - what it does; the library exports one of this name
 * @missing: function, without vk, that this driver does not have
 * @says: changes what the driver says; memory of each of its types is then of the real one's first type
 * @failing: function that fails
 * @fail_at: at which call from now: 1 is the next
 * @result: VkResult that it returns; after a loss all others fail too
 * @stuck: waits end by their timeouts alone, and no timeline moves
 * @cache_bytes: bytes that a pipeline cache has behind its header
 * @cache_found: size of what the last pipeline cache was made from
 * @loader_version: of the loader; 0 is the real one
 * @driver: what its pipeline cache UUID is changed by; the bytes of caches stay the real driver's
 * @fences: it has VK_KHR_external_semaphore_fd, with eventfds for sync_files and opaque fds; set before a
 *	device is opened
 * @budget: it has VK_EXT_memory_budget, with the figures that @says writes; not together with @fences
 * @lost: the device is; set by @result VK_ERROR_DEVICE_LOST
 * @failures: how many functions were made to fail
 * @live: objects made and not destroyed, allocations of memory among them
 * @submits: calls of vkQueueSubmit
 * @records: calls of vkCmdDispatch
 * @copies: calls of vkCmdCopyBuffer
 * @dedicated: allocations of memory that are for one buffer alone
 * @exports: semaphores that became descriptors
 * @imports: descriptors that became semaphores
 * @wide_barriers: barriers between all stages and accesses of memory
 * @narrow_barriers: others
 * @complaints: of the validation layer
 * @complaint: the first
 */
struct fake_vulkan {
	const char *missing;
	void (*says)(enum fake_vulkan_answer what, void *answer);
	const char *failing;
	int fail_at;
	int result;
	int stuck;
	size_t cache_bytes;
	size_t cache_found;
	uint32_t loader_version;
	uint8_t driver;
	int fences;
	int budget;
	int lost;
	int failures;
	int live;
	int submits;
	int records;
	int copies;
	int dedicated;
	int exports;
	int imports;
	int wide_barriers;
	int narrow_barriers;
	int complaints;
	char complaint[2048];
};

#endif /* TESTS_VULKAN_FAKE_VULKAN_H */
