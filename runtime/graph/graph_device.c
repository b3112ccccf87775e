/* SPDX-License-Identifier: MIT */
/* Choose the device of each storage, and allocate storages outside host memory. */
#include <inttypes.h>
#include <stdlib.h>
#include <tenon/backend/buffer.h>
#include <tenon/backend/memory.h>

#include "lib/brief_errors.h"
#include "lib/heap.h"
#include "runtime/graph/graph_exec.h"

/* Device types renumbered in TVM 0.11; graphs use the numbering of their exporter. */
static const struct {
	int32_t old, now;
} renumbered[] = {
	{ 5, 32 },  /* aocl */
	{ 6, 33 },  /* sdaccel */
	{ 11, 34 }, /* opengl */
	{ 13, 35 }, /* microdev */
	{ 14, 16 }, /* hexagon */
};

static bool renamed(int32_t wanted, int32_t listed)
{
	size_t i;

	for (i = 0; i < sizeof(renumbered) / sizeof(*renumbered); i++)
		if ((renumbered[i].old == wanted && renumbered[i].now == listed) ||
		    (renumbered[i].now == wanted && renumbered[i].old == listed))
			return true;
	return false;
}

/* Find the first listed device of a type: by its number, then by its number in the other TVMs. */
static const DLDevice *find_listed(const struct tenon_model_options *o, int32_t wanted)
{
	size_t i;

	for (i = 0; i < o->device_count; i++)
		if ((int32_t)o->devices[i].device_type == wanted)
			return &o->devices[i];
	for (i = 0; i < o->device_count; i++)
		if (renamed(wanted, (int32_t)o->devices[i].device_type))
			return &o->devices[i];
	return NULL;
}

static int not_listed(const struct tenon_model_options *o, uint32_t storage, int32_t wanted)
{
	struct tenon_buffer names = TENON_BUFFER_INIT;
	size_t i;
	int err;

	for (i = 0; ERROR_MESSAGES && i < o->device_count; i++)
		tenon_buffer_printf(&names, "%s%s:%d", i ? ", " : "",
				    tenon_device_name((int32_t)o->devices[i].device_type),
				    o->devices[i].device_id);
	err = tenon_error(-TENON_E_DEVICE,
			  "storage %" PRIu32 " is for %s (device type %" PRIi32
			  "), the model was opened for %s: name a device of this type too",
			  storage, tenon_device_name(wanted), wanted,
			  names.data ? names.data : "cpu:0");
	tenon_buffer_fini(&names);
	return err;
}

static void note_other(struct graph_exec *x, DLDevice device)
{
	size_t i;

	for (i = 0; i < x->other_count; i++)
		if (place_same(x->others[i], device))
			return;
	x->others[x->other_count++] = device;
}

static int choose(struct graph_exec *x, const struct tenon_model_options *o, uint32_t storage)
{
	static const DLDevice host = { kDLCPU, 0 };
	const struct graph_storage *s = &x->graph.storages[storage];
	const DLDevice *listed = s->device ? find_listed(o, s->device) : &x->device;
	DLDevice wanted = { (DLDeviceType)s->device, 0 };

	if (!s->used)
		listed = &host;
	if (!listed && place_is_host(wanted))
		listed = &host;
	if (!listed)
		return not_listed(o, storage, s->device);
	if (!PLACE_HAS_DEVICES && !place_is_host(*listed))
		return tenon_error(-TENON_E_UNSUPPORTED, "CONFIG_DEVICES is off in this build");
	x->where[storage] = *listed;
	if (PLACE_HAS_DEVICES && !place_is_host(*listed))
		note_other(x, *listed);
	return 0;
}

int graph_choose_devices(struct graph_exec *x, const struct tenon_model_options *o)
{
	uint32_t i;
	int err = 0;

	x->device = (DLDevice){ kDLCPU, 0 };
	if (o->device_count)
		x->device = o->devices[0];
	x->where = heap_zeroed((size_t)x->graph.storage_count + 1, sizeof(*x->where),
			       "devices of storages");
	/* Devices other than the host are all in the options' list. */
	x->others = heap_zeroed(o->device_count + 1, sizeof(*x->others), "list of devices");
	if (!x->where || !x->others)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu32 " storages",
				   x->graph.storage_count);
	for (i = 0; i < x->graph.storage_count && !err && !o->describe; i++)
		err = choose(x, o, i);
	return err;
}

static int make(struct graph_exec *x, uint32_t storage)
{
	uint64_t bytes = x->graph.storages[storage].bytes;
	struct tenon_memory_request request = { .size = sizeof(request),
						.bytes = bytes ? bytes : 1,
						.usage = TENON_MEMORY_DEFAULT,
						.heap = -1 };
	struct tenon_device *device;
	int err;

	err = tenon_device_get(x->where[storage], &device);
	if (err)
		return err;
	err = tenon_memory_alloc(device, &request, &x->memories[storage]);
	tenon_object_unref(device);
	return err ? tenon_error_in(err, "storage %" PRIu32, storage) : 0;
}

int graph_make_memories(struct graph_exec *x)
{
	uint64_t at = 0;
	uint32_t i;
	int err = graph_share(x);

	if (err || !PLACE_HAS_DEVICES || !x->other_count)
		return err;
	x->memories = heap_zeroed((size_t)x->graph.storage_count + 1, sizeof(struct tenon_memory *),
				  "memory of devices");
	if (!x->memories)
		return tenon_error(-TENON_E_NOMEM, "no memory for %" PRIu32 " storages",
				   x->graph.storage_count);
	for (i = 0; i < x->graph.storage_count && !err; i++)
		if (!graph_storage_on_host(x, i) && x->graph.storages[i].used)
			err = x->shared ? graph_share_storage(x, i, &at) : make(x, i);
	return err;
}

void graph_free_memories(struct graph_exec *x)
{
	uint32_t i;

	for (i = 0; PLACE_HAS_DEVICES && x->memories && i < x->graph.storage_count; i++)
		tenon_object_unref(x->memories[i]);
	graph_unshare(x);
	heap_free(x->memories);
	heap_free(x->where);
	heap_free(x->others);
}

char *graph_own_storage(const struct graph_exec *x, uint32_t entry)
{
	int32_t storage = x->graph.entries[entry].storage;

	if (PLACE_HAS_DEVICES && x->memories && x->memories[storage])
		return tenon_memory_data(x->memories[storage]);
	return x->homes[storage];
}

struct tenon_object *graph_own_keeper(const struct graph_exec *x, uint32_t entry)
{
	int32_t storage = x->graph.entries[entry].storage;

	if (PLACE_HAS_DEVICES && x->memories && storage >= 0 && x->memories[storage])
		return &x->memories[storage]->object;
	if (x->lasting && storage >= 0 && x->homes[storage] >= x->lasting->data &&
	    (size_t)(x->homes[storage] - x->lasting->data) < x->lasting->size)
		return &x->lasting->object;
	return &x->arena->object;
}

static __thread char here; /* thread-local: its address identifies the thread */

int graph_follow(struct graph_exec *x)
{
	struct tenon_device *device;
	size_t i;
	int err = 0;

	if (!PLACE_HAS_DEVICES || x->thread == &here)
		return 0;
	for (i = 0; i < x->other_count && !err; i++) {
		err = tenon_device_get(x->others[i], &device);
		if (err)
			break;
		err = place_follow(device);
		tenon_object_unref(device);
	}
	if (!err)
		x->thread = &here;
	return err;
}

int graph_wait(const struct graph_exec *x)
{
	size_t i;
	int err = 0;

	for (i = 0; PLACE_HAS_DEVICES && i < x->other_count && !err; i++)
		err = place_wait(x->others[i]);
	return err;
}
