/* SPDX-License-Identifier: MIT */
/* Relay processes between a session's socket and pipes, serial lines or TLS. */
#ifndef RPC_SERVER_RELAY_H
#define RPC_SERVER_RELAY_H

/*
 * Sessions and handshakes use sockets. A relay is a process that copies between such a socket and what is not
 * one: the pipes of ssh, a serial line, a connection with TLS. It can do nothing else (sandbox.h), so a fault
 * in the library that decrypts costs one connection.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tls_server;

/**
 * struct relay_traffic - memory that a relay shares with the server; in nanoseconds of CLOCK_MONOTONIC
 * @received: when it last passed bytes of the peer on
 * @sent: when it last took bytes for the peer
 */
struct relay_traffic {
	_Atomic uint64_t received;
	_Atomic uint64_t sent;
};

/** struct relay_ends - what a relay reads and writes, both closed with its socket */
struct relay_ends {
	int in;
	int out;
};

/**
 * relay_start - start a relay
 * @ends: the peer; closed here
 * @tls: speak TLS with the peer; NULL for plain bytes
 * @traffic: shared memory that the relay keeps up to date
 * @forget: called in the relay's process before it begins, to drop shared memory; may be NULL. Descriptors are
 *	closed by the relay itself
 * @context: passed to @forget
 * @socket: receives the socket
 *
 * Return: the process, a child that ends with the socket; -1 with errno set, and @ends is open.
 */
pid_t relay_start(struct relay_ends ends, const struct tls_server *tls,
		  struct relay_traffic *traffic, void (*forget)(void *context), void *context,
		  int *socket);

/** relay_copy - copy both ways until both sides ended; -1 when one failed */
int relay_copy(struct relay_ends ends, int socket, struct relay_traffic *traffic);

/**
 * relay_patience - how long a relay may wait in poll()
 * @deadline: 0 at first; kept between calls
 * @socket: the session's
 * @pending: the peer has bytes to take
 *
 * A peer that does not take its bytes keeps a relay while its session lives, and 30 s longer.
 *
 * Return: milliseconds; -1 for no limit; 0 when the peer must be given up.
 */
int relay_patience(uint64_t *deadline, int socket, bool pending);

#endif /* RPC_SERVER_RELAY_H */
