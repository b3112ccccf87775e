/* SPDX-License-Identifier: MIT */
/* The state of the backend's device, memory and executables. */
#ifndef DEVICES_TORQ_TORQ_DEVICE_H
#define DEVICES_TORQ_TORQ_DEVICE_H

/*
 * The device is the node of the kernel's driver. Memory is a dma-buf each, which the CPU and the NPU both use, so nothing
 * is copied. A queue has a thread that does the actions of programs; a program is a file of executables, each a kernel.
 */

#include <pthread.h>
#include <tenon/backend/executable.h>
#include <tenon/backend/memory.h>
#include <tenon/backend/queue.h>

#include "devices/torq/torq_network.h"

extern struct system_source torq_source;

/** struct torq_device - a device; @base: for the core; @node: the node; @lock: one run at a time, as the driver wants */
struct torq_device {
	struct tenon_device base;
	struct torq_node node;
	pthread_mutex_t lock;
};

/** struct torq_buffer - memory; @base: for the core; @buffer: what it is; @is_foreign: of another driver */
struct torq_buffer {
	struct tenon_memory base;
	struct dmabuf buffer;
	bool is_foreign;
};

/**
 * struct torq_kernel - an executable of a program
 * @base: for the core; base.executable is NULL until it is made
 * @network: in the kernel
 */
struct torq_kernel {
	struct tenon_kernel base;
	struct torq_network network;
};

extern const struct tenon_backend torq_backend;
extern const struct tenon_memory_ops torq_memory_ops;
extern const struct tenon_queue_ops torq_queue_ops;
extern const struct tenon_executable_ops torq_executable_ops;

static inline struct torq_device *torq_device_of(struct tenon_device *device)
{
	return (struct torq_device *)device;
}

#endif /* DEVICES_TORQ_TORQ_DEVICE_H */
