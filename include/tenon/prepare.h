/* SPDX-License-Identifier: MIT */
#ifndef TENON_PREPARE_H
#define TENON_PREPARE_H

/**
 * DOC: building kernels ahead of calls
 *
 * A kernel is built when it is called first. A preparation builds all kernels of a module for a
 * device, on several threads, before they are called. Compiled kernels go to the disk cache, as
 * those that are built by a call do.
 *
 * A call that needs a kernel meanwhile does not wait for its turn: the calling thread builds it
 * now, or waits for the thread that is building it. Threads of the preparation begin no other
 * kernel of that program until the call has what it needs.
 *
 * Some drivers build one kernel at a time in each process (TENON_DEVICE_SERIAL_BUILDS). Then a
 * preparation uses one thread, and several processes that share the disk cache are faster: see
 * @choose, and the command "tenon warm".
 */

#include <stdbool.h>
#include <stddef.h>

#include <tenon/device.h>
#include <tenon/export.h>
#include <tenon/module.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tenon_preparation;

/**
 * struct tenon_prepare_progress - a kernel that was built, or whose build failed
 * @done: how many kernels are finished, with this one and those that failed or were left out
 * @total: how many there are
 * @index: this one's number among them, in the order of the modules and their tables
 * @status: 0, or the failure, whose text is the thread's error during the call
 * @kernel: its name
 */
struct tenon_prepare_progress {
	size_t done;
	size_t total;
	size_t index;
	int status;
	struct tenon_slice kernel;
};

/**
 * struct tenon_prepare - how to build; all zero for the defaults
 * @size: sizeof(struct tenon_prepare)
 * @threads: number of threads; 0 for one for each processor that the process may use, or one for a
 *	device with TENON_DEVICE_SERIAL_BUILDS
 * @context: passed to the functions
 * @choose: asked before a kernel is built; false leaves it out. Where a driver builds all kernels
 *	of a program at once, it is asked for the first one of each program. NULL for all.
 * @progress: called after each kernel; by one thread at a time. NULL for none.
 *
 * Threads of the preparation call both functions. These must not drop the preparation.
 */
struct tenon_prepare {
	size_t size;
	uint32_t threads;
	uint32_t reserved;
	void *context;
	bool (*choose)(void *context, size_t index, struct tenon_slice kernel);
	void (*progress)(void *context, const struct tenon_prepare_progress *progress);
};

/**
 * tenon_module_prepare - build all kernels of a module and its imports for a device
 * @m: module
 * @device: the device; modules of other device types are left out
 * @how: options; NULL for the defaults
 *
 * A failure does not stop the others, except for the loss of the device.
 *
 * Context: any thread, which builds too; blocks. No other thread may change imports.
 * Return: 0, also when there is no kernel; the first failure, with the kernel's name and the
 *	compiler's log; -TENON_E_NOMEM.
 */
TENON_API int tenon_module_prepare(struct tenon_module *m, struct tenon_device *device,
				   const struct tenon_prepare *how);

/**
 * tenon_module_prepare_start - as tenon_module_prepare(), in the background
 * @m: module; not referenced. The preparation ends early when the module is released.
 * @device: the device
 * @how: options; NULL for the defaults
 * @out: receives the preparation with one reference
 *
 * Releasing the last reference (tenon_object_unref()) begins no further kernel, and waits for those
 * that are being built, since a compiler cannot be interrupted. Release it before
 * tenon_device_close_all() and before the process exits.
 *
 * Return: 0; -TENON_E_FORMAT or -TENON_E_UNSUPPORTED for a module that cannot be built for
 *	@device; -TENON_E_NOMEM.
 */
TENON_API int tenon_module_prepare_start(struct tenon_module *m, struct tenon_device *device,
					 const struct tenon_prepare *how,
					 struct tenon_preparation **out);

/**
 * tenon_preparation_wait - wait until a preparation has ended
 * @p: the preparation
 *
 * Context: any thread, but not its own functions.
 * Return: as tenon_module_prepare(); the same each time. -TENON_E_LOST in a child process after
 *	fork(), where the threads do not exist.
 */
TENON_API int tenon_preparation_wait(struct tenon_preparation *p);

#ifdef __cplusplus
}
#endif

#endif /* TENON_PREPARE_H */
