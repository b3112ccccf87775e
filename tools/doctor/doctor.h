/* SPDX-License-Identifier: MIT */
/* Findings of tenon doctor. */
#ifndef TOOLS_DOCTOR_DOCTOR_H
#define TOOLS_DOCTOR_DOCTOR_H

#include <stdio.h>
#include <tenon/buffer.h>
#include <tenon/error.h>

#include "tools/cli/verbs.h"

/** enum finding_level - severity */
enum finding_level {
	FINDING_OK,
	FINDING_WARN, /* works with limitations */
	FINDING_FAIL, /* a built-in feature cannot work */
};

/**
 * struct finding - outcome of one check
 * @name: subject of the check
 * @level: severity
 * @text: result
 * @remedy: what to do; empty if nothing is needed
 * @details: further facts, a line each; NULL for none
 */
struct finding {
	const char *name;
	enum finding_level level;
	char text[1024];
	char remedy[512];
	const char *details;
};

#define FINDINGS_MOST 64

/**
 * doctor_examine - run all checks
 * @findings: room for FINDINGS_MOST
 * @verbose: list the options of this build too
 *
 * Return: number of findings.
 */
size_t doctor_examine(struct finding *findings, bool verbose);

/** doctor_devices - check backends, plug-ins and nodes; returns the number of findings */
size_t doctor_devices(struct finding *findings, size_t most);

/**
 * doctor_board - check what the kernel offers for boards
 * @root: prefix of /dev, /sys, /proc, /boot and /lib; "" for this machine
 * @findings: room for @most
 *
 * Return: number of findings. Nothing that a machine may lack is FINDING_FAIL.
 */
size_t doctor_board(const char *root, struct finding *findings, size_t most);

/**
 * doctor_transport - check one device, which has to be there
 * @uri: "mortise://uio/0", "mortise://vfio/0000:00:04.0", "mortise://remoteproc/0"
 *
 * Return: as doctor_board(); 0 when it is none of these.
 */
size_t doctor_transport(const char *root, const char *uri, struct finding *findings, size_t most);

/**
 * doctor_cdi - print a specification of the Container Device Interface for this machine's devices
 * @cli: receives the specification, and messages on devices that are left out
 * @root: prefix of /dev, /sys and /proc; "" for this machine
 *
 * Return: 0; -TENON_E_NOT_FOUND when no device needs anything; -TENON_E_NOMEM;
 *	-TENON_E_UNSUPPORTED in builds without devices.
 */
int doctor_cdi(struct cli *cli, const char *root);

/** finding_word - "ok", "warn", "fail" */
const char *finding_word(enum finding_level level);

/** doctor_json - print findings as JSON; 0 or -TENON_E_NOMEM */
int doctor_json(const struct finding *findings, size_t count, FILE *out);

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

#endif /* TOOLS_DOCTOR_DOCTOR_H */
