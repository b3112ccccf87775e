/* SPDX-License-Identifier: MIT */
/* Connections to other machines. */
#ifndef RPC_WIRE_DIAL_H
#define RPC_WIRE_DIAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* longest list of addresses of a host that is kept */
#define DIAL_ADDRESSES 4

/**
 * struct dial_target - the addresses of a host
 * @text: "HOST:PORT", for messages
 * @addresses: the addresses
 * @sizes: bytes of each
 * @count: number of them
 */
struct dial_target {
	const char *text;
	struct sockaddr_storage addresses[DIAL_ADDRESSES];
	socklen_t sizes[DIAL_ADDRESSES];
	unsigned int count;
};

/**
 * dial_resolve - look up "HOST:PORT" or "[HOST]:PORT"
 * @text: the address; must outlive @out
 *
 * Context: may wait for a name server.
 * Return: 0; -TENON_E_VALUE.
 */
int dial_resolve(const char *text, struct dial_target *out);

/**
 * dial_start - begin to connect
 * @i: which of the target's addresses
 *
 * Return: a non-blocking socket, which becomes writable when the connection exists or failed (SO_ERROR); -1
 *	with errno set.
 */
int dial_start(const struct dial_target *target, unsigned int i);

/**
 * dial - connect to the first address of a host that answers
 * @fd: receives the socket, blocking
 *
 * Return: 0; -TENON_E_VALUE; -TENON_E_IO; -TENON_E_TIMEOUT.
 */
int dial(const char *text, uint64_t timeout_ms, int *fd);

#endif /* RPC_WIRE_DIAL_H */
