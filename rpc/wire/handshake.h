/* SPDX-License-Identifier: MIT */
/* The first messages between client and server. */
#ifndef RPC_WIRE_HANDSHAKE_H
#define RPC_WIRE_HANDSHAKE_H

/*
 * The client sends a magic number, a length and a key, "client:KEY" and perhaps options. The server
 * answers with a magic number, and, when it accepts, a length and its own key.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HANDSHAKE_MAGIC	    0xff271
#define HANDSHAKE_DUPLICATE 0xff272
#define HANDSHAKE_MISMATCH  0xff273

/*
 * The word behind the keys of both sides that agrees on the extension of Tenon: the client may send
 * requests before the replies to earlier ones came, and the handle that the reply to request n brings,
 * counted from 0 for InitServer, is (n + 1) * 64.
 */
#define HANDSHAKE_EXTENSION "-tenon=1"

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
 * struct handshake_client - what a client asked for; its texts are in the handshake
 * @key: the key
 * @timeout_ms: the client's limit of the session; 0 for none
 * @auth: the client's part of a proof of the shared secret (auth.h), an extension; NULL for none
 * @extension: the client offers the extension above
 */
struct handshake_client {
	const char *key;
	uint64_t timeout_ms;
	const char *auth;
	bool extension;
};

/**
 * handshake_parse - split a complete handshake into its parts; the handshake is changed
 *
 * Return: false when it is not that of a client.
 */
bool handshake_parse(struct handshake *h, struct handshake_client *out);

/** handshake_send - send magic, length and key without waiting; false when they do not fit, or memory runs out */
bool handshake_send(int fd, const char *key, size_t size);

#endif /* RPC_WIRE_HANDSHAKE_H */
