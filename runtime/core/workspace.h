/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_CORE_WORKSPACE_H
#define RUNTIME_CORE_WORKSPACE_H

#include <tenon/workspace.h>

/**
 * struct workspace_device_ops - temporary memory of devices other than the CPU
 * @alloc: give memory that the device can use, and what @free is to be given; NULL with the thread's
 *	error set
 * @free: take it back
 *
 * What is out is counted here, so the device need not reclaim anything.
 */
struct workspace_device_ops {
	void *(*alloc)(DLDevice device, size_t size, void **owner);
	void (*free)(void *owner);
};

/* the device layer's (device_workspace.c) */
extern const struct workspace_device_ops device_workspace_ops;

/* Take another in its place, for tests; NULL for none. */
void workspace_set_devices(const struct workspace_device_ops *ops);

#endif /* RUNTIME_CORE_WORKSPACE_H */
