/* SPDX-License-Identifier: MIT */
/* Fences of other APIs: semaphores that are imported for one wait. CUDA cannot export any. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "devices/cuda/cuda_device.h"
#include "lib/brief_errors.h"

struct fence {
	struct cuda_late late;
	void *semaphore;
};

static void fence_release(struct cuda_late *late, bool alive)
{
	struct fence *f = (struct fence *)late;

	if (alive)
		late->device->cu->DestroyExternalSemaphore(f->semaphore);
	free(f);
}

bool cuda_imports_fences(const struct cuda_api *cu)
{
	return cu->ImportExternalSemaphore && cu->WaitExternalSemaphores &&
	       cu->DestroyExternalSemaphore;
}

static int import(struct cuda_device *d, int fd, void **semaphore)
{
	struct cu_external_semaphore from = { .type = CU_EXTERNAL_OPAQUE_FD };
	int status = cuda_enter(d);

	if (status)
		return cuda_failed(d, status, "importing a fence");
	/* the driver owns the descriptor after a successful import */
	from.handle.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (from.handle.fd < 0)
		return cuda_error(d, -TENON_E_IO, "descriptor %d: %s", fd, strerror(errno));
	status = d->cu->ImportExternalSemaphore(semaphore, &from);
	if (!status)
		return 0;
	close(from.handle.fd);
	return cuda_failed(d, status, "importing a fence");
}

int cuda_fence_import(struct tenon_queue *queue, uint32_t type, int fd)
{
	static const struct cu_semaphore_wait once;
	struct cuda_device *d = cuda_device_of(queue->device);
	struct cuda_queue *q = (struct cuda_queue *)queue;
	struct fence *f;
	int status, err;

	/* CUDA imports opaque fds only */
	f = malloc(sizeof(*f));
	if (!f)
		return tenon_error(-TENON_E_NOMEM, "no memory for a fence");
	err = import(d, fd, &f->semaphore);
	if (err) {
		free(f);
		return err;
	}
	cuda_late_init(&f->late, queue->device, fence_release);
	status = d->cu->WaitExternalSemaphores(&f->semaphore, &once, 1, q->handle);
	cuda_queue_submitted(q);
	cuda_retire(&f->late);
	return status ? cuda_failed(d, status, "waiting for an imported fence") : 0;
}
