/* SPDX-License-Identifier: MIT */
/* Values of this process as values on the wire. */
#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>

#include "lib/array_room.h"
#include "lib/brief_errors.h"
#include "rpc/client/rpc.h"

static int reserve_arguments(struct rpc *r, uint32_t count)
{
	uint32_t room = r->values_room;

	if (count > WIRE_ARGUMENTS_MOST)
		return tenon_error(-TENON_E_VALUE, "%u arguments, at most %d can be sent", count,
				   WIRE_ARGUMENTS_MOST);
	/* there is room for as many tensors as values */
	if (!array_reserve(r->tensors, room, count) ||
	    !array_reserve(r->values, r->values_room, count))
		return tenon_error(-TENON_E_NOMEM, "no memory for %u arguments", count);
	return 0;
}

/* The open device with this number, if it is of this session; not referenced. */
static struct rpc_device *device_of_session(const struct rpc *r, DLDevice id)
{
	struct tenon_device *device;
	struct rpc_device *d;

	if (!rpc_is_device(id))
		return NULL;
	if (tenon_device_get(id, &device)) {
		tenon_error_clear();
		return NULL;
	}
	d = (struct rpc_device *)device;
	/* the table of open devices has a reference too */
	tenon_object_unref(device);
	return d->rpc == r ? d : NULL;
}

int rpc_device_there(struct rpc *r, DLDevice here, DLDevice *there)
{
	const struct rpc_device *d = device_of_session(r, here);

	*there = here;
	if (!rpc_is_device(here))
		return 0;
	if (!d)
		return tenon_error(-TENON_E_VALUE,
				   "the device %d:%d is none of the session with %s",
				   here.device_type, here.device_id, r->address);
	*there = d->there;
	return 0;
}

/* A device without RPC in its name is the server's. */
static int device_value(struct rpc *r, DLDevice here, struct wire_value *out)
{
	out->kind = WIRE_DEVICE;
	return rpc_device_there(r, here, &out->as.device);
}

static int tensor_value(struct rpc *r, const struct tenon_value *arg, struct wire_tensor *t,
			struct wire_value *out)
{
	const struct rpc_memory *memory;
	const struct rpc_device *d;
	DLTensor *dl;
	uint64_t offset = 0;
	int err = tenon_value_tensor(arg, &dl);

	if (err)
		return err;
	d = device_of_session(r, dl->device);
	if (!d)
		return tenon_error(-TENON_E_TYPE,
				   "a tensor of %s:%d: copy it to a device of the session first "
				   "(tenon_remote_device())",
				   tenon_device_name(dl->device.device_type), dl->device.device_id);
	if (!tenon_tensor_compact(dl) || dl->ndim > WIRE_NDIM_MOST)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "a tensor with strides or %d dimensions, which the protocol "
				   "cannot describe",
				   dl->ndim);
	memory = (const struct rpc_memory *)tenon_memory_root(dl->data, &offset);
	memset(t, 0, sizeof(*t));
	t->data = memory->handle;
	t->device = d->there;
	t->dtype = dl->dtype;
	t->ndim = dl->ndim;
	if (dl->ndim)
		memcpy(t->shape, dl->shape, (size_t)dl->ndim * sizeof(*t->shape));
	t->byte_offset = dl->byte_offset + offset;
	*out = (struct wire_value){ WIRE_TENSOR, { .tensor = t } };
	return 0;
}

static int handle_value(uint64_t handle, enum wire_kind kind, struct wire_value *out)
{
	out->kind = kind;
	out->as.handle = handle;
	if (handle)
		return 0;
	return tenon_error(-TENON_E_TYPE,
			   "%s of this process: only those of the session's server "
			   "can be sent",
			   kind == WIRE_FUNCTION ? "a function" : "a module");
}

static int object_value(const struct rpc *r, const struct tenon_value *arg, struct wire_value *out)
{
	const struct tenon_object *object = arg->as.object;
	const struct rpc_object *o = (const struct rpc_object *)object;

	switch (object->type) {
	case TENON_TYPE_FUNCTION:
		return handle_value(rpc_function_handle(r, (const struct tenon_function *)object),
				    WIRE_FUNCTION, out);
	case TENON_TYPE_MODULE:
		return handle_value(rpc_module_handle(r, (const struct tenon_module *)object),
				    WIRE_MODULE, out);
	}
	if (!rpc_object_is(object) || o->rpc != r)
		return tenon_error(
			-TENON_E_TYPE,
			"an object of type %s: only those of the session's server can be "
			"sent",
			tenon_type_key(object->type));
	out->kind = WIRE_OBJECT;
	out->as.handle = o->handle;
	return 0;
}

static int value(struct rpc *r, const struct tenon_value *arg, struct wire_tensor *t,
		 struct wire_value *out)
{
	switch (arg->type) {
	case TENON_TYPE_NONE:
		*out = wire_none();
		return 0;
	case TENON_TYPE_INT:
	case TENON_TYPE_BOOL:
		*out = wire_int(arg->as.integer);
		/* TVM before 0.18 has no code for bool */
		if (arg->type == TENON_TYPE_BOOL && r->generation != WIRE_LEGACY)
			out->kind = WIRE_BOOL;
		return 0;
	case TENON_TYPE_FLOAT:
		*out = (struct wire_value){ WIRE_FLOAT, { .real = arg->as.real } };
		return 0;
	case TENON_TYPE_DTYPE:
		*out = (struct wire_value){ WIRE_DTYPE, { .dtype = arg->as.dtype } };
		return 0;
	case TENON_TYPE_DEVICE:
		return device_value(r, arg->as.device, out);
	case TENON_TYPE_POINTER:
		if (arg->as.pointer)
			return tenon_error(-TENON_E_TYPE, "an address of this process");
		*out = wire_pointer(0);
		return 0;
	case TENON_TYPE_RAW_STRING:
	case TENON_TYPE_SMALL_STRING:
	case TENON_TYPE_STRING:
		out->kind = WIRE_STRING;
		return tenon_value_text(arg, &out->as.text);
	case TENON_TYPE_RAW_BYTES:
	case TENON_TYPE_SMALL_BYTES:
	case TENON_TYPE_BYTES:
		out->kind = WIRE_BYTES;
		return tenon_value_text(arg, &out->as.text);
	case TENON_TYPE_DLTENSOR:
	case TENON_TYPE_TENSOR:
		return tensor_value(r, arg, t, out);
	default:
		if (arg->type < TENON_TYPE_OBJECT)
			return tenon_error(-TENON_E_TYPE, "a value of type %s",
					   tenon_type_key(arg->type));
		return object_value(r, arg, out);
	}
}

int rpc_make_arguments(struct rpc *r, const struct tenon_value *args, uint32_t count)
{
	uint32_t i;
	int err = reserve_arguments(r, count);

	for (i = 0; i < count && !err; i++) {
		err = value(r, &args[i], &r->tensors[i], &r->values[i]);
		if (err)
			tenon_error_in(err, "argument %u cannot be sent to %s", i + 1, r->address);
	}
	return err;
}
