/* SPDX-License-Identifier: MIT */
/* Find, bind and drop the current devices and queues of the calling thread. */
#include "runtime/device/device_thread.h"

#include "lib/brief_errors.h"
#include "lib/heap.h"

#include <stdlib.h>
#include <string.h>
#include <tenon/tensor.h>

/* a device that the thread has used, or chosen a stream for */
struct thread_entry {
	DLDevice id;
	struct tenon_device *device; /* referenced; NULL while only a stream was set */
	struct tenon_queue *own;     /* referenced */
	struct tenon_queue *chosen;  /* referenced */
	void *stream;		     /* set, and not resolved yet */
	bool stream_pending;
};

struct thread_devices {
	size_t count;
	struct thread_entry entries[];
};

__thread struct device_place device_places[DEVICE_PLACES];

static __thread struct thread_devices *thread_devices;
static pthread_key_t devices_key;
static pthread_once_t devices_once = PTHREAD_ONCE_INIT;

static void forget_places(const struct tenon_device *device)
{
	struct device_place *p;

	for (p = device_places; p < device_places + DEVICE_PLACES && p->type; p++)
		if (!device || p->device == device) {
			tenon_object_unref(p->device);
			p->device = NULL;
			p->queue = NULL;
		}
}

void device_give_queue_back(struct tenon_queue *queue)
{
	struct tenon_device *device;

	if (!queue)
		return;
	device = queue->device;
	if (device_is_lost(device)) {
		tenon_object_unref(queue);
		return;
	}
	device_lock(device);
	queue->core->next_idle = device->core->idle;
	device->core->idle = queue;
	device_unlock(device);
}

static void entry_drop(struct thread_entry *e)
{
	forget_places(e->device);
	device_give_queue_back(e->own);
	tenon_object_unref(e->chosen);
	tenon_object_unref(e->device);
	e->own = NULL;
	e->chosen = NULL;
	e->device = NULL;
}

static void devices_free(void *devices)
{
	struct thread_devices *t = devices;
	size_t i;

	forget_places(NULL);
	for (i = 0; i < t->count; i++)
		entry_drop(&t->entries[i]);
	thread_devices = NULL;
	free(t);
}

void device_thread_drop(void)
{
	if (!thread_devices)
		return;
	pthread_setspecific(devices_key, NULL);
	devices_free(thread_devices);
	memset(device_places, 0, sizeof(device_places));
}

static void devices_key_make(void)
{
	pthread_key_create(&devices_key, devices_free);
}

static struct thread_entry *entry_find(DLDevice id)
{
	struct thread_devices *t = thread_devices;
	size_t i;

	for (i = 0; t && i < t->count; i++)
		if (t->entries[i].id.device_type == id.device_type &&
		    t->entries[i].id.device_id == id.device_id)
			return &t->entries[i];
	return NULL;
}

static int entry_get(DLDevice id, struct thread_entry **out)
{
	struct thread_devices *t = thread_devices;
	size_t count = t ? t->count : 0;

	*out = entry_find(id);
	if (*out)
		return 0;
	pthread_once(&devices_once, devices_key_make);
	t = realloc(t, sizeof(*t) + (count + 1) * sizeof(t->entries[0]));
	if (!t)
		return tenon_error(-TENON_E_NOMEM,
				   "no memory for the current device and queue of a thread");
	memset(&t->entries[count], 0, sizeof(t->entries[0]));
	t->entries[count].id = id;
	t->count = count + 1;
	thread_devices = t;
	pthread_setspecific(devices_key, t);
	*out = &t->entries[count];
	return 0;
}

/* Set the device of an entry; a reopened device replaces the old one. */
static void entry_bind(struct thread_entry *e, struct tenon_device *device)
{
	if (e->device == device)
		return;
	if (e->device)
		entry_drop(e);
	tenon_object_ref(device);
	e->device = device;
}

static int own_queue(struct thread_entry *e)
{
	struct tenon_device *device = e->device;

	if (e->own)
		return 0;
	device_lock(device);
	e->own = device->core->idle;
	if (e->own)
		device->core->idle = e->own->core->next_idle;
	device_unlock(device);
	return e->own ? 0 : tenon_queue_create(device, &e->own);
}

/* Find the queue of a stream: a queue of ours, one with this native handle, or a new wrapper. */
static int find_stream(struct thread_entry *e, struct tenon_queue **out)
{
	struct tenon_device *device = e->device;
	struct queue_list list;
	size_t i;
	int err;

	*out = NULL;
	err = device_queues(device, &list);
	if (err)
		return err;
	for (i = 0; i < list.count && !*out; i++)
		if (list.queues[i]->native == e->stream || (void *)list.queues[i] == e->stream) {
			tenon_object_ref(list.queues[i]);
			*out = list.queues[i];
		}
	device_queues_free(&list);
	if (*out)
		return 0;
	if (!device->ops->queue->wrap)
		return tenon_error(-TENON_E_VALUE, "stream %p is no queue of %s:%d", e->stream,
				   device->backend->name, device->id.device_id);
	return queue_wrap(device, e->stream, out);
}

static int find_queue(struct thread_entry *e, struct tenon_queue **out)
{
	struct tenon_queue *chosen = NULL;
	int err = 0;

	if (e->stream_pending) {
		/*
		 * Find the new queue before dropping the old one: it may be the same, and
		 * destroying a queue waits for the device.
		 */
		if (e->stream)
			err = find_stream(e, &chosen);
		tenon_object_unref(e->chosen);
		e->chosen = chosen;
		if (err)
			return err;
		e->stream_pending = false;
	}
	*out = e->chosen;
	if (*out)
		return 0;
	err = own_queue(e);
	*out = e->own;
	return err;
}

/* The thread, and then the device, keep queues longer than a model that runs. */
static int entry_queue(struct thread_entry *e, struct tenon_queue **out)
{
	struct heap *before = heap_enter(NULL);
	const int err = find_queue(e, out);

	heap_enter(before);
	return err;
}

static struct device_place *place_of(int32_t type)
{
	struct device_place *p = device_places;

	while (p < device_places + DEVICE_PLACES && p->type && p->type != type)
		p++;
	if (p == device_places + DEVICE_PLACES) {
		/* more device types than expected: replace the last entry */
		p--;
		tenon_object_unref(p->device);
		memset(p, 0, sizeof(*p));
	}
	p->type = type;
	return p;
}

int device_place_fill(int32_t type, struct device_place **out)
{
	struct device_place *p = place_of(type);
	struct tenon_device *device;
	struct thread_entry *e;
	DLDevice id;
	int err;

	id.device_type = type;
	id.device_id = p->number;
	err = tenon_device_get(id, &device);
	if (err)
		return err;
	err = tenon_device_check(device);
	if (!err)
		err = entry_get(id, &e);
	if (!err) {
		entry_bind(e, device);
		err = entry_queue(e, &p->queue);
	}
	if (err) {
		p->queue = NULL;
		tenon_object_unref(device);
		return err;
	}
	tenon_object_unref(p->device);
	p->device = device;
	*out = p;
	return 0;
}

int device_thread_choose(DLDevice id)
{
	struct device_place *p = place_of(id.device_type);
	struct tenon_device *device;
	struct thread_entry *e;
	int err;

	if (p->device && p->number == id.device_id && !device_is_lost(p->device)) {
		device = p->device;
		return device->ops->make_current ? device->ops->make_current(device) : 0;
	}
	err = tenon_device_get(id, &device);
	if (err)
		return err;
	err = tenon_device_check(device);
	/* an entry, so that the place's reference is dropped with the thread or its devices */
	if (!err)
		err = entry_get(id, &e);
	if (!err && device->ops->make_current)
		err = device->ops->make_current(device);
	if (err) {
		tenon_object_unref(device);
		return err;
	}
	tenon_object_unref(p->device);
	p->device = device;
	p->number = id.device_id;
	p->queue = NULL;
	return 0;
}

int tenon_device_set_current(const struct tenon_device *device)
{
	return device_thread_choose(device->id);
}

int tenon_queue_current(struct tenon_device *device, struct tenon_queue **out)
{
	struct thread_entry *e;
	int err;

	*out = NULL;
	err = entry_get(device->id, &e);
	if (err)
		return err;
	entry_bind(e, device);
	return entry_queue(e, out);
}

int tenon_queue_set_current(struct tenon_device *device, struct tenon_queue *queue)
{
	struct thread_entry *e;
	int err;

	if (queue && queue->device != device)
		return tenon_error(-TENON_E_VALUE, "a queue of %s:%d is not one of %s:%d",
				   queue->device->backend->name, queue->device->id.device_id,
				   device->backend->name, device->id.device_id);
	err = entry_get(device->id, &e);
	if (err)
		return err;
	entry_bind(e, device);
	forget_places(device);
	tenon_object_ref(queue);
	tenon_object_unref(e->chosen);
	e->chosen = queue;
	e->stream_pending = false;
	return 0;
}

int device_thread_set_stream(DLDevice id, void *stream, void **old)
{
	struct thread_entry *e;
	int err;

	if (old)
		*old = device_thread_stream(id);
	err = entry_get(id, &e);
	if (err)
		return err;
	if (e->device)
		forget_places(e->device);
	e->stream = stream;
	e->stream_pending = true;
	return 0;
}

/* Its handle, for code that may submit to it: the backend does not see that. */
static void *handle_of(struct tenon_queue *q)
{
	const struct tenon_queue_ops *ops = q->device->ops->queue;

	if (ops->share)
		ops->share(q);
	return q->native;
}

void *device_thread_stream(DLDevice id)
{
	struct thread_entry *e = entry_find(id);

	if (!e)
		return NULL;
	if (e->stream_pending)
		return e->stream;
	if (e->chosen)
		return handle_of(e->chosen);
	return e->own ? handle_of(e->own) : NULL;
}

bool device_thread_uses(const struct tenon_queue *queue)
{
	const struct thread_entry *e = entry_find(queue->device->id);

	return e && (e->own == queue || e->chosen == queue);
}
