/* SPDX-License-Identifier: MIT */
/* Start child processes with default signals, in a group of their own. */
#ifndef LIB_SPAWN_SIGNALS_H
#define LIB_SPAWN_SIGNALS_H

#include <signal.h>
#include <spawn.h>

/*
 * Start a child with no signal blocked or handled, and in a process group of its own, so that the
 * processes that it starts can be killed with it. Returns 0, or an errno.
 */
static inline int spawn_reset_signals(posix_spawnattr_t *attributes)
{
	sigset_t set;
	int err;

	sigemptyset(&set);
	err = posix_spawnattr_setsigmask(attributes, &set);
	sigfillset(&set);
	if (!err)
		err = posix_spawnattr_setsigdefault(attributes, &set);
	if (!err)
		err = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK |
								   POSIX_SPAWN_SETSIGDEF |
								   POSIX_SPAWN_SETPGROUP);
	return err;
}

#endif /* LIB_SPAWN_SIGNALS_H */
