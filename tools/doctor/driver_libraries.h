/* SPDX-License-Identifier: MIT */
/* The shared objects of a driver. */
#ifndef TOOLS_DOCTOR_DRIVER_LIBRARIES_H
#define TOOLS_DOCTOR_DRIVER_LIBRARIES_H

#include <tenon/buffer.h>

/**
 * driver_libraries - list the shared objects that opening a device loads
 * @uri: the device, "opencl:0"; a child process opens it
 * @out: receives absolute paths, each followed by a newline
 *
 * Left out are the C library, the run-time libraries of gcc, libtenon and its plug-ins, and what this command has
 * loaded for itself, unless the driver needs it too.
 *
 * Return: 0; -TENON_E_DEVICE when the device cannot be opened; -TENON_E_IO; -TENON_E_NOMEM.
 */
int driver_libraries(const char *uri, struct tenon_buffer *out);

#endif /* TOOLS_DOCTOR_DRIVER_LIBRARIES_H */
