/* SPDX-License-Identifier: MIT */
/* Parse a key that was read from a file, for rooms that use mbedtls. */
#ifndef LIB_PRIVATE_KEY_H
#define LIB_PRIVATE_KEY_H

#include <mbedtls/ctr_drbg.h>
#include <mbedtls/pk.h>
#include <mbedtls/version.h>
#include <string.h>

/* The size that mbedtls wants for the bytes of file_secret_read(): for a key or certificate in PEM it counts the NUL behind them. */
static inline size_t pem_size(const char *bytes, size_t size)
{
	return size + (strstr(bytes, "-----BEGIN ") != NULL);
}

/**
 * private_key_parse - parse a private key without a passphrase, in PEM or DER
 * @key: receives the key; initialised by the caller
 * @random: hides the key from measurements of time
 * @bytes: of file_secret_read(), with a NUL behind them
 * @size: their number, without the NUL
 *
 * Return: 0; an error of mbedtls.
 */
static inline int private_key_parse(mbedtls_pk_context *key, mbedtls_ctr_drbg_context *random,
				    const char *bytes, size_t size)
{
	const size_t all = pem_size(bytes, size);

#if MBEDTLS_VERSION_MAJOR >= 3
	return mbedtls_pk_parse_key(key, (const unsigned char *)bytes, all, NULL, 0,
				    mbedtls_ctr_drbg_random, random);
#else
	(void)random;
	return mbedtls_pk_parse_key(key, (const unsigned char *)bytes, all, NULL, 0);
#endif
}

#endif /* LIB_PRIVATE_KEY_H */
