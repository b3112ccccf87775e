/* SPDX-License-Identifier: MIT */
/* Call a function when a timeline reaches a value, so that no thread of the program has to wait. */
#ifndef RUNTIME_DEVICE_DEVICE_NOTIFY_H
#define RUNTIME_DEVICE_DEVICE_NOTIFY_H

#include <tenon/backend/queue.h>

/**
 * struct point_callback - callback for a value of a timeline; embedded in the caller's struct
 * @next: next in the timeline's list
 * @value: the value
 * @notify: called once, with 0 or the negative status of the failure, in any thread and with the
 *	timeline's lock held: it must not use a timeline. The callback is unlinked before.
 * @linked: protected by the timeline's lock
 */
struct point_callback {
	struct point_callback *next;
	uint64_t value;
	void (*notify)(struct point_callback *callback, int status);
	bool linked;
};

/*
 * Add a callback. The timeline is not referenced: if it is deleted before the value is reached, the
 * callback gets a failure. Return: 1, @callback will be called; 0, the value was reached or the
 * timeline failed before; -TENON_E_UNSUPPORTED for imported fences; -TENON_E_NOMEM.
 */
int timeline_add_callback(struct tenon_timeline *timeline, struct point_callback *callback);
/* Remove a callback. It is not called after this returns. */
void timeline_remove_callback(struct tenon_timeline *timeline, struct point_callback *callback);

/*
 * Test whether the value was reached or the timeline failed; @status receives 0 or the failure,
 * raised. Does not wait.
 */
bool timeline_decided(struct tenon_timeline *timeline, uint64_t value, int *status);

/* Let the driver export a point that a queue has promised. As tenon_fence_export(). */
int timeline_export(struct tenon_timeline *timeline, uint64_t value, uint32_t type, int *fd);

/* Advance a timeline to what its queues have reached, and call the callbacks. */
void timeline_update(struct tenon_timeline *timeline);

/*
 * Call timeline_update() when a queue has reached a mark, or at the deadline; the timeline is
 * referenced until then. Called with the timeline's lock held. Return: 0; -TENON_E_NOMEM.
 */
int queue_notify_at(struct tenon_queue *queue, uint64_t serial, struct tenon_timeline *timeline,
		    uint64_t deadline);

/*
 * Update the timelines that depend on marks up to @serial, which @queue has reached. Exported
 * fences must signal before a sync returns, because the program may exit then.
 */
void queue_notify_reached(struct tenon_queue *queue, uint64_t serial);

/* Make a new timeline an imported fence; takes ownership of @fd. */
void timeline_import(struct tenon_timeline *timeline, uint32_t type, int fd);
/* Return: the descriptor of an imported fence, owned by the timeline; -1 for other timelines. */
int timeline_foreign(const struct tenon_timeline *timeline, uint32_t *type);

#endif /* RUNTIME_DEVICE_DEVICE_NOTIFY_H */
