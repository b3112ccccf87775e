/* SPDX-License-Identifier: MIT */
/*
 * Wait for the marks on which timelines with callbacks depend.
 *
 * Drivers cannot signal a descriptor, so each such queue has a thread, which waits in the driver for the queue's lowest
 * mark.
 */
#include "runtime/device/device_notify.h"

#include <stdlib.h>

#include "lib/brief_errors.h"
#include "runtime/device/device_core.h"
#include "runtime/device/device_queue_thread.h"

/* interval at which the thread checks for a lower mark */
#define SLICE UINT64_C(5000000)

struct awaited_mark {
	struct awaited_mark *next;
	uint64_t serial;
	uint64_t deadline;
	struct tenon_timeline *timeline; /* referenced */
};

static uint64_t lowest(const struct awaited_mark *m)
{
	uint64_t serial = m->serial;

	for (; m; m = m->next)
		if (m->serial < serial)
			serial = m->serial;
	return serial;
}

/* Unlink the marks up to @serial, and those whose deadline passed by @now. Lock held. */
static struct awaited_mark *take(struct tenon_queue_core *core, uint64_t serial, uint64_t now)
{
	struct awaited_mark **at = &core->awaited, *m, *done = NULL;

	while ((m = *at)) {
		if (m->serial > serial && m->deadline > now) {
			at = &m->next;
			continue;
		}
		*at = m->next;
		m->next = done;
		done = m;
	}
	return done;
}

static void look(struct awaited_mark *m)
{
	struct awaited_mark *next;

	for (; m; m = next) {
		next = m->next;
		timeline_update(m->timeline);
		tenon_object_unref(m->timeline);
		free(m);
	}
}

static void wait_for_marks(struct tenon_queue *q)
{
	struct tenon_queue_core *core = q->core;
	struct awaited_mark *done;
	uint64_t serial;
	int err;

	pthread_mutex_lock(&core->lock);
	while (core->awaited) {
		serial = lowest(core->awaited);
		pthread_mutex_unlock(&core->lock);
		/* submitted operations end, so tenon_device_close_all() can wait for this thread */
		err = q->device->ops->queue->wait(q, serial, tenon_deadline(SLICE));
		/*
		 * timeline_update() finds the failure again and fails the right timeline.
		 */
		if (err)
			tenon_error_clear();
		pthread_mutex_lock(&core->lock);
		if (err == -TENON_E_TIMEOUT && !device_is_lost(q->device))
			serial = 0;
		done = take(core, serial, device_now());
		pthread_mutex_unlock(&core->lock);
		look(done);
		pthread_mutex_lock(&core->lock);
	}
	core->notifying = false;
	pthread_mutex_unlock(&core->lock);
}

void queue_notify_reached(struct tenon_queue *q, uint64_t serial)
{
	struct tenon_queue_core *core = q->core;
	struct awaited_mark *done;

	pthread_mutex_lock(&core->lock);
	done = take(core, serial, 0);
	pthread_mutex_unlock(&core->lock);
	look(done);
}

int queue_notify_at(struct tenon_queue *q, uint64_t serial, struct tenon_timeline *t,
		    uint64_t deadline)
{
	struct tenon_queue_core *core = q->core;
	struct awaited_mark *m = malloc(sizeof(*m));
	int err = 0;

	if (!m)
		return tenon_error(-TENON_E_NOMEM, "no memory to watch a queue");
	m->serial = serial;
	m->deadline = deadline;
	m->timeline = t;
	pthread_mutex_lock(&core->lock);
	if (!core->notifying)
		err = queue_thread_start(q, wait_for_marks);
	if (!err) {
		tenon_object_ref(t);
		core->notifying = true;
		m->next = core->awaited;
		core->awaited = m;
	}
	pthread_mutex_unlock(&core->lock);
	if (err)
		free(m);
	return err;
}
