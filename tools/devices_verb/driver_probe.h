/* SPDX-License-Identifier: MIT */
/* Probing drivers in a separate process. */
#ifndef TOOLS_DEVICES_VERB_DRIVER_PROBE_H
#define TOOLS_DEVICES_VERB_DRIVER_PROBE_H

#include <tenon/device.h>
#include <tenon/probe.h>

/**
 * driver_probe_command - path of this command, set by main()
 *
 * Started as a child process to probe a driver. NULL in a program that calls cli_main() itself: its
 * drivers are probed in its own process.
 */
extern const char *driver_probe_command;

/** driver_probe_find_command - path of the running executable, which can be started; NULL */
const char *driver_probe_find_command(void);

/** driver_probe_seconds - set the time limit for later probes; 0 for the default */
void driver_probe_seconds(double seconds);

/**
 * driver_probe - probe a driver
 * @backend: backend
 * @out: receives the result
 *
 * Calls the driver in this process if no child process can be started.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int driver_probe(const struct tenon_backend *backend, const struct tenon_probe **out);

/**
 * driver_probe_main - run as the child process that probes a driver
 * @argc: words of the command line
 * @argv: words
 *
 * Return: false if the command line does not request this; otherwise it ends the process.
 */
bool driver_probe_main(int argc, char **argv);

#endif /* TOOLS_DEVICES_VERB_DRIVER_PROBE_H */
