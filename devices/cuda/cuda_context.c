/* SPDX-License-Identifier: MIT */
/* The primary contexts of GPUs, counted by the devices that use them. */
#include <stdlib.h>

#include "devices/cuda/cuda_device.h"

#define DEVICES_MOST 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cuda_context *open_contexts[DEVICES_MOST];

int cuda_context_get(const struct cuda_api *cu, uint32_t index, int device,
		     struct cuda_context **out)
{
	struct cuda_context *c = NULL;
	int status = CU_INVALID_VALUE;

	if (index >= DEVICES_MOST)
		return status;
	pthread_mutex_lock(&lock);
	c = open_contexts[index];
	if (c && !__atomic_load_n(&c->dead, __ATOMIC_ACQUIRE)) {
		c->references++;
		status = 0;
		goto unlock;
	}
	if (c) {
		/*
		 * Destroys all objects of the context in this process; does not change the retain
		 * count. After a fault of a kernel the driver gives no other context all the same.
		 */
		cu->PrimaryReset(device);
		cu->PrimaryRelease(device);
		open_contexts[index] = NULL;
	}
	status = -1;
	c = calloc(1, sizeof(*c));
	if (!c)
		goto unlock;
	status = cu->PrimaryRetain(&c->handle, device);
	if (status) {
		free(c);
		goto unlock;
	}
	c->references = 1;
	c->index = index;
	c->device = device;
	open_contexts[index] = c;
unlock:
	pthread_mutex_unlock(&lock);
	*out = status ? NULL : c;
	return status;
}

void cuda_context_put(const struct cuda_api *cu, struct cuda_context *c, bool give_back)
{
	cu_context now = NULL;

	pthread_mutex_lock(&lock);
	if (!--c->references) {
		/* a context that was reset was released at the reset */
		if (open_contexts[c->index] == c) {
			open_contexts[c->index] = NULL;
			if (give_back && !cu->CtxGetCurrent(&now) && now == c->handle)
				cu->CtxSetCurrent(NULL);
			if (give_back)
				cu->PrimaryRelease(c->device);
		}
		free(c);
	}
	pthread_mutex_unlock(&lock);
}
