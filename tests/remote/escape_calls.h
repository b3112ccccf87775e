/* SPDX-License-Identifier: MIT */
/* The ways out of a sandbox as functions of escapes.so, and what they share. */
#ifndef TESTS_REMOTE_ESCAPE_CALLS_H
#define TESTS_REMOTE_ESCAPE_CALLS_H

#include <errno.h>
#include <stdint.h>

#include "escapes.h"

/* the session's folder is in the server's, which is in a folder beside these */
#define OUTSIDE	       "../../../outside"
#define OUTSIDE_SOCKET "../../../outside.sock"
#define READABLE       "/bin/sh"

#define DECLARE(name, part) int64_t name(void);
ESCAPES(DECLARE)
#undef DECLARE

/* Turn what a call returned into the errno that stopped it. */
static inline int64_t stopped(long result)
{
	return result < 0 ? errno : 0;
}

#endif /* TESTS_REMOTE_ESCAPE_CALLS_H */
