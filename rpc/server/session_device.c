/* SPDX-License-Identifier: MIT */
/* Requests for devices: attributes, streams, waiting. */
#include <tenon/device.h>
#include <tenon/queue.h>
#include <tenon/string.h>

#include "lib/brief_errors.h"
#include "rpc/server/session_state.h"

static DLDevice device_argument(const struct session *s)
{
	return s->packet.args.values[0].as.device;
}

/* cpu:0 is the host itself: its operations are done when they return */
static bool is_host(DLDevice id)
{
	return id.device_type == kDLCPU && id.device_id == 0;
}

/* the last device type that DLPack defined when this was written */
#define TYPES_KNOWN 18

static int check_type(DLDevice id)
{
	/* numbers that TVM knows too: an absent device of these is no error */
	if (id.device_type >= kDLCPU && id.device_type <= TYPES_KNOWN)
		return 0;
	if (tenon_backend_of_type(id.device_type))
		return 0;
	return tenon_error(-TENON_E_DEVICE, "unknown type = %d", id.device_type);
}

int session_set_device(struct session *s)
{
	DLDevice id = device_argument(s);
	struct tenon_device *device;
	int err;

	if (is_host(id))
		return 0;
	err = tenon_device_get(id, &device);
	if (err)
		return err;
	err = tenon_device_set_current(device);
	tenon_object_unref(device);
	return err;
}

static int reply_attribute(struct session *s, const struct tenon_value *value)
{
	struct wire_value wire = wire_none();
	int err = 0;

	if (value->type == TENON_TYPE_INT || value->type == TENON_TYPE_BOOL) {
		wire = wire_int(value->as.integer);
	} else if (value->type != TENON_TYPE_NONE) {
		wire.kind = WIRE_STRING;
		err = tenon_value_text(value, &wire.as.text);
	}
	if (!err)
		session_reply(s, &wire, 1);
	return err;
}

int session_get_attribute(struct session *s)
{
	int64_t attribute = s->packet.args.values[1].as.integer;
	struct tenon_value value = tenon_arg_none();
	int err = check_type(device_argument(s));

	if (err)
		return err;
	if (attribute < 0 || attribute > INT32_MAX)
		attribute = INT32_MAX;
	err = tenon_device_attribute(device_argument(s), (int)attribute, &value);
	if (!err)
		err = reply_attribute(s, &value);
	tenon_value_release(&value);
	return err;
}

/* ---- streams are queues; 0 is the thread's own */

static int find_stream(struct session *s, struct tenon_queue **out)
{
	uint64_t number = s->packet.args.values[1].as.handle;
	struct handle *handle;
	int err;

	*out = NULL;
	if (!number)
		return 0;
	err = handle_find(&s->handles, number, HANDLE_STREAM, &handle);
	if (!err)
		*out = handle->object;
	return err;
}

int session_sync(struct session *s)
{
	struct tenon_device *device;
	struct tenon_queue *queue;
	int err = find_stream(s, &queue);

	if (err || is_host(device_argument(s)))
		return err;
	if (queue)
		return tenon_queue_sync(queue, TENON_FOREVER);
	err = tenon_device_get(device_argument(s), &device);
	if (err)
		return err;
	err = tenon_device_sync(device, TENON_FOREVER);
	tenon_object_unref(device);
	return err;
}

static int create_queue(DLDevice id, struct tenon_queue **out)
{
	struct tenon_device *device;
	int err;

	*out = NULL;
	if (is_host(id))
		return 0;
	err = tenon_device_get(id, &device);
	if (err)
		return err;
	err = tenon_queue_create(device, out);
	tenon_object_unref(device);
	return err;
}

int session_create_stream(struct session *s)
{
	struct handle entry = { .kind = HANDLE_STREAM };
	struct wire_value value = wire_pointer(0);
	struct tenon_queue *queue;
	int err = create_queue(device_argument(s), &queue);

	entry.object = queue;
	if (!err && queue)
		err = handle_add(&s->handles, &entry, &value.as.handle);
	if (err) {
		tenon_object_unref(queue);
		return err;
	}
	session_reply(s, &value, 1);
	return 0;
}

int session_set_stream(struct session *s)
{
	struct tenon_device *device;
	struct tenon_queue *queue;
	int err = find_stream(s, &queue);

	if (err || is_host(device_argument(s)))
		return err;
	err = tenon_device_get(device_argument(s), &device);
	if (err)
		return err;
	err = tenon_queue_set_current(device, queue);
	tenon_object_unref(device);
	return err;
}

int session_free_stream(struct session *s)
{
	uint64_t number = s->packet.args.values[1].as.handle;

	return number ? handle_free(&s->handles, number, HANDLE_STREAM) : 0;
}

int session_current_stream(struct session *s)
{
	struct wire_value value = wire_pointer(0);

	/* 0 is enough: clients only compare it with the stream they set, and restore it */
	session_reply(s, &value, 1);
	return 0;
}
