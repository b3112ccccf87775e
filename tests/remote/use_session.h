/* SPDX-License-Identifier: MIT */
#ifndef TESTS_REMOTE_USE_SESSION_H
#define TESTS_REMOTE_USE_SESSION_H

/* What a client asks of a server that may answer anything: each request at least once. */

#include <tenon/remote.h>

#define SESSION_ACTIONS 7

/* All of them, from number @first on. */
void use_session(struct tenon_remote *remote, unsigned int first);

#endif /* TESTS_REMOTE_USE_SESSION_H */
