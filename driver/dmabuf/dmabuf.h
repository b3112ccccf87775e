/* SPDX-License-Identifier: MIT */
/* Buffers that drivers of several devices and the CPU share, and their fences. */
#ifndef DRIVER_DMABUF_H
#define DRIVER_DMABUF_H

/*
 * A dma-buf is memory behind a descriptor that drivers of several devices, and the CPU, can use. It comes from a
 * dma-heap, from a memfd (udmabuf), or from a device that exports it (driver/drm).
 *
 * Caches of the CPU need not be coherent with devices: bracket *every* access through a mapping with dmabuf_begin()
 * and dmabuf_end(). These do not wait for devices: wait before dmabuf_begin(), and call dmabuf_end() before work is
 * submitted.
 *
 * A buffer carries the fences of the devices that read or write it; dmabuf_export_fence() returns them as a sync_file.
 * A sync_file becomes readable when its fence signals, whether the work succeeded or not: ask sync_file_wait(), which
 * reads its status.
 */

#include <stdint.h>

#include "driver/syscall/syscall.h"

/* names of heaps that are tried when the caller names none; vendors' kernels have others */
#define DMABUF_HEAPS "system,linux,cma,default_cma_region,reserved"

/**
 * enum dmabuf_access - what the CPU does with a buffer, or what a fence is for
 */
enum dmabuf_access {
	DMABUF_READ = 1,
	DMABUF_WRITE = 2,
	DMABUF_BOTH = 3,
};

/**
 * struct dmabuf - a buffer
 * @calls: system calls
 * @fd: its descriptor, close-on-exec
 * @size: bytes, whole pages
 * @base: first byte; NULL until dmabuf_map()
 */
struct dmabuf {
	const struct system_calls *calls;
	int fd;
	uint64_t size;
	void *base;
};

/**
 * dmabuf_allocate - allocate from a dma-heap
 * @calls: system calls; NULL for the kernel's
 * @root: prefix of /dev; "" except in tests
 * @heaps: names below /dev/dma_heap, by commas: the first that exists is used; NULL for DMABUF_HEAPS
 * @size: bytes; rounded up to pages
 * @out: the buffer, zeroed bytes
 *
 * Return: 0; -TENON_E_NOT_FOUND when there is none of these heaps; -TENON_E_NOMEM when the heap is exhausted;
 *	-TENON_E_OVERFLOW; else system_open().
 */
int dmabuf_allocate(const struct system_calls *calls, const char *root, const char *heaps,
		    uint64_t size, struct dmabuf *out);

/**
 * dmabuf_of_memfd - make a buffer of memory that the process has already
 * @calls: system calls; NULL for the kernel's
 * @root: prefix of /dev; "" except in tests
 * @memfd: sealed against shrinking, and not against writing: driver/shm makes such
 * @offset: first byte, at a page
 * @size: bytes, whole pages
 * @out: the buffer; it keeps the memory
 *
 * Return: 0; -TENON_E_NOT_FOUND when the kernel has no udmabuf; -TENON_E_VALUE when the memfd, offset or size do not
 *	fit; else system_open().
 */
int dmabuf_of_memfd(const struct system_calls *calls, const char *root, int memfd, uint64_t offset,
		    uint64_t size, struct dmabuf *out);

/**
 * dmabuf_adopt - a buffer of a descriptor that came from elsewhere
 * @calls: system calls; NULL for the kernel's
 * @fd: dma-buf; dmabuf_close() closes it
 * @size: bytes
 * @out: the buffer
 */
void dmabuf_adopt(const struct system_calls *calls, int fd, uint64_t size, struct dmabuf *out);

/** dmabuf_close - unmap and close; closing twice does nothing */
void dmabuf_close(struct dmabuf *b);

/**
 * dmabuf_map - map a buffer for the CPU; sets b->base
 *
 * Return: 0; -TENON_E_UNSUPPORTED when its exporter allows no mapping; else system_map().
 */
int dmabuf_map(struct dmabuf *b);

/**
 * dmabuf_begin - begin an access by the CPU
 * @b: the buffer
 * @access: what the CPU will do
 *
 * Return: 0; else system_status().
 */
int dmabuf_begin(const struct dmabuf *b, enum dmabuf_access access);

/** dmabuf_end - end an access by the CPU; as dmabuf_begin(), with the same @access */
int dmabuf_end(const struct dmabuf *b, enum dmabuf_access access);

/**
 * dmabuf_export_fence - take the fences of a buffer as a sync_file
 * @b: the buffer
 * @access: DMABUF_READ: those of writers; DMABUF_WRITE: all
 *
 * Return: the descriptor; -TENON_E_UNSUPPORTED for kernels before 6.0; else system_status().
 */
int dmabuf_export_fence(const struct dmabuf *b, enum dmabuf_access access);

/**
 * sync_file_wait - wait for a sync_file and read its status
 * @calls: system calls; NULL for the kernel's
 * @fd: the sync_file
 * @deadline: absolute nanoseconds of CLOCK_MONOTONIC; UINT64_MAX for none, 0 to look once
 *
 * Return: 0 when the work succeeded; -TENON_E_TIMEOUT when it has not ended; -TENON_E_LOST when it was cancelled
 *	(its device was reset); -TENON_E_DEVICE when it took the device too long; else the status of the errno that it
 *	ended with, or that a call failed with.
 */
int sync_file_wait(const struct system_calls *calls, int fd, uint64_t deadline);

#endif /* DRIVER_DMABUF_H */
