/* SPDX-License-Identifier: MIT */
/* Command streams as executables of a device, for backends that run them. */
#ifndef DEVICES_CMDSTREAM_CMDSTREAM_EXECUTABLE_H
#define DEVICES_CMDSTREAM_CMDSTREAM_EXECUTABLE_H

/*
 * A program of format "cmdstream" becomes an executable: creating it compares the target and its
 * configuration words with the device, and the first request for a kernel checks that kernel's
 * code. So a kernel is a command object that was validated. A launch binds memory to its regions:
 * a backend that gets TENON_OP_DISPATCH for such a kernel calls cmdstream_bind(), finds the
 * device's address of each region that is used, and cmdstream_patch() writes these into a copy of
 * the code. Devices that take base addresses beside the code need only the former.
 *
 * Scratch memory belongs to an executable and a queue, whose order keeps its uses apart. Constants
 * are uploaded when the first kernel is requested, once for an executable.
 */

#include <tenon/backend/executable.h>
#include <tenon/backend/memory.h>
#include <tenon/backend/queue.h>
#include <tenon/string.h>

#include "devices/cmdstream/cmdstream.h"

/**
 * struct cmdstream_binding - the memory of a job
 * @regions: a range for each region that @used names
 * @used: mask of regions
 * @rooms: stand for memory of which only the address is known
 */
struct cmdstream_binding {
	struct tenon_range regions[TENON_CMDSTREAM_REGIONS];
	uint64_t used;
	struct tenon_memory rooms[TENON_CMDSTREAM_ARGUMENTS];
};

/* Test whether a program is of format "cmdstream". */
static inline bool cmdstream_runs(const struct tenon_program *program)
{
	return tenon_slice_equal(program->format, tenon_slice_of("cmdstream"));
}

/**
 * cmdstream_executable_create - tenon_executable_ops.create
 * @device: device
 * @program: a command stream, whatever the backend calls its format
 * @target: of the backend
 * @out: receives the executable
 *
 * Return: 0; -TENON_E_UNSUPPORTED for another target or configuration; -TENON_E_FORMAT;
 *	-TENON_E_NOMEM.
 */
int cmdstream_executable_create(struct tenon_device *device, const struct tenon_program *program,
				const struct cmdstream_target *target,
				struct tenon_executable **out);

/** cmdstream_executable_destroy - tenon_executable_ops.destroy */
void cmdstream_executable_destroy(struct tenon_executable *executable);

/** cmdstream_executable_kernel - tenon_executable_ops.kernel: checks the code, uploads constants */
int cmdstream_executable_kernel(struct tenon_executable *executable, size_t index,
				struct tenon_kernel **out);

/** cmdstream_executable_argument - tenon_executable_ops.argument */
bool cmdstream_executable_argument(const struct tenon_kernel *kernel, size_t index,
				   struct tenon_argument_use *out);

/**
 * cmdstream_bind - find the memory of all regions that a launch uses
 * @queue: queue of the launch
 * @dispatch: of a kernel from cmdstream_executable_kernel()
 * @out: receives the ranges; the memory is borrowed
 *
 * Allocates scratch memory at the first launch on a queue.
 *
 * Return: 0; -TENON_E_VALUE for memory that is missing or too small; -TENON_E_NOMEM.
 */
int cmdstream_bind(struct tenon_queue *queue, const struct tenon_dispatch *dispatch,
		   struct cmdstream_binding *out);

/** cmdstream_executable_region - region @index of a kernel's stream, which has more; borrowed */
const struct tenon_cmdstream_region *cmdstream_executable_region(const struct tenon_kernel *kernel,
								 uint32_t index);

/** cmdstream_code_size - bytes of a kernel's code */
size_t cmdstream_code_size(const struct tenon_kernel *kernel);

/**
 * cmdstream_patch - copy a kernel's code and write addresses into it
 * @kernel: from cmdstream_executable_kernel()
 * @addresses: the device's address of each region that is used
 * @code: receives cmdstream_code_size() bytes
 *
 * Return: 0; -TENON_E_VALUE for an address that is not aligned or does not fit in its field.
 */
int cmdstream_patch(const struct tenon_kernel *kernel, const uint64_t *addresses, uint8_t *code);

#endif /* DEVICES_CMDSTREAM_CMDSTREAM_EXECUTABLE_H */
