/* SPDX-License-Identifier: MIT */
/* Byte streams to a peer, whatever carries them. */
#ifndef RPC_WIRE_CONNECTION_H
#define RPC_WIRE_CONNECTION_H

/*
 * A connection is a pair of byte streams to a peer: a TCP or Unix socket, the two pipes of a process,
 * or a layer that encrypts what another connection carries. Packets (stream.h) and handshakes are
 * written in terms of it, so that they work on each.
 *
 * Address texts are HOST:PORT, [HOST]:PORT and unix:PATH; schemes in connection.c add others.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* room for the name of a connection in messages */
#define CONNECTION_NAME 160

struct connection;

/** struct connection_ops - one kind of connection */
struct connection_ops {
	/**
	 * @read: wait for bytes and read up to @size of them
	 *
	 * Returns their number; 0 at the end; -TENON_E_IO; -TENON_E_TIMEOUT at @c->deadline.
	 */
	ssize_t (*read)(struct connection *c, void *data, size_t size);
	/** @write: write some bytes; returns their number, at least 1; errors as @read */
	ssize_t (*write)(struct connection *c, const struct iovec *parts, int count);
	/** @close: close the descriptors and free the struct */
	void (*close)(struct connection *c);
	/** @await: connection_await() */
	int (*await)(const struct connection *c);
	/** @silence: @c->silence_ms has changed; NULL for a kind that waits by connection_wait() alone */
	void (*silence)(struct connection *c);
};

/**
 * struct connection - first member of each kind
 * @ops: the kind
 * @deadline: nanoseconds of CLOCK_MONOTONIC at which reads and writes give up; 0 for never
 * @silence_ms: a read or a write gives up when not a byte passes for so long; 0 for never
 * @name: the peer, for messages
 */
struct connection {
	const struct connection_ops *ops;
	uint64_t deadline;
	uint64_t silence_ms;
	char name[CONNECTION_NAME];
};

/**
 * connection_open - connect to an address
 * @text: address
 * @deadline: as in struct connection, for connecting; 0 for none
 * @out: receives the connection; its deadline is @deadline
 *
 * Return: 0; -TENON_E_VALUE for text that is no address; -TENON_E_IO; -TENON_E_TIMEOUT;
 *	-TENON_E_NOMEM.
 */
int connection_open(const char *text, uint64_t deadline, struct connection **out);

/**
 * connection_of_fds - make a connection of descriptors that are open
 * @in: to read from: a socket, a pipe, a terminal
 * @out_fd: to write to; may be @in
 * @name: for messages; copied
 * @out: receives the connection, which owns the descriptors
 *
 * Return: 0; -TENON_E_NOMEM, in which case the caller still owns the descriptors.
 */
int connection_of_fds(int in, int out_fd, const char *name, struct connection **out);

/** connection_close - close a connection; NULL is allowed */
void connection_close(struct connection *c);

/** connection_read - read exactly @size bytes; 0; -TENON_E_IO also at the end; -TENON_E_TIMEOUT */
int connection_read(struct connection *c, void *data, size_t size);

/**
 * connection_await - wait until bytes can be read, or the end, and take nothing
 *
 * Return: 0; -TENON_E_TIMEOUT; -TENON_E_IO.
 */
int connection_await(const struct connection *c);

/** connection_write - write all; @parts is overwritten; errors as connection_read() */
int connection_write(struct connection *c, struct iovec *parts, int count);

/** connection_limit_silence - set @c->silence_ms */
void connection_limit_silence(struct connection *c, uint64_t ms);

/** connection_deadline - @ms milliseconds from now; 0 for never, if @ms is 0 */
uint64_t connection_deadline(uint64_t ms);

/**
 * connection_wait - wait until a descriptor is ready, for @read and @write of other kinds
 * @c: connection with the deadline
 * @fd: descriptor
 * @events: POLLIN or POLLOUT
 *
 * Return: 0; -TENON_E_TIMEOUT; -TENON_E_IO.
 */
int connection_wait(const struct connection *c, int fd, short events);

#endif /* RPC_WIRE_CONNECTION_H */
