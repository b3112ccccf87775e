/* SPDX-License-Identifier: MIT */
#ifndef TENON_PROBE_H
#define TENON_PROBE_H

/**
 * DOC: drivers asked in a process of their own
 *
 * A vendor's driver may crash, hang or exit when it is first used. A program that has to survive that
 * asks for its devices here before it opens one.
 */

#include <tenon/device.h>
#include <tenon/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** enum tenon_probe_outcome - how a driver took it to be asked for its devices */
enum tenon_probe_outcome {
	TENON_PROBE_WORKS = 0,	 /* it answered; it may have no device */
	TENON_PROBE_FAILED = 1,	 /* it is missing, or answered with an error */
	TENON_PROBE_CRASHED = 2, /* a signal ended the process */
	TENON_PROBE_EXITED = 3,	 /* it ended the process */
	TENON_PROBE_HUNG = 4,	 /* there was no answer in time */
	TENON_PROBE_LEFT_OUT =
		5, /* it was not asked: TENON_BACKENDS or backends.conf leave it out */
};

/**
 * struct tenon_probe - the verdict on a driver; constant, lives as long as the process
 * @backend: whose driver
 * @outcome: enum tenon_probe_outcome
 * @code: the signal of CRASHED; the exit status of EXITED, -1 where the program's own handling of
 *	SIGCHLD hides it; else 0
 * @reason: what went wrong, in a sentence that includes @words; "" for nothing. Where the driver works it
 *	is about devices that cannot be described
 * @words: the end of what the driver wrote to standard output and standard error, in one line
 * @doctor: what tenon_backend.doctor appended
 * @nanoseconds: how long it took
 * @device_count: how many devices
 * @devices: properties of each; without a name where a device cannot be described
 */
struct tenon_probe {
	const struct tenon_backend *backend;
	uint32_t outcome;
	int32_t code;
	const char *reason;
	const char *words;
	const char *doctor;
	uint64_t nanoseconds;
	uint32_t device_count;
	uint32_t reserved;
	const struct tenon_device_properties *const *devices;
};

/**
 * struct tenon_probe_request - how to probe; zero for the defaults
 * @size: sizeof(struct tenon_probe_request)
 * @command: path of the tenon command of this version, which is started; NULL for the installed one
 * @timeout: nanoseconds that the driver may take; 0 for 20 seconds
 */
struct tenon_probe_request {
	size_t size;
	const char *command;
	uint64_t timeout;
};

/**
 * tenon_backend_probe - ask a driver for its devices in a process of its own
 * @backend: backend
 * @request: NULL for the defaults
 * @out: receives the verdict
 *
 * For programs that have to survive a driver that crashes, hangs or exits when it is first used. The
 * command is started (posix_spawn(); nothing else in this library starts a process), calls the driver,
 * and hands back what count, describe and doctor of the backend answered. What the driver prints goes into
 * the verdict. A backend without a driver (TENON_BACKEND_FORKS) is asked in this process.
 *
 * The first verdict on a backend stays for the life of the process. After CRASHED, EXITED and HUNG this process
 * does not call the driver any more: opening a device fails with -TENON_E_DEVICE and the reason.
 *
 * Context: any thread; takes a lock, and waits up to the timeout. A child that cannot be killed because it
 *	hangs in the kernel is left behind.
 * Return: 0 with a verdict; -TENON_E_UNSUPPORTED when the command cannot be started or is of another version;
 *	-TENON_E_NOT_FOUND for a backend that the command does not have, such as one of the program's own;
 *	-TENON_E_NOMEM.
 */
TENON_API int tenon_backend_probe(const struct tenon_backend *backend,
				  const struct tenon_probe_request *request,
				  const struct tenon_probe **out);

#ifdef __cplusplus
}
#endif

#endif /* TENON_PROBE_H */
