/* SPDX-License-Identifier: MIT */
/* Open the Vulkan loader and fill the tables of an instance and a device. */
#include "driver/vulkan/vulkan_api.h"

#include <stdio.h>
#include <string.h>

#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/vendor_library.h"

typedef PFN_vkVoidFunction (*resolver)(void *from, const char *name);

#define NEEDED(name)   #name "\0"
#define OPTIONAL(name) "?" #name "\0"

static int load(resolver resolve, void *from, const char *names, void *table)
{
	PFN_vkVoidFunction *out = table;
	char name[64];
	bool optional;

	for (; *names; names += strlen(names) + 1, out++) {
		optional = *names == '?';
		names += optional;
		snprintf(name, sizeof(name), "vk%s", names);
		*out = resolve(from, name);
		if (!*out) {
			strcat(name, "KHR");
			*out = resolve(from, name);
		}
		if (!*out && !optional)
			return tenon_error(-TENON_E_DEVICE,
					   "Vulkan: the driver has no vk%s; update it", names);
	}
	return 0;
}

static PFN_vkVoidFunction from_device(void *from, const char *name)
{
	void **pair = from;
	const struct vulkan_instance_api *api = pair[0];

	return api->GetDeviceProcAddr(pair[1], name);
}

static PFN_vkVoidFunction from_instance(void *from, const char *name)
{
	void **pair = from;
	const struct vulkan_library *library = pair[0];

	return library->GetInstanceProcAddr(pair[1], name);
}

int vulkan_library_open(struct vulkan_library *library)
{
	static const struct vendor_symbol symbol = {
		"vkGetInstanceProcAddr", offsetof(struct vulkan_library, GetInstanceProcAddr), false
	};
	const char *instead = vendor_library_named("TENON_VULKAN_LIBRARY");
	const char *names[] = { instead ? instead : "libvulkan.so.1", NULL };
	struct vulkan_library l;
	void *pair[] = { &l, NULL };
	void *handle;
	int err;

	err = vendor_library_open(names,
				  "Install the Vulkan loader and a driver (Debian: apt install "
				  "libvulkan1 mesa-vulkan-drivers)",
				  &symbol, 1, &l, &handle);
	if (!err)
		err = load(from_instance, pair, VULKAN_LIBRARY_FUNCTIONS(NEEDED, OPTIONAL),
			   &l.CreateInstance);
	if (!err)
		*library = l;
	return err;
}

int vulkan_instance_load(const struct vulkan_library *library, VkInstance instance,
			 struct vulkan_instance_api *api)
{
	void *pair[] = { (void *)library, instance };
	struct vulkan_instance_api a;
	int err;

	err = load(from_instance, pair, VULKAN_INSTANCE_FUNCTIONS(NEEDED, OPTIONAL), &a);
	if (!err)
		*api = a;
	return err;
}

int vulkan_device_load(const struct vulkan_instance_api *instance, VkDevice device,
		       struct vulkan_device_api *api)
{
	void *pair[] = { (void *)instance, device };

	return load(from_device, pair, VULKAN_DEVICE_FUNCTIONS(NEEDED, OPTIONAL), api);
}

int vulkan_result(VkResult result, const char *call)
{
	static const struct {
		int8_t result;
		char name[22];
	} names[] = {
		{ VK_ERROR_OUT_OF_HOST_MEMORY, "out of host memory" },
		{ VK_ERROR_OUT_OF_DEVICE_MEMORY, "out of device memory" },
		{ VK_ERROR_INITIALIZATION_FAILED, "initialisation failed" },
		{ VK_ERROR_DEVICE_LOST, "device lost" },
		{ VK_ERROR_LAYER_NOT_PRESENT, "layer not present" },
		{ VK_ERROR_EXTENSION_NOT_PRESENT, "extension not present" },
		{ VK_ERROR_FEATURE_NOT_PRESENT, "feature not present" },
		{ VK_ERROR_INCOMPATIBLE_DRIVER, "no driver" },
		{ VK_ERROR_TOO_MANY_OBJECTS, "too many objects" },
	};
	int status = -TENON_E_DEVICE;
	const char *name = "failed";
	size_t i;

	if (result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY)
		status = -TENON_E_NOMEM;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].result == (int)result)
			name = names[i].name;
	}
	return tenon_error(status, "vk%s: %s (VkResult %d)", call, name, (int)result);
}
