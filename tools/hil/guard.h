/* SPDX-License-Identifier: MIT */
/* Leave nothing running, even after SIGKILL. */
#ifndef TOOLS_HIL_GUARD_H
#define TOOLS_HIL_GUARD_H

/*
 * The command that the user starts only waits. A second process, in a session of its own, does the
 * work and starts all others. Each of the two detects the other's death, even by SIGKILL, and both
 * are subreapers: descendants whose parent died become their children, also after setsid() and
 * double forks. So the survivor can stop the board and kill every process.
 */

#include "tools/hil/process.h"

/**
 * struct guard_work - the work
 * @run: in the second process; returns an exit code
 * @rescue: in the first process, after the second one was killed; returns an exit code
 * @context: argument of both
 */
struct guard_work {
	int (*run)(void *context, const struct stop *stop);
	int (*rescue)(void *context, const struct stop *stop);
	void *context;
};

/**
 * guard_run - do the work
 * @work: the work
 * @code: receives the exit code
 *
 * SIGINT, SIGTERM and SIGHUP request a stop. Context: a process with a single thread.
 *
 * Return: 0; -TENON_E_IO.
 */
int guard_run(const struct guard_work *work, int *code);

#endif /* TOOLS_HIL_GUARD_H */
