/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_WATCH_H
#define TOOLS_WATCH_H

/**
 * DOC: the watch over a run
 *
 * A thread that ends the process when its time is up, whatever compiled code is doing by then, and
 * that shows on a terminal what takes long. It sleeps otherwise.
 */

#include <stdbool.h>
#include <tenon/error.h>

/**
 * watch_start - begin to watch
 * @timeout: seconds until the process exits with CLI_TIMEOUT; 0 for never
 * @terminal: show on stderr what goes on, once it has gone on for half a second
 *
 * Without either no thread is started.
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int watch_start(double timeout, bool terminal);

/** watch_say - say what is going on now, in a few words: "running vecadd" */
void watch_say(const char *format, ...) TENON_PRINTF(1, 2);

/** watch_stop - stop watching, and wipe what was shown */
void watch_stop(void);

#endif /* TOOLS_WATCH_H */
