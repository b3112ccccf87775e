/* SPDX-License-Identifier: MIT */
/* Storages and tensors: vm.builtin.alloc_storage, alloc_tensor, copy. */
#include <inttypes.h>
#include <tenon/backend/memory.h>

#include "lib/brief_errors.h"
#include "runtime/core/arguments.h"
#include "runtime/relax/relax_builtin.h"
#include "runtime/relax/relax_device.h"

#define NDIM_MOST 64

/*
 * Check that a shape is valid for a tensor: few dimensions, none negative, no overflow of the size.
 */
static int checked_bytes(const struct relax_arguments *a, const struct tenon_shape *s,
			 DLDataType dtype, size_t *bytes)
{
	DLTensor dl = tenon_dltensor(NULL, (int64_t *)s->data, (int32_t)s->size, dtype);
	int err;

	if (s->size > NDIM_MOST)
		return tenon_error(-TENON_E_VALUE, "%s: %zu dimensions", a->name, s->size);
	err = tenon_tensor_bytes(&dl, bytes);
	return err ? tenon_error_in(err, "%s", a->name) : 0;
}

/* Other scopes are textures and so on; the host has none, so the scope is ignored there. */
static int check_scope(const struct relax_arguments *a, const struct relax_vm *vm,
		       const struct relax_pool *pool)
{
	struct tenon_slice scope = { "", 0 };
	int err = 0;

	if (pool == vm->pool || a->count < 5)
		return 0;
	err = tenon_value_text(&a->args[4], &scope);
	if (err)
		return tenon_error_in(err, "%s: argument 4", a->name);
	if (!scope.size || tenon_slice_equal(scope, tenon_slice_of("global")))
		return 0;
	return tenon_error(-TENON_E_UNSUPPORTED,
			   "%s: memory of scope \"%.*s\"; devices have \"global\" here", a->name,
			   (int)scope.size, scope.data);
}

RELAX_BUILTIN(alloc_storage, 4, 5)
{
	struct tenon_shape *shape;
	struct relax_pool *pool;
	struct relax_storage *s;
	DLDataType dtype;
	int64_t device;
	struct relax_vm *vm;
	size_t bytes;
	int err;

	err = relax_argument_machine(a, 0, &vm);
	if (!err)
		err = relax_argument_shape(a, 1, &shape);
	if (!err)
		err = relax_argument_int(a, 2, &device);
	if (!err)
		err = relax_argument_dtype(a, 3, &dtype);
	if (!err)
		err = checked_bytes(a, shape, dtype, &bytes);
	if (err)
		return err;
	pool = relax_device_pool(vm, device);
	if (!pool)
		return tenon_error(-TENON_E_DEVICE,
				   "alloc_storage: device number %" PRIi64
				   "; the virtual machine was initialised for %" PRIu32
				   ", the host among them",
				   device, vm->device_count);
	err = check_scope(a, vm, pool);
	if (!err)
		err = relax_storage_create(pool, bytes, &s);
	if (err)
		return err;
	*ret = tenon_arg_object(s);
	return 0;
}

/*
 * memory_manager.clear(): free the idle memory of the machine that calls it. Outside a program there
 * is none: a machine frees its memory when it is dropped.
 */
RELAX_BUILTIN_SAID(memory_manager_clear, "memory_manager.clear", 0, 0)
{
	struct relax_vm *vm = relax_current();

	if (vm)
		relax_trim_devices(vm);
	return 0;
}

/* Tensor data on a device need not be an address, so set the byte offset there instead. */
static void place_in(const struct relax_storage *s, uint64_t offset, DLTensor *t)
{
	t->device = s->device;
	if (s->memory && !(s->memory->device->properties->flags & TENON_DEVICE_ADDRESSES))
		t->byte_offset = offset;
	else
		t->data = (char *)s->data + offset;
}

RELAX_BUILTIN(alloc_tensor, 4, 6)
{
	struct tenon_shape *shape;
	struct tenon_tensor *t;
	struct relax_storage *s;
	DLDataType dtype;
	int64_t offset;
	size_t bytes;
	int err;

	err = relax_argument_storage(a, 0, &s);
	if (!err)
		err = relax_argument_int(a, 1, &offset);
	if (!err)
		err = relax_argument_shape(a, 2, &shape);
	if (!err)
		err = relax_argument_dtype(a, 3, &dtype);
	if (!err)
		err = checked_bytes(a, shape, dtype, &bytes);
	if (err)
		return err;
	if (offset < 0 || (uint64_t)offset > s->size || bytes > s->size - (uint64_t)offset)
		return tenon_error(
			-TENON_E_VALUE,
			"alloc_tensor: storage allocation failure, attempted to allocate "
			"%zu bytes at offset %" PRIi64 " in a region of %zu bytes",
			bytes, offset, s->size);
	tenon_object_ref(s);
	err = relax_tensor_create(relax_current_pool(), &s->object, s->data, shape->data,
				  (int32_t)shape->size, dtype, &t);
	if (err)
		return err;
	place_in(s, (uint64_t)offset, &t->dl);
	*ret = tenon_arg_object(t);
	return 0;
}

PACKED_CALL(relax_builtin_null_value)
{
	*ret = tenon_arg_none();
	return 0;
}

RELAX_BUILTIN(copy, 1, 1)
{
	return tenon_value_own(&a->args[0], ret);
}
