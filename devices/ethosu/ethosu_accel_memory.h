/* SPDX-License-Identifier: MIT */
/* Memory of programs that networks of Linux's driver use in place. */
#ifndef DEVICES_ETHOSU_ETHOSU_ACCEL_MEMORY_H
#define DEVICES_ETHOSU_ETHOSU_ACCEL_MEMORY_H

/*
 * A network uses such memory where it is. Linux refuses dma-bufs of other drivers: of those there is a mapping
 * alone, and runs copy.
 */

#include <pthread.h>

#include "devices/ethosu/ethosu_accel.h"
#include "devices/ethosu/ethosu_device.h"
#include "driver/dmabuf/dmabuf.h"

/**
 * struct ethosu_accel_buffer - a buffer; what ethosu_store.own points to
 * @next: of the same node
 * @references: pieces of memory that are it: a node has one handle for a buffer, however often that is imported
 * @serial: of no other buffer of the device, as handles are that are free again
 * @drm: the buffer; handle 0 for a dma-buf that Linux refused
 * @foreign: that dma-buf
 */
struct ethosu_accel_buffer {
	struct ethosu_accel_buffer *next;
	unsigned int references;
	uint64_t serial;
	struct drm_buffer drm;
	struct dmabuf foreign;
};

/**
 * struct ethosu_accel_state - a device of the backend
 * @accel: the node; first, because runners have it by the same pointer
 * @lock: for what follows
 * @buffers: of memory
 * @serials: number of buffers so far
 */
struct ethosu_accel_state {
	struct ethosu_accel accel;
	pthread_mutex_t lock;
	struct ethosu_accel_buffer *buffers;
	uint64_t serials;
};

extern const struct ethosu_memory_kind ethosu_accel_memory;

#endif /* DEVICES_ETHOSU_ETHOSU_ACCEL_MEMORY_H */
