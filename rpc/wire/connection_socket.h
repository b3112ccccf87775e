/* SPDX-License-Identifier: MIT */
/* Connections to sockets; arguments and results as connection_open(). */
#ifndef RPC_WIRE_CONNECTION_SOCKET_H
#define RPC_WIRE_CONNECTION_SOCKET_H

#include "rpc/wire/connection.h"

/** connection_open_socket - "HOST:PORT", "[HOST]:PORT" */
int connection_open_socket(const char *text, uint64_t deadline, struct connection **out);

/** connection_open_unix - the path of a Unix socket */
int connection_open_unix(const char *path, uint64_t deadline, struct connection **out);

#endif /* RPC_WIRE_CONNECTION_SOCKET_H */
