/* SPDX-License-Identifier: MIT */
/*
 * The server's side of TVM's proxy: it connects to the proxy, sends its key as a client does, and waits. The
 * proxy answers with the key of a client, and what follows is that client's session.
 */
#include <errno.h>
#include <string.h>
#include <tenon/backend/buffer.h>
#include <unistd.h>

#include "lib/clock.h"
#include "rpc/server/server_state.h"

/* a proxy closes a server that waits for 10 minutes; a dead one is noticed by keep-alive */
#define RETRY_MS 5000
#define DIAL_MS	 10000

static void failed(struct server *s, const char *reason)
{
	if (!s->proxy_reported)
		server_say(s, "proxy %s: %s; trying again every %d s", s->options.proxy, reason,
			   RETRY_MS / 1000);
	s->proxy_reported = true;
	s->proxy_at = clock_ms() + RETRY_MS;
}

static bool is_waiting(const struct server *s)
{
	unsigned int i;

	for (i = 0; i < s->peer_count; i++)
		if (s->peers[i].state == PEER_DIALING || s->peers[i].state == PEER_PROXIED)
			return true;
	return false;
}

/* One connection at a time: a proxy refuses a second one with the same key. */
static bool wants_to_dial(const struct server *s)
{
	return s->options.proxy && s->sessions < s->options.sessions_most && !is_waiting(s);
}

uint64_t server_proxy_deadline(const struct server *s)
{
	return wants_to_dial(s) ? s->proxy_at : 0;
}

bool server_proxy_takes(const struct server *s, const char *key)
{
	size_t size = strlen(s->options.key);

	return !strncmp(key, s->options.key, size) && (!key[size] || key[size] == ':');
}

void server_proxy_dial(struct server *s)
{
	struct peer p = { PEER_NONE, .state = PEER_DIALING, .greeted = true };

	if (!wants_to_dial(s) || clock_ms() < s->proxy_at)
		return;
	p.fd = dial_start(&s->proxy, s->proxy_next);
	s->proxy_next = (s->proxy_next + 1) % s->proxy.count;
	if (p.fd < 0 || !server_add_peer(s, &p, DIAL_MS))
		failed(s, strerror(errno));
}

static bool send_key(struct server *s, int fd)
{
	struct tenon_buffer b = TENON_BUFFER_INIT;
	bool ok = !tenon_buffer_printf(&b, "server:%s", s->options.key) &&
		  handshake_send(fd, b.data, b.size);

	tenon_buffer_fini(&b);
	return ok;
}

bool server_proxy_dialled(struct server *s, struct peer *p)
{
	int error = 0;
	socklen_t size = sizeof(error);

	getsockopt(p->fd, SOL_SOCKET, SO_ERROR, &error, &size);
	if (error || !send_key(s, p->fd)) {
		failed(s, strerror(error ? error : EPIPE));
		return false;
	}
	if (s->proxy_reported)
		server_say(s, "waiting at proxy %s", s->options.proxy);
	s->proxy_reported = false;
	p->state = PEER_PROXIED;
	p->deadline = 0;
	return true;
}

void server_proxy_refused(struct server *s, const struct handshake *h)
{
	if (h->size < 4)
		failed(s, "it closed the connection");
	else if (h->bytes[0] == 0x72)
		failed(s, "another server waits there with the same key");
	else if (h->bytes[0] == 0x73)
		/* no client came for 10 minutes */
		s->proxy_at = clock_ms() + 1000;
	else
		failed(s, "it is no proxy");
}
