/* SPDX-License-Identifier: MIT */
/* The template of a backend, with memory that has no addresses. */
#ifndef DEVICES_NULL_NULL_H
#define DEVICES_NULL_NULL_H

/*
 * This is the template: copy the folder, rename null_ to your backend's name, and replace malloc()
 * and the immediate work by calls of your API. Memory has no addresses here, as with OpenCL and
 * Vulkan; devices/cpu is an example with addresses and with pending operations.
 */

#include <tenon/backend/commands.h>
#include <tenon/backend/executable.h>
#include <tenon/backend/memory.h>
#include <tenon/backend/payload_format.h>
#include <tenon/backend/queue.h>

/* device type: DLPack's number if it has one, else 64 to 126 */
#define NULL_DEVICE_TYPE TENON_DL_NULL

extern const struct tenon_backend null_backend;
extern const struct tenon_memory_ops null_memory_ops;
extern const struct tenon_queue_ops null_queue_ops;
extern const struct tenon_executable_ops null_executable_ops;

/* null_payload.c: kinds of modules, and the formats of their payloads; each ended by NULL */
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
