/* SPDX-License-Identifier: MIT */
/* The processor as a device, for code that runs on any device. */
#ifndef DEVICES_CPU_CPU_H
#define DEVICES_CPU_CPU_H

/*
 * Memory is host memory, and a tensor's data is its address. `cpu:0` runs operations at submission.
 * `cpu://0?queue=worker` gives each queue a thread, so that operations are pending as on other
 * devices.
 */

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

/* Run a launch. Return: the result of the kernel. */
int cpu_run(struct tenon_queue *queue, const struct tenon_dispatch *dispatch);

#endif /* DEVICES_CPU_CPU_H */
