/* SPDX-License-Identifier: MIT */
/* Results of calls as values of this process. */
#include <string.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "rpc/client/rpc.h"
#include "rpc/wire/wire_codes.h"
#include "rpc/wire/wire_plain.h"

static int bad_result(struct rpc *r, const char *what)
{
	return rpc_fail(r, tenon_error(-TENON_E_FORMAT, "%s: result of a call with %u values: %s",
				       r->address, r->reply.count, what));
}

int rpc_text_result(struct rpc *r, struct tenon_slice *out)
{
	const struct wire_value *v = r->reply.values;

	*out = (struct tenon_slice){ "", 0 };
	if (r->reply.count != 2 || (v[1].kind != WIRE_STRING && v[1].kind != WIRE_BYTES))
		return bad_result(r, "expected a text");
	if (v[1].as.text.size)
		*out = v[1].as.text;
	return 0;
}

static int take_plain(struct rpc *r, const struct wire_value *v, struct tenon_value *out)
{
	switch (v->kind) {
	case WIRE_STRING:
		return tenon_string_value(v->as.text, out);
	case WIRE_BYTES:
		return tenon_bytes_value(v->as.text, out);
	default:
		return wire_plain(v, out) ? 0 : bad_result(r, "a value that no result has");
	}
}

/* What a handle refers to, by the type index that stands before it. */
static enum wire_kind kind_of_handle(const struct rpc *r, int64_t type)
{
	bool legacy = r->generation == WIRE_LEGACY;

	if (type == (legacy ? (int64_t)LEGACY_FUNCTION : (int64_t)TENON_TYPE_FUNCTION))
		return WIRE_FUNCTION;
	if (type == (legacy ? (int64_t)LEGACY_MODULE : (int64_t)TENON_TYPE_MODULE))
		return WIRE_MODULE;
	if (type == (legacy ? (int64_t)LEGACY_HANDLE : (int64_t)TENON_TYPE_POINTER))
		return WIRE_POINTER;
	return WIRE_OBJECT;
}

static int take_tensor(struct rpc *r, const struct wire_value *v, struct rpc_result *out)
{
	DLTensor dl;
	size_t bytes;

	/* TVM sends a tensor that is an argument too: its owner keeps it, and this result has none */
	if (r->reply.count == 2)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "%s: the function returned a tensor that it does not own",
				   r->address);
	if (r->reply.count != 3 || v[2].kind != WIRE_POINTER)
		return bad_result(r, "a tensor without its handle");
	out->kind = WIRE_TENSOR;
	out->tensor = *v[1].as.tensor;
	out->handle = v[2].as.handle;
	dl = tenon_dltensor(NULL, out->tensor.shape, out->tensor.ndim, out->tensor.dtype);
	dl.byte_offset = out->tensor.byte_offset;
	if (tenon_tensor_bytes(&dl, &bytes) || out->tensor.byte_offset > SIZE_MAX - bytes)
		return bad_result(r, "a tensor of invalid size");
	return 0;
}

int rpc_take_result(struct rpc *r, struct rpc_result *out)
{
	const struct wire_value *v = r->reply.values;

	memset(out, 0, sizeof(*out));
	out->kind = WIRE_NONE;
	if (r->reply.count < 2 || v[0].kind != WIRE_INT)
		return bad_result(r, "expected a type index and a value");
	if (v[1].kind == WIRE_TENSOR)
		return take_tensor(r, v, out);
	if (r->reply.count != 2)
		return bad_result(r, "expected a type index and a value");
	if (v[1].kind != WIRE_POINTER)
		return take_plain(r, &v[1], &out->value);
	out->handle = v[1].as.handle;
	out->kind = kind_of_handle(r, v[0].as.integer);
	return 0;
}

static int finish_tensor(struct rpc *r, struct rpc_result *result, struct tenon_value *out)
{
	struct wire_tensor *t = &result->tensor;
	DLTensor dl = tenon_dltensor(NULL, t->shape, t->ndim, t->dtype);
	struct tenon_device *device;
	struct tenon_memory *memory;
	struct tenon_tensor *tensor;
	size_t bytes = 0;
	int err;

	err = tenon_tensor_bytes(&dl, &bytes);
	if (!err)
		err = rpc_device_of(&r->base, t->device, &device);
	if (err) {
		rpc_free_later(r, result->handle, LEGACY_NDARRAY);
		return err;
	}
	dl.device = tenon_device_id(device);
	dl.byte_offset = t->byte_offset;
	/* one byte for a tensor without elements: no memory is empty */
	err = rpc_memory_adopt(device, t->data, result->handle,
			       t->byte_offset + (bytes ? bytes : 1), &memory);
	tenon_object_unref(device);
	if (err)
		return err;
	dl.data = memory;
	err = tenon_tensor_view(&dl, &memory->object, &tensor);
	tenon_object_unref(memory);
	if (!err)
		*out = tenon_arg_object(tensor);
	return err;
}

int rpc_finish_result(struct rpc *r, struct rpc_result *result, struct tenon_value *out)
{
	struct tenon_function *function;
	struct tenon_object *object;
	struct tenon_module *module;
	int err;

	*out = result->value;
	if (result->kind == WIRE_TENSOR)
		return finish_tensor(r, result, out);
	if (!result->handle)
		return 0;
	switch (result->kind) {
	case WIRE_FUNCTION:
		err = rpc_function_create(r, result->handle, &function);
		object = err ? NULL : &function->object;
		break;
	case WIRE_MODULE:
		err = rpc_module_create(r, result->handle, NULL, &module);
		object = err ? NULL : &module->object;
		break;
	default:
		err = rpc_object_create(r, result->handle, &object);
	}
	if (!err)
		*out = tenon_arg_object(object);
	return err;
}
