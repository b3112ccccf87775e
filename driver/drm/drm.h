/* SPDX-License-Identifier: MIT */
/* What all drivers of render, card and accel nodes share: buffers, sharing and syncobjs. */
#ifndef DRIVER_DRM_H
#define DRIVER_DRM_H

/*
 * What all drivers of render nodes (/dev/dri/renderDN), card nodes and accel nodes (/dev/accel/accelN) share:
 * identification, memory objects, sharing them as dma-bufs (PRIME), and syncobjs. Each driver has calls of its own
 * for submission and for its objects; drm_call() makes them, and drm_adopt() takes their objects.
 *
 * Accel nodes have neither dumb buffers nor syncobjs in most drivers: struct drm says what a node has. Without
 * syncobjs a program waits for the fences of a buffer, through its dma-buf (driver/dmabuf).
 *
 * Calls are made through driver/syscall and not through libdrm, so that tests can make each of them fail.
 *
 * Deadlines are absolute nanoseconds of CLOCK_MONOTONIC; UINT64_MAX for none, 0 to look once.
 */

#include <stdbool.h>
#include <stdint.h>

#include "driver/syscall/syscall.h"

/**
 * struct drm - an open node
 * @calls: system calls
 * @path: "/dev/accel/accel0", for messages
 * @fd: descriptor
 * @driver: "rocket", "ethosu", "vgem"
 * @major: version of the driver's interface; some drivers leave it 0.0.0
 * @minor: likewise
 * @patch: likewise
 * @is_accel: an accel node, not a render or card node
 * @has_dumb: drm_dumb_create() may work, on card nodes
 * @can_import: drm_import() may work
 * @can_export: drm_export() works
 * @has_syncobj: drm_syncobj_create() works
 * @has_timeline: syncobjs have points
 */
struct drm {
	const struct system_calls *calls;
	char path[64];
	int fd;
	char driver[32];
	int major;
	int minor;
	int patch;
	bool is_accel;
	bool has_dumb;
	bool can_import;
	bool can_export;
	bool has_syncobj;
	bool has_timeline;
};

/**
 * struct drm_buffer - a memory object of a node
 * @handle: its number in the node's descriptor; 0 for none
 * @size: bytes
 * @base: first byte; NULL until it is mapped
 */
struct drm_buffer {
	uint32_t handle;
	uint64_t size;
	void *base;
};

/**
 * drm_open - open a node and identify its driver
 * @calls: system calls; NULL for the kernel's
 * @root: prefix of /dev; "" except in tests
 * @path: "/dev/dri/renderD128", "/dev/accel/accel0"
 * @out: the node; closed on failure
 *
 * Return: 0; -TENON_E_UNSUPPORTED when the file is no DRM node; else system_open().
 */
int drm_open(const struct system_calls *calls, const char *root, const char *path, struct drm *out);

/** drm_close - close a node; the kernel drops its objects. Closing twice does nothing */
void drm_close(struct drm *d);

/**
 * drm_call - make a call of a driver
 * @d: the node
 * @request: number of the ioctl
 * @argument: its struct; bytes that are not used are 0
 *
 * Repeated after EINTR and EAGAIN, as all calls of DRM must be: their timeouts are absolute.
 *
 * Return: 0; the negative errno. No message is raised, because its meaning depends on the call.
 */
int drm_call(const struct drm *d, unsigned long request, void *argument);

/**
 * drm_dumb_create - allocate a buffer without calls of a driver
 * @d: a card node: render nodes refuse it
 * @size: bytes; rounded up to pages by the kernel
 * @out: the buffer, not mapped
 *
 * Return: 0; -TENON_E_UNSUPPORTED when the driver has none; -TENON_E_OVERFLOW; else system_status().
 */
int drm_dumb_create(struct drm *d, uint64_t size, struct drm_buffer *out);

/** drm_dumb_map - map a buffer of drm_dumb_create(), or any on vgem; sets b->base. Return: as system_map() */
int drm_dumb_map(struct drm *d, struct drm_buffer *b);

/** drm_adopt - a buffer of a handle that a call of the driver made */
void drm_adopt(uint32_t handle, uint64_t size, struct drm_buffer *out);

/** drm_map - map a buffer at the offset that a call of the driver told; sets b->base. Return: as system_map() */
int drm_map(struct drm *d, struct drm_buffer *b, uint64_t offset);

/** drm_buffer_close - unmap a buffer and drop its handle; closing twice does nothing */
void drm_buffer_close(struct drm *d, struct drm_buffer *b);

/**
 * drm_export - a buffer as a dma-buf
 * @d: the node
 * @b: the buffer
 *
 * Return: a descriptor, for driver/dmabuf or drm_import() of another node; it keeps the memory. -TENON_E_UNSUPPORTED
 *	when the driver exports none; else system_status().
 */
int drm_export(struct drm *d, const struct drm_buffer *b);

/**
 * drm_import - use a dma-buf on this node
 * @d: the node
 * @fd: the dma-buf; stays the caller's
 * @size: bytes
 * @out: the buffer
 *
 * A node gives the same handle for the same memory each time, and the first drm_buffer_close() ends it: import a
 * buffer once. The CPU maps it through its dma-buf: nodes map no buffers of others.
 *
 * Return: 0; -TENON_E_UNSUPPORTED when the driver imports none, or not from this exporter; else system_status().
 */
int drm_import(struct drm *d, int fd, uint64_t size, struct drm_buffer *out);

/**
 * drm_syncobj_create - create a fence, or a timeline of fences
 * @d: the node
 * @handle: its number; 0 on failure
 *
 * Return: 0; -TENON_E_UNSUPPORTED when the driver has none; else system_status().
 */
int drm_syncobj_create(struct drm *d, uint32_t *handle);

/** drm_syncobj_destroy - destroy *@handle if it is not 0, and make it 0 */
void drm_syncobj_destroy(struct drm *d, uint32_t *handle);

/**
 * drm_syncobj_wait - wait for a fence or a point
 * @d: the node
 * @handle: the syncobj
 * @point: of the timeline; 0 for a syncobj without points
 * @deadline: see above
 *
 * Waits for the submission too, when there is no fence yet. A fence that failed counts as signalled: export it as a
 * sync_file to read its status.
 *
 * Return: 0; -TENON_E_TIMEOUT; -TENON_E_UNSUPPORTED when a point is asked of a driver without timelines; else
 *	system_status().
 */
int drm_syncobj_wait(struct drm *d, uint32_t handle, uint64_t point, uint64_t deadline);

/** drm_syncobj_signal - signal a fence (point 0) or a point from the CPU. Return: as drm_syncobj_wait() */
int drm_syncobj_signal(struct drm *d, uint32_t handle, uint64_t point);

/** drm_syncobj_reset - take the fence away. Return: 0; system_status() */
int drm_syncobj_reset(struct drm *d, uint32_t handle);

/** drm_syncobj_query - read the last point that signalled. Return: as drm_syncobj_wait() */
int drm_syncobj_query(struct drm *d, uint32_t handle, uint64_t *point);

/** drm_syncobj_transfer - give the fence of a point to another point. Return: as drm_syncobj_wait() */
int drm_syncobj_transfer(struct drm *d, uint32_t from, uint64_t from_point, uint32_t to,
			 uint64_t to_point);

/**
 * drm_syncobj_export - a syncobj as a descriptor
 * @d: the node
 * @handle: the syncobj
 * @as_sync_file: the fence that it has now, as a sync_file; else the syncobj itself, for another process
 *
 * Return: the descriptor; else system_status(): -TENON_E_VALUE for a sync_file of a syncobj without a fence.
 */
int drm_syncobj_export(struct drm *d, uint32_t handle, bool as_sync_file);

/**
 * drm_syncobj_import - a syncobj of a descriptor
 * @d: the node
 * @fd: of drm_syncobj_export(), or a sync_file; stays the caller's
 * @is_sync_file: put the fence of a sync_file into *@handle, which exists; else *@handle becomes a new number
 * @handle: the syncobj
 *
 * Return: 0; else system_status().
 */
int drm_syncobj_import(struct drm *d, int fd, bool is_sync_file, uint32_t *handle);

#endif /* DRIVER_DRM_H */
