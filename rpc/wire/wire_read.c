/* SPDX-License-Identifier: MIT */
/* Read sequences of values in the encoding of either generation. */
#include "rpc/wire/wire.h"

#include <stdlib.h>
#include <string.h>

#include "lib/array_room.h"
#include "lib/brief_errors.h"
#include "rpc/wire/wire_codes.h"

void wire_sequence_fini(struct wire_sequence *s)
{
	free(s->values);
	free(s->tensors);
	memset(s, 0, sizeof(*s));
}

static int read_i64(struct tenon_cursor *c, int64_t *out)
{
	uint64_t u = 0;
	int err = tenon_cursor_u64(c, &u);

	*out = (int64_t)u;
	return err;
}

static int read_device(struct tenon_cursor *c, DLDevice *out)
{
	uint32_t type = 0, id = 0;
	int err = tenon_cursor_u32(c, &type);

	if (!err)
		err = tenon_cursor_u32(c, &id);
	out->device_type = (DLDeviceType)type;
	out->device_id = (int32_t)id;
	return err;
}

static int read_dtype(struct tenon_cursor *c, DLDataType *out)
{
	uint8_t code = 0, bits = 0;
	uint16_t lanes = 0;
	int err = tenon_cursor_u8(c, &code);

	if (!err)
		err = tenon_cursor_u8(c, &bits);
	if (!err)
		err = tenon_cursor_u16(c, &lanes);
	out->code = code;
	out->bits = bits;
	out->lanes = lanes;
	return err;
}

int wire_read_tensor(struct tenon_cursor *c, struct wire_tensor *t)
{
	uint32_t ndim = 0, i;
	int err;

	err = tenon_cursor_u64(c, &t->data);
	if (!err)
		err = read_device(c, &t->device);
	if (!err)
		err = tenon_cursor_u32(c, &ndim);
	if (!err && ndim > WIRE_NDIM_MOST)
		err = tenon_cursor_error(c, -TENON_E_FORMAT,
					 "a tensor has %u dimensions, at most %d are accepted",
					 ndim, WIRE_NDIM_MOST);
	if (!err)
		err = read_dtype(c, &t->dtype);
	if (err)
		return err;
	t->ndim = (int32_t)ndim;
	for (i = 0; i < ndim && !err; i++)
		err = read_i64(c, &t->shape[i]);
	return err ? err : tenon_cursor_u64(c, &t->byte_offset);
}

/*
 * Tensors are stored as numbers until all of them are read, because the array may move.
 * wire_read_sequence() replaces the numbers by pointers.
 */
static int read_tensor_value(struct tenon_cursor *c, struct wire_sequence *s, struct wire_value *v)
{
	if (!array_reserve(s->tensors, s->tensor_room, s->tensor_count + 1))
		return tenon_error(-TENON_E_NOMEM, "no memory for the tensors of a call");
	v->kind = WIRE_TENSOR;
	v->as.handle = s->tensor_count++;
	return wire_read_tensor(c, &s->tensors[v->as.handle]);
}

static int read_text(struct tenon_cursor *c, enum wire_kind kind, struct wire_sequence *s,
		     struct wire_value *v)
{
	uint64_t size = 0, left;
	int err = tenon_cursor_u64(c, &size);

	if (err)
		return err;
	v->kind = kind;
	left = tenon_cursor_left(c);
	if (s->more && size > left && size - left == s->more) {
		s->more = 0;
		size = left;
	}
	return tenon_cursor_bytes(c, size, &v->as.text);
}

static int read_handle(struct tenon_cursor *c, enum wire_kind kind, struct wire_value *v)
{
	v->kind = kind;
	return tenon_cursor_u64(c, &v->as.handle);
}

static int read_integer(struct tenon_cursor *c, enum wire_kind kind, struct wire_value *v)
{
	v->kind = kind;
	return read_i64(c, &v->as.integer);
}

static int read_float(struct tenon_cursor *c, struct wire_value *v)
{
	uint64_t bits = 0;
	int err = tenon_cursor_u64(c, &bits);

	v->kind = WIRE_FLOAT;
	memcpy(&v->as.real, &bits, sizeof(bits));
	return err;
}

static int read_dtype_value(struct tenon_cursor *c, struct wire_value *v)
{
	uint32_t padding = 0;
	int err = read_dtype(c, &v->as.dtype);

	v->kind = WIRE_DTYPE;
	return err ? err : tenon_cursor_u32(c, &padding);
}

static int read_device_value(struct tenon_cursor *c, struct wire_value *v)
{
	v->kind = WIRE_DEVICE;
	return read_device(c, &v->as.device);
}

static int unknown_code(const struct tenon_cursor *c, const char *what, uint32_t code)
{
	return tenon_cursor_error(c, -TENON_E_FORMAT, "%s has the unknown type code %d", what,
				  (int)code);
}

static int read_legacy(struct tenon_cursor *c, uint32_t code, struct wire_sequence *s,
		       struct wire_value *v)
{
	uint32_t inner = 0;
	int err;

	switch (code) {
	case LEGACY_INT:
	case LEGACY_UINT:
		return read_integer(c, WIRE_INT, v);
	case LEGACY_BOOL:
		return read_integer(c, WIRE_BOOL, v);
	case LEGACY_FLOAT:
		return read_float(c, v);
	case LEGACY_HANDLE:
		return read_handle(c, WIRE_POINTER, v);
	case LEGACY_NULL:
		v->kind = WIRE_NONE;
		return 0;
	case LEGACY_DTYPE:
		return read_dtype_value(c, v);
	case LEGACY_DEVICE:
		return read_device_value(c, v);
	case LEGACY_TENSOR:
		return read_tensor_value(c, s, v);
	case LEGACY_OBJECT:
		err = tenon_cursor_u32(c, &inner);
		if (err)
			return err;
		if (inner != LEGACY_REMOTE_OBJECT)
			return unknown_code(c, "an object", inner);
		return read_handle(c, WIRE_OBJECT, v);
	case LEGACY_MODULE:
		return read_handle(c, WIRE_MODULE, v);
	case LEGACY_FUNCTION:
		return read_handle(c, WIRE_FUNCTION, v);
	case LEGACY_STRING:
		return read_text(c, WIRE_STRING, s, v);
	case LEGACY_BYTES:
		return read_text(c, WIRE_BYTES, s, v);
	default:
		return unknown_code(c, "an argument", code);
	}
}

/* the object form: the second type code selects what follows */
static int read_ffi_object(struct tenon_cursor *c, struct wire_sequence *s, struct wire_value *v)
{
	uint32_t inner = 0;
	int err = tenon_cursor_u32(c, &inner);

	if (err)
		return err;
	switch (inner) {
	case TENON_TYPE_STRING:
		return read_text(c, WIRE_STRING, s, v);
	case TENON_TYPE_BYTES:
		return read_text(c, WIRE_BYTES, s, v);
	case FFI_REMOTE_OBJECT:
		return read_handle(c, WIRE_OBJECT, v);
	default:
		return unknown_code(c, "an object", inner);
	}
}

static int read_ffi(struct tenon_cursor *c, uint32_t code, struct wire_sequence *s,
		    struct wire_value *v)
{
	switch (code) {
	case TENON_TYPE_NONE:
		v->kind = WIRE_NONE;
		return 0;
	case TENON_TYPE_INT:
		return read_integer(c, WIRE_INT, v);
	case TENON_TYPE_BOOL:
		return read_integer(c, WIRE_BOOL, v);
	case TENON_TYPE_FLOAT:
		return read_float(c, v);
	case TENON_TYPE_POINTER:
		return read_handle(c, WIRE_POINTER, v);
	case TENON_TYPE_DTYPE:
		return read_dtype_value(c, v);
	case TENON_TYPE_DEVICE:
		return read_device_value(c, v);
	case TENON_TYPE_DLTENSOR:
		return read_tensor_value(c, s, v);
	case TENON_TYPE_RAW_STRING:
		return read_text(c, WIRE_STRING, s, v);
	case TENON_TYPE_RAW_BYTES:
		return read_text(c, WIRE_BYTES, s, v);
	case TENON_TYPE_FUNCTION:
		return read_handle(c, WIRE_FUNCTION, v);
	case TENON_TYPE_MODULE:
		return read_handle(c, WIRE_MODULE, v);
	case TENON_TYPE_SMALL_STRING:
	case TENON_TYPE_SMALL_BYTES:
		return read_ffi_object(c, s, v);
	default:
		if (code >= TENON_TYPE_OBJECT && code <= INT32_MAX)
			return read_ffi_object(c, s, v);
		return unknown_code(c, "an argument", code);
	}
}

int wire_read_sequence(struct tenon_cursor *c, enum wire_generation generation,
		       struct wire_sequence *s)
{
	struct tenon_slice codes = { 0 };
	struct tenon_cursor code_at;
	uint32_t count = 0, code = 0, i;
	int err;

	s->count = s->tensor_count = 0;
	err = tenon_cursor_u32(c, &count);
	if (err)
		return err;
	if (count > WIRE_ARGUMENTS_MOST)
		return tenon_cursor_error(c, -TENON_E_FORMAT,
					  "%d arguments, at most %d are accepted", (int)count,
					  WIRE_ARGUMENTS_MOST);
	/* each argument has a code of four bytes in both encodings */
	if (tenon_cursor_left(c) / 4 < count)
		return tenon_cursor_error(c, -TENON_E_TRUNCATED, "%u arguments in %zu bytes", count,
					  tenon_cursor_left(c));
	if (!array_reserve(s->values, s->room, count))
		return tenon_error(-TENON_E_NOMEM, "no memory for %u arguments", count);
	if (generation == WIRE_LEGACY)
		err = tenon_cursor_bytes(c, 4 * (uint64_t)count, &codes);
	code_at = tenon_cursor_of(codes.data, codes.size, c->name, 0);
	for (i = 0; i < count && !err; i++) {
		err = tenon_cursor_u32(generation == WIRE_LEGACY ? &code_at : c, &code);
		if (err)
			break;
		err = generation == WIRE_LEGACY ? read_legacy(c, code, s, &s->values[i])
						: read_ffi(c, code, s, &s->values[i]);
		if (err)
			tenon_error_in(err, "argument %u of %u", i + 1, count);
	}
	if (err)
		return err;
	for (i = 0; i < count; i++)
		if (s->values[i].kind == WIRE_TENSOR)
			s->values[i].as.tensor = &s->tensors[s->values[i].as.handle];
	s->count = count;
	return 0;
}
