/* SPDX-License-Identifier: MIT */
#ifndef DEVICES_NULL_NULL_H
#define DEVICES_NULL_NULL_H

/**
 * DOC: a device that does everything in the simplest way
 *
 * This is the template: copy the folder, rename null_ to your backend's name, and put your API's
 * calls where memory is malloc() and work is done at once. Memory has no addresses here, as with
 * OpenCL and Vulkan; devices/cpu shows one that has, and a queue with something pending.
 */

#include <tenon/backend/commands.h>
#include <tenon/backend/executable.h>
#include <tenon/backend/memory.h>
#include <tenon/backend/payload_format.h>
#include <tenon/backend/queue.h>

/* DLPack's number of the kind of device; one of DLPack's own where it has one, else 64 to 126 */
#define NULL_DEVICE_TYPE TENON_DEVICE_NULL

extern const struct tenon_backend null_backend;
extern const struct tenon_memory_ops null_memory_ops;
extern const struct tenon_queue_ops null_queue_ops;
extern const struct tenon_executable_ops null_executable_ops;

/* null_payload.c: kinds of modules, and what their payloads look like; each ended by NULL */
extern const char *const null_payload_kinds[];
extern const struct tenon_payload_format *const null_payload_formats[];

/* null_functions.c: kernels that are built in */
extern const tenon_host_kernel null_functions[];
extern const size_t null_function_count;

/* null_memory.c: address of a range in this process */
void *null_address(const struct tenon_range *range);

/* null_executable.c: run a launch */
int null_run(const struct tenon_dispatch *dispatch);

#endif /* DEVICES_NULL_NULL_H */
