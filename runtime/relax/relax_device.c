/* SPDX-License-Identifier: MIT */
/* Assign devices to a machine, move values between them, and order their queues. */
#include "runtime/relax/relax_device.h"

#include "lib/brief_errors.h"
#include "lib/heap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <tenon/memory.h>

#include "runtime/core/reference.h"

#define TUPLES_MOST 16 /* nesting limit for tuples in an input */

static bool same_devices(const struct relax_vm *vm, const DLDevice *list, size_t count)
{
	size_t i;

	for (i = 0; i < count && i < vm->device_count; i++)
		if (!place_same(vm->devices[i].id, list[i]))
			return false;
	/* The host is appended to the given devices. */
	return count == vm->device_count || count + 1 == vm->device_count;
}

static int add(struct relax_vm *vm, DLDevice id)
{
	struct relax_device *d = &vm->devices[vm->device_count];
	struct tenon_device *device;
	uint32_t i;
	int err;

	d->id = id;
	d->pool = place_is_host(id) ? vm->pool : NULL;
	for (i = 0; !d->pool && i < vm->device_count; i++)
		if (place_same(vm->devices[i].id, id))
			d->pool = vm->devices[i].pool;
	if (!d->pool) {
		err = tenon_device_get(id, &device);
		if (err)
			return err;
		err = relax_pool_create_on(device, vm->pool, &d->pool);
		tenon_object_unref(device);
		if (err)
			return err;
		vm->elsewhere = true;
	}
	vm->device_count++;
	return 0;
}

int relax_set_devices(struct relax_vm *vm, const DLDevice *list, size_t count)
{
	static const DLDevice host = { kDLCPU, 0 };
	size_t i;
	int err = 0;

	if (vm->device_count) {
		if (same_devices(vm, list, count))
			return 0;
		return tenon_error(-TENON_E_USAGE,
				   "the virtual machine was initialised for other devices before");
	}
	if (count > RELAX_DEVICES_MOST)
		return tenon_error(-TENON_E_VALUE, "%zu devices, %d at most", count,
				   RELAX_DEVICES_MOST);
	vm->devices = heap_zeroed(count + 1, sizeof(*vm->devices), "list of devices");
	if (!vm->devices)
		return tenon_error(-TENON_E_NOMEM, "no memory for %zu devices", count);
	for (i = 0; i < count && !err; i++)
		err = add(vm, list[i]);
	if (!err && (!count || !place_is_host(list[count - 1])))
		err = add(vm, host);
	if (err)
		relax_free_devices(vm);
	return err;
}

void relax_free_devices(struct relax_vm *vm)
{
	uint32_t i, k;

	for (i = 0; i < vm->device_count; i++) {
		for (k = 0; k < i && vm->devices[k].pool != vm->devices[i].pool; k++)
			;
		if (k == i && vm->devices[i].pool != vm->pool)
			relax_pool_close(vm->devices[i].pool);
	}
	heap_free(vm->devices);
	vm->devices = NULL;
	vm->device_count = 0;
	vm->elsewhere = false;
}

void relax_trim_devices(struct relax_vm *vm)
{
	uint32_t i;

	relax_pool_trim(vm->pool);
	for (i = 0; i < vm->device_count; i++)
		relax_pool_trim(vm->devices[i].pool);
}

struct relax_pool *relax_device_pool(const struct relax_vm *vm, int64_t number)
{
	if (number == -1)
		number = (int64_t)vm->device_count - 1;
	/* The number may be a memory scope of device 0: some programs number scopes. */
	if (!vm->elsewhere && number == 1)
		number = 0;
	return number >= 0 && number < (int64_t)vm->device_count ? vm->devices[number].pool : NULL;
}

static struct relax_pool *pool_of(const struct relax_vm *vm, DLDevice device)
{
	uint32_t i;

	for (i = 0; vm && i < vm->device_count; i++)
		if (place_same(vm->devices[i].id, device))
			return vm->devices[i].pool;
	return NULL;
}

/* Create a compact tensor on a device; open the device if it is not the machine's. */
static int tensor_on(struct relax_vm *vm, DLDevice device, const DLTensor *like,
		     struct tenon_tensor **out)
{
	struct relax_pool *pool = pool_of(vm, device);

	if (!pool)
		return tenon_tensor_create_on(device, like->shape, like->ndim, like->dtype, out);
	return relax_tensor_new(pool, like->shape, like->ndim, like->dtype, out);
}

int relax_tensor_move(struct relax_vm *vm, const DLTensor *from, DLDevice device,
		      struct tenon_tensor **out)
{
	size_t bytes;
	int err;

	*out = NULL;
	if (!tenon_tensor_compact(from))
		return tenon_error(-TENON_E_VALUE,
				   "a tensor with gaps between its elements is copied");
	err = tenon_tensor_bytes(from, &bytes);
	if (!err)
		err = tensor_on(vm, device, from, out);
	if (!err)
		err = place_copy(from, &(*out)->dl, bytes);
	return object_made(err, out);
}

static int array_to_main(struct relax_vm *vm, struct tenon_value *value, int depth);

static int to_main(struct relax_vm *vm, struct tenon_value *value, int depth)
{
	const struct relax_device *d = relax_main_device(vm);
	struct tenon_tensor *t, *moved;
	int err;

	if (value->type == TENON_TYPE_ARRAY)
		return array_to_main(vm, value, depth);
	if (value->type != TENON_TYPE_TENSOR)
		return 0;
	t = (struct tenon_tensor *)value->as.object;
	if (place_same(t->dl.device, d->id))
		return 0;
	err = relax_tensor_move(vm, &t->dl, d->id, &moved);
	if (err)
		return err;
	tenon_value_release(value);
	*value = tenon_arg_object(moved);
	return 0;
}

/* A tuple may be shared, so make a new one of the converted items. */
static int array_to_main(struct relax_vm *vm, struct tenon_value *value, int depth)
{
	const struct tenon_array *a = (const struct tenon_array *)value->as.object;
	struct tenon_value *items = calloc((size_t)a->size + 1, sizeof(*items));
	struct tenon_array *made;
	int64_t i;
	int err = items ? 0 : tenon_error(-TENON_E_NOMEM, "no memory for a tuple");

	if (!err && depth >= TUPLES_MOST)
		err = tenon_error(-TENON_E_OVERFLOW, "tuples nest more than %d deep", TUPLES_MOST);
	for (i = 0; !err && i < a->size; i++) {
		err = tenon_value_own(&a->data[i], &items[i]);
		if (!err)
			err = to_main(vm, &items[i], depth + 1);
	}
	if (!err)
		err = relax_array_create(vm->pool, items, (size_t)a->size, &made);
	for (i = 0; items && i < a->size; i++)
		tenon_value_release(&items[i]);
	free(items);
	if (err)
		return err;
	tenon_value_release(value);
	*value = tenon_arg_object(made);
	return 0;
}

int relax_value_to_main(struct relax_vm *vm, struct tenon_value *value)
{
	return vm->elsewhere ? to_main(vm, value, 0) : 0;
}

int relax_follow(struct relax_vm *vm)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < vm->device_count && !err; i++)
		if (!place_is_host(vm->devices[i].id))
			err = relax_pool_follow(vm->devices[i].pool);
	return err;
}

int relax_wait(const struct relax_vm *vm)
{
	uint32_t i;
	int err = 0;

	for (i = 0; vm->elsewhere && i < vm->device_count && !err; i++)
		err = place_wait(vm->devices[i].id);
	return err;
}
