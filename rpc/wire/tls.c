/* SPDX-License-Identifier: MIT */
/* What server and client share: random numbers, and bytes over a socket. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <tenon/error.h>

#include "lib/brief_errors.h"
#include "lib/file_secret.h"
#include "lib/private_key.h"
#include "rpc/wire/tls.h"
#include "rpc/wire/tls_state.h"

int tls_base_init(struct tls_base *b, int endpoint)
{
	int error;

	mbedtls_entropy_init(&b->entropy);
	mbedtls_ctr_drbg_init(&b->random);
	mbedtls_ssl_config_init(&b->config);
	mbedtls_x509_crt_init(&b->certificate);
	error = mbedtls_ctr_drbg_seed(&b->random, mbedtls_entropy_func, &b->entropy, NULL, 0);
	if (!error)
		error = mbedtls_ssl_config_defaults(&b->config, endpoint,
						    MBEDTLS_SSL_TRANSPORT_STREAM,
						    MBEDTLS_SSL_PRESET_DEFAULT);
	mbedtls_ssl_conf_rng(&b->config, mbedtls_ctr_drbg_random, &b->random);
	mbedtls_ssl_conf_min_version(&b->config, MBEDTLS_SSL_MAJOR_VERSION_3,
				     MBEDTLS_SSL_MINOR_VERSION_3);
#if MBEDTLS_VERSION_MAJOR >= 3 && defined(MBEDTLS_SSL_PROTO_TLS1_3)
	/* 1.3 needs a process-wide initialisation of PSA */
	mbedtls_ssl_conf_max_tls_version(&b->config, MBEDTLS_SSL_VERSION_TLS1_2);
#endif
	return error;
}

void tls_base_fini(struct tls_base *b)
{
	mbedtls_ssl_config_free(&b->config);
	mbedtls_x509_crt_free(&b->certificate);
	mbedtls_ctr_drbg_free(&b->random);
	mbedtls_entropy_free(&b->entropy);
}

int tls_read_certificate(struct tls_base *b, const char *path)
{
	struct stat st;
	char *bytes;
	size_t size;
	int error, err = file_secret_read_any(path, "certificate", FILE_CERTIFICATES_MOST, &st,
					      &bytes, &size);

	if (!err) {
		error = mbedtls_x509_crt_parse(&b->certificate, (const unsigned char *)bytes,
					       pem_size(bytes, size));
		err = error ? tls_fail(-TENON_E_VALUE, path, error) : 0;
	}
	free(bytes);
	return err;
}

int tls_send(void *fd, const unsigned char *bytes, size_t size)
{
	ssize_t n = send(*(int *)fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n >= 0)
		return (int)n;
	return errno == EAGAIN || errno == EINTR ? MBEDTLS_ERR_SSL_WANT_WRITE
						 : MBEDTLS_ERR_SSL_INTERNAL_ERROR;
}

int tls_receive(void *fd, unsigned char *bytes, size_t size)
{
	ssize_t n = recv(*(int *)fd, bytes, size, MSG_DONTWAIT);

	if (n >= 0)
		return (int)n;
	return errno == EAGAIN || errno == EINTR ? MBEDTLS_ERR_SSL_WANT_READ
						 : MBEDTLS_ERR_SSL_INTERNAL_ERROR;
}

short tls_wants(int result)
{
	if (result == MBEDTLS_ERR_SSL_WANT_READ)
		return POLLIN;
	return result == MBEDTLS_ERR_SSL_WANT_WRITE ? POLLOUT : 0;
}

int tls_fail(int status, const char *what, int error)
{
	char text[160] = "";

	mbedtls_strerror(error, text, sizeof(text));
	return tenon_error(status, "%s: %s", what, text);
}
