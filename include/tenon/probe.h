/* SPDX-License-Identifier: MIT */
#ifndef TENON_PROBE_H
#define TENON_PROBE_H

/**
 * DOC: probing drivers in a separate process
 *
 * A vendor's driver may crash, hang or exit on first use. A program that must survive this probes
 * the driver before it opens a device.
 */

#include <tenon/device.h>
#include <tenon/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** enum tenon_probe_outcome - result of probing a driver */
enum tenon_probe_outcome {
	TENON_PROBE_WORKS = 0,	  /* it listed its devices, perhaps none */
	TENON_PROBE_FAILED = 1,	  /* it is missing or returned an error */
	TENON_PROBE_CRASHED = 2,  /* a signal ended the process */
	TENON_PROBE_EXITED = 3,	  /* it ended the process */
	TENON_PROBE_HUNG = 4,	  /* it did not finish in time */
	TENON_PROBE_LEFT_OUT = 5, /* not probed: excluded by TENON_BACKENDS or backends.conf */
};

/**
 * struct tenon_probe - result of probing a driver; constant, valid for the life of the process
 * @backend: backend of the driver
 * @outcome: enum tenon_probe_outcome
 * @code: the signal for CRASHED; the exit status for EXITED, or -1 when the program's handling of
 *	SIGCHLD hides it; else 0
 * @reason: the error in one sentence, including @words; "" for none. For WORKS it names devices
 *	that could not be described.
 * @words: the end of the driver's standard output and standard error, in one line
 * @doctor: output of tenon_backend.doctor
 * @nanoseconds: duration of the probe
 * @device_count: number of devices
 * @devices: properties of each; the name is empty for a device that could not be described
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
 * struct tenon_probe_request - options of tenon_backend_probe(); 0 selects each default
 * @size: sizeof(struct tenon_probe_request)
 * @command: path of the tenon command to start, of this version; NULL for the installed one
 * @timeout: time limit in nanoseconds; 0 for 20 seconds
 */
struct tenon_probe_request {
	size_t size;
	const char *command;
	uint64_t timeout;
};

/**
 * tenon_backend_probe - list a driver's devices in a separate process
 * @backend: backend
 * @request: NULL for the defaults
 * @out: receives the result
 *
 * Starts the tenon command with posix_spawn(); no other function of this library starts a process.
 * The command calls count, describe and doctor of the backend and returns their results and the
 * driver's output. A backend without a driver (TENON_BACKEND_FORKS) is probed in this process.
 *
 * The first result for a backend is kept for the life of the process. After CRASHED, EXITED or HUNG
 * this process never calls the driver: opening a device fails with -TENON_E_DEVICE and the reason.
 *
 * Context: any thread; takes a lock and waits up to the timeout. A child that hangs in the kernel
 *	and cannot be killed is left behind.
 * Return: 0; -TENON_E_UNSUPPORTED when the command cannot be started or has another version, or the
 *	plug-in probe.so is missing;
 *	-TENON_E_NOT_FOUND when the command lacks the backend, for example one that the program
 *	registered; -TENON_E_NOMEM.
 */
TENON_API int tenon_backend_probe(const struct tenon_backend *backend,
				  const struct tenon_probe_request *request,
				  const struct tenon_probe **out);

#ifdef __cplusplus
}
#endif

#endif /* TENON_PROBE_H */
