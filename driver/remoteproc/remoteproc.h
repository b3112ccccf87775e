/* SPDX-License-Identifier: MIT */
/* Set the firmware of a core beside the CPU, and start and stop it by the kernel. */
#ifndef DRIVER_REMOTEPROC_H
#define DRIVER_REMOTEPROC_H

/*
 * A DSP or microcontroller beside the CPU, whose firmware the kernel loads from /lib/firmware. Everything goes
 * through attributes in /sys/class/remoteproc/remoteprocN; /dev/remoteprocN is needed only so that the core stops when
 * the program ends.
 */

#include "driver/syscall/syscall.h"

/**
 * enum remoteproc_state - what a core does
 */
enum remoteproc_state {
	REMOTEPROC_OFFLINE,
	REMOTEPROC_SUSPENDED,
	REMOTEPROC_RUNNING,
	REMOTEPROC_CRASHED,
	REMOTEPROC_ATTACHED, /* running; the boot loader started it before the kernel */
	REMOTEPROC_DETACHED, /* the same, and not supervised */
	REMOTEPROC_UNKNOWN,
};

/**
 * struct remoteproc - a core
 * @calls: system calls
 * @folder: "/sys/class/remoteproc/remoteproc0"
 * @node: "/dev/remoteproc0"
 * @name: name that the driver gave: "7e000000.dsp"
 * @fd: descriptor of the node while stop on exit is on; -1
 */
struct remoteproc {
	const struct system_calls *calls;
	char folder[256];
	char node[256];
	char name[64];
	int fd;
};

/**
 * remoteproc_open - find a core
 * @calls: system calls; NULL for the kernel's
 * @root: prefix of /dev and /sys; "" except in tests
 * @number: N of remoteprocN
 * @out: the core
 *
 * Return: 0; -TENON_E_NOT_FOUND when there is no such core; else system_open().
 */
int remoteproc_open(const struct system_calls *calls, const char *root, unsigned int number,
		    struct remoteproc *out);

/** remoteproc_close - close the node: a core with stop on exit stops. Closing twice does nothing */
void remoteproc_close(struct remoteproc *r);

/**
 * remoteproc_get_state - read what the core does
 *
 * Return: 0; else system_read_text(). *@state is REMOTEPROC_UNKNOWN for a word of a newer kernel, and on failure.
 */
int remoteproc_get_state(struct remoteproc *r, enum remoteproc_state *state);

/** remoteproc_state_name - the kernel's word for a state; "unknown" */
const char *remoteproc_state_name(enum remoteproc_state state);

/**
 * remoteproc_check - does the core run
 *
 * Return: 0 when it runs; -TENON_E_LOST when it crashed; -TENON_E_DEVICE when it is in another state; else
 *	system_read_text().
 */
int remoteproc_check(struct remoteproc *r);

/**
 * remoteproc_set_firmware - choose the firmware of the next start
 * @r: the core, stopped
 * @firmware: path below /lib/firmware
 *
 * Return: 0; -TENON_E_VALUE when the path is empty, absolute, or leaves the folder; -TENON_E_DEVICE when the core is not
 *	stopped; else system_write_text().
 */
int remoteproc_set_firmware(struct remoteproc *r, const char *firmware);

/** remoteproc_get_firmware - read the name of the firmware into @room bytes. Return: as system_read_text() */
int remoteproc_get_firmware(struct remoteproc *r, char *firmware, size_t room);

/**
 * remoteproc_start - load the firmware and start the core
 *
 * Return: 0 when it runs, also when it did before; -TENON_E_NOT_FOUND, with its name, when the kernel does not find the
 *	firmware; -TENON_E_LOST when it crashed at once; else system_write_text().
 */
int remoteproc_start(struct remoteproc *r);

/**
 * remoteproc_stop - stop the core
 *
 * A core that crashed is booted again first where the kernel stops no other.
 *
 * Return: 0, also when it was stopped before; else system_write_text().
 */
int remoteproc_stop(struct remoteproc *r);

/**
 * remoteproc_stop_on_exit - let the kernel stop the core when the node is closed, also by the death of this process
 *
 * For tests and CI. The core has to run already.
 *
 * Return: 0; -TENON_E_NOT_FOUND when the kernel has no nodes (CONFIG_REMOTEPROC_CDEV); else system_open().
 */
int remoteproc_stop_on_exit(struct remoteproc *r);

#endif /* DRIVER_REMOTEPROC_H */
