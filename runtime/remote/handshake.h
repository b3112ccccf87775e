/* SPDX-License-Identifier: MIT */
#ifndef RUNTIME_REMOTE_HANDSHAKE_H
#define RUNTIME_REMOTE_HANDSHAKE_H

/**
 * DOC: the handshake
 *
 * The client sends a magic number, a length and a key, "client:KEY" and perhaps options. The server
 * answers with a magic number, and, when it accepts, a length and its own key.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HANDSHAKE_MAGIC	   0xff271
#define HANDSHAKE_MISMATCH 0xff273

/* longest key */
#define HANDSHAKE_KEY_MOST 4096

/**
 * struct handshake - what a client sent so far; zero-initialise it
 * @size: number of bytes
 * @bytes: magic, length, key
 */
struct handshake {
	size_t size;
	uint8_t bytes[8 + HANDSHAKE_KEY_MOST + 1];
};

/** handshake_missing - number of bytes to read next; 0 when it is complete; -1 for an invalid one */
int handshake_missing(const struct handshake *h);

/**
 * handshake_accept - compare the client's key
 * @h: a complete handshake
 * @key: the server's
 * @timeout_ms: receives the client's limit of the session; 0 for none
 */
bool handshake_accept(struct handshake *h, const char *key, uint64_t *timeout_ms);

#endif /* RUNTIME_REMOTE_HANDSHAKE_H */
