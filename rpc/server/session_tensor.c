/* SPDX-License-Identifier: MIT */
/* Requests for memory: allocate, copy and free tensors. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/device.h>
#include <tenon/memory.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "lib/slice_text.h"
#include "rpc/server/session_state.h"
#include "runtime/core/tensor_settle.h"

/* a tensor without elements has no memory, and no pointer of it is used */
static int check_range(const struct wire_tensor *wire, uint64_t bytes, uint64_t size)
{
	if (wire->byte_offset <= size && bytes <= size - wire->byte_offset)
		return 0;
	return tenon_error(-TENON_E_VALUE,
			   "%" PRIu64 " bytes at offset %" PRIu64
			   " exceed the tensor's memory of %" PRIu64 " bytes",
			   bytes, wire->byte_offset, size);
}

/* Find the memory of a tensor record: its data, and the device it is on. */
static int find_memory(struct session *s, const struct wire_tensor *wire, uint64_t bytes,
		       DLTensor *out)
{
	struct handle *handle;
	const DLTensor *own;
	int err = handle_find(&s->handles, wire->data, HANDLE_DATA, &handle);

	if (!err)
		err = check_range(wire, bytes, handle->size);
	if (err)
		return err;
	own = &((const struct tenon_tensor *)handle->object)->dl;
	if (own->device.device_type != wire->device.device_type ||
	    (own->device.device_id != wire->device.device_id && own->device.device_type != kDLCPU))
		return tenon_error(
			-TENON_E_VALUE, "handle 0x%" PRIx64 " is memory of %s:%d, not of %s:%d",
			wire->data, tenon_device_name(own->device.device_type),
			own->device.device_id, tenon_device_name(wire->device.device_type),
			wire->device.device_id);
	out->data = own->data;
	out->device = own->device;
	return 0;
}

int session_tensor(struct session *s, struct wire_tensor *wire, DLTensor *out)
{
	size_t bytes;
	int err;

	*out = tenon_dltensor(NULL, wire->shape, wire->ndim, wire->dtype);
	out->byte_offset = wire->byte_offset;
	err = tenon_tensor_bytes(out, &bytes);
	if (!err && (bytes || wire->data))
		return find_memory(s, wire, bytes, out);
	out->device = wire->device;
	return err;
}

void session_settle(DLTensor *t)
{
	struct tenon_device *device;
	bool addresses = t->device.device_type == kDLCPU;

	if (!addresses && tenon_device_get(t->device, &device)) {
		tenon_error_clear();
	} else if (!addresses) {
		addresses = tenon_device_properties(device)->flags & TENON_DEVICE_ADDRESSES;
		tenon_object_unref(device);
	}
	tensor_settle(t, addresses);
}

/* ---- copies: of bytes, whatever the tensor's shape, since a copy may be a part of it */

static int byte_tensor(struct session *s, const struct wire_tensor *wire, uint64_t size,
		       int64_t *extent, DLTensor *out)
{
	*extent = (int64_t)size;
	*out = tenon_dltensor(NULL, extent, 1, tenon_dtype(kDLUInt, 8, 1));
	out->byte_offset = wire->byte_offset;
	return find_memory(s, wire, size, out);
}

static bool is_of_host(const DLTensor *dl)
{
	return dl->device.device_type == kDLCPU && !dl->device.device_id;
}

int session_copy_from(struct session *s)
{
	const struct packet *p = &s->packet;
	DLTensor from;
	int64_t extent;
	size_t start;
	int err = byte_tensor(s, &p->tensor, p->size, &extent, &from);

	if (err)
		return err;
	if (!is_of_host(&from))
		err = session_rest_of_device(s, &from, p->size);
	else
		s->reply_data = (struct tenon_slice){ (const char *)from.data + from.byte_offset,
						      (size_t)p->size };
	if (err)
		return err;
	start = packet_begin(&s->reply, PACKET_COPY_ACK);
	packet_end(&s->reply, start, p->size);
	return 0;
}

/* Copy the next bytes to @to, which begins where they belong; @extent is its shape. */
static int copy_part(DLTensor *to, int64_t *extent, struct tenon_slice bytes)
{
	DLTensor from = tenon_dltensor((void *)(uintptr_t)bytes.data, extent, 1, to->dtype);
	int err;

	*extent = (int64_t)bytes.size;
	err = tenon_tensor_copy(&from, to);
	to->byte_offset += bytes.size;
	return err;
}

static int receive_to_host(struct session *s, const DLTensor *to)
{
	const struct tenon_slice first = s->packet.data;
	char *at = (char *)to->data + to->byte_offset;
	int err;

	memcpy(at, first.data, first.size);
	err = stream_read(&s->stream, at + first.size, (size_t)s->more);
	if (!err)
		s->more = 0;
	return err;
}

static int receive_to_device(struct session *s, DLTensor *to, int64_t *extent)
{
	struct tenon_slice bytes;
	int err = copy_part(to, extent, s->packet.data);

	while (s->more && !err) {
		err = stream_read_part(&s->stream, &s->more, &bytes);
		if (!err)
			err = copy_part(to, extent, bytes);
	}
	return err;
}

int session_copy_to(struct session *s)
{
	DLTensor to;
	int64_t extent;
	int err = byte_tensor(s, &s->packet.tensor, s->packet.size, &extent, &to);

	if (err || !s->packet.size)
		return err;
	return is_of_host(&to) ? receive_to_host(s, &to) : receive_to_device(s, &to, &extent);
}

int session_copy_among(struct session *s)
{
	struct wire_value *values = s->packet.args.values;
	DLTensor from, to;
	int err = session_tensor(s, values[0].as.tensor, &from);

	if (!err)
		err = session_tensor(s, values[1].as.tensor, &to);
	return err ? err : tenon_tensor_copy(&from, &to);
}

/* ---- memory */

static int alloc(struct session *s, const DLTensor *dl)
{
	struct handle entry = { .kind = HANDLE_MEMORY };
	struct tenon_tensor *tensor;
	struct wire_value value;
	uint64_t number;
	size_t bytes;
	int err;

	err = tenon_tensor_bytes(dl, &bytes);
	if (err)
		return err;
	if (bytes > s->options->memory_most - s->memory_used)
		return tenon_error(-TENON_E_NOMEM,
				   "a tensor of %zu bytes: the session has %" PRIu64
				   " and may have %" PRIu64,
				   bytes, s->memory_used, s->options->memory_most);
	err = tenon_tensor_create_on(dl->device, dl->shape, dl->ndim, dl->dtype, &tensor);
	if (err)
		return err;
	entry.object = tensor;
	entry.size = bytes;
	err = handle_add(&s->handles, &entry, &number);
	if (err) {
		tenon_object_unref(tensor);
		return err;
	}
	s->memory_used += bytes;
	value = wire_pointer(number);
	session_reply(s, &value, 1);
	return 0;
}

static bool is_plain_scope(const struct wire_value *scope)
{
	return scope->kind == WIRE_NONE || !scope->as.text.size ||
	       slice_is(scope->as.text, "global");
}

int session_alloc_tensor(struct session *s)
{
	struct wire_value *values = s->packet.args.values;
	struct wire_tensor *wire = values[0].as.tensor;
	DLTensor dl = tenon_dltensor(NULL, wire->shape, wire->ndim, wire->dtype);

	dl.device = wire->device;
	if (!is_plain_scope(&values[1]))
		return tenon_error(-TENON_E_UNSUPPORTED, "memory scope \"%.*s\" is not supported",
				   slice_shown(values[1].as.text, 40), values[1].as.text.data);
	return alloc(s, &dl);
}

int session_alloc(struct session *s)
{
	struct wire_value *values = s->packet.args.values;
	int64_t bytes = values[1].as.integer, alignment = values[2].as.integer;
	DLTensor dl = tenon_dltensor(NULL, &bytes, 1, tenon_dtype(kDLUInt, 8, 1));

	dl.device = values[0].as.device;
	if (alignment > TENON_TENSOR_ALIGN)
		return tenon_error(-TENON_E_UNSUPPORTED,
				   "alignment to %" PRId64 " bytes, at most %d", alignment,
				   TENON_TENSOR_ALIGN);
	return alloc(s, &dl);
}

int session_free(struct session *s)
{
	uint64_t number = s->packet.args.values[1].as.handle, size;
	struct handle *handle;
	int err = handle_find(&s->handles, number, HANDLE_MEMORY, &handle);

	if (err)
		return err;
	size = handle->size;
	err = handle_free(&s->handles, number, HANDLE_MEMORY);
	if (!err)
		s->memory_used -= size;
	return err;
}
