/* SPDX-License-Identifier: MIT */
/* Prove that client and server have the same secret. */
#ifndef RPC_WIRE_AUTH_H
#define RPC_WIRE_AUTH_H

/*
 * An extension of TVM's handshake, for our clients. The client adds "-auth=" and a nonce of 32 bytes in
 * hexadecimal digits to its key. The server sends AUTH_CHALLENGE and a nonce of its own, the client an HMAC
 * (SHA-256) of role, nonces and key, and the server accepts with a key that has "-proof=" and its own HMAC:
 *
 *	client: 0xff271, length, "client:KEY -auth=NONCE"
 *	server: 0xff274, 32 bytes
 *	client: 32 bytes
 *	server: 0xff271, length, "server:KEY -proof=HMAC"; or 0xff273
 *
 * So both sides know the secret and nothing can be replayed. What follows is neither encrypted nor protected:
 * that is for TLS or ssh. The client proves itself first, so that only a peer that knows the secret receives
 * anything to guess it from.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AUTH_CHALLENGE 0xff274
#define AUTH_NONCE     32
#define AUTH_PROOF     32
/* hexadecimal digits of a nonce or proof, and a NUL */
#define AUTH_TEXT 65

/* what stands before the server's proof, behind its key */
#define AUTH_PROOF_WORD " -proof="

/* a secret's length: shorter ones could be guessed from one recorded handshake */
#define AUTH_SECRET_LEAST 16
#define AUTH_SECRET_MOST  1024

/**
 * struct auth_secret - a shared secret
 * @size: its length in bytes; 0 for none
 * @bytes: the secret
 */
struct auth_secret {
	size_t size;
	uint8_t bytes[AUTH_SECRET_MOST];
};

/** enum auth_role - who proves */
enum auth_role { AUTH_CLIENT, AUTH_SERVER };

/**
 * auth_secret_read - read a secret from a file, without line ends at its end
 *
 * Return: 0; -TENON_E_IO; -TENON_E_VALUE for a secret that is too short or long, and for a file that others
 *	can read; -TENON_E_UNSUPPORTED for a build without CONFIG_MBEDTLS.
 */
int auth_secret_read(const char *path, struct auth_secret *out);

/** auth_nonce - 32 random bytes; false when the kernel has none */
bool auth_nonce(uint8_t nonce[AUTH_NONCE]);

/**
 * auth_proof - HMAC of role, nonces and key
 *
 * Return: 0; -TENON_E_VALUE for a key that is too long; -TENON_E_UNSUPPORTED, as auth_secret_read().
 */
int auth_proof(const struct auth_secret *secret, enum auth_role role,
	       const uint8_t client[AUTH_NONCE], const uint8_t server[AUTH_NONCE], const char *key,
	       uint8_t proof[AUTH_PROOF]);

/** auth_equal - compare proofs in constant time */
bool auth_equal(const uint8_t a[AUTH_PROOF], const uint8_t b[AUTH_PROOF]);

/** auth_print - write 32 bytes as hexadecimal digits */
void auth_print(const uint8_t bytes[AUTH_NONCE], char text[AUTH_TEXT]);

/** auth_parse - read 64 hexadecimal digits; false for other text */
bool auth_parse(const char *text, uint8_t bytes[AUTH_NONCE]);

#endif /* RPC_WIRE_AUTH_H */
