/* SPDX-License-Identifier: MIT */
/* Open and close devices. */
#include <stdlib.h>
#include <string.h>

#include "devices/vulkan/vulkan_features.h"
#include "devices/vulkan/vulkan_layout.h"
#include "lib/brief_errors.h"
#include "lib/slice_text.h"

/* features that `vulkan://0?without=…` disables, for tests and for faulty drivers */
#define WITHOUT_HOST_MEMORY (1u << 30)
#define WITHOUT_1_2	    (1u << 31)

static const struct {
	char name[20];
	uint32_t mask;
} withouts[] = {
	{ "push-descriptors", VULKAN_PUSH_DESCRIPTOR },
	{ "host-memory", WITHOUT_HOST_MEMORY },
	{ "1.2", WITHOUT_1_2 },
};

void vulkan_chain(void *head, void *link, VkStructureType type)
{
	VkBaseOutStructure *h = head, *l = link;

	l->sType = type;
	l->pNext = h->pNext;
	h->pNext = l;
}

int vulkan_check(struct vulkan_device *device, VkResult result, const char *call)
{
	int err;

	if (result == VK_SUCCESS)
		return 0;
	err = vulkan_result(result, call);
	return result == VK_ERROR_DEVICE_LOST ? tenon_device_lose(&device->base, err) : err;
}

static int read_options(const struct tenon_device_choice *choice, uint32_t *without)
{
	const struct tenon_device_option *o;
	size_t i, k;

	*without = 0;
	for (i = 0; i < choice->option_count; i++) {
		o = &choice->options[i];
		for (k = 0; k < sizeof(withouts) / sizeof(withouts[0]); k++) {
			if (slice_is(o->value, withouts[k].name))
				break;
		}
		if (!slice_is(o->key, "without") || k == sizeof(withouts) / sizeof(withouts[0]))
			return tenon_error(-TENON_E_VALUE,
					   "vulkan: option %.*s=%.*s is not known; there are "
					   "without=push-descriptors, host-memory, 1.2",
					   (int)o->key.size, o->key.data, (int)o->value.size,
					   o->value.data);
		*without |= withouts[k].mask;
	}
	return 0;
}

static int make_device(struct vulkan_device *d)
{
	const uint32_t enabled = VULKAN_TIMELINE | VULKAN_PUSH_DESCRIPTOR | VULKAN_FD |
				 VULKAN_DMA_BUF | VULKAN_HOST_POINTER | VULKAN_8BIT |
				 VULKAN_FLOAT16 | VULKAN_SEMAPHORE_FD;
	const char *names[VULKAN_EXTENSION_COUNT];
	float priorities[VULKAN_PORTS] = { 0 };
	VkDeviceQueueCreateInfo queues = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
		.queueFamilyIndex = d->facts.family,
		.queueCount = d->port_count,
		.pQueuePriorities = priorities,
	};
	VkDeviceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
		.queueCreateInfoCount = 1,
		.pQueueCreateInfos = &queues,
		.ppEnabledExtensionNames = names,
	};
	struct vulkan_features features;
	VkResult r;

	vulkan_features_read(d->physical, &d->facts, &features);
	if (!features.timeline.timelineSemaphore)
		return tenon_error(-TENON_E_DEVICE,
				   "%s (%s): the driver has no timeline semaphores (Vulkan 1.2 or "
				   "VK_KHR_timeline_semaphore); update it",
				   d->base.properties->name, d->base.properties->driver);
	info.pNext = &features.all;
	info.enabledExtensionCount = vulkan_extension_list(d->facts.extensions & enabled, names);
	r = vulkan_instance.api.CreateDevice(d->physical, &info, NULL, &d->handle);
	if (r)
		return tenon_error_in(vulkan_result(r, "CreateDevice"), "%s",
				      d->base.properties->name);
	return 0;
}

/* Ignore an extension that is advertised but lacks functions. */
static void forget_what_is_missing(struct vulkan_device *d)
{
	struct tenon_device_properties *p = d->base.properties;
	struct vulkan_facts *f = &d->facts;

	if (!d->api.CmdPushDescriptorSetKHR)
		f->push_most = 0;
	if (!d->api.GetMemoryFdKHR || !d->api.GetMemoryFdPropertiesKHR) {
		f->exports = p->exports = 0;
		p->imports &= 1u << TENON_HANDLE_HOST_POINTER;
	}
	if (!d->api.GetMemoryHostPointerPropertiesEXT)
		p->imports &= ~(1u << TENON_HANDLE_HOST_POINTER);
	if (!d->api.GetSemaphoreFdKHR)
		p->fence_exports = 0;
	if (!d->api.ImportSemaphoreFdKHR)
		p->fence_imports = 0;
}

static int start(struct vulkan_device *d, uint32_t without)
{
	struct vulkan_facts *f = &d->facts;
	uint32_t i;
	int err;

	vulkan_facts_read(d->physical, without & (WITHOUT_HOST_MEMORY - 1),
			  without & WITHOUT_1_2 ? VK_API_VERSION_1_1 : VK_API_VERSION_1_3, f,
			  d->base.properties);
	d->staging = without & WITHOUT_HOST_MEMORY;
	if (f->version < VK_API_VERSION_1_1 || f->family == UINT32_MAX ||
	    !d->base.properties->heap_count)
		return tenon_error(
			-TENON_E_DEVICE,
			"%s: has Vulkan %s, and %s queue that computes; want 1.1 and one",
			d->base.properties->name, d->base.properties->compute_version,
			f->family == UINT32_MAX ? "no" : "a");
	d->port_count = f->family_queues < VULKAN_PORTS ? f->family_queues : VULKAN_PORTS;
	err = make_device(d);
	if (err)
		return err;
	err = vulkan_device_load(&vulkan_instance.api, d->handle, &d->api);
	if (err)
		return err;
	forget_what_is_missing(d);
	pthread_mutex_init(&d->lock, NULL);
	for (i = 0; i < d->port_count; i++) {
		d->api.GetDeviceQueue(d->handle, f->family, i, &d->ports[i].handle);
		pthread_mutex_init(&d->ports[i].lock, NULL);
	}
	return 0;
}

/* If loading functions failed, d->api is empty: look up vkDestroyDevice alone. */
static void destroy(struct vulkan_device *d)
{
	PFN_vkDestroyDevice end = d->api.DestroyDevice;

	if (d->handle && !end)
		end = (PFN_vkDestroyDevice)vulkan_instance.api.GetDeviceProcAddr(d->handle,
										 "vkDestroyDevice");
	if (d->handle && end)
		end(d->handle, NULL);
	free(d);
}

void vulkan_quiesce(struct vulkan_device *d)
{
	uint32_t i;

	if (__atomic_load_n(&d->base.lost, __ATOMIC_RELAXED))
		return;
	for (i = 0; i < d->port_count; i++)
		pthread_mutex_lock(&d->ports[i].lock);
	d->api.DeviceWaitIdle(d->handle);
	for (i = 0; i < d->port_count; i++)
		pthread_mutex_unlock(&d->ports[i].lock);
}

static void vulkan_close(struct tenon_device *device)
{
	struct vulkan_device *d = vulkan_device_of(device);
	uint32_t i;

	vulkan_quiesce(d);
	vulkan_queues_free(d);
	vulkan_layouts_free(d);
	for (i = 0; i < d->port_count; i++)
		pthread_mutex_destroy(&d->ports[i].lock);
	pthread_mutex_destroy(&d->lock);
	destroy(d);
}

static int available_memory(struct tenon_device *device, uint64_t *bytes)
{
	struct vulkan_device *d = vulkan_device_of(device);
	VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT
	};
	VkPhysicalDeviceMemoryProperties2 memory = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, .pNext = &budget
	};
	uint32_t heap = d->facts.memory.memoryTypes[d->facts.heap_types[0]].heapIndex;

	*bytes = device->properties->total_memory;
	if (!(d->facts.extensions & VULKAN_BUDGET))
		return 0;
	vulkan_instance.api.GetPhysicalDeviceMemoryProperties2(d->physical, &memory);
	*bytes = budget.heapBudget[heap] > budget.heapUsage[heap]
			 ? budget.heapBudget[heap] - budget.heapUsage[heap]
			 : 0;
	return 0;
}

static void *native(struct tenon_device *device)
{
	return vulkan_device_of(device)->handle;
}

static const struct tenon_device_ops vulkan_device_ops = {
	.size = sizeof(struct tenon_device_ops),
	.close = vulkan_close,
	.available_memory = available_memory,
	.native = native,
	.memory = &vulkan_memory_ops,
	.queue = &vulkan_queue_ops,
	.commands = &vulkan_commands_ops,
	.executable = &vulkan_executable_ops,
};

int vulkan_open(const struct tenon_device_choice *choice, struct tenon_device **out)
{
	struct vulkan_device *d;
	uint32_t without;
	int err;

	err = read_options(choice, &without);
	if (err)
		return err;
	d = calloc(1, sizeof(*d));
	if (!d)
		return tenon_error(-TENON_E_NOMEM, "no memory for a device");
	err = tenon_device_init(&d->base, &vulkan_device_ops, &vulkan_backend, choice->index);
	if (err) {
		free(d);
		return err;
	}
	d->physical = vulkan_instance.devices[choice->index];
	err = start(d, without);
	if (err) {
		tenon_device_fini(&d->base);
		destroy(d);
		return err;
	}
	*out = &d->base;
	return 0;
}
