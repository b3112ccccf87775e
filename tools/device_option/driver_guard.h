/* SPDX-License-Identifier: MIT */
/* Name the device if its driver ends the command. */
#ifndef TOOLS_DEVICE_OPTION_DRIVER_GUARD_H
#define TOOLS_DEVICE_OPTION_DRIVER_GUARD_H

/*
 * tenon run and bench call drivers in their own process, because probing in another one first would
 * double a driver's start time. A child process waits while a device is opened. If the command ends
 * meanwhile, the child prints the name of the device to standard error. Signal handlers would not
 * suffice: drivers install their own, and some end the process without a signal.
 */

/**
 * struct driver_guard - the waiting child process
 * @pid: its process id; 0 if it could not be started
 * @fd: a socket to it
 */
struct driver_guard {
	int pid;
	int fd;
};

/** driver_guard_begin - call before a driver opens the device @name */
void driver_guard_begin(struct driver_guard *guard, const char *name);

/** driver_guard_end - call after the driver returned */
void driver_guard_end(struct driver_guard *guard);

#endif /* TOOLS_DEVICE_OPTION_DRIVER_GUARD_H */
