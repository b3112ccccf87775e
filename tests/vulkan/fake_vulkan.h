/* SPDX-License-Identifier: MIT */
#ifndef TESTS_VULKAN_FAKE_VULKAN_H
#define TESTS_VULKAN_FAKE_VULKAN_H

/*
 * A libvulkan.so.1 that stands before the real one (TENON_VULKAN_LIBRARY): it makes functions fail
 * when it is told to, counts what is made and destroyed, and with TENON_FAKE_VULKAN=validate loads
 * the validation layer and counts its complaints; with =abort it ends the process at the first.
 * Where the layer is not installed it says so and goes on.
 */

#include <stddef.h>
#include <stdint.h>

/**
 * struct fake_vulkan - what it does; the library exports one of this name
 * @missing: function, without vk, that this driver does not have
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
 * @lost: the device is; set by @result VK_ERROR_DEVICE_LOST
 * @failures: how many functions were made to fail
 * @live: objects made and not destroyed, allocations of memory among them
 * @submits: calls of vkQueueSubmit
 * @records: calls of vkCmdDispatch
 * @copies: calls of vkCmdCopyBuffer
 * @exports: semaphores that became descriptors
 * @imports: descriptors that became semaphores
 * @complaints: of the validation layer
 * @complaint: the first
 */
struct fake_vulkan {
	const char *missing;
	const char *failing;
	int fail_at;
	int result;
	int stuck;
	size_t cache_bytes;
	size_t cache_found;
	uint32_t loader_version;
	uint8_t driver;
	int fences;
	int lost;
	int failures;
	int live;
	int submits;
	int records;
	int copies;
	int exports;
	int imports;
	int complaints;
	char complaint[2048];
};

#endif /* TESTS_VULKAN_FAKE_VULKAN_H */
