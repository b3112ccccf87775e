/* SPDX-License-Identifier: MIT */
/* A client's connection with TLS: check the server, encrypt and decrypt. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"
#include "rpc/wire/address.h"
#include "rpc/wire/connection.h"
#include "rpc/wire/dial.h"
#include "rpc/wire/tls.h"
#include "rpc/wire/tls_state.h"

/* connecting without a deadline */
#define DIAL_MS 60000

struct tls_connection {
	struct connection connection;
	int fd;
	struct tls_base base;
	mbedtls_ssl_context ssl;
};

static struct tls_connection *of(struct connection *c)
{
	return (struct tls_connection *)c;
}

static ssize_t read_some(struct connection *c, void *data, size_t size)
{
	struct tls_connection *t = of(c);
	short wanted;
	int n, err;

	for (;;) {
		n = mbedtls_ssl_read(&t->ssl, data, size);
		if (n == MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY)
			return 0;
		wanted = n < 0 ? tls_wants(n) : 0;
		if (!wanted)
			return n < 0 ? tls_fail(-TENON_E_IO, c->name, n) : n;
		err = connection_wait(c, t->fd, wanted);
		if (err)
			return err;
	}
}

static ssize_t write_some(struct connection *c, const struct iovec *parts, int count)
{
	struct tls_connection *t = of(c);
	short wanted;
	int n, err;

	while (count && !parts->iov_len) {
		parts++;
		count--;
	}
	if (!count)
		return 0;
	for (;;) {
		n = mbedtls_ssl_write(&t->ssl, parts->iov_base, parts->iov_len);
		wanted = n < 0 ? tls_wants(n) : 0;
		if (!wanted)
			return n < 0 ? tls_fail(-TENON_E_IO, c->name, n) : n;
		err = connection_wait(c, t->fd, wanted);
		if (err)
			return err;
	}
}

static void close_tls(struct connection *c)
{
	struct tls_connection *t = of(c);

	mbedtls_ssl_close_notify(&t->ssl);
	mbedtls_ssl_free(&t->ssl);
	tls_base_fini(&t->base);
	if (t->fd >= 0)
		close(t->fd);
	free(t);
}

static int await(const struct connection *c)
{
	const struct tls_connection *t = (const struct tls_connection *)c;

	return mbedtls_ssl_check_pending(&t->ssl) ? 0 : connection_wait(c, t->fd, POLLIN);
}

static const struct connection_ops tls_ops = { read_some, write_some, close_tls, await, NULL };

static int read_authority(struct tls_connection *t)
{
	const char *path = secure_getenv("TENON_RPC_CA");
	int err;

	if (!path || !*path)
		path = "/etc/ssl/certs/ca-certificates.crt";
	err = tls_read_certificate(&t->base, path);
	if (err)
		return err;
	mbedtls_ssl_conf_ca_chain(&t->base.config, &t->base.certificate, NULL);
	mbedtls_ssl_conf_authmode(&t->base.config, MBEDTLS_SSL_VERIFY_REQUIRED);
	return 0;
}

static int refuse(struct tls_connection *t, int error)
{
	char reason[300] = "";
	uint32_t flags = mbedtls_ssl_get_verify_result(&t->ssl);

	if (error != MBEDTLS_ERR_X509_CERT_VERIFY_FAILED)
		return tls_fail(-TENON_E_IO, t->connection.name, error);
	mbedtls_x509_crt_verify_info(reason, sizeof(reason), "", flags);
	/* the last line end */
	if (*reason)
		reason[strlen(reason) - 1] = '\0';
	return tenon_error(
		-TENON_E_VALUE,
		"%s: its certificate is refused: %s. TENON_RPC_CA names the file with the "
		"authority's certificate",
		t->connection.name, reason);
}

static int handshake(struct tls_connection *t)
{
	short wanted;
	int result, err;

	for (;;) {
		result = mbedtls_ssl_handshake(&t->ssl);
		if (!result)
			return 0;
		wanted = tls_wants(result);
		if (!wanted)
			return refuse(t, result);
		err = connection_wait(&t->connection, t->fd, wanted);
		if (err)
			return err;
	}
}

static int set_up(struct tls_connection *t, const char *text, uint64_t deadline)
{
	char host[ADDRESS_HOST], port[ADDRESS_PORT];
	uint64_t now = clock_now();
	int error, err = address_split(text, host, port);

	if (!err)
		err = read_authority(t);
	if (!err)
		err = dial(text,
			   !deadline	    ? DIAL_MS
			   : deadline > now ? (deadline - now) / 1000000
					    : 0,
			   &t->fd);
	if (err)
		return err;
	fcntl(t->fd, F_SETFL, fcntl(t->fd, F_GETFL) | O_NONBLOCK);
	error = mbedtls_ssl_setup(&t->ssl, &t->base.config);
	if (!error)
		error = mbedtls_ssl_set_hostname(&t->ssl, host);
	if (error)
		return tls_fail(-TENON_E_NOMEM, text, error);
	mbedtls_ssl_set_bio(&t->ssl, &t->fd, tls_send, tls_receive, NULL);
	return handshake(t);
}

int tls_connection_open(const char *text, uint64_t deadline, struct connection **out)
{
	struct tls_connection *t = calloc(1, sizeof(*t));
	int error, err;

	*out = NULL;
	if (!t)
		return tenon_error(-TENON_E_NOMEM, "no memory for a connection");
	t->fd = -1;
	t->connection.ops = &tls_ops;
	t->connection.deadline = deadline;
	snprintf(t->connection.name, sizeof(t->connection.name), "%s", text);
	mbedtls_ssl_init(&t->ssl);
	error = tls_base_init(&t->base, MBEDTLS_SSL_IS_CLIENT);
	err = error ? tls_fail(-TENON_E_IO, "TLS", error) : set_up(t, text, deadline);
	if (err) {
		close_tls(&t->connection);
		return err;
	}
	*out = &t->connection;
	return 0;
}
