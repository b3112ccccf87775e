/* SPDX-License-Identifier: MIT */
/* A server that ssh starts on a board, at the other end of its pipes: no port is open there. */
#ifndef RPC_WIRE_CONNECTION_SSH_H
#define RPC_WIRE_CONNECTION_SSH_H

#include "rpc/wire/connection.h"

/**
 * connection_open_ssh - "[USER@]HOST[:PORT][/...]"; arguments and results as connection_open()
 *
 * Runs ssh, or the program that the environment variable TENON_RPC_SSH names. It ends with the connection. A
 * failure to log in is an end of the connection; ssh writes the reason to standard error.
 */
int connection_open_ssh(const char *text, uint64_t deadline, struct connection **out);

#endif /* RPC_WIRE_CONNECTION_SSH_H */
