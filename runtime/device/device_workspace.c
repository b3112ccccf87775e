/* SPDX-License-Identifier: MIT */
/* Take and give back workspace of compiled code in the memory of a device. */
#include "lib/brief_errors.h"
#include "runtime/core/workspace.h"

#include "lib/brief_errors.h"
#include "runtime/device/device_pool.h"

static void workspace_release(void *block)
{
	pool_give(block);
}

static void *take_of_device(DLDevice id, uint64_t size)
{
	struct pool_block *block = NULL;
	struct tenon_device *device;
	struct tenon_queue *queue;
	void *memory;

	if (tenon_device_get(id, &device))
		return NULL;
	if (!tenon_queue_current(device, &queue) && pool_take(queue, size ? size : 1, &block))
		block = NULL;
	tenon_object_unref(device);
	if (!block)
		return NULL;
	memory = tenon_memory_data(pool_memory(block));
	if (!workspace_add(memory, workspace_release, block))
		return memory;
	pool_give(block);
	tenon_error(-TENON_E_NOMEM, "no memory for a workspace of %llu bytes on %s:%d",
		    (unsigned long long)size, tenon_device_name(id.device_type), id.device_id);
	return NULL;
}

void *tenon_workspace_alloc(DLDevice device, uint64_t size)
{
	return device.device_type == kDLCPU ? workspace_take(size) : take_of_device(device, size);
}
