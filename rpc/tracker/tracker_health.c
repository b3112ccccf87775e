/* SPDX-License-Identifier: MIT */
/*
 * Checks of servers that are free: one handshake with a key that no server has. A server that works refuses it
 * with four bytes and accepts the next client, TVM's servers too; so a check takes no session. Servers in a
 * session are not checked: TVM's cannot answer then.
 */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <tenon/string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "rpc/tracker/tracker_state.h"

/* "client:" and a key that match keys cannot have */
#define CHECK_KEY "client:tenon-tracker-check"

void tracker_checks_init(struct tracker *t)
{
	unsigned int i;

	for (i = 0; i < TRACKER_CHECKS_MOST; i++)
		t->checks[i].source = (struct source){ SOURCE_CHECK, -1 };
}

static void end_check(struct check *c)
{
	if (c->server)
		c->server->checking = false;
	close(c->source.fd);
	memset(c, 0, sizeof(*c));
	c->source = (struct source){ SOURCE_CHECK, -1 };
}

void tracker_checks_fini(struct tracker *t)
{
	unsigned int i;

	for (i = 0; i < TRACKER_CHECKS_MOST; i++)
		if (t->checks[i].source.fd >= 0)
			end_check(&t->checks[i]);
}

void tracker_checks_forget(struct tracker *t, const struct tracker_server *server)
{
	unsigned int i;

	for (i = 0; server->checking && i < TRACKER_CHECKS_MOST; i++)
		if (t->checks[i].server == server)
			t->checks[i].server = NULL;
}

void tracker_checks_forget_owner(struct tracker *t, const void *owner)
{
	unsigned int i;

	for (i = 0; i < TRACKER_CHECKS_MOST; i++)
		if (t->checks[i].server && t->checks[i].server->owner == owner)
			t->checks[i].server = NULL;
}

/* The result of a check; NULL for a healthy server. */
static void finish(struct tracker *t, struct check *c, const char *reason)
{
	struct tracker_server *s = c->server;
	struct tracker_queue *q = c->queue;

	end_check(c);
	/* handed out or gone meanwhile */
	if (!s)
		return;
	s->checked = clock_ms();
	if (reason && !s->unhealthy)
		tracker_say(t, "%s at %s port %u is taken out: %s", q->key, s->host, s->port,
			    reason);
	else if (!reason && s->unhealthy)
		tracker_say(t, "%s at %s port %u answers again", q->key, s->host, s->port);
	free(s->unhealthy);
	s->unhealthy = reason ? strdup(reason) : NULL;
	if (!reason)
		tracker_serve(t, q);
}

static struct check *unused_check(struct tracker *t)
{
	unsigned int i;

	for (i = 0; i < TRACKER_CHECKS_MOST; i++)
		if (t->checks[i].source.fd < 0)
			return &t->checks[i];
	return NULL;
}

static int connect_server(const struct tracker_server *s)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	struct addrinfo *found;
	char port[8];
	int fd;

	snprintf(port, sizeof(port), "%u", s->port);
	if (getaddrinfo(s->host, port, &hints, &found))
		return -1;
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* a refusal is reported by the event */
	if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) && errno != EINPROGRESS) {
		close(fd);
		fd = -1;
	}
	freeaddrinfo(found);
	return fd;
}

static void start_check(struct tracker *t, struct tracker_queue *q, struct tracker_server *s,
			struct check *c)
{
	int fd = connect_server(s);

	s->checked = clock_ms();
	if (fd < 0)
		return;
	c->source.fd = fd;
	c->server = s;
	c->queue = q;
	c->deadline = s->checked + t->options->answer_ms;
	s->checking = true;
	if (!tracker_watch(t, &c->source, EPOLLOUT, false))
		end_check(c);
}

void tracker_checks_start(struct tracker *t, uint64_t now)
{
	unsigned int i, j;
	char text[128];

	if (!t->options->health_ms)
		return;
	snprintf(text, sizeof(text), "it does not answer within %g s",
		 (double)t->options->answer_ms / 1000);
	for (i = 0; i < TRACKER_CHECKS_MOST; i++)
		if (t->checks[i].source.fd >= 0 && now >= t->checks[i].deadline)
			finish(t, &t->checks[i], text);
	for (i = 0; i < t->queues.count; i++) {
		struct tracker_queue *q = t->queues.queues[i];

		for (j = 0; j < q->server_count; j++) {
			struct tracker_server *s = q->servers[j];
			struct check *c;

			/*
			 * Connect only to the address that the server connected from: a peer could
			 * name any other, and so make the tracker connect to it.
			 */
			if (s->checking || !s->own_address ||
			    now - s->checked < t->options->health_ms)
				continue;
			c = unused_check(t);
			if (!c)
				return;
			start_check(t, q, s, c);
		}
	}
}

static bool send_key(struct tracker *t, struct check *c)
{
	static const char key[] = "\x71\xf2\x0f\0\x1a\0\0\0" CHECK_KEY;

	_Static_assert(sizeof(CHECK_KEY) - 1 == 0x1a, "the length above");
	c->sent = true;
	return send(c->source.fd, key, sizeof(key) - 1, MSG_NOSIGNAL) == sizeof(key) - 1 &&
	       tracker_watch(t, &c->source, EPOLLIN, true);
}

static const char *read_answer(struct check *c, bool *done)
{
	static const uint8_t mismatch[4] = { 0x73, 0xf2, 0x0f, 0 };
	ssize_t n = recv(c->source.fd, c->answer + c->got, sizeof(c->answer) - c->got, 0);

	*done = true;
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return "it closed the connection of the check";
	if (!n)
		return "it accepted the connection of the check and closed it without an answer";
	c->got += n > 0 ? (unsigned int)n : 0;
	*done = c->got == sizeof(c->answer);
	return *done && memcmp(c->answer, mismatch, sizeof(mismatch))
		       ? "what listens there does not speak TVM's RPC"
		       : NULL;
}

void tracker_check_event(struct tracker *t, struct check *c)
{
	int error = 0;
	socklen_t size = sizeof(error);
	const char *reason;
	bool done;

	if (c->source.fd < 0)
		return;
	if (!c->sent) {
		getsockopt(c->source.fd, SOL_SOCKET, SO_ERROR, &error, &size);
		if (error)
			finish(t, c, strerror(error));
		else if (!send_key(t, c))
			finish(t, c, "it closed the connection of the check");
		return;
	}
	reason = read_answer(c, &done);
	if (done)
		finish(t, c, reason);
}
