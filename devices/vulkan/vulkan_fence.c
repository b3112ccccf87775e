/* SPDX-License-Identifier: MIT */
/*
 * Native fences: binary semaphores with a descriptor. Each is used for a single export or import
 * and destroyed when the queue has passed it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tenon/fence.h>

#include "devices/vulkan/vulkan_queue.h"
#include "lib/brief_errors.h"

struct fence {
	struct vulkan_device *device;
	VkSemaphore semaphore;
};

static VkExternalSemaphoreHandleTypeFlagBits handle_type(uint32_t type)
{
	return type == TENON_FENCE_SYNC_FILE ? VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT
					     : VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
}

void vulkan_fences_read(VkPhysicalDevice physical, struct tenon_device_properties *p)
{
	VkPhysicalDeviceExternalSemaphoreInfo info = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO
	};
	VkExternalSemaphoreProperties out = {
		.sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES
	};
	uint32_t type;

	for (type = TENON_FENCE_SYNC_FILE; type <= TENON_FENCE_OPAQUE_FD; type++) {
		info.handleType = handle_type(type);
		vulkan_instance.api.GetPhysicalDeviceExternalSemaphoreProperties(physical, &info,
										 &out);
		if (out.externalSemaphoreFeatures & VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT)
			p->fence_exports |= 1u << type;
		if (out.externalSemaphoreFeatures & VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT)
			p->fence_imports |= 1u << type;
	}
}

/* @exported: handle types for export; 0 for import */
static int fence_make(struct vulkan_device *d, VkExternalSemaphoreHandleTypeFlags exported,
		      struct fence **out)
{
	const VkExportSemaphoreCreateInfo export = {
		.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
		.handleTypes = exported,
	};
	const VkSemaphoreCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
		.pNext = exported ? &export : NULL,
	};
	struct fence *f = malloc(sizeof(*f));
	VkResult r;

	*out = f;
	if (!f)
		return tenon_error(-TENON_E_NOMEM, "no memory for a fence");
	f->device = d;
	r = d->api.CreateSemaphore(d->handle, &info, NULL, &f->semaphore);
	if (!r)
		return 0;
	free(f);
	*out = NULL;
	return vulkan_check(d, r, "CreateSemaphore");
}

static void fence_free(void *fence)
{
	struct fence *f = fence;

	f->device->api.DestroySemaphore(f->device->handle, f->semaphore, NULL);
	free(f);
}

static int get_fd(struct vulkan_device *d, const struct fence *f, uint32_t type, int *fd)
{
	const VkSemaphoreGetFdInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
		.semaphore = f->semaphore,
		.handleType = handle_type(type),
	};
	VkResult r = d->api.GetSemaphoreFdKHR(d->handle, &info, fd);

	if (r)
		return vulkan_check(d, r, "GetSemaphoreFdKHR");
	/* a driver may return -1 for a semaphore that is signalled already */
	if (*fd < 0)
		return tenon_error(-TENON_E_UNSUPPORTED, "the fence was reached before it could be "
							 "exported; export it as an eventfd");
	return 0;
}

int vulkan_fence_export(struct tenon_queue *queue, uint64_t serial, uint32_t type, int *fd)
{
	struct vulkan_device *d = vulkan_device_of(queue->device);
	struct vulkan_queue *q = (struct vulkan_queue *)queue;
	struct fence *f;
	int err;

	/* signal with the last batch, which follows every mark */
	err = fence_make(d, handle_type(type), &f);
	if (err)
		return err;
	pthread_mutex_lock(&q->lock);
	err = vulkan_batch_mark(q, f->semaphore);
	pthread_mutex_unlock(&q->lock);
	/* a sync_file can be exported only after the signal was submitted */
	if (!err)
		err = get_fd(d, f, type, fd);
	tenon_device_retire(queue->device, fence_free, f);
	return err;
}

/* The driver owns an imported descriptor, so pass a duplicate. */
static int set_fd(struct vulkan_device *d, const struct fence *f, uint32_t type, int fd)
{
	VkImportSemaphoreFdInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
		.semaphore = f->semaphore,
		.flags = type == TENON_FENCE_SYNC_FILE ? VK_SEMAPHORE_IMPORT_TEMPORARY_BIT : 0,
		.handleType = handle_type(type),
		.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0),
	};
	VkResult r;

	if (info.fd < 0)
		return tenon_error(-TENON_E_IO, "descriptor %d: %s", fd, strerror(errno));
	r = d->api.ImportSemaphoreFdKHR(d->handle, &info);
	if (r)
		close(info.fd);
	return vulkan_check(d, r, "ImportSemaphoreFdKHR");
}

int vulkan_fence_import(struct tenon_queue *queue, uint32_t type, int fd)
{
	struct vulkan_device *d = vulkan_device_of(queue->device);
	struct vulkan_queue *q = (struct vulkan_queue *)queue;
	struct fence *f;
	int err;

	err = tenon_device_check(queue->device);
	if (!err)
		err = fence_make(d, 0, &f);
	if (err)
		return err;
	err = set_fd(d, f, type, fd);
	if (!err) {
		pthread_mutex_lock(&q->lock);
		err = vulkan_batch_wait(q, f->semaphore, 0);
		pthread_mutex_unlock(&q->lock);
	}
	tenon_device_retire(queue->device, fence_free, f);
	return err;
}
