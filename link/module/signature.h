/* SPDX-License-Identifier: MIT */
/* Detached signatures of whole files. */
#ifndef LINK_MODULE_SIGNATURE_H
#define LINK_MODULE_SIGNATURE_H

/*
 * A signature is over the SHA-256 of a whole file and has the form that `openssl dgst -sha256 -sign` writes: DER for
 * ECDSA, PKCS #1 v1.5 for RSA. Keys are PEM or DER files. The same key and file give the same bytes: the nonce of ECDSA
 * is that of RFC 6979.
 */

#include <stdbool.h>
#include <tenon/buffer.h>
#include <tenon/error.h>

#ifdef CONFIG_MBEDTLS
/**
 * signature_make - sign bytes
 * @key: file of a private key without a passphrase: RSA of 2048 bits or more, or ECDSA
 * @bytes: what is signed
 * @out: the signature is appended
 *
 * Return: 0; -TENON_E_VALUE for a file that is no such key; -TENON_E_IO; -TENON_E_NOMEM.
 */
int signature_make(const char *key, struct tenon_slice bytes, struct tenon_buffer *out);

/**
 * signature_check - check a signature
 * @key: file of a public key
 * @bytes: what was signed
 * @signature: the signature
 * @valid: receives whether the key's owner signed these bytes
 *
 * Return: 0, also for a signature that is not valid; else as signature_make().
 */
int signature_check(const char *key, struct tenon_slice bytes, struct tenon_slice signature,
		    bool *valid);
#else
static inline int signature_off(void)
{
	return tenon_error(-TENON_E_UNSUPPORTED, "signatures: this build has CONFIG_MBEDTLS=n");
}

static inline int signature_make(const char *key, struct tenon_slice bytes,
				 struct tenon_buffer *out)
{
	return signature_off();
}

static inline int signature_check(const char *key, struct tenon_slice bytes,
				  struct tenon_slice signature, bool *valid)
{
	*valid = false;
	return signature_off();
}
#endif

#endif /* LINK_MODULE_SIGNATURE_H */
