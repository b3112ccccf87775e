/* SPDX-License-Identifier: MIT */
/* Global functions on tensors, of this process and of servers: allocate, copy, compare. */
#include <tenon/array.h>
#include <tenon/memory.h>
#include <tenon/string.h>
#include <tenon/tensor.h>

#include "lib/brief_errors.h"
#include "runtime/tvm/tvm.h"

#define ALLOC "runtime.TVMTensorAllocWithScope"

static int check_scope(const struct tenon_value *args, int32_t i)
{
	struct tenon_slice scope;
	int err;

	if (args[i].type == TENON_TYPE_NONE)
		return 0;
	err = tvm_text(ALLOC, args, i, &scope);
	if (err || !scope.size || tenon_slice_equal(scope, tenon_slice_of("global")))
		return err;
	return tenon_error(-TENON_E_UNSUPPORTED,
			   ALLOC ": memory scope \"%.*s\" is not supported, only \"global\"",
			   (int)scope.size, scope.data);
}

/* shape, dtype, device, and the memory scope or None */
static PACKED_CALL(alloc)
{
	struct tenon_device *device;
	struct tenon_shape *shape;
	struct tenon_tensor *t;
	DLDevice where;
	int err = arguments_check(ALLOC, count, 3, 4);
	if (!err)
		err = tvm_object(ALLOC, args, 0, TENON_TYPE_SHAPE, &shape);
	if (!err && args[1].type != TENON_TYPE_DTYPE)
		err = tenon_error(-TENON_E_TYPE, ALLOC ": argument 2: expected DataType, found %s",
				  tenon_type_key(args[1].type));
	if (!err)
		err = tvm_device(ALLOC, args, 2, &where);
	if (!err && count == 4)
		err = check_scope(args, 3);
	if (!err && shape->size > INT32_MAX)
		err = tenon_error(-TENON_E_VALUE, ALLOC ": too many dimensions");
	if (!err)
		err = tvm_open_device(where, &device);
	if (err)
		return err;
	err = tenon_tensor_create_on(where, shape->data, (int32_t)shape->size, args[1].as.dtype,
				     &t);
	tenon_object_unref(device);
	if (!err)
		*ret = tenon_arg_object(t);
	return err;
}

/*
 * Arguments of the copies between a tensor and bytes: tensor, address, number of bytes. @host: the bytes as a tensor of the
 * same type; no data for a tensor without elements
 */
static int read_host(const char *function, const struct tenon_value *args, int32_t count,
		     DLTensor **tensor, DLTensor *host)
{
	int64_t size;
	size_t bytes;
	void *data;
	int err = arguments_check(function, count, 3, 3);

	if (!err)
		err = tvm_tensor(function, args, 0, tensor);
	if (!err)
		err = tvm_pointer(function, args, 1, &data);
	if (!err)
		err = tvm_int(function, args, 2, &size);
	if (!err)
		err = tenon_tensor_bytes(*tensor, &bytes);
	if (err)
		return err;
	if (size < 0 || (uint64_t)size != bytes)
		return tenon_error(-TENON_E_VALUE, "%s: %lld bytes for a tensor of %zu", function,
				   (long long)size, bytes);
	if (bytes && !data)
		return tenon_error(-TENON_E_VALUE, "%s: the address is NULL", function);
	*host = tenon_dltensor(data, (*tensor)->shape, (*tensor)->ndim, (*tensor)->dtype);
	return 0;
}

static PACKED_CALL(copy_from_bytes)
{
	DLTensor *tensor, host;
	int err = read_host("runtime.TVMTensorCopyFromBytes", args, count, &tensor, &host);
	*ret = tenon_arg_none();
	return err || !host.data ? err : tenon_tensor_copy(&host, tensor);
}

static PACKED_CALL(copy_to_bytes)
{
	DLTensor *tensor, host;
	int err = read_host("runtime.TVMTensorCopyToBytes", args, count, &tensor, &host);
	*ret = tenon_arg_none();
	return err || !host.data ? err : tenon_tensor_copy(tensor, &host);
}

static PACKED_CALL(copy)
{
	DLTensor *from, *to;
	int err = arguments_check("runtime.TVMTensorCopyFromTo", count, 2, 2);
	*ret = tenon_arg_none();
	if (!err)
		err = tvm_tensor("runtime.TVMTensorCopyFromTo", args, 0, &from);
	if (!err)
		err = tvm_tensor("runtime.TVMTensorCopyFromTo", args, 1, &to);
	return err ? err : tenon_tensor_copy(from, to);
}

static PACKED_CALL(is_storage_shared)
{
	DLTensor *a, *b;
	int err = arguments_check("runtime.TVMTensorIsStorageShared", count, 2, 2);
	if (!err)
		err = tvm_tensor("runtime.TVMTensorIsStorageShared", args, 0, &a);
	if (!err)
		err = tvm_tensor("runtime.TVMTensorIsStorageShared", args, 1, &b);
	if (!err)
		*ret = tenon_arg_bool(a->data == b->data);
	return err;
}

const struct global_function tvm_tensor_globals[] = {
	{ ALLOC, alloc },
	{ "runtime.TVMTensorCopyFromBytes", copy_from_bytes },
	{ "runtime.TVMTensorCopyFromTo", copy },
	{ "runtime.TVMTensorCopyToBytes", copy_to_bytes },
	{ "runtime.TVMTensorIsStorageShared", is_storage_shared },
	{ NULL, NULL },
};
