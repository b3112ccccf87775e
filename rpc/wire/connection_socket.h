/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_REMOTE_CONNECTION_SOCKET_H
#define RUNTIME_REMOTE_CONNECTION_SOCKET_H

/* connections to sockets; arguments and results as connection_open() */

#include "rpc/wire/connection.h"

/** connection_open_socket - "HOST:PORT", "[HOST]:PORT" */
int connection_open_socket(const char *text, uint64_t deadline, struct connection **out);

/** connection_open_unix - the path of a Unix socket */
int connection_open_unix(const char *path, uint64_t deadline, struct connection **out);

#endif /* RUNTIME_REMOTE_CONNECTION_SOCKET_H */
