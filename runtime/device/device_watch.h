/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_DEVICE_DEVICE_WATCH_H
#define RUNTIME_DEVICE_DEVICE_WATCH_H

/* Be called when a timeline reaches a value, instead of waiting for it in a thread. */

#include <tenon/backend/queue.h>

/**
 * struct watch - embedded in what wants to be called
 * @next: of the timeline
 * @value: the value
 * @notify: called once, with 0 or the negative status of the failure, in any thread and with the
 *	timeline's lock held: it must not touch a timeline. The watch is unlinked by then.
 * @linked: under the timeline's lock
 */
struct watch {
	struct watch *next;
	uint64_t value;
	void (*notify)(struct watch *watch, int status);
	bool linked;
};

/*
 * Watch a timeline. It is not referenced: when it is deleted with nothing that could reach the value,
 * that is a failure. Return: 1, @watch will be notified; 0, the value was reached or the timeline failed
 * before; -TENON_E_UNSUPPORTED for imported fences; -TENON_E_NOMEM.
 */
int timeline_watch(struct tenon_timeline *timeline, struct watch *watch);
/* When it returns @watch is not notified any more. */
void timeline_unwatch(struct tenon_timeline *timeline, struct watch *watch);

/* Was the value reached, or did the timeline fail: @status is 0 or the failure, raised. Never waits. */
bool timeline_decided(struct tenon_timeline *timeline, uint64_t value, int *status);

/* Make a descriptor of a point that a queue has promised, by its driver. As tenon_fence_export(). */
int timeline_export(struct tenon_timeline *timeline, uint64_t value, uint32_t type, int *fd);

/* Ask the queues what they have reached, and notify. */
void timeline_look(struct tenon_timeline *timeline);

/*
 * Have timeline_look() called when a queue has reached a mark; the timeline is referenced until then.
 * Called with the timeline's lock held. Return: 0; -TENON_E_NOMEM.
 */
int queue_watch(struct tenon_queue *queue, uint64_t serial, struct tenon_timeline *timeline);

/*
 * A queue is known to have reached a mark: notify what waits for it. A program may end as soon as its queue
 * is empty, and exported fences must have signalled by then.
 */
void queue_watch_reached(struct tenon_queue *queue, uint64_t serial);

/* Make a fresh timeline an imported fence; takes @fd over. */
void timeline_import(struct tenon_timeline *timeline, uint32_t type, int fd);
/* Return: the descriptor of an imported fence, which stays the timeline's; -1 for other timelines. */
int timeline_foreign(const struct tenon_timeline *timeline, uint32_t *type);

#endif /* RUNTIME_DEVICE_DEVICE_WATCH_H */
