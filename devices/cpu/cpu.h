/* SPDX-License-Identifier: MIT */
#ifndef DEVICES_CPU_CPU_H
#define DEVICES_CPU_CPU_H

/**
 * DOC: the processor as a device
 *
 * Memory is the process's own, and a tensor's data is its address. `cpu:0` does everything as it is
 * submitted. `cpu://0?queue=worker` gives each queue a thread, so that work is pending as on any
 * other device.
 */

#include <pthread.h>
#include <tenon/backend/commands.h>
#include <tenon/backend/executable.h>
#include <tenon/backend/memory.h>
#include <tenon/backend/queue.h>

struct cpu_device {
	struct tenon_device base;
	bool worker;
};

extern const struct tenon_memory_ops cpu_memory_ops;
extern const struct tenon_queue_ops cpu_inline_ops;
extern const struct tenon_queue_ops cpu_worker_ops;
extern const struct tenon_executable_ops cpu_executable_ops;

/* Do an operation, all but TENON_OP_EXECUTE. Return: 0; what a kernel returned. */
int cpu_work(struct tenon_device *device, const struct tenon_operation *operation);

/* Run a launch. */
int cpu_run(const struct tenon_dispatch *dispatch);

#endif /* DEVICES_CPU_CPU_H */
