/* SPDX-License-Identifier: MIT */
/* Convert arguments and results between the wire and values, and call functions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/string.h>

#include "lib/array_room.h"
#include "lib/brief_errors.h"
#include "rpc/server/session_state.h"
#include "rpc/wire/wire_codes.h"
#include "rpc/wire/wire_plain.h"

/* a result takes at most three values: its type, itself, a handle to free */
#define RESULT_MOST 3

/* ---- arguments */

static int reserve_values(struct session *s, uint32_t count)
{
	uint32_t room = s->args_room;

	/* there is room for as many tensors as arguments */
	if (!array_reserve(s->tensors, room, count) || !array_reserve(s->args, s->args_room, count))
		return tenon_error(-TENON_E_NOMEM, "no memory for %u arguments", count);
	return 0;
}

static int object_argument(struct session *s, uint64_t number, uint32_t kinds,
			   struct tenon_value *out)
{
	struct handle *handle;
	int err;

	*out = tenon_arg_none();
	if (!number)
		return 0;
	err = handle_find(&s->handles, number, kinds, &handle);
	if (err)
		return err;
	*out = tenon_arg_object(handle->object);
	tenon_object_ref(handle->object);
	return 0;
}

static int pointer_argument(struct session *s, uint64_t number, struct tenon_value *out)
{
	struct handle *handle;
	int err;

	*out = tenon_arg_pointer(NULL);
	if (!number)
		return 0;
	err = handle_find(&s->handles, number, HANDLE_POINTER | HANDLE_DATA, &handle);
	if (err)
		return err;
	if (handle->kind == HANDLE_POINTER)
		out->as.pointer = handle->pointer;
	else
		out->as.pointer = ((struct tenon_tensor *)handle->object)->dl.data;
	return 0;
}

/* Make an argument. One with an object is owned, because the callee may free the handle's reference. */
static int argument(struct session *s, struct wire_value *v, DLTensor *tensor,
		    struct tenon_value *out)
{
	int err;

	switch (v->kind) {
	case WIRE_STRING:
		return tenon_string_value(v->as.text, out);
	case WIRE_BYTES:
		/* large ones stay in the packet */
		*out = tenon_arg_bytes(&v->as.text);
		return 0;
	case WIRE_POINTER:
		return pointer_argument(s, v->as.handle, out);
	case WIRE_FUNCTION:
		return object_argument(s, v->as.handle, HANDLE_FUNCTION, out);
	case WIRE_MODULE:
		return object_argument(s, v->as.handle, HANDLE_MODULE, out);
	case WIRE_OBJECT:
		return object_argument(s, v->as.handle, HANDLE_OBJECTS, out);
	case WIRE_TENSOR:
		err = session_tensor(s, v->as.tensor, tensor);
		if (!err && tensor->byte_offset)
			session_settle(tensor);
		*out = tenon_arg_tensor(tensor);
		return err;
	default:
		return wire_plain(v, out) ? 0 : tenon_error(-TENON_E_TYPE, "unknown kind");
	}
}

static void release_arguments(struct session *s, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		tenon_value_release(&s->args[i]);
}

static int make_arguments(struct session *s, uint32_t *made)
{
	struct wire_sequence *sequence = &s->packet.args;
	int err = reserve_values(s, sequence->count);

	*made = 0;
	while (!err && *made < sequence->count) {
		err = argument(s, &sequence->values[*made], &s->tensors[*made], &s->args[*made]);
		if (err)
			return tenon_error_in(err, "argument %u", *made + 1);
		(*made)++;
	}
	return err;
}

/* ---- the result: its type index, itself, and for a tensor its handle */

struct result {
	struct wire_value values[RESULT_MOST];
	struct wire_tensor tensor;
	uint32_t count;
};

static void set_value(struct result *r, int32_t type, struct wire_value value)
{
	r->values[0] = wire_int(type);
	r->values[1] = value;
	r->count = 2;
}

static void set_plain(struct session *s, struct result *r, enum wire_kind kind,
		      const struct tenon_value *v)
{
	struct wire_value value = { .kind = kind };

	switch (kind) {
	case WIRE_FLOAT:
		value.as.real = v->as.real;
		break;
	case WIRE_DTYPE:
		value.as.dtype = v->as.dtype;
		break;
	case WIRE_DEVICE:
		value.as.device = v->as.device;
		break;
	default:
		value.as.integer = kind == WIRE_NONE ? 0 : v->as.integer;
	}
	set_value(r, wire_type_code(session_encoding(s), kind), value);
}

static int set_text(struct session *s, struct result *r, enum wire_kind kind,
		    const struct tenon_value *v)
{
	struct wire_value value = { .kind = kind };
	int32_t type = kind == WIRE_STRING ? TENON_TYPE_STRING : TENON_TYPE_BYTES;
	int err = tenon_value_text(v, &value.as.text);

	if (session_encoding(s) == WIRE_LEGACY)
		type = wire_type_code(WIRE_LEGACY, kind);
	set_value(r, type, value);
	return err;
}

/* The client gets a handle, which owns the object. */
static int set_handle(struct session *s, struct result *r, int32_t type, struct handle *entry)
{
	uint64_t number;
	int err = handle_add(&s->handles, entry, &number);

	set_value(r, type, wire_pointer(number));
	return err;
}

static int set_object(struct session *s, struct result *r, uint32_t kind, int32_t legacy_type,
		      struct tenon_value *v)
{
	struct handle entry = { .kind = kind, .object = v->as.object };
	int err = set_handle(s, r, session_encoding(s) == WIRE_LEGACY ? legacy_type : v->type,
			     &entry);

	if (!err)
		*v = tenon_arg_none();
	return err;
}

static int set_tensor(struct session *s, struct result *r, struct tenon_value *v)
{
	const DLTensor *dl = &((struct tenon_tensor *)v->as.object)->dl;
	struct handle entry = { .kind = HANDLE_TENSOR, .object = v->as.object };
	bool legacy = session_encoding(s) == WIRE_LEGACY;
	size_t bytes;
	int err = tenon_tensor_bytes(dl, &bytes);

	if (err)
		return err;
	if (!tenon_tensor_compact(dl) || dl->ndim > WIRE_NDIM_MOST)
		return tenon_error(
			-TENON_E_UNSUPPORTED,
			"the result is a tensor with strides or %d dimensions, which the "
			"protocol cannot describe",
			dl->ndim);
	if (__builtin_add_overflow(dl->byte_offset, (uint64_t)bytes, &entry.size))
		return tenon_error(-TENON_E_OVERFLOW, "the result's offset is too large");
	r->tensor.device = dl->device;
	r->tensor.dtype = dl->dtype;
	r->tensor.ndim = dl->ndim;
	r->tensor.byte_offset = dl->byte_offset;
	if (dl->ndim)
		memcpy(r->tensor.shape, dl->shape, (size_t)dl->ndim * sizeof(*dl->shape));
	err = set_handle(s, r, legacy ? (int)LEGACY_NDARRAY : (int)TENON_TYPE_TENSOR, &entry);
	if (err)
		return err;
	*v = tenon_arg_none();
	/* one number for the data and the object: TVM 0.21 to 0.23 free the tensor by its data */
	r->values[2] = r->values[1];
	r->tensor.data = r->values[1].as.handle;
	r->values[1] = (struct wire_value){ WIRE_TENSOR, { .tensor = &r->tensor } };
	r->count = 3;
	return 0;
}

static int set_pointer(struct session *s, struct result *r, const struct tenon_value *v)
{
	struct handle entry = { .kind = HANDLE_POINTER, .pointer = v->as.pointer };
	int32_t type = wire_type_code(session_encoding(s), WIRE_POINTER);

	if (v->as.pointer)
		return set_handle(s, r, type, &entry);
	set_value(r, type, wire_pointer(0));
	return 0;
}

/* Describe a result, and move its object to the table of handles. */
static int set_result(struct session *s, struct result *r, struct tenon_value *v)
{
	switch (v->type) {
	case TENON_TYPE_NONE:
		set_plain(s, r, WIRE_NONE, v);
		return 0;
	case TENON_TYPE_INT:
		set_plain(s, r, WIRE_INT, v);
		return 0;
	case TENON_TYPE_BOOL:
		/* TVM before 0.18 has no code for it, and takes an int */
		set_plain(s, r, session_encoding(s) == WIRE_LEGACY ? WIRE_INT : WIRE_BOOL, v);
		return 0;
	case TENON_TYPE_FLOAT:
		set_plain(s, r, WIRE_FLOAT, v);
		return 0;
	case TENON_TYPE_DTYPE:
		set_plain(s, r, WIRE_DTYPE, v);
		return 0;
	case TENON_TYPE_DEVICE:
		set_plain(s, r, WIRE_DEVICE, v);
		return 0;
	case TENON_TYPE_POINTER:
		return set_pointer(s, r, v);
	case TENON_TYPE_RAW_STRING:
	case TENON_TYPE_SMALL_STRING:
	case TENON_TYPE_STRING:
		return set_text(s, r, WIRE_STRING, v);
	case TENON_TYPE_RAW_BYTES:
	case TENON_TYPE_SMALL_BYTES:
	case TENON_TYPE_BYTES:
		return set_text(s, r, WIRE_BYTES, v);
	case TENON_TYPE_FUNCTION:
		return set_object(s, r, HANDLE_FUNCTION, LEGACY_FUNCTION, v);
	case TENON_TYPE_MODULE:
		return set_object(s, r, HANDLE_MODULE, LEGACY_MODULE, v);
	case TENON_TYPE_TENSOR:
		return set_tensor(s, r, v);
	default:
		if (v->type < TENON_TYPE_OBJECT)
			return tenon_error(-TENON_E_TYPE, "the result is a borrowed %s",
					   tenon_type_key(v->type));
		return set_object(s, r, HANDLE_OBJECT, LEGACY_OBJECT, v);
	}
}

void session_reply_none(struct session *s)
{
	const struct tenon_value none = tenon_arg_none();
	struct result result;

	set_plain(s, &result, WIRE_NONE, &none);
	session_reply(s, result.values, result.count);
}

void session_reply_bytes(struct session *s, uint64_t size)
{
	const bool legacy = session_encoding(s) == WIRE_LEGACY;
	struct wire_value values[2] = {
		wire_int(legacy ? wire_type_code(WIRE_LEGACY, WIRE_BYTES) : TENON_TYPE_BYTES),
		{ WIRE_BYTES, { .text = { "", 0 } } },
	};
	int i;

	session_reply(s, values, 2);
	if (s->reply.status)
		return;
	/* the length of bytes stands before them, in both encodings */
	for (i = 0; i < 8; i++)
		s->reply.data[s->reply.size - 8 + (size_t)i] = (char)(size >> 8 * i);
	packet_end(&s->reply, 0, size);
}

static int call(struct session *s, struct tenon_function *function, uint32_t count)
{
	struct tenon_value value = tenon_arg_none();
	struct result result = { .count = 0 };
	int err;

	if (tenon_function_call(function, s->args, (int32_t)count, &value))
		return -TENON_E_CALL;
	err = set_result(s, &result, &value);
	if (!err)
		session_reply(s, result.values, result.count);
	/* the text of a string is written by now */
	tenon_value_release(&value);
	return err;
}

int session_call(struct session *s)
{
	struct tenon_function *function;
	struct handle *handle;
	uint32_t made;
	int err;

	err = handle_find(&s->handles, s->packet.function, HANDLE_FUNCTION, &handle);
	if (err)
		return err;
	function = handle->object;
	if (function == s->download || function == s->linked)
		return session_rest_of_file(s, function == s->linked);
	tenon_object_ref(function);
	err = make_arguments(s, &made);
	if (!err)
		err = call(s, function, made);
	release_arguments(s, made);
	tenon_object_unref(function);
	return err;
}
