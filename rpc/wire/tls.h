/* SPDX-License-Identifier: MIT */
/* TLS for connections, or its refusal in builds without it. */
#ifndef RPC_WIRE_TLS_H
#define RPC_WIRE_TLS_H

/*
 * By mbedtls, where the build has CONFIG_MBEDTLS; other builds refuse with the option's name. A server
 * decrypts in a relay's process (relay.h), which has its key but no files and no network; a client in its own.
 */

#include <stdint.h>

struct connection;
struct relay_traffic;
struct tls_server;

/**
 * tls_server_open - read a certificate and its key
 * @certificate: file, PEM or DER, with the chain
 * @key: file, which only its owner may read
 * @out: receives the server's part; tls_server_close() frees it
 *
 * Return: 0; -TENON_E_IO; -TENON_E_VALUE; -TENON_E_NOMEM; -TENON_E_UNSUPPORTED.
 */
int tls_server_open(const char *certificate, const char *key, struct tls_server **out);

/** tls_server_close - free it; NULL is allowed */
void tls_server_close(struct tls_server *s);

/**
 * tls_relay - accept TLS on a socket, and copy what it carries to and from another one
 * @fd: the peer
 * @socket: the session
 * @traffic: as for relay_start()
 *
 * Return: 0; -1 when the handshake failed or took too long, the session was closed meanwhile, or a connection failed.
 */
int tls_relay(const struct tls_server *s, int fd, int socket, struct relay_traffic *traffic);

/**
 * tls_connection_open - connect to "HOST:PORT", and check that its certificate is HOST's
 * @text: the address
 * @deadline: as connection_open()
 * @out: receives the connection
 *
 * The environment variable TENON_RPC_CA names the file with the authority's certificate; the default is the
 * system's list.
 *
 * Return: as connection_open(); -TENON_E_UNSUPPORTED.
 */
int tls_connection_open(const char *text, uint64_t deadline, struct connection **out);

#endif /* RPC_WIRE_TLS_H */
