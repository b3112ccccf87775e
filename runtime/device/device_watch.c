/* SPDX-License-Identifier: MIT */
/*
 * Marks in queues that a timeline with watches depends on. Drivers cannot write to a
 * descriptor, so a thread for each such queue sleeps in the driver until its lowest mark is
 * reached.
 */
#include "runtime/device/device_watch.h"

#include <stdlib.h>

#include "lib/brief_errors.h"
#include "runtime/device/device_core.h"
#include "runtime/device/device_queue_thread.h"

/* how long a thread sleeps in the driver before it looks whether there is a lower mark by now */
#define SLICE UINT64_C(5000000)

struct watched {
	struct watched *next;
	uint64_t serial;
	struct tenon_timeline *timeline; /* referenced */
};

static uint64_t lowest(const struct watched *w)
{
	uint64_t serial = w->serial;

	for (; w; w = w->next)
		if (w->serial < serial)
			serial = w->serial;
	return serial;
}

/* Take what is done with @serial off the list. Called with the lock held. */
static struct watched *take(struct tenon_queue_core *core, uint64_t serial)
{
	struct watched **at = &core->watched, *w, *done = NULL;

	while ((w = *at)) {
		if (w->serial > serial) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		w->next = done;
		done = w;
	}
	return done;
}

static void look(struct watched *w)
{
	struct watched *next;

	for (; w; w = next) {
		next = w->next;
		timeline_look(w->timeline);
		tenon_object_unref(w->timeline);
		free(w);
	}
}

static void watch_marks(struct tenon_queue *q)
{
	struct tenon_queue_core *core = q->core;
	struct watched *done;
	uint64_t serial;
	int err;

	pthread_mutex_lock(&core->lock);
	while (core->watched) {
		serial = lowest(core->watched);
		pthread_mutex_unlock(&core->lock);
		/* submitted operations end, so closing devices can wait for this thread */
		err = q->device->ops->queue->wait(q, serial, tenon_deadline(SLICE));
		/*
		 * a failure is found again by timeline_look(), for the timeline that it belongs to
		 */
		if (err)
			tenon_error_clear();
		pthread_mutex_lock(&core->lock);
		if (err == -TENON_E_TIMEOUT && !device_is_lost(q->device))
			continue;
		done = take(core, serial);
		pthread_mutex_unlock(&core->lock);
		look(done);
		pthread_mutex_lock(&core->lock);
	}
	core->watching = false;
	pthread_mutex_unlock(&core->lock);
}

void queue_watch_reached(struct tenon_queue *q, uint64_t serial)
{
	struct tenon_queue_core *core = q->core;
	struct watched *done;

	pthread_mutex_lock(&core->lock);
	done = take(core, serial);
	pthread_mutex_unlock(&core->lock);
	look(done);
}

int queue_watch(struct tenon_queue *q, uint64_t serial, struct tenon_timeline *t)
{
	struct tenon_queue_core *core = q->core;
	struct watched *w = malloc(sizeof(*w));
	int err = 0;

	if (!w)
		return tenon_error(-TENON_E_NOMEM, "no memory to watch a queue");
	w->serial = serial;
	w->timeline = t;
	pthread_mutex_lock(&core->lock);
	if (!core->watching)
		err = queue_thread_start(q, watch_marks);
	if (!err) {
		tenon_object_ref(t);
		core->watching = true;
		w->next = core->watched;
		core->watched = w;
	}
	pthread_mutex_unlock(&core->lock);
	if (err)
		free(w);
	return err;
}
