/* SPDX-License-Identifier: MIT */
/* Addresses of servers as text, and sockets that listen on them. */
#ifndef RPC_WIRE_ADDRESS_H
#define RPC_WIRE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

/* room for the text of an address */
#define ADDRESS_TEXT 160

#define ADDRESS_HOST 128
#define ADDRESS_PORT 16

/**
 * address_split - split "HOST:PORT" or "[HOST]:PORT"
 *
 * Return: 0; -TENON_E_VALUE for other text.
 */
int address_split(const char *text, char host[ADDRESS_HOST], char port[ADDRESS_PORT]);

/**
 * address_unknown - say why getaddrinfo() found no address
 * @text: the address that was looked up
 * @status: what to return, but for memory that ran out
 * @why: what getaddrinfo() returned
 *
 * Return: @status, or -TENON_E_NOMEM.
 */
int address_unknown(const char *text, int status, int why);

/**
 * address_listen - open a listening socket
 * @text: "HOST:PORT", "[HOST]:PORT" or "unix:PATH"; port 0 is any free one
 * @trust_network: accept an address that is not of this machine alone
 * @fd: receives the socket, non-blocking and closed on exec
 * @bound: receives the address with the port in use
 *
 * Return: 0; -TENON_E_VALUE for text that is no address, and for one that other machines can reach
 *	without @trust_network; -TENON_E_IO.
 */
int address_listen(const char *text, bool trust_network, int *fd, char bound[ADDRESS_TEXT]);

/** address_unlink - remove the socket file of a "unix:PATH" address */
void address_unlink(const char *text);

/** address_of_peer - print the numeric host of a peer */
void address_of_peer(const void *address, size_t address_size, char *text, size_t size);

/** address_is_local - test whether only this machine can reach a listening socket */
bool address_is_local(int fd);

/** address_bound - print the address of a listening socket */
void address_bound(int fd, char bound[ADDRESS_TEXT]);

/** address_port - the TCP port of a socket; -1 for none */
int address_port(int fd);

/**
 * address_keep_alive - notice a peer whose machine vanished, and send small packets at once; no-op but for TCP
 * @idle: seconds of silence after which it is asked every ten seconds
 * @count: questions without an answer that end the connection
 */
void address_keep_alive(int fd, int idle, int count);

#endif /* RPC_WIRE_ADDRESS_H */
