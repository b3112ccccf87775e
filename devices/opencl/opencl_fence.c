/* SPDX-License-Identifier: MIT */
/*
 * cl_khr_external_semaphore: binary semaphores with a descriptor, each for a single export or
 * import. Enqueued commands retain the semaphore, so it is released after they are enqueued.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/fence.h>
#include <unistd.h>

#include "devices/opencl/opencl_device.h"
#include "lib/brief_errors.h"

static uint32_t handle_type(uint32_t type)
{
	return type == TENON_FENCE_SYNC_FILE ? OCL_SEMAPHORE_SYNC_FD : OCL_SEMAPHORE_OPAQUE_FD;
}

/* in the order of struct opencl_fences */
static const char functions[] = "clCreateSemaphoreWithPropertiesKHR\0clReleaseSemaphoreKHR\0"
				"clEnqueueWaitSemaphoresKHR\0clEnqueueSignalSemaphoresKHR\0"
				"clGetSemaphoreHandleForTypeKHR\0";

bool opencl_fences_find(ocl_platform platform, struct opencl_fences *f)
{
	const char *name = functions;
	void *function;
	size_t i;

	if (!ocl.GetExtensionFunctionAddressForPlatform)
		return false;
	for (i = 0; *name; i++, name += strlen(name) + 1) {
		function = ocl.GetExtensionFunctionAddressForPlatform(platform, name);
		if (!function)
			return false;
		memcpy((char *)f + i * sizeof(function), &function, sizeof(function));
	}
	return true;
}

static uint32_t read_types(ocl_device device, uint32_t what)
{
	size_t size = 0, i;
	uint32_t *types = opencl_answer(device, what, &size), type, mask = 0;

	for (i = 0; types && i < size / sizeof(*types); i++)
		for (type = TENON_FENCE_SYNC_FILE; type <= TENON_FENCE_OPAQUE_FD; type++)
			if (types[i] == handle_type(type))
				mask |= 1u << type;
	free(types);
	return mask;
}

void opencl_fences_describe(const struct opencl_found *found, struct tenon_device_properties *p)
{
	struct opencl_fences f;

	if (!opencl_fences_find(found->platform, &f))
		return;
	p->fence_imports = read_types(found->device, OCL_DEVICE_SEMAPHORE_IMPORTS);
	p->fence_exports = read_types(found->device, OCL_DEVICE_SEMAPHORE_EXPORTS);
}

int opencl_fence_export(struct tenon_queue *queue, uint64_t serial, uint32_t type, int *fd)
{
	const uint64_t properties[] = { OCL_SEMAPHORE_TYPE,
					OCL_SEMAPHORE_BINARY,
					OCL_SEMAPHORE_EXPORT_TYPES,
					handle_type(type),
					0,
					0 };
	struct opencl_device *d = opencl_device_of(queue->device);
	struct opencl_queue *q = (struct opencl_queue *)queue;
	ocl_semaphore semaphore;
	int status = 0;

	/* signal at the end of the queue, which follows every mark */
	semaphore = d->fences.create(d->context, properties, &status);
	if (!semaphore)
		return opencl_failed(d, status, "making a fence");
	status = d->fences.signal(q->queue, 1, &semaphore, NULL, 0, NULL, NULL);
	/* a sync_file can be exported only after the signal was flushed */
	if (!status)
		status = ocl.Flush(q->queue);
	if (!status)
		status = d->fences.handle(semaphore, d->device, handle_type(type), sizeof(*fd), fd,
					  NULL);
	d->fences.release(semaphore);
	if (status)
		return opencl_failed(d, status, "exporting a fence");
	if (*fd < 0)
		return tenon_error(-TENON_E_UNSUPPORTED, "the fence was reached before it could be "
							 "exported; export it as an eventfd");
	return 0;
}

int opencl_fence_import(struct tenon_queue *queue, uint32_t type, int fd)
{
	struct opencl_device *d = opencl_device_of(queue->device);
	struct opencl_queue *q = (struct opencl_queue *)queue;
	/* the driver owns the descriptor after a successful import */
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0), status = 0;
	const uint64_t properties[] = { OCL_SEMAPHORE_TYPE, OCL_SEMAPHORE_BINARY, handle_type(type),
					(uint64_t)copy, 0 };
	ocl_semaphore semaphore;

	if (copy < 0)
		return opencl_error(d, -TENON_E_IO, "descriptor %d: %s", fd, strerror(errno));
	semaphore = d->fences.create(d->context, properties, &status);
	if (!semaphore) {
		close(copy);
		return opencl_failed(d, status, "importing a fence");
	}
	status = d->fences.wait(q->queue, 1, &semaphore, NULL, 0, NULL, NULL);
	opencl_submitted(q);
	d->fences.release(semaphore);
	return status ? opencl_failed(d, status, "waiting for an imported fence") : 0;
}
