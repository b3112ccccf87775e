/* SPDX-License-Identifier: MIT */
#ifndef TENON_FENCE_H
#define TENON_FENCE_H

/**
 * DOC: fences outside the process, and waiting for many
 *
 * A fence is a point: a timeline and a value (tenon/queue.h). This header is for the two things that a
 * single tenon_timeline_wait() cannot do.
 *
 * A fence leaves the process as a file descriptor: an eventfd, a Linux sync_file (dma-fence), or an fd of
 * the driver's own. The receiver makes a timeline of it, that reaches 1 when the fence signals. Descriptors
 * are passed to another process as usual, over a Unix socket by SCM_RIGHTS.
 *
 * A *wait set* stands for any number of points behind one descriptor, which can be polled: put it into
 * epoll, io_uring or libuv, and take what was reached when it is readable. Nothing has to be waited for in
 * a thread of the program's own.
 *
 * An eventfd as a fence follows a convention: it becomes readable when the fence signals, and stays so. Its
 * counter is then 1, or 1 more than the positive status that the fence failed with. Who looks reads the
 * counter and writes it back, so that all who hold the descriptor can look.
 */

#include <tenon/export.h>
#include <tenon/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tenon_wait_set;

/** enum tenon_fence_type - what a fence is exported as and imported from */
enum tenon_fence_type {
	TENON_FENCE_EVENTFD = 0,   /* an eventfd; every device and the host */
	TENON_FENCE_SYNC_FILE = 1, /* a Linux sync_file; can be polled */
	/*
	 * The payload of a binary semaphore of a driver (Vulkan, CUDA and OpenCL call it an opaque fd).
	 * Only queues can wait for it, and a wait consumes it: import it once.
	 */
	TENON_FENCE_OPAQUE_FD = 2,
};

/**
 * tenon_fence_export - give a fence to another process, API or event loop
 * @point: the fence. For TENON_FENCE_EVENTFD any point, reached or not; for the others one that the last
 *	operation submitted to a queue of a device promises, where properties.fence_exports of that
 *	device has the type.
 * @type: enum tenon_fence_type
 * @fd: receives a descriptor that the caller closes
 *
 * The descriptor signals even when the timeline is dropped meanwhile, as long as a queue has promised the
 * point; a point that nothing can reach any more fails with -TENON_E_CALL. What the queue has done has been
 * signalled when tenon_queue_sync(), tenon_device_sync() or tenon_device_close_all() returns: a program that
 * exits without one of them may leave the receiver waiting.
 *
 * Context: any thread.
 * Return: 0; -TENON_E_UNSUPPORTED when the device has no such fences, or no queue has promised the point
 *	and the type needs one, or it was reached; the failure of the timeline, except as an eventfd;
 *	-TENON_E_IO without descriptors; -TENON_E_NOMEM; -TENON_E_LOST.
 */
TENON_API int tenon_fence_export(const struct tenon_point *point, uint32_t type, int *fd);

/**
 * tenon_fence_import - make a timeline of a fence that came from elsewhere
 * @type: enum tenon_fence_type
 * @fd: descriptor; stays the caller's
 * @out: receives a timeline at 0 with one reference, that reaches 1 when the fence signals and fails when
 *	the fence failed
 *
 * Operations of every queue may wait for it: on the device where properties.fence_imports has the type, else
 * on the host. The host can wait for TENON_FENCE_OPAQUE_FD once an operation of a queue waits for it, before that
 * for every type but this one. The timeline cannot be signalled from this side.
 *
 * A device that waits for a fence cannot be told to stop: dropping its queue waits until the fence signals.
 *
 * Context: any thread.
 * Return: 0; -TENON_E_VALUE for a descriptor or type that is none; -TENON_E_IO; -TENON_E_NOMEM.
 */
TENON_API int tenon_fence_import(uint32_t type, int fd, struct tenon_timeline **out);

/**
 * tenon_wait_any - wait until one of several points is reached, or failed
 * @points: points
 * @count: how many; at least 1
 * @deadline: absolute nanoseconds of CLOCK_MONOTONIC; 0 asks, TENON_FOREVER waits
 * @which: receives the index of the first found; may be NULL
 *
 * Return: 0; -TENON_E_TIMEOUT; the failure of the point at @which, with its reason; -TENON_E_NOMEM,
 *	-TENON_E_IO without descriptors.
 */
TENON_API int tenon_wait_any(const struct tenon_point *points, size_t count, uint64_t deadline,
			     size_t *which);

/**
 * tenon_wait_all - wait until all of several points are reached
 * @points: points
 * @count: how many
 * @deadline: as above
 * @which: when one failed, receives its index; may be NULL
 *
 * Return: 0; -TENON_E_TIMEOUT; the first failure in the order given.
 */
TENON_API int tenon_wait_all(const struct tenon_point *points, size_t count, uint64_t deadline,
			     size_t *which);

/**
 * struct tenon_wait_result - a point that came out of a wait set
 * @context: what it was added with
 * @status: 0 when it was reached; negative when its timeline failed
 */
struct tenon_wait_result {
	void *context;
	int status;
};

/**
 * tenon_wait_set_create - make an empty wait set
 * @out: receives it with one reference; an object of type "tenon.WaitSet"
 *
 * Return: 0; -TENON_E_IO without descriptors; -TENON_E_NOMEM.
 */
TENON_API int tenon_wait_set_create(struct tenon_wait_set **out);

/**
 * tenon_wait_set_fd - the descriptor to poll
 * @set: set
 *
 * Readable while tenon_wait_set_next() has something to give; sometimes once more than that. It belongs to
 * the set: do not read, write or close it.
 */
TENON_API int tenon_wait_set_fd(const struct tenon_wait_set *set);

/**
 * tenon_wait_set_add - wait for one more point
 * @set: set
 * @point: point; its timeline is referenced until the point comes out or is removed
 * @context: handed back with it
 *
 * It comes out once, also when it was reached before. What queues have promised is watched by a thread of
 * the library's for each such queue, that sleeps in the driver and ends with the last such point.
 *
 * Context: any thread.
 * Return: 0; -TENON_E_UNSUPPORTED for a fence that only queues can wait for; -TENON_E_IO; -TENON_E_NOMEM.
 */
TENON_API int tenon_wait_set_add(struct tenon_wait_set *set, const struct tenon_point *point,
				 void *context);

/**
 * tenon_wait_set_next - take a point that was reached or failed
 * @set: set
 * @result: receives it; for a failure its reason is in the thread's error
 *
 * Context: any thread; never waits.
 * Return: 1; 0 when there is none now.
 */
TENON_API int tenon_wait_set_next(struct tenon_wait_set *set, struct tenon_wait_result *result);

/**
 * tenon_wait_set_remove - forget points
 * @set: set
 * @context: all that were added with it and have not come out
 *
 * Context: any thread. When it returns they do not come out any more.
 * Return: how many there were.
 */
TENON_API size_t tenon_wait_set_remove(struct tenon_wait_set *set, const void *context);

#ifdef __cplusplus
}
#endif

#endif /* TENON_FENCE_H */
