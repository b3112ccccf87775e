/* SPDX-License-Identifier: MIT */
/* Write sequences of values in the encoding of either generation. */
#include <string.h>
#include <tenon/backend/buffer.h>

#include "rpc/wire/wire.h"
#include "rpc/wire/wire_codes.h"

static void write_device(struct tenon_buffer *b, DLDevice device)
{
	tenon_buffer_u32(b, (uint32_t)device.device_type);
	tenon_buffer_u32(b, (uint32_t)device.device_id);
}

static void write_dtype(struct tenon_buffer *b, DLDataType dtype)
{
	tenon_buffer_u32(b, dtype.code | (uint32_t)dtype.bits << 8 | (uint32_t)dtype.lanes << 16);
}

void wire_write_tensor(struct tenon_buffer *b, const struct wire_tensor *t)
{
	int32_t i;

	tenon_buffer_u64(b, t->data);
	write_device(b, t->device);
	tenon_buffer_u32(b, (uint32_t)t->ndim);
	write_dtype(b, t->dtype);
	for (i = 0; i < t->ndim; i++)
		tenon_buffer_u64(b, (uint64_t)t->shape[i]);
	tenon_buffer_u64(b, t->byte_offset);
}

static const int32_t codes[][2] = {
	[WIRE_NONE] = { LEGACY_NULL, TENON_TYPE_NONE },
	[WIRE_INT] = { LEGACY_INT, TENON_TYPE_INT },
	[WIRE_BOOL] = { LEGACY_BOOL, TENON_TYPE_BOOL },
	[WIRE_FLOAT] = { LEGACY_FLOAT, TENON_TYPE_FLOAT },
	[WIRE_POINTER] = { LEGACY_HANDLE, TENON_TYPE_POINTER },
	[WIRE_DTYPE] = { LEGACY_DTYPE, TENON_TYPE_DTYPE },
	[WIRE_DEVICE] = { LEGACY_DEVICE, TENON_TYPE_DEVICE },
	[WIRE_TENSOR] = { LEGACY_TENSOR, TENON_TYPE_DLTENSOR },
	[WIRE_STRING] = { LEGACY_STRING, TENON_TYPE_RAW_STRING },
	[WIRE_BYTES] = { LEGACY_BYTES, TENON_TYPE_RAW_BYTES },
	[WIRE_FUNCTION] = { LEGACY_FUNCTION, TENON_TYPE_FUNCTION },
	[WIRE_MODULE] = { LEGACY_MODULE, TENON_TYPE_MODULE },
	[WIRE_OBJECT] = { LEGACY_OBJECT, FFI_REMOTE_OBJECT },
};

int32_t wire_type_code(enum wire_generation generation, enum wire_kind kind)
{
	return codes[kind][generation == WIRE_LEGACY ? 0 : 1];
}

static void write_payload(struct tenon_buffer *b, enum wire_generation generation,
			  const struct wire_value *v)
{
	uint64_t bits;

	switch (v->kind) {
	case WIRE_NONE:
		return;
	case WIRE_INT:
	case WIRE_BOOL:
		tenon_buffer_u64(b, (uint64_t)v->as.integer);
		return;
	case WIRE_FLOAT:
		memcpy(&bits, &v->as.real, sizeof(bits));
		tenon_buffer_u64(b, bits);
		return;
	case WIRE_DTYPE:
		write_dtype(b, v->as.dtype);
		tenon_buffer_u32(b, 0);
		return;
	case WIRE_DEVICE:
		write_device(b, v->as.device);
		return;
	case WIRE_TENSOR:
		wire_write_tensor(b, v->as.tensor);
		return;
	case WIRE_STRING:
	case WIRE_BYTES:
		tenon_buffer_string(b, v->as.text);
		return;
	case WIRE_OBJECT:
		tenon_buffer_u32(b, generation == WIRE_LEGACY ? LEGACY_REMOTE_OBJECT
							      : FFI_REMOTE_OBJECT);
		tenon_buffer_u64(b, v->as.handle);
		return;
	case WIRE_POINTER:
	case WIRE_FUNCTION:
	case WIRE_MODULE:
		tenon_buffer_u64(b, v->as.handle);
		return;
	}
}

void wire_write_sequence(struct tenon_buffer *b, enum wire_generation generation,
			 const struct wire_value *values, uint32_t count)
{
	uint32_t i;

	tenon_buffer_u32(b, count);
	if (generation == WIRE_LEGACY)
		for (i = 0; i < count; i++)
			tenon_buffer_u32(b, (uint32_t)wire_type_code(generation, values[i].kind));
	for (i = 0; i < count; i++) {
		if (generation != WIRE_LEGACY)
			tenon_buffer_u32(b, (uint32_t)wire_type_code(generation, values[i].kind));
		write_payload(b, generation, &values[i]);
	}
}
