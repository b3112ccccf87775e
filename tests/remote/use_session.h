/* SPDX-License-Identifier: MIT */
/* Make each request of a client at least once, to a server that may answer anything. */
#ifndef TESTS_REMOTE_USE_SESSION_H
#define TESTS_REMOTE_USE_SESSION_H

#include <tenon/remote.h>

#define SESSION_ACTIONS 7

/* All of them, from number @first on. */
void use_session(struct tenon_remote *remote, unsigned int first);

#endif /* TESTS_REMOTE_USE_SESSION_H */
