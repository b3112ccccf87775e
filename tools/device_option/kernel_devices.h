/* SPDX-License-Identifier: MIT */
/* The devices that the kernels of a module are for, as advice about --device. */
#ifndef TOOLS_DEVICE_OPTION_KERNEL_DEVICES_H
#define TOOLS_DEVICE_OPTION_KERNEL_DEVICES_H

#include <tenon/buffer.h>
#include <tenon/module.h>

#include "tools/device_option/target_list.h"

/**
 * kernel_devices_say - append which devices a module has kernels for
 * @root: the module, loaded or inspected
 * @out: receives "opencl", "opencl and cuda"; nothing if the module has no kernels
 */
void kernel_devices_say(struct tenon_module *root, struct tenon_buffer *out);

/**
 * kernel_devices_error - print the thread's error and, when --device may be the cause, a remedy
 * @cli: for the message
 * @file: the module's file
 * @root: the module, loaded or inspected; NULL if there is none
 * @targets: the devices it ran on
 * @code: an exit code
 *
 * Compiled code checks the device of its arguments and refuses others in the words of the
 * compiler. The remedy replaces such an error, and follows other errors on a line of its own.
 *
 * Return: @code.
 */
int kernel_devices_error(struct cli *cli, const char *file, struct tenon_module *root,
			 const struct target_list *targets, int code);

#endif /* TOOLS_DEVICE_OPTION_KERNEL_DEVICES_H */
