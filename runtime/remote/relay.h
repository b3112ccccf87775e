/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_REMOTE_RELAY_H
#define RUNTIME_REMOTE_RELAY_H

/**
 * DOC: relays
 *
 * Sessions and handshakes use sockets. A relay is a process that copies between such a socket and what is not
 * one: the pipes of ssh, a serial line, a connection with TLS. It can do nothing else (sandbox.h), so a fault
 * in the library that decrypts costs one connection.
 */

#include <sys/types.h>

struct tls_server;

/** struct relay_ends - what a relay reads and writes, both closed with its socket */
struct relay_ends {
	int in;
	int out;
};

/**
 * relay_start - start a relay
 * @ends: the peer; closed here
 * @tls: speak TLS with the peer; NULL for plain bytes
 * @forget: called in the relay's process before it begins, to drop shared memory; may be NULL. Descriptors are
 *	closed by the relay itself
 * @context: passed to @forget
 * @socket: receives the socket
 *
 * Return: the process, a child that ends with the socket; -1 with errno set, and @ends is open.
 */
pid_t relay_start(struct relay_ends ends, const struct tls_server *tls,
		  void (*forget)(void *context), void *context, int *socket);

/** relay_copy - copy both ways until both sides ended; -1 when one failed */
int relay_copy(struct relay_ends ends, int socket);

#endif /* RUNTIME_REMOTE_RELAY_H */
