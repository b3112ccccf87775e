/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_TARGET_DRIVER_GUARD_H
#define TOOLS_TARGET_DRIVER_GUARD_H

/**
 * DOC: an explanation when a driver ends the command
 *
 * tenon run and bench call drivers in their own process: asking in another one first would double the time
 * that a driver takes to start. A second process waits while a device is opened, and writes to standard
 * error which device that was when the command ends meanwhile. Handlers of signals would not do: drivers
 * install their own, and some end the process without a signal.
 */

/**
 * struct driver_guard - the process that waits
 * @pid: its number; 0 where it could not be started
 * @fd: a pipe to it
 */
struct driver_guard {
	int pid;
	int fd;
};

/** driver_guard_begin - a driver is called from here on, to open the device @name */
void driver_guard_begin(struct driver_guard *guard, const char *name);

/** driver_guard_end - it returned */
void driver_guard_end(struct driver_guard *guard);

#endif /* TOOLS_TARGET_DRIVER_GUARD_H */
