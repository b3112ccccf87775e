/* SPDX-License-Identifier: MIT */
/* Release retired items once all operations that were submitted before them are done. */
#include <stdlib.h>

#include "lib/error_slot.h"
#include "runtime/device/device_core.h"

struct place {
	struct tenon_queue *queue; /* NULL once it is gone */
	uint64_t serial;
	bool marked; /* false after a failure, until a later mark succeeds */
};

struct retired {
	struct retired *next;
	void (*release)(void *item);
	void *item;
	size_t count;
	struct place places[];
};

/* Test whether the operations before a place have ended. */
static bool is_past(struct tenon_device *device, struct place *p)
{
	int reached;

	if (!p->queue)
		return true;
	if (!p->marked && queue_mark_own(p->queue, &p->serial)) {
		tenon_error_clear();
		return false;
	}
	p->marked = true;
	reached = device->ops->queue->reached(p->queue, p->serial);
	/* a failed operation has ended too */
	if (reached < 0)
		tenon_error_clear();
	return reached;
}

/* Test whether all places are reached. Caller holds the device's lock. */
static bool done(struct tenon_device *device, struct retired *r)
{
	while (r->count && !device_is_lost(device)) {
		if (!is_past(device, &r->places[r->count - 1]))
			return device_is_lost(device);
		r->count--;
	}
	return true;
}

/* Unlink the items that are done. Caller holds the device's lock. */
static struct retired *take_done(struct tenon_device *device)
{
	struct retired **at = &device->core->retired, *r, *list = NULL;

	while ((r = *at)) {
		if (!done(device, r)) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		r->next = list;
		list = r;
	}
	__atomic_store_n(&device->core->has_retired, device->core->retired != NULL,
			 __ATOMIC_RELAXED);
	return list;
}

static void release_list(struct retired *r)
{
	struct retired *next;

	for (; r; r = next) {
		next = r->next;
		r->release(r->item);
		free(r);
	}
}

/* The caller's error stays: it may be what the resources are released for. */
void device_reap(struct tenon_device *device)
{
	struct error_slot *own;
	struct retired *list;

	/* do not lock in the usual case of an empty list */
	if (!__atomic_load_n(&device->core->has_retired, __ATOMIC_RELAXED))
		return;
	own = error_set_aside();
	device_lock(device);
	list = take_done(device);
	device_unlock(device);
	release_list(list);
	error_put_back(own);
}

void device_reap_queue(struct tenon_device *device, const struct tenon_queue *queue)
{
	struct retired *r;
	size_t i;

	for (r = device->core->retired; r; r = r->next)
		for (i = 0; i < r->count; i++)
			if (r->places[i].queue == queue)
				r->places[i].queue = NULL;
}

void device_reap_all(struct tenon_device *device)
{
	struct retired *list = device->core->retired;

	device->core->retired = NULL;
	release_list(list);
}

static bool note_places(struct tenon_device *device, struct retired *r)
{
	struct tenon_queue_core *q;
	size_t n = 0;

	for (q = device->core->queues; q; q = q->next) {
		r->places[n].queue = q->queue;
		r->places[n].marked = !queue_mark_own(q->queue, &r->places[n].serial);
		if (!r->places[n].marked)
			tenon_error_clear();
		n++;
	}
	r->count = n;
	return !done(device, r);
}

/* Return: whether the item is released later. */
static bool put_off(struct tenon_device *device, void (*release)(void *item), void *item)
{
	struct tenon_queue_core *q;
	struct retired *r;
	bool wait = false;
	size_t count = 0;
	int err = 0;

	device_lock(device);
	for (q = device->core->queues; q; q = q->next)
		count++;
	r = malloc(sizeof(*r) + count * sizeof(r->places[0]));
	if (r) {
		r->release = release;
		r->item = item;
		wait = note_places(device, r);
	}
	if (wait) {
		r->next = device->core->retired;
		device->core->retired = r;
		__atomic_store_n(&device->core->has_retired, 1, __ATOMIC_RELAXED);
	}
	device_unlock(device);
	/* no memory for the list: wait here */
	if (!r)
		err = tenon_device_sync(device, TENON_FOREVER);
	if (err)
		tenon_error_clear();
	if (!wait)
		free(r);
	/* no memory to wait either: operations may still use the item, so it is never released */
	return wait || err == -TENON_E_NOMEM;
}

void tenon_device_retire(struct tenon_device *device, void (*release)(void *item), void *item)
{
	struct error_slot *own = error_set_aside();

	if (device->properties->flags & TENON_DEVICE_INLINE || device_is_lost(device) ||
	    !put_off(device, release, item))
		release(item);
	device_reap(device);
	error_put_back(own);
}
