/* SPDX-License-Identifier: MIT */
/* Create tensors on devices, and copy between host and devices. */
#include <stdlib.h>
#include <string.h>
#include <tenon/tensor.h>

#include "lib/brief_errors.h"
#include "runtime/core/tensor_data.h"
#include "runtime/device/device_core.h"
#include "runtime/device/device_table.h"

/* bytes per step of a copy between devices, through host memory */
#define BOUNCE (UINT64_C(4) << 20)

/*
 * DLPack's kDLROCMHost
 */
#define ROCM_HOST 11

static bool is_host(int32_t type)
{
	return type == kDLCPU || type == kDLCUDAHost || type == ROCM_HOST;
}

/* The device of a tensor, referenced; NULL for host memory without a queue. */
static int device_of(DLDevice id, struct tenon_device **out)
{
	if (!is_host(id.device_type))
		return tenon_device_get(id, out);
	/* cpu:0 has no queue to wait for; CPU devices opened with options have queues */
	*out = id.device_id ? device_find(id) : NULL;
	return 0;
}

int tenon_tensor_create_on(DLDevice id, const int64_t *shape, int32_t ndim, DLDataType dtype,
			   struct tenon_tensor **out)
{
	struct tenon_memory_request request = { .size = sizeof(request),
						.usage = TENON_MEMORY_DEFAULT,
						.heap = -1 };
	DLTensor dl = tenon_dltensor(NULL, (int64_t *)(uintptr_t)shape, ndim, dtype);
	struct tenon_device *device;
	struct tenon_memory *memory;
	size_t bytes;
	int err;

	*out = NULL;
	err = tenon_tensor_bytes(&dl, &bytes);
	if (!err)
		err = id.device_type == kDLCPU ? device_of(id, &device)
					       : tenon_device_get(id, &device);
	if (err)
		return err;
	if (!device)
		return tenon_tensor_create(shape, ndim, dtype, out);
	request.bytes = bytes ? bytes : 1;
	err = tenon_memory_alloc(device, &request, &memory);
	tenon_object_unref(device);
	if (err)
		return err;
	dl.device = id;
	dl.data = tenon_memory_data(memory);
	err = tenon_tensor_view(&dl, &memory->object, out);
	tenon_object_unref(memory);
	return err;
}

/* one end of a copy */
struct end {
	struct tenon_device *device; /* NULL for memory of the process */
	struct tenon_queue *queue;
	struct tenon_memory *memory;
	struct tenon_memory room;
	uint64_t offset;
	char *host;
};

static int end_open(const DLTensor *t, struct end *e)
{
	int err;

	memset(e, 0, sizeof(*e));
	err = device_of(t->device, &e->device);
	if (err)
		return err;
	if (!e->device) {
		e->host = (char *)t->data + t->byte_offset;
		return 0;
	}
	err = tenon_memory_of_data(e->device, t->data, &e->room, &e->memory);
	if (!err)
		err = tenon_queue_current(e->device, &e->queue);
	if (err)
		tenon_object_unref(e->device);
	e->offset = t->byte_offset;
	return err;
}

static void end_close(struct end *e)
{
	tenon_object_unref(e->device);
}

static int end_write(struct end *e, uint64_t at, const void *host, uint64_t size)
{
	int err = tenon_queue_write(e->queue, e->memory, e->offset + at, host, size, NULL);

	return err ? err : tenon_queue_sync(e->queue, TENON_FOREVER);
}

static int end_read(struct end *e, uint64_t at, void *host, uint64_t size)
{
	int err = tenon_queue_read(e->queue, host, e->memory, e->offset + at, size, NULL);

	return err ? err : tenon_queue_sync(e->queue, TENON_FOREVER);
}

static int copy_by_bounce(struct end *from, struct end *to, uint64_t size)
{
	uint64_t at, n, room = size < BOUNCE ? size : BOUNCE;
	void *bounce = malloc(room);
	int err = 0;

	if (!bounce)
		return tenon_error(-TENON_E_NOMEM, "no memory to copy between devices");
	for (at = 0; at < size && !err; at += n) {
		n = size - at < room ? size - at : room;
		err = end_read(from, at, bounce, n);
		if (!err)
			err = end_write(to, at, bounce, n);
	}
	free(bounce);
	return err;
}

static int copy_ends(struct end *from, struct end *to, uint64_t size)
{
	int err = 0;

	if (from->queue)
		err = queue_order_behind_all(from->queue);
	if (!err && to->queue && to->queue != from->queue)
		err = queue_order_behind_all(to->queue);
	if (err)
		return err;
	if (from->host && to->host) {
		memmove(to->host, from->host, size);
		return 0;
	}
	if (from->host)
		return end_write(to, 0, from->host, size);
	if (to->host)
		return end_read(from, 0, to->host, size);
	if (from->device == to->device)
		return tenon_queue_copy(to->queue, to->memory, to->offset, from->memory,
					from->offset, size, NULL);
	return copy_by_bounce(from, to, size);
}

int tenon_tensor_copy(const DLTensor *from, const DLTensor *to)
{
	struct end a, b;
	size_t size, room;
	int err;

	err = tenon_tensor_bytes(from, &size);
	if (!err)
		err = tenon_tensor_bytes(to, &room);
	if (!err)
		err = tensor_check_data(from);
	if (!err)
		err = tensor_check_data(to);
	if (err)
		return err;
	if (size != room)
		return tenon_error(-TENON_E_VALUE, "copy of a tensor of %zu bytes to one of %zu",
				   size, room);
	if (!tenon_tensor_compact(from) || !tenon_tensor_compact(to))
		return tenon_error(-TENON_E_VALUE, "copy of a tensor with strides: only compact "
						   "ones are copied");
	if (!size)
		return 0;
	err = end_open(from, &a);
	if (err)
		return err;
	err = end_open(to, &b);
	if (!err) {
		err = copy_ends(&a, &b, size);
		end_close(&b);
	}
	end_close(&a);
	return err;
}
