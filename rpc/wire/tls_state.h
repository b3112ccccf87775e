/* SPDX-License-Identifier: MIT */
/* What server and client share: random numbers, and records on a socket. */
#ifndef RPC_WIRE_TLS_STATE_H
#define RPC_WIRE_TLS_STATE_H

#include <mbedtls/ctr_drbg.h>
#include <mbedtls/entropy.h>
#include <mbedtls/error.h>
#include <mbedtls/ssl.h>
#include <mbedtls/version.h>
#include <mbedtls/x509_crt.h>

/**
 * struct tls_base - what each end needs
 * @entropy: the kernel's random numbers
 * @random: generator
 * @config: TLS 1.2 and later
 * @certificate: own certificate of a server, the authority's of a client
 */
struct tls_base {
	mbedtls_entropy_context entropy;
	mbedtls_ctr_drbg_context random;
	mbedtls_ssl_config config;
	mbedtls_x509_crt certificate;
};

/** tls_base_init - @endpoint is MBEDTLS_SSL_IS_SERVER or MBEDTLS_SSL_IS_CLIENT; 0, or an error of mbedtls */
int tls_base_init(struct tls_base *b, int endpoint);
void tls_base_fini(struct tls_base *b);

/**
 * tls_read_certificate - read the certificates of a file
 * @path: a regular file, in PEM or DER
 *
 * Return: 0; -TENON_E_IO; -TENON_E_VALUE for what is no certificate; -TENON_E_NOMEM.
 */
int tls_read_certificate(struct tls_base *b, const char *path);

/* records on a non-blocking socket; @fd points to it */
int tls_send(void *fd, const unsigned char *bytes, size_t size);
int tls_receive(void *fd, unsigned char *bytes, size_t size);

/** tls_wants - the event of poll() that a result waits for; 0 for an error */
short tls_wants(int result);

/** tls_fail - raise an error of mbedtls */
int tls_fail(int status, const char *what, int error);

#endif /* RPC_WIRE_TLS_STATE_H */
