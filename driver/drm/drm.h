/* SPDX-License-Identifier: MIT */
/* What all drivers of render, card and accel nodes share: buffers, and sharing them. */
#ifndef DRIVER_DRM_H
#define DRIVER_DRM_H

/*
 * What all drivers of render nodes (/dev/dri/renderDN), card nodes and accel nodes (/dev/accel/accelN) share:
 * identification, memory objects, and sharing them as dma-bufs (PRIME). Each driver has calls of its own for
 * submission and for its objects; drm_call() makes them, and drm_adopt() takes their objects.
 *
 * Most accel nodes have neither dumb buffers nor syncobjs, so a program waits for the fences of a buffer, through its
 * dma-buf (driver/dmabuf).
 *
 * Calls are made through driver/syscall and not through libdrm, so that tests can make each of them fail.
 */

#include <stdbool.h>
#include <stdint.h>

#include "driver/syscall/syscall.h"

/**
 * struct drm - an open node
 * @calls: system calls
 * @path: "/dev/accel/accel0", for messages
 * @fd: descriptor
 * @driver: "ethosu", "vgem"
 * @major: version of the driver's interface; some drivers leave it 0.0.0
 * @minor: likewise
 * @patch: likewise
 * @is_accel: an accel node, not a render or card node
 * @can_import: drm_import() may work
 * @can_export: drm_export() works
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
	bool can_import;
	bool can_export;
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

#endif /* DRIVER_DRM_H */
