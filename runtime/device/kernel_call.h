/* SPDX-License-Identifier: MIT */
/* Make packed functions of kernels, which host code calls by name. */
#ifndef RUNTIME_DEVICE_KERNEL_CALL_H
#define RUNTIME_DEVICE_KERNEL_CALL_H

/*
 * A *kernel set* is a program with its executables, one for each device it was called on. A
 * function of the set runs on the thread's current device of the set's type: it converts the
 * arguments, reads the extents that follow them, and submits the launch to the thread's current
 * queue. It does not wait.
 */

#include <tenon/backend/executable.h>
#include <tenon/function.h>

#include "lib/plugin_api.h"

struct kernel_set;

/**
 * kernel_set_create - make a set
 * @program: owned by the set, also on failure; freed with tenon_program_free()
 * @keep: keeps the payload's bytes alive, referenced until the program is freed; may be NULL
 * @device_type: DLPack device type its kernels run on
 * @out: receives the set
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int kernel_set_create(struct tenon_program *program, struct tenon_object *keep, int32_t device_type,
		      struct kernel_set **out);

/* Free a set. NULL is allowed. Destroy its functions before; launches may be pending. */
void kernel_set_free(struct kernel_set *set);

/**
 * kernel_set_function - make a function of a kernel
 * @set: valid as long as @keep
 * @name: the kernel's
 * @keep: referenced by the function
 * @out: receives the function with one reference; NULL when there is no such kernel
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int kernel_set_function(struct kernel_set *set, struct tenon_slice name, void *keep,
			struct tenon_function **out);

/**
 * kernel_set_executable - get the executable of a set on a device
 * @set: the set
 * @device: the device
 * @out: receives the executable with one reference; NULL if the kernels do not run on this type
 *
 * Return: 0; errors of tenon_executable_create().
 */
int kernel_set_executable(struct kernel_set *set, struct tenon_device *device,
			  struct tenon_executable **out);

/**
 * kernel_function_bind - take the memory that the first call of a function on the thread's current device would take
 * @function: any function; others than those of kernel_set_function() are left alone
 *
 * Return: 0; as that call.
 */
int kernel_function_bind(struct tenon_function *function) TO_PLUGINS(kernel_function_bind);

/**
 * kernel_function_info - the entry of the kernel that a function launches
 *
 * Return: the entry, valid as long as the function; NULL for another function.
 */
const struct tenon_kernel_info *kernel_function_info(const struct tenon_function *function)
	TO_PLUGINS(kernel_function_info);

/* After fork(), first thing in the child: reinitialise the lock of all sets. */
void kernel_sets_forked(void);

/*
 * Store a value in the first bytes of a slot as @type; false for a type that kernels do not take.
 */
bool kernel_scalar_real(DLDataType type, double value, uint64_t *slot);
bool kernel_scalar_integer(DLDataType type, int64_t value, uint64_t *slot);

#endif /* RUNTIME_DEVICE_KERNEL_CALL_H */
