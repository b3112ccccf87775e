/* SPDX-License-Identifier: MIT */
/* The table by which the library calls runtime/probe/, which probes drivers in a child process. */
#ifndef RUNTIME_DEVICE_BACKEND_PROBE_H
#define RUNTIME_DEVICE_BACKEND_PROBE_H

#include <tenon/backend/backend.h>
#include <tenon/probe.h>

#include "lib/plugin_api.h"

/* the option of the command that a child is started with, and where its report goes */
#define PROBE_OPTION	"--probe-backend"
#define PROBE_REPORT_FD 3

/**
 * struct prober - what the library calls of this part
 * @probe: tenon_backend_probe()
 * @here: probe_here()
 * @report: probe_report_write()
 * @check: probe_check_verdict()
 * @forked: probe_forked()
 */
struct prober {
	__typeof__(tenon_backend_probe) *probe;
	int (*here)(const struct tenon_backend *backend, const struct tenon_probe **out);
	int (*report)(const char *name, int fd);
	int (*check)(const struct tenon_backend *backend);
	void (*forked)(void);
};

/* As tenon_backend_probe(), but in this process: for use when no child can be started. */
int probe_here(const struct tenon_backend *backend, const struct tenon_probe **out)
	TO_PLUGINS(probe_here);

/* In the child: probe a backend and write the report. Return: 0; -1 when that fails. */
int probe_report_write(const char *name, int fd) TO_PLUGINS(probe_report_write);

/* Return: 0; -TENON_E_DEVICE for a driver that crashed, exited or hung when it was probed. */
int probe_check_verdict(const struct tenon_backend *backend);

/* In a child process of fork(): the threads that held locks do not exist. */
void probe_forked(void);

#endif /* RUNTIME_DEVICE_BACKEND_PROBE_H */
