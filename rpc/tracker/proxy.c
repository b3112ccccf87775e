/* SPDX-License-Identifier: MIT */
/* The proxy: connections, keys, and the bytes between a server and a client. One process with one thread. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <tenon/buffer.h>
#include <tenon/error.h>
#include <tenon/string.h>
#include <unistd.h>

#include "lib/brief_errors.h"
#include "lib/clock.h"
#include "rpc/tracker/proxy_state.h"
#include "rpc/wire/address.h"

#define HANDSHAKE_MS 10000

static void say(struct proxy *p, const char *what, const char *text)
{
	char line[300];

	snprintf(line, sizeof(line), "%s %s", what, text);
	if (p->options->say)
		p->options->say(p->options->context, line);
}

/* ---- keys */

static bool is_busy(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

struct tenon_slice proxied_key(const struct proxied *c)
{
	const char *key = (const char *)c->handshake->bytes + 8 + PROXY_ROLE_SIZE;
	size_t size = c->handshake->size - 8 - PROXY_ROLE_SIZE, n = 0;

	while (n < size && !strchr(" \t\n\r\f\v", key[n]) && key[n])
		n++;
	return (struct tenon_slice){ key, n };
}

static void send_code(struct proxied *c, uint8_t code)
{
	const uint8_t bytes[4] = { code, 0xf2, 0x0f, 0x00 };

	send(c->fd, bytes, sizeof(bytes), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Each side receives the whole key of the other one: a client's has its timeout. */
static bool send_key_of(struct proxied *to, const struct proxied *from)
{
	return handshake_send(to->fd, (const char *)from->handshake->bytes + 8,
			      from->handshake->size - 8);
}

static void join(struct proxied *a, struct proxied *b)
{
	a->flow = calloc(1, sizeof(*a->flow));
	b->flow = calloc(1, sizeof(*b->flow));
	if (!a->flow || !b->flow || !send_key_of(a, b) || !send_key_of(b, a)) {
		a->closing = b->closing = true;
		return;
	}
	free(a->handshake);
	free(b->handshake);
	a->handshake = b->handshake = NULL;
	a->deadline = b->deadline = 0;
	a->partner = b;
	b->partner = a;
}

static void find_partner(struct proxy *p, struct proxied *c)
{
	struct proxied *first = NULL;
	unsigned int i;

	for (i = 0; i < p->peer_count; i++) {
		struct proxied *other = p->peers[i];

		if (other == c || !other->ready || other->partner || other->closing ||
		    !tenon_slice_equal(proxied_key(other), proxied_key(c)))
			continue;
		if (other->is_server != c->is_server) {
			/* who waited longest */
			if (!first || other->deadline < first->deadline)
				first = other;
		} else if (c->is_server) {
			/* as TVM's proxy. Clients may wait together: one is served after the other */
			send_code(c, 0x72);
			c->closing = true;
			return;
		}
	}
	if (first)
		join(c, first);
}

/* A tracker decides which client has which server. Returns false when the peer must be closed. */
static bool pair_by_tracker(struct proxy *p, struct proxied *c)
{
	struct proxied *server;

	if (c->is_server) {
		/*
		 * servers wait without a limit: if one were closed, the tracker would keep its
		 * offer
		 */
		c->deadline = 0;
		if (proxy_tracker_add(p, c))
			return true;
		say(p, "a server is refused:",
		    "trackers take keys without colons, quotes, backslashes and control "
		    "characters, "
		    "of at most 990 bytes in UTF-8, and 1000 servers");
		send_code(c, 0x73);
		return false;
	}
	server = proxy_tracker_take(p, c);
	if (!server) {
		send_code(c, 0x73);
		return false;
	}
	join(c, server);
	return true;
}

/* Returns false when the peer must be closed. */
static bool end_handshake(struct proxy *p, struct proxied *c)
{
	const char *role = (const char *)c->handshake->bytes + 8;

	if (c->handshake->size < 8 + PROXY_ROLE_SIZE)
		return false;
	c->is_server = !memcmp(role, "server:", PROXY_ROLE_SIZE);
	if (!c->is_server && memcmp(role, "client:", PROXY_ROLE_SIZE)) {
		send_code(c, 0x73);
		return false;
	}
	c->ready = true;
	c->deadline = clock_ms() + p->options->wait_ms;
	if (p->options->tracker)
		return pair_by_tracker(p, c);
	find_partner(p, c);
	return true;
}

static bool read_handshake(struct proxy *p, struct proxied *c)
{
	struct handshake *h = c->handshake;
	char more;
	int missing;
	ssize_t n;

	if (c->ready) {
		/* nothing may come before the reply; and a peer that left must not be joined */
		n = recv(c->fd, &more, 1, 0);
		return n < 0 && is_busy();
	}
	while ((missing = handshake_missing(h)) > 0) {
		n = recv(c->fd, h->bytes + h->size, (size_t)missing, 0);
		if (n < 0 && is_busy())
			return true;
		if (n <= 0)
			return false;
		h->size += (size_t)n;
	}
	return !missing && end_handshake(p, c);
}

/* ---- copying */

/* Returns false when both sides must be closed. */
static bool copy(struct proxied *from)
{
	struct flow *f = from->flow;
	ssize_t n;

	for (;;) {
		while (f->size) {
			n = send(from->partner->fd, f->bytes + f->start, f->size,
				 MSG_NOSIGNAL | MSG_DONTWAIT);
			if (n < 0)
				return is_busy();
			f->start += (size_t)n;
			f->size -= (size_t)n;
		}
		if (f->ended)
			return false;
		n = recv(from->fd, f->bytes, sizeof(f->bytes), MSG_DONTWAIT);
		if (n < 0)
			return is_busy();
		/* one side ended: the other one is closed when it has all bytes */
		f->ended = !n;
		f->start = 0;
		f->size = (size_t)n;
	}
}

static void serve(struct proxy *p, struct proxied *c)
{
	if (!c->partner) {
		if (!read_handshake(p, c))
			c->closing = true;
		return;
	}
	if (!copy(c) || !copy(c->partner))
		c->closing = c->partner->closing = true;
}

/* ---- connections */

static void accept_peer(struct proxy *p, int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct proxied *c;

	if (fd < 0)
		return;
	c = p->peer_count < p->options->connections_most ? calloc(1, sizeof(*c)) : NULL;
	if (c)
		c->handshake = calloc(1, sizeof(*c->handshake));
	if (!c || !c->handshake) {
		free(c);
		close(fd);
		return;
	}
	/* a peer whose machine vanished is noticed after two minutes; routers forget idle connections */
	address_keep_alive(fd, 60, 6);
	c->fd = fd;
	c->slot = -1;
	c->index = p->peer_count;
	c->deadline = clock_ms() + HANDSHAKE_MS;
	p->peers[p->peer_count++] = c;
}

static void free_peer(struct proxy *p, struct proxied *c)
{
	proxy_tracker_forget(p, c);
	close(c->fd);
	free(c->handshake);
	free(c->flow);
	free(c);
}

/* Close what is marked or too late; returns milliseconds until the next deadline, or -1. */
static int sweep(struct proxy *p)
{
	uint64_t now = clock_ms(), next = 0;
	unsigned int i;

	for (i = p->peer_count; i-- > 0;) {
		struct proxied *c = p->peers[i];

		if (!c->closing && c->deadline && now >= c->deadline) {
			if (c->ready)
				send_code(c, 0x73);
			c->closing = true;
		}
		if (!c->closing) {
			if (c->deadline && (!next || c->deadline < next))
				next = c->deadline;
			continue;
		}
		p->peers[i] = p->peers[--p->peer_count];
		p->peers[i]->index = i;
		free_peer(p, c);
	}
	if (!next)
		return -1;
	return next - now > 60000 ? 60000 : (int)(next - now) + 1;
}

static short wanted(const struct proxied *c)
{
	if (!c->partner)
		return POLLIN;
	return (c->flow->size || c->flow->ended ? 0 : POLLIN) |
	       (c->partner->flow->size ? POLLOUT : 0);
}

static int loop(struct proxy *p)
{
	unsigned int n, i, count;
	int timeout;

	for (;;) {
		timeout = sweep(p);
		n = 0;
		p->polled[n++] = (struct pollfd){ p->signals.fd, POLLIN, 0 };
		p->polled[n++] = proxy_tracker_polled(p);
		for (i = 0; i < p->listener_count; i++)
			p->polled[n++] = (struct pollfd){ p->listeners[i], POLLIN, 0 };
		count = p->peer_count;
		for (i = 0; i < count; i++)
			p->polled[n++] = (struct pollfd){ p->peers[i]->fd, wanted(p->peers[i]), 0 };
		timeout = proxy_tracker_timeout(p, timeout);
		if (poll(p->polled, n, timeout) < 0 && errno != EINTR)
			return tenon_error(-TENON_E_IO, "poll: %s", strerror(errno));
		if (p->polled[0].revents)
			return 0;
		proxy_tracker_step(p, p->polled[1].revents);
		for (i = 0; i < count; i++)
			if (p->polled[2 + p->listener_count + i].revents && !p->peers[i]->closing)
				serve(p, p->peers[i]);
		for (i = 0; i < p->listener_count; i++)
			if (p->polled[2 + i].revents)
				accept_peer(p, p->listeners[i]);
	}
}

/* ---- start and end */

static int open_all(struct proxy *p)
{
	const char *const *text;
	char bound[ADDRESS_TEXT];
	int err;

	descriptors_allow_all();
	if (!p->options->listen || !*p->options->listen)
		return tenon_error(-TENON_E_USAGE, "a proxy without an address has no clients");
	for (text = p->options->listen; *text; text++) {
		if (p->listener_count == PROXY_LISTEN_MOST)
			return tenon_error(-TENON_E_VALUE, "more than %d addresses",
					   PROXY_LISTEN_MOST);
		err = address_listen(*text, p->options->trust_network,
				     &p->listeners[p->listener_count], bound);
		if (err)
			return err;
		p->listener_count++;
		say(p, "listening on", bound);
	}
	return 0;
}

void tenon_rpc_proxy_options_init(struct tenon_rpc_proxy_options *options, size_t size)
{
	const struct tenon_rpc_proxy_options o = {
		.size = size,
		.wait_ms = 600 * 1000,
		.connections_most = 1024,
	};

	memcpy(options, &o, size < sizeof(o) ? size : sizeof(o));
}

int tenon_rpc_proxy(const struct tenon_rpc_proxy_options *given)
{
	struct tenon_rpc_proxy_options o;
	struct proxy p = { .options = &o };
	int err;

	tenon_rpc_proxy_options_init(&o, sizeof(o));
	memcpy(&o, given, given->size < sizeof(o) ? given->size : sizeof(o));
	err = stop_signals_open(&p.signals, false);
	p.peers = calloc(o.connections_most, sizeof(struct proxied *));
	p.polled = calloc(2 + PROXY_LISTEN_MOST + o.connections_most, sizeof(*p.polled));
	if (!err && (!p.peers || !p.polled))
		err = tenon_error(-TENON_E_NOMEM, "no memory for %u connections",
				  o.connections_most);
	if (!err)
		err = open_all(&p);
	if (!err && o.tracker)
		err = proxy_tracker_open(&p);
	if (!err)
		err = loop(&p);
	while (p.peer_count)
		free_peer(&p, p.peers[--p.peer_count]);
	while (p.listener_count) {
		close(p.listeners[--p.listener_count]);
		address_unlink(o.listen[p.listener_count]);
	}
	proxy_tracker_close(&p);
	stop_signals_close(&p.signals);
	free(p.peers);
	free(p.polled);
	return err;
}
