/* SPDX-License-Identifier: MIT */
/* Global functions on devices: attributes, streams, which are queues here, and threads of the processor. */
#include <pthread.h>
#include <stdlib.h>
#include <tenon/queue.h>
#include <tenon/string.h>
#include <tenon/tensor.h>
#include <tenon/threads.h>

#include "lib/brief_errors.h"
#include "lib/slice_text.h"
#include "runtime/tvm/tvm.h"

/* ---- streams: software has their addresses, so keep a list to check what it hands back */

struct stream {
	struct tenon_queue *queue;
	struct stream *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stream *streams;

/* Where the stream of an address is in the list; at its end if it is none. Caller holds the lock. */
static struct stream **find_stream(const void *address)
{
	struct stream **at = &streams;

	while (*at && (*at)->queue != address)
		at = &(*at)->next;
	return at;
}

static int add_stream(struct tenon_queue *queue)
{
	struct stream *s = malloc(sizeof(*s));

	if (!s)
		return tenon_error(-TENON_E_NOMEM, "no memory for a stream");
	s->queue = queue;
	pthread_mutex_lock(&lock);
	s->next = streams;
	streams = s;
	pthread_mutex_unlock(&lock);
	return 0;
}

/* Get the queue of a stream, referenced; NULL for the device's own stream. */
static int get_stream(const char *function, const struct tenon_value *args, int32_t i,
		      struct tenon_queue **out)
{
	struct stream *s;
	void *address;
	int err = tvm_pointer(function, args, i, &address);

	*out = NULL;
	if (err || !address)
		return err;
	pthread_mutex_lock(&lock);
	s = *find_stream(address);
	if (s) {
		*out = s->queue;
		tenon_object_ref(*out);
	}
	pthread_mutex_unlock(&lock);
	return s ? 0
		 : tenon_error(-TENON_E_VALUE, "%s: argument %d is no stream", function,
			       (int)i + 1);
}

/* The device of the first argument, referenced; NULL for the processor, which has no streams */
static int get_device(const char *function, const struct tenon_value *args, int32_t count,
		      int32_t most, struct tenon_device **out)
{
	DLDevice id;
	int err = arguments_check(function, count, most, most);

	*out = NULL;
	if (!err)
		err = tvm_device(function, args, 0, &id);
	return err ? err : tvm_open_device(id, out);
}

static PACKED_CALL(stream_create)
{
	struct tenon_device *device;
	struct tenon_queue *queue;
	int err = get_device("runtime.Device_StreamCreate", args, count, 1, &device);
	*ret = tenon_arg_none();
	if (err || !device)
		return err;
	err = tenon_queue_create(device, &queue);
	tenon_object_unref(device);
	if (err)
		return err;
	err = add_stream(queue);
	if (err)
		tenon_object_unref(queue);
	else
		*ret = tenon_arg_pointer(queue);
	return err;
}

static PACKED_CALL(stream_free)
{
	struct stream **at, *s;
	void *address;
	int err = arguments_check("runtime.Device_StreamFree", count, 2, 2);
	*ret = tenon_arg_none();
	if (!err)
		err = tvm_pointer("runtime.Device_StreamFree", args, 1, &address);
	if (err || !address)
		return err;
	pthread_mutex_lock(&lock);
	at = find_stream(address);
	s = *at;
	if (s)
		*at = s->next;
	pthread_mutex_unlock(&lock);
	if (!s)
		return tenon_error(-TENON_E_VALUE,
				   "runtime.Device_StreamFree: argument 2 is no stream");
	tenon_object_unref(s->queue);
	free(s);
	return 0;
}

static int set_stream(const char *function, struct tenon_device *device,
		      const struct tenon_value *args, int32_t i)
{
	struct tenon_queue *queue;
	int err = get_stream(function, args, i, &queue);

	if (err)
		return err;
	err = tenon_queue_set_current(device, queue);
	tenon_object_unref(queue);
	return err;
}

static PACKED_CALL(device_set_stream)
{
	struct tenon_device *device;
	int err = get_device("runtime.Device_SetStream", args, count, 2, &device);
	*ret = tenon_arg_none();
	if (err || !device)
		return err;
	err = set_stream("runtime.Device_SetStream", device, args, 1);
	tenon_object_unref(device);
	return err;
}

static int sync_all(struct tenon_device *device)
{
	struct tenon_remote *remote;
	DLDevice there;

	remote = tenon_remote_of_device(device, &there);
	return remote ? tenon_remote_sync(remote, there) : tenon_device_sync(device, TENON_FOREVER);
}

static PACKED_CALL(stream_sync)
{
	struct tenon_device *device;
	struct tenon_queue *queue;
	int err = get_device("runtime.Device_StreamSync", args, count, 2, &device);
	*ret = tenon_arg_none();
	if (err || !device)
		return err;
	err = get_stream("runtime.Device_StreamSync", args, 1, &queue);
	if (!err)
		err = queue ? tenon_queue_sync(queue, TENON_FOREVER) : sync_all(device);
	tenon_object_unref(queue);
	tenon_object_unref(device);
	return err;
}

/* What is submitted to the second stream from now on comes after what is in the first: wait for that here. */
static PACKED_CALL(stream_sync_from_to)
{
	static const char function[] = "runtime.Device_StreamSyncFromTo";
	struct tenon_queue *from, *to;
	struct tenon_device *device;
	int err = get_device(function, args, count, 3, &device);
	*ret = tenon_arg_none();
	if (err || !device)
		return err;
	err = get_stream(function, args, 1, &from);
	if (!err)
		err = get_stream(function, args, 2, &to);
	if (!err) {
		tenon_object_unref(to);
		err = from ? tenon_queue_sync(from, TENON_FOREVER) : sync_all(device);
	}
	tenon_object_unref(from);
	tenon_object_unref(device);
	return err;
}

/* ---- attributes */

/* device type, number, enum tenon_device_attribute */
static PACKED_CALL(get_attribute)
{
	static const char function[] = "runtime.GetDeviceAttr";
	struct tenon_remote *remote;
	int64_t type, id, kind;
	DLDevice device;
	int err = arguments_check(function, count, 3, 3);
	*ret = tenon_arg_none();
	if (!err)
		err = tvm_int(function, args, 0, &type);
	if (!err)
		err = tvm_int(function, args, 1, &id);
	if (!err)
		err = tvm_int(function, args, 2, &kind);
	if (err)
		return err;
	device = (DLDevice){ (DLDeviceType)type, (int32_t)id };
	if (!tvm_is_remote(device)) {
		/* the processor exists also in a build without a backend for it */
		if (type == kDLCPU && kind == TENON_ATTRIBUTE_EXISTS)
			*ret = tenon_arg_int(id == 0);
		else
			err = tenon_device_attribute(device, (int)kind, ret);
		return err;
	}
	err = tvm_session(device, &remote);
	if (err)
		return err;
	err = tenon_remote_attribute(remote, tvm_there(device), (int)kind, ret);
	tenon_object_unref(remote);
	return err;
}

/* The name of a device, of a target or of the part of a runtime */
static PACKED_CALL(runtime_enabled)
{
	static const struct {
		const char *name;
		const char *backend;
	} others[] = {
		{ "cl", "opencl" }, { "gpu", "cuda" }, { "nvptx", "cuda" }, { "mtl", "metal" }
	};
	struct tenon_slice name;
	size_t i;
	int err = arguments_check("runtime.RuntimeEnabled", count, 1, 1);
	if (!err)
		err = tvm_text("runtime.RuntimeEnabled", args, 0, &name);
	if (err)
		return err;
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (slice_is(name, others[i].name))
			name = tenon_slice_of(others[i].backend);
	*ret = tenon_arg_bool(slice_is(name, "cpu") || tenon_backend_find(name));
	tenon_error_clear();
	return 0;
}

static PACKED_CALL(num_threads)
{
	int err = arguments_check("runtime.NumThreads", count, 0, 0);
	if (!err)
		*ret = tenon_arg_int(tenon_parallel_workers());
	return err;
}

const struct global_function tvm_device_globals[] = {
	{ "runtime.Device_SetStream", device_set_stream },
	{ "runtime.Device_StreamCreate", stream_create },
	{ "runtime.Device_StreamFree", stream_free },
	{ "runtime.Device_StreamSync", stream_sync },
	{ "runtime.Device_StreamSyncFromTo", stream_sync_from_to },
	{ "runtime.GetDeviceAttr", get_attribute },
	{ "runtime.NumThreads", num_threads },
	{ "runtime.RuntimeEnabled", runtime_enabled },
	{ NULL, NULL },
};
