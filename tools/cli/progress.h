/* SPDX-License-Identifier: MIT */
/* Progress on the terminal, and the timeout of a command. */
#ifndef TOOLS_CLI_PROGRESS_H
#define TOOLS_CLI_PROGRESS_H

/*
 * A thread that ends the process at the timeout, even while compiled code hangs, and that shows the
 * current step on a terminal if it takes long. It sleeps otherwise.
 */

#include <stdbool.h>
#include <stddef.h>
#include <tenon/error.h>

/**
 * progress_start - start the thread
 * @timeout: seconds until the process exits with CLI_TIMEOUT; 0 for never
 * @terminal: show steps on stderr that take longer than half a second
 *
 * Starts no thread without a timeout, a terminal, or progress_report_waits().
 *
 * Return: 0; -TENON_E_NOMEM.
 */
int progress_start(double timeout, bool terminal);

/**
 * progress_report_waits - before progress_start(): without a terminal, print a line for a step that takes long
 *
 * For commands that wait for another machine: who reads the log of a command that hangs sees what it waits for.
 */
void progress_report_waits(void);

/** progress_say - set the current step, in a few words: "running vecadd" */
void progress_say(const char *format, ...) TENON_PRINTF(1, 2);

/**
 * progress_kernels - set how many kernels are built
 * @done: built ones
 * @total: all; nothing is shown if @done is not less
 *
 * Any thread may call it at any time. They are shown beside the current step.
 */
void progress_kernels(size_t done, size_t total);

/** progress_stop - stop the thread and erase the display */
void progress_stop(void);

#endif /* TOOLS_CLI_PROGRESS_H */
