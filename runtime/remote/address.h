/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_REMOTE_ADDRESS_H
#define RUNTIME_REMOTE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

/* room for the text of an address */
#define ADDRESS_TEXT 160

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

/** address_same_user - test whether the peer of a Unix socket is this user or root; true for TCP */
bool address_same_user(int fd);

#endif /* RUNTIME_REMOTE_ADDRESS_H */
