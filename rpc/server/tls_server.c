/* SPDX-License-Identifier: MIT */
/* Decrypt connections of clients in a relay process. */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <tenon/error.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"
#include "lib/file_secret.h"
#include "lib/private_key.h"
#include "rpc/server/relay.h"
#include "rpc/wire/tls.h"
#include "rpc/wire/tls_state.h"

#define HANDSHAKE_MS 10000

struct tls_server {
	struct tls_base base;
	mbedtls_pk_context key;
};

static int read_key(struct tls_server *s, const char *path)
{
	char *bytes;
	size_t size;
	int error, fd, err = file_secret_open(path, "key", &fd);

	if (err)
		return err;
	err = file_secret_read(fd, path, "key", FILE_SECRET_MOST, &bytes, &size);
	if (!err) {
		error = private_key_parse(&s->key, &s->base.random, bytes, size);
		err = error ? tls_fail(-TENON_E_VALUE, path, error) : 0;
	}
	file_secret_free(bytes, size);
	return err;
}

int tls_server_open(const char *certificate, const char *key, struct tls_server **out)
{
	struct tls_server *s = calloc(1, sizeof(*s));
	int error, err = 0;

	*out = NULL;
	if (!s)
		return tenon_error(-TENON_E_NOMEM, "no memory for TLS");
	mbedtls_pk_init(&s->key);
	error = tls_base_init(&s->base, MBEDTLS_SSL_IS_SERVER);
	if (error)
		err = tls_fail(-TENON_E_IO, "TLS", error);
	if (!err)
		err = tls_read_certificate(&s->base, certificate);
	if (!err)
		err = read_key(s, key);
	if (!err) {
		error = mbedtls_ssl_conf_own_cert(&s->base.config, &s->base.certificate, &s->key);
		if (error)
			err = tls_fail(-TENON_E_VALUE, certificate, error);
	}
	if (err) {
		tls_server_close(s);
		return err;
	}
	*out = s;
	return 0;
}

void tls_server_close(struct tls_server *s)
{
	if (!s)
		return;
	mbedtls_pk_free(&s->key);
	tls_base_fini(&s->base);
	free(s);
}

/* ---- the relay */

/* a connection with TLS, and bytes on the way */
struct relayed {
	mbedtls_ssl_context *ssl;
	int fd;
	int socket;
	/* what the last call on either way of the connection waits for */
	short reading;
	short writing;
	unsigned char in[16 << 10];
	size_t in_start, in_size;
	unsigned char out[16 << 10];
	size_t out_start, out_size;
	bool in_ended;
	uint64_t deadline; /* of relay_patience() */
	struct relay_traffic *traffic;
};

/* Decrypt when there is room. Returns false on failure. */
static bool decrypt(struct relayed *r)
{
	int n;

	r->reading = 0;
	if (r->in_size || r->in_ended)
		return true;
	n = mbedtls_ssl_read(r->ssl, r->in, sizeof(r->in));
	if (n > 0) {
		r->in_start = 0;
		r->in_size = (size_t)n;
		return true;
	}
	r->reading = tls_wants(n);
	if (r->reading)
		return true;
	/* end of the stream, clean or not: shut down the session's side in both cases */
	r->in_ended = true;
	shutdown(r->socket, SHUT_WR);
	return true;
}

static bool pass_in(struct relayed *r)
{
	ssize_t n;

	while (r->in_size) {
		n = send(r->socket, r->in + r->in_start, r->in_size, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		if (n < 0)
			return false;
		r->in_start += (size_t)n;
		r->in_size -= (size_t)n;
		atomic_store(&r->traffic->received, clock_now());
	}
	return true;
}

/* Returns 1 at the end of the session, -1 on failure. */
static int take_out(struct relayed *r)
{
	ssize_t n;

	if (r->out_size)
		return 0;
	n = recv(r->socket, r->out, sizeof(r->out), MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	r->out_start = 0;
	r->out_size = (size_t)n;
	if (n)
		atomic_store(&r->traffic->sent, clock_now());
	return !n;
}

static bool encrypt(struct relayed *r)
{
	int n;

	r->writing = 0;
	while (r->out_size) {
		n = mbedtls_ssl_write(r->ssl, r->out + r->out_start, r->out_size);
		if (n < 0) {
			r->writing = tls_wants(n);
			return r->writing;
		}
		r->out_start += (size_t)n;
		r->out_size -= (size_t)n;
	}
	return true;
}

/* Returns false when the peer must be given up. */
static bool wait_for(struct relayed *r)
{
	const int ms = relay_patience(&r->deadline, r->socket, r->out_size > 0);
	short socket = (r->in_size ? POLLOUT : 0) | (r->out_size ? 0 : POLLIN);
	short peer = r->reading | r->writing;
	struct pollfd polled[2] = { { peer ? r->fd : -1, peer, 0 },
				    { socket ? r->socket : -1, socket, 0 } };

	poll(polled, 2, ms);
	return ms != 0;
}

static int copy(struct relayed *r)
{
	int end;

	for (;;) {
		do {
			if (!decrypt(r) || !pass_in(r))
				return -1;
		} while (!r->in_size && !r->in_ended && !r->reading);
		do {
			end = take_out(r);
			if (end < 0 || !encrypt(r))
				return -1;
			if (end) {
				mbedtls_ssl_close_notify(r->ssl);
				return 0;
			}
		} while (0);
		if (!wait_for(r))
			return -1;
	}
}

/* The server closes the session's socket when others need the place of this connection. */
static int accept_tls(mbedtls_ssl_context *ssl, int fd, int socket)
{
	const uint64_t deadline = clock_ms() + HANDSHAKE_MS;
	struct pollfd polled[2] = { { fd, 0, 0 }, { socket, 0, 0 } };
	uint64_t now;
	int result;

	for (;;) {
		result = mbedtls_ssl_handshake(ssl);
		polled[0].events = tls_wants(result);
		if (!polled[0].events)
			return result;
		now = clock_ms();
		if (now >= deadline || polled[1].revents)
			return -1;
		poll(polled, 2, (int)(deadline - now) + 1);
	}
}

int tls_relay(const struct tls_server *s, int fd, int socket, struct relay_traffic *traffic)
{
	static struct relayed r;
	mbedtls_ssl_context ssl;
	struct tls_server *server = (struct tls_server *)(uintptr_t)s;
	int result;

	/* the parent's generator continues in each child: make their numbers differ */
	if (mbedtls_ctr_drbg_reseed(&server->base.random, NULL, 0))
		return -1;
	mbedtls_ssl_init(&ssl);
	result = mbedtls_ssl_setup(&ssl, &s->base.config);
	if (!result) {
		mbedtls_ssl_set_bio(&ssl, &fd, tls_send, tls_receive, NULL);
		result = accept_tls(&ssl, fd, socket);
	}
	if (!result) {
		r = (struct relayed){ .ssl = &ssl, .fd = fd, .socket = socket, .traffic = traffic };
		result = copy(&r);
	}
	mbedtls_ssl_free(&ssl);
	return result ? -1 : 0;
}
