/* SPDX-License-Identifier: MIT */
/* The instance: created when devices are first requested, and never destroyed. */
#include <stdlib.h>
#include <tenon/backend/buffer.h>

#include "devices/vulkan/vulkan_device.h"
#include "devices/vulkan/vulkan_payload.h"
#include "lib/brief_errors.h"

struct vulkan_instance vulkan_instance;

#define LEAST_VERSION VK_API_VERSION_1_1
#define MOST_VERSION  VK_API_VERSION_1_3

static int make_instance(struct vulkan_instance *i)
{
	const VkApplicationInfo application = {
		.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
		.pEngineName = "Tenon",
		.apiVersion = MOST_VERSION,
	};
	const VkInstanceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
		.pApplicationInfo = &application,
	};
	VkResult r;

	i->version = VK_API_VERSION_1_0;
	if (i->library.EnumerateInstanceVersion)
		i->library.EnumerateInstanceVersion(&i->version);
	if (i->version < LEAST_VERSION)
		return tenon_error(
			-TENON_E_DEVICE,
			"the Vulkan loader is of version 1.0, want 1.1 or later; update it");
	r = i->handle ? VK_SUCCESS : i->library.CreateInstance(&info, NULL, &i->handle);
	if (r)
		return tenon_error_in(vulkan_result(r, "CreateInstance"),
				      "no Vulkan driver works here (Debian: apt install "
				      "mesa-vulkan-drivers)");
	return vulkan_instance_load(&i->library, i->handle, &i->api);
}

/* Get the count, then the list; repeat if devices were added in between. */
static int list_devices(struct vulkan_instance *i)
{
	VkPhysicalDevice *devices;
	uint32_t count = 0;
	VkResult r;

	do {
		r = i->api.EnumeratePhysicalDevices(i->handle, &count, NULL);
		if (r)
			return vulkan_result(r, "EnumeratePhysicalDevices");
		devices = calloc(count + 1, sizeof(*devices));
		if (!devices)
			return tenon_error(-TENON_E_NOMEM,
					   "no memory for a list of Vulkan devices");
		r = i->api.EnumeratePhysicalDevices(i->handle, &count, devices);
		if (!r)
			break;
		free(devices);
	} while (r == VK_INCOMPLETE);
	if (r)
		return vulkan_result(r, "EnumeratePhysicalDevices");
	i->devices = devices;
	i->count = count;
	return 0;
}

/* Continues after the last step that succeeded, so a failed step is tried again. */
static int vulkan_count(uint32_t *count)
{
	struct vulkan_instance *i = &vulkan_instance;
	int err = 0;

	*count = 0;
	if (!i->library.GetInstanceProcAddr)
		err = vulkan_library_open(&i->library);
	if (!err && !i->api.CreateDevice)
		err = make_instance(i);
	if (!err && !i->count) {
		free(i->devices);
		i->devices = NULL;
		err = list_devices(i);
	}
	*count = i->count;
	if (!err && !i->count)
		err = tenon_error(-TENON_E_DEVICE,
				  "Vulkan has a loader, but none of its drivers has a device. "
				  "Install the driver of the GPU (Debian: apt install "
				  "mesa-vulkan-drivers), or let this user open /dev/dri/renderD*");
	return err;
}

static int vulkan_doctor(struct tenon_buffer *out)
{
	const struct vulkan_instance *i = &vulkan_instance;

	if (!i->handle)
		return 0;
	return tenon_buffer_printf(
		out, "Vulkan loader %u.%u.%u\n", VK_API_VERSION_MAJOR(i->version),
		VK_API_VERSION_MINOR(i->version), VK_API_VERSION_PATCH(i->version));
}

const struct tenon_backend vulkan_backend = {
	.abi = TENON_PLUGIN_ABI,
	.size = sizeof(struct tenon_backend),
	.name = "vulkan",
	.device_type = kDLVulkan,
	.kinds = vulkan_payload_kinds,
	.count = vulkan_count,
	.describe = vulkan_describe,
	.open = vulkan_open,
	.doctor = vulkan_doctor,
	.formats = vulkan_payload_formats,
};
