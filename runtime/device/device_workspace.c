/* SPDX-License-Identifier: MIT */
#include "runtime/device/device_pool.h"
#include "runtime/core/workspace.h"

static void *workspace_alloc(DLDevice id, size_t size, void **owner)
{
	struct pool_block *block = NULL;
	struct tenon_device *device;
	struct tenon_queue *queue;

	if (tenon_device_get(id, &device))
		return NULL;
	if (!tenon_queue_current(device, &queue) && pool_take(queue, size, &block))
		block = NULL;
	tenon_object_unref(device);
	if (!block)
		return NULL;
	*owner = block;
	return tenon_memory_data(pool_memory(block));
}

static void workspace_free(void *owner)
{
	pool_give(owner);
}

const struct workspace_device_ops device_workspace_ops = { workspace_alloc, workspace_free };
