/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_CLI_PROGRESS_H
#define TOOLS_CLI_PROGRESS_H

/**
 * DOC: the watch over a run
 *
 * A thread that ends the process when its time is up, whatever compiled code is doing by then, and
 * that shows on a terminal what takes long. It sleeps otherwise.
 */

#include <stdbool.h>
#include <tenon/error.h>

/**
 * progress_start - begin to watch
 * @timeout: seconds until the process exits with CLI_TIMEOUT; 0 for never
 * @terminal: show on stderr what goes on, once it has gone on for half a second
 *
 * Without either no thread is started.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int progress_start(double timeout, bool terminal);

/** progress_say - say what is going on now, in a few words: "running vecadd" */
void progress_say(const char *format, ...) TENON_PRINTF(1, 2);

/** progress_stop - stop watching, and wipe what was shown */
void progress_stop(void);

#endif /* TOOLS_CLI_PROGRESS_H */
