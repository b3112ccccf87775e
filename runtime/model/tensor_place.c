/* SPDX-License-Identifier: MIT */
/* Copy between places and order the queues of devices. */
#include "runtime/model/tensor_place.h"

#include <tenon/memory.h>
#include <tenon/queue.h>

#include "lib/brief_errors.h"
#include "runtime/device/device_core.h"

/* Describe the same memory as bytes, because copies need not support sub-byte dtypes. */
static DLTensor as_bytes(const DLTensor *t, int64_t *size)
{
	DLTensor bytes = tenon_dltensor(t->data, size, 1, tenon_dtype(TENON_DTYPE_UINT, 8, 1));

	bytes.device = t->device;
	bytes.byte_offset = t->byte_offset;
	return bytes;
}

int place_copy(const DLTensor *from, const DLTensor *to, uint64_t bytes)
{
	int64_t size = (int64_t)bytes;
	DLTensor a, b;

	if (!bytes)
		return 0;
	if (place_is_host(from->device) && place_is_host(to->device)) {
		memmove((char *)to->data + to->byte_offset,
			(const char *)from->data + from->byte_offset, (size_t)bytes);
		return 0;
	}
	if (!PLACE_HAS_DEVICES)
		return tenon_error(-TENON_E_UNSUPPORTED, "CONFIG_DEVICES is off in this build");
	a = as_bytes(from, &size);
	b = as_bytes(to, &size);
	return tenon_tensor_copy(&a, &b);
}

int place_can_bind(const DLTensor *t)
{
	const char *data = (const char *)t->data + t->byte_offset;

	if (!place_is_host(t->device))
		return tenon_error(-TENON_E_DEVICE, "lies on %s:%d, want cpu; copy it instead",
				   tenon_device_name((int32_t)t->device.device_type),
				   t->device.device_id);
	if ((uintptr_t)data % TENON_TENSOR_ALIGN)
		return tenon_error(
			-TENON_E_VALUE,
			"lies at %p, want an address that is a multiple of %d; copy it instead",
			(const void *)data, TENON_TENSOR_ALIGN);
	return 0;
}

int place_wait(DLDevice id)
{
	struct tenon_device *device;
	int err;

	if (place_is_host(id))
		return 0;
	err = tenon_device_get(id, &device);
	if (err)
		return err;
	err = tenon_device_sync(device, TENON_FOREVER);
	tenon_object_unref(device);
	return err;
}

bool place_has_addresses(DLDevice id)
{
	struct tenon_device *device;
	bool addresses;

	if (!PLACE_HAS_DEVICES || place_is_host(id))
		return place_is_host(id);
	if (tenon_device_get(id, &device)) {
		tenon_error_clear();
		return false;
	}
	addresses = device->properties->flags & TENON_DEVICE_ADDRESSES;
	tenon_object_unref(device);
	return addresses;
}

int place_follow(struct tenon_device *device)
{
	struct tenon_queue *queue;
	int err;

	if (!PLACE_HAS_DEVICES)
		return 0;
	err = tenon_queue_current(device, &queue);
	return err ? err : queue_order_behind_all(queue);
}
